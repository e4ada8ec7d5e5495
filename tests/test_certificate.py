"""The error bound is never below the true error, and it bites."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from isotherm import (
    ConjugateGradient,
    Direct,
    DirichletClassifier,
    DirichletProblem,
    Elimination,
    Graph,
    Sweeps,
    solve_dirichlet,
)
from isotherm.classifier.verdict import judge
from isotherm.decision import DECISIONS
from isotherm.solvers import NotConverged
from isotherm.solvers.certificate import Certificate
from isotherm.solvers.operator import ReferenceOperator
from oracle import (
    dense_temperatures,
    exact_temperatures,
    grid,
    one_hot,
    random_graph,
    random_seeds,
)

LOOSE = [ConjugateGradient(max_iter=4), Sweeps(3), Sweeps(15), "cg", "direct", "elimination"]


def solution_of(*arguments, **options):
    """The solution, converged or not."""
    try:
        return solve_dirichlet(*arguments, **options)
    except NotConverged as failure:
        return failure.solution


@pytest.mark.parametrize("solver", LOOSE, ids=str)
@pytest.mark.parametrize("leak", [0.0, 0.05])
def test_the_bound_is_never_below_the_true_error(solver, leak):
    rng = np.random.default_rng(1)
    for tol in np.geomspace(1e-1, 1e-11, 60):
        graph = random_graph(rng, int(rng.integers(5, 60)), degree=rng.uniform(2, 6))
        seeds = rng.choice(graph.n_nodes, int(rng.integers(1, 5)), replace=False)
        values = rng.normal(size=(len(seeds), 2)) * 10 ** rng.uniform(-3, 3)
        exact = dense_temperatures(graph, seeds, values, leak)
        solution = solution_of(graph, seeds, values, leak=leak, tol=tol, solver=solver)
        error = np.abs(solution.temperatures - exact).max(axis=1)
        # The reference itself is rounded; its own error is some 1e-13 of the largest value.
        slack = 1e-12 * np.abs(values).max()
        reached = ~solution.unreached
        assert (error[reached] <= solution.error_bound[reached] + slack).all()


def test_the_bound_holds_against_exact_arithmetic(rng):
    for _ in range(25):
        graph = random_graph(rng, 12, degree=6)
        seeds, values = np.array([0, 1, 2]), rng.normal(size=(3, 2))
        graph = Graph.from_matrix(graph.adjacency.toarray() + 0.01)  # connected
        solution = solution_of(graph, seeds, values, tol=1e-20)
        exact = exact_temperatures(graph, seeds, values)
        for T, bound, row in zip(solution.temperatures, solution.error_bound, exact, strict=True):
            for t, reference in zip(T, row, strict=True):
                assert abs(type(reference)(float(t)) - reference) <= bound


@pytest.mark.parametrize("solver", [*LOOSE, "auto"], ids=str)
@pytest.mark.parametrize("weight", [1.0, 1e-200])
def test_a_certificate_is_no_number_at_unreached_nodes_alone(solver, weight):
    # Sums over a certificate rest on it: what is no number there counts as exact.
    graph = Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5], [1.0, weight, 1.0, 1.0])
    found = solution_of(graph, [0], [1.0], solver=solver, tol=1e-3)
    assert np.array_equal(np.isnan(found.certificate.nodes), found.unreached)
    assert found.unreached.tolist() == [False] * 4 + [True] * 2


def test_the_bound_is_within_a_factor_of_a_thousand_of_the_error():
    # A bound of 1 everywhere would be true and useless.
    graph = grid(30, 30)
    seeds, values = np.array([0, 899, 450]), np.eye(3)
    exact = dense_temperatures(graph, seeds, values)
    for tol in (1e-2, 1e-4, 1e-6):
        solution = solve_dirichlet(graph, seeds, values, tol=tol, solver="cg", engine="scipy")
        error = np.abs(solution.temperatures - exact).max()
        assert tol / 1000 <= error <= solution.certificate.bound <= tol


def test_an_exit_time_too_far_off_proves_nothing_but_the_maximum_principle(monkeypatch):
    from isotherm.solvers.cg import PlainConjugateGradient

    monkeypatch.setattr(PlainConjugateGradient, "relax", lambda *_, **__: iter([np.ones(1)]))
    solution = solution_of(grid(5, 5), [0], [3.0], leak=0.1, solver=Sweeps(3), engine="scipy")
    assert np.allclose(solution.error_bound[1:], 3.0)


def test_measured_by_degrees_exit_times_are_mean_steps_of_the_random_walk_to_the_boundary():
    # On a path held at one end, node i takes L² − (L − i)² steps to the end.
    length = 6
    path = Graph.from_edges(range(length), range(1, length + 1))
    problem = DirichletProblem(path, np.array([0]), np.array([1.0]))
    method = Direct().bind(ReferenceOperator(problem, 1e-16))
    certificate = method.certify(problem.start())
    i = np.arange(length + 1)
    assert np.allclose(certificate.nodes, length**2 - (length - i) ** 2)


# --- labels ---------------------------------------------------------------------------------------


def exact_codes(graph, labels, decision):
    """Labels at equilibrium by the dense solve; −1 where two scores are as good as tied."""
    seeds, values = one_hot(labels)
    T = dense_temperatures(graph, seeds, values)
    has, free = ~np.isnan(T[:, 0]), ~np.isnan(T[:, 0]) & (labels < 0)
    m, m_free = T[has].mean(axis=0), T[free].mean(axis=0)
    share = values.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        S = {
            "plain": T,
            "centered": T - m,
            "partial": T - m_free,
            "mass": T * np.where(m_free > 0, share / m_free, 1.0),
            "standard": (T - m) / np.sqrt(m * (1 - m)),
            "ratio": T / m,
        }[decision]
    best = np.sort(np.nan_to_num(S), axis=1)
    codes = np.nan_to_num(S).argmax(axis=1)
    codes[best[:, -1] - best[:, -2] < 1e-9] = -1
    codes[~has] = -1
    return codes


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_loose_solve_certifies_some_labels_and_every_wrong_one_is_uncertified(decision):
    rng = np.random.default_rng(5)
    uncertified = wrong = certified = 0
    for _ in range(60):
        graph = random_graph(rng, 50, degree=3.5)
        labels = random_seeds(rng, graph, 8, 3)
        classes = np.unique(labels[labels >= 0])
        if len(classes) < 2:
            continue
        steps = ConjugateGradient(max_iter=int(rng.integers(1, 12)))
        classifier = DirichletClassifier(decision, solver=steps)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            classifier.fit(graph, labels)
        exact = exact_codes(graph, labels, decision)
        free = (labels < 0) & (exact >= 0)
        differs = free & (classifier.labels_ != classes[exact])
        assert not (differs & classifier.certified_).any()
        wrong += differs.sum()
        uncertified += (~classifier.certified_[free]).sum()
        certified += classifier.certified_[free].sum()
    assert wrong > 0
    assert uncertified > wrong
    assert certified > 0


def test_a_loosened_tolerance_leaves_labels_uncertified_and_a_tight_one_none(rng):
    graph = random_graph(rng, 200, degree=4)
    labels = random_seeds(rng, graph, 20, 4)
    loose = DirichletClassifier(tol=0.2, solver="cg").fit(graph, labels)
    tight = DirichletClassifier(tol=1e-9, solver="cg").fit(graph, labels)
    assert (~loose.certified_).sum() > 0
    assert tight.certified_.all()
    changed = loose.labels_ != tight.labels_
    assert not (changed & loose.certified_).any()


def test_the_error_of_the_means_counts_in_a_centred_label(rng):
    # One node known exactly, all others wrong by up to `off`: its label hangs on the means.
    n, off = 20, 0.2
    exact = rng.dirichlet([1, 1], n)
    codes = np.full(n, -1)
    codes[:2] = [0, 1]
    exact[:2] = np.eye(2)
    exact[2] = exact.mean(axis=0) + np.array([0.04, -0.04])
    exact[2] = exact[2] / exact[2].sum()
    found = exact.copy()
    found[3:] = np.clip(exact[3:] + np.array([off, -off]), 0, 1)
    right = (exact[2] - exact.mean(axis=0)).argmax()
    nodes = np.full(n, off)
    nodes[:3] = 0.0
    certificate = Certificate(nodes, np.ones(2), np.ones(2), residual=off)
    verdict = judge(found, certificate, codes, decision="centered", tol=1e-6)
    assert verdict.codes[2] != right
    assert not verdict.certified[2]
    assert judge(found, certificate, codes, decision="plain", tol=1e-6).certified[2]


def test_the_bound_of_elimination_covers_every_rounding_of_its_cube_of_steps(rng):
    graph = random_graph(rng, 80, degree=6)
    solution = solve_dirichlet(graph, [0, 1], np.eye(2), solver=Elimination())
    n = int((~solution.unreached).sum()) - 2
    assert solution.certificate.bound >= 2 / 3 * n**3 * 2.0**-53


def test_elimination_is_proven_without_a_residual(rng):
    graph = random_graph(rng, 100, degree=6)
    solution = solve_dirichlet(graph, [0, 1], np.eye(2), solver=Elimination())
    error = np.abs(solution.temperatures - dense_temperatures(graph, [0, 1], np.eye(2)))
    assert np.nanmax(error) <= 1e-13 < solution.certificate.bound <= 1e-9
