import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from isotherm import BlockModel, Graph
from isotherm.compiled import core
from isotherm.dirichlet import DirichletProblem
from isotherm.engines.mpi import MpiEngine
from isotherm.engines.mpi.arithmetic import NativeArithmetic
from isotherm.engines.mpi.components import _parts, lowest_seeds
from isotherm.engines.mpi.descent import Descent
from isotherm.engines.mpi.lanes import WIDTHS, bytes_of_vectors, lanes_within
from isotherm.engines.mpi.reference import ReferenceArithmetic
from isotherm.engines.mpi.session import SharedSession
from isotherm.engines.mpi.share import SharedProblem
from isotherm.errors import LabelError, ParameterError
from isotherm.solvers import SolveOptions
from shared_graphs import share_out, shared_problem
from thread_ranks import on_ranks

SIZES = [1, 2, 3, 5]


def a_graph(seed=0, *, weighted=False):
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, 90, (2, 260))
    weights = rng.uniform(0.1, 3.0, 260) if weighted else None
    return Graph.from_edges(i, j, weights, nodes=range(100))  # ten nodes at least are alone


def some_seeds(seed=0, classes=3):
    rng = np.random.default_rng(seed)
    boundary = np.sort(rng.choice(60, 12, replace=False))
    return boundary, np.eye(classes)[rng.integers(0, classes, 12)]


def exact(problem):
    """Temperatures by a dense solve; NaN where no heat comes."""
    X = problem.start()
    inner = np.diag(problem.diagonal) - problem.inner.toarray()
    X[problem.free] = np.linalg.solve(inner, problem.sources)
    return X


def solve_on(ranks, graph, boundary, values, *, tol=1e-8, leak=0.0, engine=None):
    problem = shared_problem(graph, ranks, boundary, values, leak)
    with (engine or MpiEngine()).prepare(problem, SolveOptions(tol)) as session:
        found = session.solve()
    n_own = problem.graph.n_own
    return found.temperatures, found.error_bound[:n_own], found.converged


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("weighted", "leak"), [(False, 0.0), (True, 0.0), (True, 0.1)])
def test_every_temperature_is_within_its_proven_bound(size, weighted, leak):
    graph = a_graph(weighted=weighted)
    boundary, values = some_seeds()
    found = on_ranks(size, lambda ranks: solve_on(ranks, graph, boundary, values, leak=leak))
    T, bounds = (np.concatenate([one[k] for one in found]) for k in (0, 1))
    expected = exact(DirichletProblem(graph, boundary, values, leak=leak))
    assert all(one[2] for one in found)
    assert np.array_equal(np.isnan(T), np.isnan(expected))
    reached = ~np.isnan(expected[:, 0])
    assert (np.abs(T - expected).max(axis=1)[reached] <= bounds[reached] + 1e-13).all()
    assert bounds[reached].max() <= 1e-8


def test_more_columns_than_fit_into_one_block():
    graph = a_graph()
    boundary, values = np.arange(40), np.eye(40)
    found = on_ranks(2, lambda ranks: solve_on(ranks, graph, boundary, values))
    T = np.concatenate([one[0] for one in found])
    expected = exact(DirichletProblem(graph, boundary, values))
    np.testing.assert_allclose(T, expected, atol=1e-8)


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("size", [1, 3])
def test_columns_solved_in_several_blocks_are_those_of_one(monkeypatch, size, lanes):
    graph = a_graph(weighted=True)
    boundary, values = some_seeds(classes=10)

    def solved(at_once):
        monkeypatch.setattr(SharedSession, "lanes", lambda *_: at_once)
        found = on_ranks(size, lambda ranks: solve_on(ranks, graph, boundary, values))
        return [np.concatenate([one[k] for one in found]) for k in (0, 1)]

    (T, bounds), (expected, others) = solved(lanes), solved(16)
    reached = ~np.isnan(expected[:, 0])
    off = np.abs(T - expected).max(axis=1)[reached]
    assert (off <= (bounds + others)[reached] + 1e-13).all()
    assert bounds[reached].max() <= 1e-8


def a_descent(ranks, graph, **start):
    """One with the exit times, some steps on its way."""
    boundary, values = some_seeds(classes=10)
    problem = shared_problem(graph, ranks, boundary, values)
    session = MpiEngine().prepare(problem, SolveOptions(1e-8))
    T, exits = np.zeros((problem.graph.n_own, 10)), np.zeros(problem.graph.n_own)
    descent = Descent(problem, session._made_ready(), T, exits, **start)
    descent.run(np.full(11, 1e-3), 4)
    return problem, descent


@pytest.mark.skipif(core is None, reason="the core was not built")
def test_only_directions_have_rows_of_ghosts_and_no_more_than_was_reckoned_with():
    def check(ranks):
        problem, descent = a_descent(ranks, a_graph())
        share = problem.graph
        assert share.n_all > share.n_own
        arrays = [one for one in vars(descent).values() if isinstance(one, np.ndarray)]
        of_all = [one for one in arrays if len(one) == share.n_all]
        assert [(one.dtype, one.shape[1]) for one in of_all] == [(np.float32, 16)]
        vectors = sum(one.nbytes for one in arrays if one.dtype == np.float32)
        assert vectors == bytes_of_vectors(share.n_own, share.n_all, 12)

    on_ranks(3, check)


def test_temperatures_of_ghosts_borrow_the_room_of_directions_and_give_it_back():
    graph = a_graph()

    def lots(ranks):
        problem, descent = a_descent(ranks, graph, started=True)
        share, before = problem.graph, descent._P[: problem.graph.n_own].copy()
        descent.refresh()  # what the steps have changed is in T
        numbers = share.halo.fill(share.first + np.arange(share.n_all))
        found = np.zeros((graph.n_nodes, 12))
        for lot, X in descent.lots():
            assert np.shares_memory(X, descent._P)
            found[numbers, lot] = X
        assert np.array_equal(descent._P[: share.n_own, :11], before[:, :11])
        return found, numbers, np.column_stack([descent._T, descent._exits])

    results = on_ranks(3, lots)
    whole = np.concatenate([own for _, _, own in results])
    for found, numbers, _ in results:
        np.testing.assert_array_equal(found[numbers, :11], whole[numbers])


def makers():
    """Arithmetic by the core, and without it."""
    reference = pytest.param(lambda p, gauge: ReferenceArithmetic(p, gauge), id="reference")
    if core is None:
        return [reference]
    return [reference, pytest.param(lambda p, gauge: NativeArithmetic(p, gauge, 2), id="native")]


@pytest.mark.parametrize("make", makers())
@pytest.mark.parametrize("leak", [0.0, 0.1])
def test_what_leaves_each_node_is_known(make, leak):
    graph = a_graph(weighted=True)
    boundary, values = some_seeds()
    whole = DirichletProblem(graph, boundary, values, leak=leak)
    expected = np.zeros(graph.n_nodes)
    expected[whole.free] = whole.diagonal - whole.inner.sum(axis=1)

    def known(ranks):
        problem = shared_problem(graph, ranks, boundary, values, leak)
        n_own = problem.graph.n_own
        arithmetic = make(problem, np.ones(n_own))
        Descent(problem, arithmetic, np.zeros((n_own, 3)), np.zeros(n_own))
        return arithmetic.exits(slice(0, n_own)), arithmetic.all_exits

    found = on_ranks(3, known)
    np.testing.assert_allclose(np.concatenate([own for own, _ in found]), expected, atol=1e-5)
    for _, all_exits in found:
        assert all_exits == pytest.approx(expected.sum(), rel=1e-6)


@pytest.mark.parametrize("make", makers())
def test_steps_are_fewer_as_all_nodes_rise_together(make, monkeypatch):
    rng = np.random.default_rng(4)
    graph = Graph.from_edges(*rng.integers(0, 3000, (2, 30_000)), nodes=range(3000))
    boundary, values = np.arange(60), np.eye(2)[rng.integers(0, 2, 60)]

    def steps(ranks):
        problem = shared_problem(graph, ranks, boundary, values)
        n_own = problem.graph.n_own
        arithmetic = make(problem, problem.graph.degrees[:n_own])
        descent = Descent(problem, arithmetic, np.zeros((n_own, 2)), np.zeros(n_own))
        descent.run(np.array([1e-5, 1e-5, 0.1]), 100)
        return descent.steps, descent.temperatures()

    together = on_ranks(2, steps)
    for kind in (ReferenceArithmetic, NativeArithmetic):
        monkeypatch.setattr(kind, "know_exits", lambda *_: None)
    apart = on_ranks(2, steps)
    assert together[0][0] <= apart[0][0] - 2
    for (_, one), (_, other) in zip(together, apart, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-2)


def test_the_more_ghosts_the_fewer_columns_at_once():
    own = 250e3
    sizes = [lanes_within(own, own + g, n_classes=10, n_columns=10) for g in (0, 745e3, 3e6)]
    assert sizes == [16, 8, 4]
    assert lanes_within(500e3, 1e6, n_classes=10, n_columns=10) == 16  # two ranks: all at once
    assert lanes_within(own, 995e3, n_classes=10, n_columns=10, n_beside=10) == 4
    assert lanes_within(own, 1e9, n_classes=2, n_columns=2) == 4  # what cannot be less


def test_all_ranks_solve_as_many_columns_at_once():
    graph = Graph.from_edges([0] * 50 + [1], [*range(1, 51), 2])  # a hub, the ghost of all others
    values = np.eye(12)
    boundary = np.arange(12) * 4

    def lanes(ranks):
        problem = shared_problem(graph, ranks, boundary, values)
        session = MpiEngine().prepare(problem, SolveOptions())
        return session.lanes(12), session._made_ready().lanes(12, 0)

    found = on_ranks(4, lanes)
    assert len({one for one, _ in found}) == 1
    assert found[0][0] == min(own for _, own in found)


def test_what_is_known_of_components_holds_without_some_seeds():
    i = np.arange(12)
    graph = Graph.from_edges(i, (i + 3) % 12)  # three rings
    boundary = np.array([1, 4, 6, 7, 9])

    def check(ranks):
        problem = shared_problem(graph, ranks, boundary, np.eye(5))
        numbers = problem.graph.first + problem.boundary
        for gone in (7, 6, 1):  # not the first of its ring, and two that are
            other = problem.without(np.flatnonzero(numbers == gone))
            anew = SharedProblem(problem.graph, other.boundary, other.values)
            np.testing.assert_array_equal(other.lowest_seed, anew.lowest_seed)
            np.testing.assert_array_equal(other.is_unreached, anew.is_unreached)
            np.testing.assert_array_equal(other.is_free, anew.is_free)

    on_ranks(3, check)


@pytest.mark.skipif(core is None, reason="the core was not built")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("weighted", [False, True])
def test_native_arithmetic_is_that_of_the_reference(width, weighted):
    graph = a_graph(weighted=weighted)
    boundary, values = some_seeds()

    def compare(ranks):
        problem = shared_problem(graph, ranks, boundary, values, 0.1)
        share, rng = problem.graph, np.random.default_rng(3)
        gauge = np.where(problem.is_free[: share.n_own], share.degrees[: share.n_own], 1.0)
        fast = NativeArithmetic(problem, gauge, 2)
        slow = ReferenceArithmetic(problem, gauge)
        P = rng.normal(size=(share.n_all, width))
        P[~problem.is_free] = 0.0
        share.halo.fill(P)
        found = []
        for arithmetic in (fast, slow):
            V, D, R = (arithmetic.vector(share.n_own, width) for _ in range(3))
            own = arithmetic.vector(share.n_all, arithmetic.stride_of_P(width))
            own[:, :width] = P
            sums = [
                arithmetic.weigh(np.abs(np.ascontiguousarray(P[:, lot])), 1, R, lot)
                for lot in arithmetic.lots(width)
            ]
            sums = [tuple(np.concatenate(some) for some in zip(*sums, strict=True))]
            sums.append((arithmetic.multiply(own, V),))
            sums.append(arithmetic.descend(np.linspace(0, 1, width), own, V, D, R))
            arithmetic.turn(np.linspace(1, 0, width), np.linspace(0, 2, width), R, own)
            found.append((V, D, R, own[: share.n_own, :width], *(x for some in sums for x in some)))
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)

    on_ranks(2, compare)


@pytest.mark.skipif(core is None, reason="the core was not built")
def test_reference_arithmetic_proves_as_the_core_does():
    graph = a_graph(weighted=True)
    boundary, values = some_seeds()

    class Reference:
        def prepare(self, problem, options):
            return SharedSession(
                "reference", problem, options, lambda p, gauge, _: ReferenceArithmetic(p, gauge)
            )

    def both(ranks):
        one = solve_on(ranks, graph, boundary, values, engine=Reference())
        other = solve_on(ranks, graph, boundary, values)
        np.testing.assert_allclose(one[0], other[0], atol=2e-8)
        assert one[2]
        assert np.nanmax(one[1]) <= 1e-8

    on_ranks(2, both)


def test_weights_too_small_for_float32_are_solved_in_float64():
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], np.full(4, 1e-60))
    boundary, values = np.array([0, 4]), np.eye(2)
    found = on_ranks(2, lambda ranks: solve_on(ranks, graph, boundary, values, tol=1e-8))
    T = np.concatenate([one[0] for one in found])
    np.testing.assert_allclose(T[:, 0], [1, 0.75, 0.5, 0.25, 0], atol=1e-8)


def test_what_is_too_hard_is_not_said_to_be_proven():
    weights = [1e-18, 1.0, 1.0, 1e-18]  # one machine would eliminate nodes here
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], weights)
    boundary, values = np.array([0, 4]), np.eye(2)
    found = on_ranks(2, lambda ranks: solve_on(ranks, graph, boundary, values, tol=1e-4))
    T, bounds = (np.concatenate([one[k] for one in found]) for k in (0, 1))
    assert not any(one[2] for one in found)
    assert (np.abs(T[1:4, 0] - 0.5) <= bounds[1:4]).all()


def test_a_component_without_seeds_is_found_though_it_is_spread_over_ranks():
    # Two rings whose nodes take turns: every edge of either joins two ranks.
    n = 40
    i = np.arange(n)
    graph = Graph.from_edges(i, (i + 2) % n)

    def unreached(ranks):
        problem = shared_problem(graph, ranks, np.array([0]), np.ones((1, 1)))
        return problem.is_unreached[: problem.graph.n_own]

    for size in (2, 3, 7):
        found = np.concatenate(on_ranks(size, unreached))
        assert np.array_equal(np.flatnonzero(found), np.arange(1, n, 2))


def test_components_have_the_number_of_their_first_seed():
    i = np.arange(12)
    graph = Graph.from_edges(i, (i + 3) % 12)  # three rings
    boundary = np.array([4, 6, 7, 9])

    def lowest(ranks):
        share = share_out(graph, ranks)
        own = (boundary >= share.first) & (boundary < share.first + share.n_own)
        return lowest_seeds(share, boundary[own] - share.first)

    expected = [6, 4, -1] * 4
    assert np.concatenate(on_ranks(4, lowest)).tolist() == expected


@pytest.mark.skipif(core is None, reason="the core was not built")
def test_parts_by_the_core_are_those_by_scipy():
    graph = a_graph(2)

    def parts(ranks):
        share = share_out(graph, ranks)
        rows = share.rows
        matrix = csr_array(
            (np.ones(len(rows.ends)), rows.ends, rows.start), shape=(share.n_all,) * 2
        )
        _, expected = connected_components(matrix, directed=False)
        found = _parts(share)
        assert len(set(zip(found.tolist(), expected.tolist(), strict=True))) == found.max() + 1
        assert found.max() == expected.max()

    on_ranks(3, parts)


def test_more_ranks_than_nodes():
    graph = Graph.from_edges([0, 1], [1, 2])
    found = on_ranks(6, lambda ranks: solve_on(ranks, graph, np.array([0, 2]), np.eye(2)))
    T = np.concatenate([one[0] for one in found])
    np.testing.assert_allclose(T[1], [0.5, 0.5], atol=1e-8)


def test_without_a_seed_there_is_no_problem():
    graph = a_graph()
    none = np.empty(0, dtype=np.intp), np.empty((0, 2))
    with pytest.raises(LabelError, match="no seed"):
        on_ranks(2, lambda ranks: shared_problem(graph, ranks, *none))


def test_solvers_of_one_machine_are_refused():
    graph = a_graph()
    boundary, values = some_seeds()

    def prepare(ranks):
        problem = shared_problem(graph, ranks, boundary, values)
        MpiEngine().prepare(problem, SolveOptions(solver="direct"))

    with pytest.raises(ParameterError, match="one machine only"):
        on_ranks(2, prepare)


def test_degrees_of_ghosts_are_those_of_their_owners():
    graph, _ = BlockModel([20, 20], 0.3, 0.1).sample(np.random.default_rng(0))

    def degrees(ranks):
        share = share_out(graph, ranks)
        ends = share.rows.ends
        assert ends.max() < share.n_all
        np.testing.assert_array_equal(
            share.degrees[: share.n_own],
            graph.degrees[share.first : share.first + share.n_own],
        )
        return share.degrees

    on_ranks(3, degrees)
