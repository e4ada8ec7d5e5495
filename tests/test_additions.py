"""Labels that are added one after the other: temperatures and proofs are those of a fresh solve."""

from fractions import Fraction

import numpy as np
import pytest

from every_engine import EVERY_ENGINE
from isotherm import DirichletProblem, Graph, SolveOptions
from isotherm.dirichlet import Ties
from isotherm.engines import ENGINES, additions, changes, choose_engine
from isotherm.solvers.superposition import Superposition, superpose
from oracle import exact_temperatures, random_graph

pytestmark = pytest.mark.any_version

every_engine = pytest.mark.parametrize("engine", EVERY_ENGINE[1:])  # but for "auto"


@pytest.fixture
def ways(monkeypatch):
    """By which proof each change was made: of both parts, or (False) afresh."""
    seen = []

    def watched(*given):
        found = additions.with_added(*given)
        seen.append(found is not None)
        return found

    monkeypatch.setattr(changes, "with_added", watched)
    return seen


def connected_graph(rng, n=24):
    """Random weights, and a path through all nodes."""
    graph = random_graph(rng, n, degree=4)
    ends = graph.adjacency.tocoo()
    upper = ends.row < ends.col
    path = np.arange(n - 1)
    return Graph.from_edges(
        np.concatenate([ends.row[upper], path]),
        np.concatenate([ends.col[upper], path + 1]),
        np.concatenate([ends.data[upper], np.full(n - 1, 0.5)]),
        nodes=range(n),
    )


def prepared(engine, graph, held, *, tol, ties=None, leak=0.0):
    values = np.array([held[i] for i in sorted(held)], dtype=float)
    problem = DirichletProblem(graph, np.array(sorted(held)), values, ties=ties, leak=leak)
    return choose_engine(engine, graph).prepare(problem, SolveOptions(tol, "cg"))


def within_its_bound(solution, graph, held, leak=0):
    """Whether temperatures are as close to the exact ones as is claimed."""
    values = [[Fraction(x) for x in held[i]] for i in sorted(held)]
    exact = exact_temperatures(graph, sorted(held), values, leak)
    claimed = solution.certificate.errors()
    return all(
        abs(Fraction(float(t)) - x) <= Fraction(float(bound))
        for T, row, bounds in zip(solution.temperatures, exact, claimed, strict=True)
        for t, x, bound in zip(T, row, bounds, strict=True)
    )


@every_engine
@pytest.mark.parametrize("tol", [1e-4, 1e-9])
@pytest.mark.parametrize("leak", [0, 0.25])
def test_bounds_add_up_to_no_less_than_the_error(engine, tol, leak, ways, rng):
    graph = connected_graph(rng)
    held = {0: [1.0, 0.0, 0.0], 5: [0.0, 1.0, 0.0], 9: [0.0, 0.0, 1.0]}
    with prepared(engine, graph, held, tol=tol, leak=leak) as session:
        session.solve()
        for i, row in [
            (3, [1.0, 0.0, 0.0]),
            (7, [0.0, 0.25, 0.75]),
            (5, [1.0, 0.0, 0.0]),  # another value
            (11, [0.0, 0.0, 1.0]),
            (3, [0.0, 0.5, 0.5]),  # and of one that was added
        ]:
            held[i] = row
            solution = session.hold(i, np.array(row))
            assert solution.converged
            assert solution.certificate.bound <= tol
            assert np.array_equal(solution.temperatures[i], row)
            assert within_its_bound(solution, graph, held, Fraction(leak))
    assert ways.count(True) >= 3, "hardly any of it was proven by both parts"


@every_engine
def test_several_at_a_time_and_then_one_less(engine, ways, rng):
    graph = connected_graph(rng)
    held = {0: [1.0, 0.0, 0.0, 0.0], 5: [0.0, 1.0, 0.0, 0.0], 9: [0.0, 0.0, 0.5, 0.5]}
    with prepared(engine, graph, held, tol=1e-4) as session:
        session.solve()
        more = {2: [0.0, 1.0, 0.0, 0.0], 4: [0.0, 0.0, 0.0, 1.0]}
        solution = session.change({i: np.array(row) for i, row in more.items()})
        assert ways == [True]
        assert within_its_bound(solution, graph, held | more)
        solution = session.release(2)
        assert ways == [True]  # nothing can be added up where a seed is gone
        assert within_its_bound(solution, graph, held | {4: more[4]})
        solution = session.hold(2, np.array([1.0, 0.0, 0.0, 0.0]))
        assert ways[1:] == [True]
        assert within_its_bound(solution, graph, held | more | {2: [1.0, 0.0, 0.0, 0.0]})


@every_engine
def test_a_node_without_an_edge_costs_nothing(engine, ways):
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], nodes=range(7))
    with prepared(engine, graph, {0: [1.0, 0.0], 4: [0.0, 1.0]}, tol=1e-6) as session:
        before = session.solve()
        solution = session.hold(6, np.array([0.0, 1.0]))
        assert solution.n_iter == 0
        assert solution.temperatures[6].tolist() == [0.0, 1.0]
        assert np.isnan(solution.temperatures[5]).all()
        assert solution.unreached.tolist() == [False] * 5 + [True, False]
        assert np.array_equal(solution.temperatures[:5], before.temperatures[:5])
        assert solution.certificate.nodes[6] == 0
        assert np.isnan(session.release(6).temperatures[6]).all()
    assert ways == [True]


@every_engine
def test_ties_stay_as_they_are(engine, ways, rng):
    graph = connected_graph(rng, 30)
    ties = Ties(np.array([4]), np.array([2.0]), np.array([[0.0, 1.0]]))
    held = {0: [1.0, 0.0], 5: [0.0, 1.0]}
    with prepared(engine, graph, held, tol=1e-8, ties=ties) as session:
        session.solve()
        solution = session.hold(7, np.array([1.0, 0.0]))
    assert ways == [True]
    with prepared(engine, graph, held | {7: [1.0, 0.0]}, tol=1e-8, ties=ties) as session:
        fresh = session.solve()
    assert np.nanmax(np.abs(solution.temperatures - fresh.temperatures)) <= 2e-8


def test_a_bound_by_the_maximum_principle_is_not_added_to(ways, rng):
    """It says nothing of residuals: all seeds are alike, until one is not."""
    graph = connected_graph(rng, 30)
    held = {0: [0.25], 5: [0.25]}
    with prepared("scipy", graph, held, tol=1e-6) as session:
        session.solve()
        solution = session.hold(7, np.array([1.0]))
        assert solution.certificate.bound <= 1e-6
        assert within_its_bound(solution, graph, held | {7: [1.0]})
    assert ways == [False]


def test_a_value_that_floats_do_not_have_is_solved_for(rng):
    graph = connected_graph(rng, 30)
    held = {0: [1.0], 5: [0.0]}
    for engine in ("native", "scipy"):
        if engine not in ENGINES:
            continue
        with prepared(engine, graph, held, tol=1e-4) as session:
            session.solve()
            solution = session.hold(7, np.array([0.1]))
            assert solution.temperatures[7] == 0.1
            assert within_its_bound(solution, graph, held | {7: [0.1]})


@pytest.mark.skipif("native" not in ENGINES, reason="without the core")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("K", "terms"), [(1, 1), (3, 2), (10, 1), (17, 5), (4, 0)])
def test_the_core_adds_up_like_numpy(dtype, K, terms, rng):
    graph = random_graph(rng, 3000, degree=3)
    T = rng.random((3000, K)).astype(dtype)
    V = rng.random((terms, 3000)).astype(dtype)
    h = rng.random(3000) * 5
    h[::7], T[3], h[3] = 0.0, np.nan, np.nan
    bounds = np.full(K, 0.1), np.full(K, 0.95)
    given = Superposition(T, V, rng.normal(size=(terms, K)), h, bounds)
    X, off = superpose(given)
    with prepared("native", graph, {0: [1.0], 1: [0.0]}, tol=1e-4) as session:
        Y, found = session.operator.superpose(given)
    assert (
        np.array_equal(X, Y, equal_nan=True) or np.nanmax(np.abs(X - Y)) <= 8 * np.finfo(dtype).eps
    )
    assert found == pytest.approx(off, rel=1e-6)
    # Both against what they claim, in more digits.
    counts = h > 0
    exact = T.astype(np.longdouble) + V.T.astype(np.longdouble) @ given.shares
    error = np.abs(X - exact)[counts] / h[counts, np.newaxis]
    assert (error.max(axis=0) <= off).all()
    assert (off <= error.max(axis=0) + 1e-10).all()
