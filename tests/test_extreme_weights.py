"""Weights from 1e-30 to 1e30 have a defined, proven result."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from isotherm import (
    DirichletClassifier,
    DirichletProblem,
    Elimination,
    Graph,
    solve_dirichlet,
)
from isotherm.solvers import SOLVERS, NotConverged
from isotherm.solvers.method import Watch
from isotherm.solvers.operator import ReferenceOperator
from oracle import exact_temperatures, grid, random_graph

pytestmark = [pytest.mark.any_version, pytest.mark.hostile]


def spread_graph(rng, n, exponent=30):
    graph = random_graph(rng, n, degree=4, spread=exponent)
    ring = np.roll(np.eye(n), 1, axis=1) * 10 ** rng.uniform(-exponent, exponent, n)
    return Graph.from_matrix(graph.adjacency.toarray() + ring + ring.T)


def test_a_stiff_pair_between_two_weak_links_is_halfway():
    graph = Graph.from_edges("sabt", "abtt", [1e-30, 1e30, 1e-30, 1.0])
    solution = solve_dirichlet(graph, ["s", "t"], [1.0, 0.0])
    assert solution.solver == "elimination"
    assert np.allclose(solution.temperatures.ravel(), [0.5, 0.5, 1, 0], rtol=1e-14)


@pytest.mark.parametrize("leak", [0.0, 0.125])
def test_temperatures_are_those_of_exact_arithmetic(rng, leak):
    for _ in range(10):
        graph = spread_graph(rng, 14)
        seeds, values = np.array([0, 1, 2]), np.array([[1.0, -2.0], [0.0, 3.0], [0.5, 1.0]])
        solution = solve_dirichlet(graph, seeds, values, leak=leak)
        exact = np.array(exact_temperatures(graph, seeds, values, leak), dtype=float)
        assert (
            np.abs(solution.temperatures - exact).max(axis=1) <= solution.error_bound + 1e-15
        ).all()
        assert solution.certificate.bound <= 1e-6


def test_small_temperatures_have_a_small_relative_error(rng):
    for _ in range(10):
        graph = spread_graph(rng, 12, exponent=20)
        solution = solve_dirichlet(graph, [0, 1], np.eye(2), solver=Elimination())
        exact = np.array(exact_temperatures(graph, [0, 1], np.eye(2)), dtype=float)
        assert np.allclose(solution.temperatures, exact, rtol=1e-12, atol=0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_is_honest_about_what_it_can_prove(rng, solver):
    for _ in range(5):
        graph = spread_graph(rng, 12)
        try:
            solution = solve_dirichlet(graph, [0, 1], np.eye(2), solver=solver)
        except NotConverged as failure:
            solution = failure.solution
        exact = np.array(exact_temperatures(graph, [0, 1], np.eye(2)), dtype=float)
        error = np.abs(solution.temperatures - exact).max(axis=1)
        assert (error <= solution.error_bound + 1e-15).all()
        assert ((solution.temperatures >= 0) & (solution.temperatures <= 1)).all()


def test_the_classifier_certifies_labels_without_a_warning(rng):
    graph = spread_graph(rng, 60)
    classifier = DirichletClassifier().fit(graph, {0: "a", 1: "b", 2: "c"})
    assert (classifier.certified_ | (classifier.status_ == "tie")).all()
    assert np.allclose(classifier.temperatures_.sum(axis=1), 1)


def test_scaling_all_weights_to_the_edge_of_float64_changes_nothing(rng):
    A = random_graph(rng, 30, degree=5).adjacency
    labels = {0: "a", 1: "b"}
    expected = DirichletClassifier().fit(A, labels)
    for factor in (2.0**-900, 2.0**900):
        scaled = DirichletClassifier().fit(A * factor, labels)
        assert np.allclose(scaled.temperatures_, expected.temperatures_, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("exponent", [100, 150])
def test_weights_that_underflow_when_multiplied_are_still_proven(rng, exponent):
    for _ in range(5):
        graph = spread_graph(rng, 14, exponent=exponent)
        solution = solve_dirichlet(graph, [0, 1, 2], np.eye(3), solver=Elimination())
        exact = np.array(exact_temperatures(graph, [0, 1, 2], np.eye(3)), dtype=float)
        error = np.abs(solution.temperatures - exact).max(axis=1)
        assert (error <= solution.error_bound).all()
        assert solution.certificate.bound <= 1e-6


def assert_honest(graph, seeds, values, **options):
    for solver in ["auto", *SOLVERS]:
        try:
            solution = solve_dirichlet(graph, seeds, values, solver=solver, **options)
        except NotConverged as failure:
            solution = failure.solution
        positions = graph.positions(seeds)
        exact = exact_temperatures(graph, positions, values, options.get("leak", 0))
        error = np.abs(solution.temperatures - np.array(exact, dtype=float)).max(axis=1)
        assert (error <= solution.error_bound + 1e-15).all(), solver


@pytest.mark.parametrize("exponent", [100, 155, 160, 200, 300])
def test_a_share_too_small_for_float64_is_not_taken_for_nothing(exponent):
    weights = [10.0**exponent, 10.0**-exponent, 10.0**-exponent, 10.0 ** -(exponent + 1)]
    graph = Graph.from_edges("acsb", "cbat", weights)
    assert_honest(graph, ["s", "t"], [1.0, 0.0])


def test_a_leak_that_overflows_is_not_proven():
    graph = Graph.from_edges([0, 1], [1, 2], [4e307] * 2)
    with pytest.raises(NotConverged, match=r"proven to 1\.0e\+00 only"):
        solve_dirichlet(graph, [0, 2], [1.0, 0.0], leak=1e308)
    assert_honest(graph, [0, 2], [1.0, 0.0], leak=2.0**1023)
    solution = solve_dirichlet(graph, [0, 2], [1.0, 0.0], leak=4.0)
    assert np.allclose(solution.temperatures.ravel(), [1, 0.1, 0])


def test_weights_without_all_their_digits_are_not_proven_to_more_than_they_have():
    tiny = 10 * 2.0**-1074
    graph = Graph.from_edges(["hot", "cold", "a", "b", "c"], ["a", "a", "b", "c", "cold"],
                             [0.04, 0.96, tiny, tiny, tiny])  # fmt: skip
    assert_honest(graph, ["hot", "cold"], [1.0, 0.0])


def test_a_class_without_heat_spoils_no_proof_of_the_others():
    graph = Graph.from_edges("zsab", "sabt", [1.0, 1e-30, 1e30, 1e-31])
    classifier = DirichletClassifier("mass").fit(graph, {"z": 0, "s": 1, "t": 2})
    assert classifier.solution_.solver == "elimination"
    # Both free nodes are at the mean of the free nodes in every class.
    assert classifier.status_[:2].tolist() == ["tie", "tie"]


def test_an_elimination_not_yet_done_proves_nothing():
    problem = DirichletProblem(grid(4, 4), np.array([0, 15]), np.eye(2))
    method = Elimination().bind(ReferenceOperator(problem, 1e-6))
    X = method.start(problem, 1e-6, None)
    steps = method.iterate(X, 1e-6, Watch())
    next(steps)
    assert method.certify(X).bound >= 1
    next(steps)
    assert method.certify(X).bound < 1e-9


def test_a_large_graph_beyond_float64_warns_and_stays_within_the_boundary_values():
    # Too large for elimination: a chain of stiff pairs joined by weak links.
    n = 2_200
    weights = np.where(np.arange(n) % 2, 1e30, 1e-30)
    path = Graph.from_edges(range(n), range(1, n + 1), weights)
    with pytest.warns(ConvergenceWarning, match="float64 can prove no more.*elimination"):
        classifier = DirichletClassifier().fit(path, {0: "a", n: "b"})
    T = classifier.temperatures_
    assert ((T >= 0) & (T <= 1)).all()
    assert not classifier.certified_[1:-1].any()
