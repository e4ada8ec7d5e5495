"""Decisions are pure functions of temperatures and means."""

import numpy as np
import pytest

from isotherm import DirichletClassifier, Graph
from isotherm.decision import DECISIONS, Means, score_errors, scores
from isotherm.errors import ParameterError
from oracle import dense_temperatures, one_hot, random_graph, random_seeds

T = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
MEANS = Means(
    all=np.array([0.5, 0.3, 0.2]),
    free=np.array([0.4, 0.35, 0.25]),
    seed_share=np.array([0.5, 0.25, 0.25]),
)

FORMULAS = {
    "plain": T,
    "centered": T - MEANS.all,
    "partial": T - MEANS.free,
    "mass": T * MEANS.seed_share / MEANS.free,
    "standard": (T - MEANS.all) / np.sqrt(MEANS.all * (1 - MEANS.all)),
    "ratio": T / MEANS.all,
}


@pytest.mark.parametrize("decision", DECISIONS)
def test_scores_follow_the_formula(decision):
    assert np.allclose(scores(T, MEANS, decision), FORMULAS[decision], rtol=1e-15)


def test_every_decision_has_a_formula_in_this_file():
    assert set(FORMULAS) == set(DECISIONS)


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_class_without_heat_is_never_divided_by_zero(decision):
    means = Means(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    found = scores(np.array([[1.0, 0.0]]), means, decision)
    assert np.isfinite(found).all()
    errors = score_errors(means, zeros(2), decision)(found, np.zeros((1, 2)))
    assert np.isfinite(errors).all()


def zeros(n):
    return Means(np.zeros(n), np.zeros(n), np.zeros(n))


@pytest.mark.parametrize("decision", DECISIONS)
def test_score_errors_bound_what_errors_of_temperatures_and_means_can_do(decision, rng):
    for size in (1e-9, 1e-3, 0.05):
        errors = rng.uniform(0, size, T.shape)
        mean_errors = Means(rng.uniform(0, size, 3), rng.uniform(0, size, 3), np.zeros(3))
        bound = score_errors(MEANS, mean_errors, decision)(scores(T, MEANS, decision), errors)
        largest = np.zeros_like(T)
        for _ in range(2000):
            sign = rng.choice([-1, 0, 1], (3, *T.shape))
            true = Means(
                MEANS.all + sign[1, 0] * mean_errors.all,
                MEANS.free + sign[2, 0] * mean_errors.free,
                MEANS.seed_share,
            )
            moved = scores(T + sign[0] * errors, true, decision)
            largest = np.maximum(largest, np.abs(moved - scores(T, MEANS, decision)))
        assert (largest <= bound).all()
        assert (bound <= 3 * largest + 1e-13).all()  # and it is not much larger


def test_the_error_of_standard_scores_covers_the_turn_at_one_half():
    means = Means(np.array([0.49, 0.51]), np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    errors = Means(np.array([0.05, 0.05]), np.zeros(2), np.zeros(2))
    point = np.array([[0.9, 0.1]])
    found = scores(point, means, "standard")
    bound = score_errors(means, errors, "standard")(found, np.zeros((1, 2)))
    for shift in np.linspace(-0.05, 0.05, 101):
        true = Means(means.all + shift, means.free, means.seed_share)
        moved = scores(point, true, "standard") - scores(point, means, "standard")
        assert (np.abs(moved) <= bound).all()


def test_a_scale_that_may_be_zero_proves_nothing():
    errors = Means(np.full(3, 0.6), np.zeros(3), np.zeros(3))
    assert np.isinf(score_errors(MEANS, errors, "ratio")(T, 0 * T)).all()


@pytest.mark.parametrize("name", ["best", None, 3])
def test_an_unknown_decision_is_told_which_exist(name):
    known = "'centered', 'plain', 'partial', 'mass', 'standard', 'ratio'"
    with pytest.raises(ParameterError, match=f"unknown decision {name!r}; choose one of: {known}"):
        scores(T, MEANS, name)


def test_threshold_at_the_mean_and_argmax_of_two_classes_agree(rng):
    # Equation (5): one Dirichlet problem, label 1 where T > T̄. Against Algorithm 1 for K = 2.
    for _ in range(100):
        graph = random_graph(rng, 40, degree=3)
        labels = random_seeds(rng, graph, 6, 2)
        seeds, values = one_hot(labels)
        if values.shape[1] < 2:
            continue
        warm = dense_temperatures(graph, seeds, values[:, 1])[:, 0]
        expected = (warm > np.nanmean(warm)).astype(int)
        classifier = DirichletClassifier().fit(graph, labels)
        sure = (classifier.status_ == "predicted") & (np.abs(warm - np.nanmean(warm)) > 1e-12)
        assert np.array_equal(classifier.labels_[sure], expected[sure])


def test_a_scale_that_may_be_0_as_far_as_is_known_is_not_divided_by():
    free = np.array([0.5, 1e-17])
    known = Means(free, free, np.array([0.5, 0.5]), errors=zeros(2))
    wide = Means(free / 2, 2 * free, np.zeros(2))
    rough = Means(free, free, np.array([0.5, 0.5]), errors=wide)
    assert scores(np.array([[1.0, 1e-17]]), known, "mass")[0, 1] == 0.5
    assert scores(np.array([[1.0, 1e-17]]), rough, "mass")[0].tolist() == [1.0, 1e-17]
    assert scores(np.array([[1.0, 1e-17]]), known, "ratio")[0, 1] == 1.0


def after_a_warm_start(edges, first, labels, new):
    """The label of a new node after a warm start on SciPy, and after a cold fit."""
    graph = Graph.from_edges(*zip(*edges, strict=True), nodes=range(8))
    warm = DirichletClassifier("mass", warm_start=True, solver="cg", engine="scipy")
    warm.fit(graph, first).fit(graph, labels)
    cold = DirichletClassifier("mass").fit(graph, labels)
    return warm.predict(new)[0], cold.predict(new)[0]


def test_a_rounding_in_a_class_without_heat_gives_no_new_node_its_label():
    # The seeds of b are in a component of their own; the warm start leaves 5e-17 elsewhere.
    for draw in range(20):
        rng = np.random.default_rng(draw)
        edges = [(int(a), int(b)) for a, b in rng.integers(0, 6, (6, 2)) if a != b] + [(6, 7)]
        one, two, three, four, *_ = rng.permutation(6).tolist()
        new = np.zeros((1, 8))
        new[0, [one, two, 6]] = 60, 30, 1
        labels = {one: "a", two: "c", 6: "b", 7: "b"}
        warm, cold = after_a_warm_start(edges, {three: "a", four: "b", one: "c"}, labels, new)
        assert warm == cold


def test_tied_classes_of_a_new_node_are_told_apart_by_no_rounding():
    edges = [(3, 4), (0, 3), (0, 3), (0, 2), (1, 0), (4, 2), (6, 7)]
    new = np.zeros((1, 8))
    new[0, [4, 1, 6]] = 60, 30, 1
    first, labels = {5: "a", 2: "b", 4: "c"}, {4: "a", 1: "c", 6: "b", 7: "b"}
    assert after_a_warm_start(edges, first, labels, new) == ("a", "a")


def test_a_decision_that_the_core_does_not_know_is_applied_without_it(monkeypatch):
    graph, labels = random_graph(np.random.default_rng(0), 40, degree=4), {0: "a", 1: "b", 2: "a"}
    monkeypatch.setitem(DECISIONS, "twice", lambda means: (2 * means.all, 0 * means.all + 1))
    found = DirichletClassifier("twice").fit(graph, labels)
    plain = DirichletClassifier("plain").fit(graph, labels)
    expected = (plain.scores_ - 2 * plain.mean_temperatures_).argmax(axis=1)
    free = found.status_ == "predicted"
    assert np.array_equal(found.labels_[free], found.classes_[expected[free]])
    assert found.certified_[free].any()
