"""The proof trusts nobody: whatever a solver hands over, no bound is below the true error."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from isotherm import DirichletProblem, Graph
from isotherm.compiled import core
from isotherm.dirichlet import Ties
from isotherm.engines.native.proof import (
    imbalance_of,
    native_certificate,
    native_drains,
    native_evidence,
    native_imbalance,
)
from isotherm.solvers import certificate
from isotherm.solvers.imbalance import drains_of, imbalance
from oracle import dense_temperatures, grid, random_graph


def prove(problem, X, h, found):
    """The certificate; what the core makes of the same numbers is no other one, if it is any."""
    slow = certificate.prove(problem, X, h, found)
    if core is not None:
        evidence = native_evidence(problem, X, h)
        fast = native_certificate(problem, X, h, evidence)
        if fast is not None:
            same = certificate.prove(problem, X, h, imbalance_of(evidence))
            for name in ("nodes", "columns", "spans", "residual", "rounding", "longest", "bound"):
                assert np.array_equal(getattr(fast, name), getattr(same, name), equal_nan=True)
    return slow


def by_drains(problem, X, h):
    """What h drains is found first, as it is for several proofs by the same h."""
    return imbalance(problem, X, h, drains_of(problem, h))


def native_by_drains(problem, X, h, **options):
    drains = native_drains(problem, h, **options)
    return native_imbalance(problem, X, h, drains=drains, **options)


WAYS = [imbalance, by_drains]
if core is not None:
    WAYS += [
        pytest.param(lambda *claim, s=simd, w=way: w(*claim, simd=s), id=f"{way.__name__}-{simd}")
        for way in (native_imbalance, native_by_drains)
        for simd in core.instruction_sets()
    ]
each_way = pytest.mark.parametrize("measure", WAYS)


def problem_of(rng, columns, *, n=40, leak=0.0, weighted=True):
    graph = random_graph(rng, n, degree=4, weighted=weighted)
    seeds = rng.choice(n, 6, replace=False)
    return DirichletProblem(graph, seeds, rng.normal(size=(6, columns)), leak=leak)


def equilibrium(problem):
    """Temperatures and exit times by dense solves, within their bounds."""
    boundary, values = problem.boundary, problem.values
    X = dense_temperatures(problem.graph, boundary, values, problem.leak)
    A, free = problem.graph.adjacency.toarray(), problem.free
    M = np.diag((1 + problem.leak) * A.sum(axis=1)) - A
    h = np.zeros(len(A))
    h[free] = np.linalg.solve(M[np.ix_(free, free)], np.sqrt(A.sum(axis=1))[free])
    return X, h


@each_way
@pytest.mark.parametrize("columns", range(1, 21))
@pytest.mark.parametrize("leak", [0.0, 0.3])
def test_the_bound_covers_any_temperatures_and_any_exit_times(measure, columns, leak):
    rng = np.random.default_rng(columns)
    problem = problem_of(rng, columns, leak=leak, weighted=columns % 3 > 0)
    exact, h = equilibrium(problem)
    for dtype in (np.float64, np.float32):
        if dtype == np.float32:  # of which the boundary must hold its values
            problem = problem.with_values(problem.values.astype(dtype))
            exact, _ = equilibrium(problem)
        for off in (0.0, 1e-9, 1e-3, 1.0):
            X = exact.copy()
            X[problem.free] += off * rng.normal(size=(problem.n_free, columns))
            X = X.astype(dtype)
            crooked = h * np.where(problem.is_free, rng.uniform(0.999, 1.001, len(h)), 1.0)
            for exits in (h, crooked, h * 1e6):
                proof = prove(problem, X, exits, measure(problem, X, exits))
                error = np.abs(X[problem.free] - exact[problem.free])
                assert (error <= proof.errors(problem.free) + 1e-12).all()
                if exits is h and dtype == np.float64:
                    assert proof.bound <= 1e4 * off + 1e-11  # and it is of use


@each_way
def test_a_temperature_that_float64_has_not_is_not_proven_to_be_exact(measure):
    """A node between two seeds: often its residual is exactly 0, and it is off all the same."""
    star, seeds, h = np.array([2, 2]), np.array([0, 1]), np.array([0.0, 0.0, 1.0])
    without_residual = 0
    for a, b in product(range(1, 12), repeat=2):
        graph = Graph.from_edges([0, 1], star, [float(a), float(b)])
        problem = DirichletProblem(graph, seeds, np.array([[0.0], [1.0]]))
        X = np.array([[0.0], [1.0], [b / (a + b)]])
        found = measure(problem, X, h)
        error = abs(Fraction(float(X[2, 0])) - Fraction(b, a + b))
        assert error <= Fraction(float(prove(problem, X, h, found).errors()[2, 0]))
        assert error <= Fraction(float(found.level[0]))
        without_residual += bool(error) and found.relative[0] == 0
    assert without_residual > 10


@pytest.mark.skipif(core is None, reason="the core was not built")
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 40])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_core_finds_the_numbers_of_the_reference(columns, weighted):
    rng = np.random.default_rng(3)
    problem = problem_of(rng, columns, n=300, leak=0.1, weighted=weighted)
    X = problem.start()
    X[problem.free] = rng.normal(size=(problem.n_free, columns))
    h = equilibrium(problem)[1]
    reference = imbalance(problem, X, h)
    assert vars(by_drains(problem, X, h)).keys() == vars(reference).keys()
    for simd, threads in product(core.instruction_sets(), (1, 2)):
        for way in (native_imbalance, native_by_drains):
            found = way(problem, X, h, simd=simd, threads=threads)
            for name in ("level", "rounding", "relative", "low", "high", "degrees", "exits"):
                expected = getattr(reference, name)
                assert np.allclose(getattr(found, name), expected, rtol=1e-9, atol=0), name
            assert (found.n_nodes, found.stray) == (problem.n_free, False)


@pytest.mark.parametrize("leak", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [True, False])
def test_exit_times_drain_only_more_where_a_further_node_is_held(rng, weighted, leak):
    plain = problem_of(rng, 1, n=60, leak=leak, weighted=weighted)
    tied = plain.free[[1, 5, 9]]
    ties = Ties(tied, np.array([0.5, 2.0, 1e-3]), rng.random((3, 1)), roundings=25.0)
    h = equilibrium(plain)[1]
    for problem in (plain, plain.with_boundary(plain.boundary, plain.values, ties)):
        before = drains_of(problem, h)
        assert (before[problem.free] > 0).all()
        assert not before[problem.boundary].any()
        if core is not None:
            for simd in core.instruction_sets():
                fast = native_drains(problem, h, simd=simd)
                assert fast == pytest.approx(before, rel=1e-9)
        held = problem.free[2]
        boundary = np.sort(np.append(problem.boundary, held))
        further = problem.with_boundary(boundary, np.zeros((len(boundary), 1)), problem.ties)
        without = h.copy()
        without[held] = 0.0
        after = drains_of(further, without)[further.free]
        assert (after >= before[further.free] * (1 - 1e-12)).all()
        assert (after > before[further.free]).any()


@each_way
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["free", "boundary"])
def test_a_single_number_that_is_none_ends_the_proof(measure, bad, where, rng):
    problem = problem_of(rng, 9)
    X, h = equilibrium(problem)
    X[getattr(problem, where)[1], 8] = bad
    with np.errstate(invalid="ignore"):
        proof = prove(problem, X, h, measure(problem, X, h))
    assert np.isinf(proof.errors(problem.free)).all()


@each_way
def test_a_seed_that_is_not_at_its_value_ends_the_proof(measure, rng):
    problem = problem_of(rng, 3)
    X, h = equilibrium(problem)
    assert prove(problem, X, h, measure(problem, X, h)).bound < 1e-10
    X[problem.boundary[0], 1] += 1e-9
    assert prove(problem, X, h, measure(problem, X, h)).bound == np.inf


@each_way
def test_exit_times_that_drain_no_heat_prove_nothing_but_the_maximum_principle(measure, rng):
    problem = problem_of(rng, 3)
    X, h = equilibrium(problem)
    np.clip(X, *problem.bounds, out=X)
    span = problem.values.max(axis=0) - problem.values.min(axis=0)
    negative, flat, unknown = -h, problem.is_free.astype(float), h.copy()
    unknown[problem.free[3]] = np.nan
    for exits in (negative, flat, unknown, 0 * h, h * 1e200):
        with np.errstate(invalid="ignore"):
            proof = prove(problem, X, exits, measure(problem, X, exits))
        assert (proof.errors(problem.free) >= span).all()


@each_way
def test_exit_times_off_the_free_nodes_end_the_proof(measure, rng):
    # A warm boundary would let heat in that is not there.
    problem = problem_of(rng, 3)
    X, h = equilibrium(problem)
    h[problem.boundary[0]] = -1.0
    assert prove(problem, X, h, measure(problem, X, h)).bound == np.inf


@each_way
def test_temperatures_outside_the_boundary_values_are_not_bounded_by_their_distance(measure, rng):
    # All seeds at 2: the equilibrium is 2 everywhere, the distance of the extremes is 0.
    problem = problem_of(rng, 1).with_values(np.full((6, 1), 2.0))
    X, h = equilibrium(problem)
    X[problem.free] = 2.5
    proof = prove(problem, X, h, measure(problem, X, h))
    assert (proof.errors(problem.free) >= 0.5).all()


@each_way
@pytest.mark.parametrize(
    ("weights", "value", "leak"),
    [
        ([1e-180, 1e-180, 1e180], 1.0, 0.0),
        ([5e-324, 5e-324, 1.0], 1.0, 0.0),
        ([1.0, 1.0, 1.0], 1e200, 0.0),
        ([1.0, 1.0, 1.0], 1.0, 1e200),
    ],
)
def test_outside_the_range_of_its_rounding_bounds_nothing_is_proven(measure, weights, value, leak):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], weights)
    problem = DirichletProblem(graph, np.array([0, 3]), np.array([value, 0.0]), leak=leak)
    X = problem.start()
    h = np.array([0.0, 1.0, 1.0, 0.0])
    with np.errstate(all="ignore"):
        proof = prove(problem, X, h, measure(problem, X, h))
    assert proof.error_bound.tolist() == [0, np.inf, np.inf, 0]


@each_way
def test_only_a_column_that_no_warm_seed_touches_is_proven_to_be_exactly_zero(measure):
    # Seeds a, b and free nodes x, y in a row: heat of a ends in b, that of b reaches x.
    graph = Graph.from_edges("abxy", "bxyz", [1.0, 1e-150, 1.0, 1.0])
    seeds = graph.positions(list("abz"))
    values = np.array([[1.0, 0.0], [0.0, 1e-150], [0.0, 0.0]])
    problem = DirichletProblem(graph, seeds, values)
    X = problem.start()
    h = equilibrium(problem)[1]
    proof = prove(problem, X, h, measure(problem, X, h))
    errors = proof.errors(problem.free)
    assert (errors[:, 0] == 0).all()
    assert (errors[:, 1] > 0).all()


@pytest.mark.skipif(core is None, reason="the core was not built")
def test_the_proof_of_a_large_graph_is_the_same_for_any_number_of_threads():
    graph = grid(200, 200)
    problem = DirichletProblem(graph, np.array([0, 777]), np.eye(2))
    rng = np.random.default_rng(0)
    X = problem.start()
    X[problem.free] = rng.random((problem.n_free, 2))
    h = np.where(problem.is_free, rng.random(len(X)), 0.0)
    one, two = (native_imbalance(problem, X, h, threads=t) for t in (1, 2))
    for name in vars(one):
        assert np.array_equal(getattr(one, name), getattr(two, name), equal_nan=True)


@pytest.mark.skipif(core is None, reason="there is no core to compare with")
@pytest.mark.parametrize("leak", [0.0, 0.3])
@pytest.mark.parametrize("columns", [1, 3, 8, 17])
def test_the_core_bounds_rounding_by_the_same_formula(rng, columns, leak):
    plain = problem_of(rng, columns, leak=leak)
    tied = plain.free[[1, 5, 9]]
    ties = Ties(tied, np.array([0.5, 2.0, 1e-3]), rng.random((3, columns)), roundings=25.0)
    problem = plain.with_boundary(plain.boundary, plain.values, ties)
    X, h = equilibrium(plain)
    X[plain.free] += 1e-6 * rng.normal(size=(plain.n_free, columns))
    slow, fast = imbalance(problem, X, h), native_imbalance(problem, X, h)
    assert fast.rounding == pytest.approx(slow.rounding, rel=1e-9)
    assert fast.level == pytest.approx(slow.level, rel=1e-6)
    assert fast.relative == pytest.approx(slow.relative, rel=1e-6)
    assert fast.degrees == pytest.approx(slow.degrees, rel=1e-12)
    assert (fast.n_nodes, fast.stray) == (slow.n_nodes, slow.stray)


@pytest.mark.skipif(core is None, reason="the core was not built")
def test_the_core_certifies_what_is_usual_and_nothing_else(rng):
    problem = problem_of(rng, 3)
    X, h = equilibrium(problem)

    def certified(problem, X, h):
        return native_certificate(problem, X, h, native_evidence(problem, X, h)) is not None

    assert certified(problem, X, h)
    for node in (problem.boundary[2], problem.free[4]):
        off = X.copy()
        off[node, 1] = np.nan
        assert not certified(problem, off, h)
    off = X.copy()
    off[problem.boundary[5], 2] += 1e-12
    assert not certified(problem, off, h)
    stray = h.copy()
    stray[problem.boundary[0]] = 1.0
    assert not certified(problem, X, stray)
    assert not certified(problem, X, 0 * h)
    assert not certified(problem, X, h * 1e-160)
    assert not certified(problem.with_values(1e160 * problem.values), 1e160 * X, h)
    cold = problem.with_values(problem.values * [1.0, 0.0, 1.0])
    assert not certified(cold, X * [1.0, 0.0, 1.0], h)
