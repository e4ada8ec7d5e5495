"""Seeds left out, and explanations, say how far off they may be, and are right about it."""

import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from isotherm import DirichletClassifier, Graph
from isotherm.compiled import core
from isotherm.decision import DECISIONS, Means
from isotherm.graph import rows
from isotherm.trust import freed
from isotherm.trust.hot_seeds import solve_each_hot
from isotherm.trust.leave_one_out import LeftOut
from oracle import random_graph, random_seeds

pytestmark = pytest.mark.any_version


def pods(rng, weight, *, n_pods=40, size=6):
    """Cliques with one seed each, joined by weak links, and the labels of the seeds."""
    edges = []
    for pod in range(n_pods):
        first = size * pod
        edges += [(first + a, first + b, 1.0) for a in range(size) for b in range(a)]
        others = rng.choice(n_pods, 2, replace=False)
        links = [(first + 1, size * int(other) + 1, weight) for other in others if other != pod]
        edges += links
    labels = {size * pod: int(rng.random() < 0.5) for pod in range(n_pods)}
    return Graph.from_edges(*zip(*edges, strict=True)), labels


def without(labels, seed):
    return {node: label for node, label in labels.items() if node != seed}


@pytest.mark.parametrize("weight", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("confidence", [1.0, 0.9])
def test_across_weak_links_a_seed_left_out_is_what_fitting_again_makes_of_it(weight, confidence):
    graph, labels = pods(np.random.default_rng(0), weight)
    found = DirichletClassifier().fit(graph, labels, confidence).leave_one_out()
    assert found.error_bound.max() <= 1e-6
    for row, seed in list(enumerate(found.nodes.tolist()))[::8]:
        again = DirichletClassifier().fit(graph, without(labels, seed), confidence)
        (at,) = graph.positions([seed])
        error = np.abs(found.temperatures[row] - again.temperatures_[at]).max()
        assert error <= found.error_bound[row] + again.solution_.error_bound[at]
        if found.certified[row] and again.certified_[at]:
            assert found.labels[row] == again.labels_[at]


@pytest.mark.parametrize("room", [1, 60])
def test_seeds_freed_some_at_a_time_are_as_freed_at_once(rng, monkeypatch, room):
    graph = random_graph(rng, 60, degree=5)
    labels = random_seeds(rng, graph, 12, 3)
    sure = np.where(np.arange(60) % 2, 1.0, 0.7)
    monkeypatch.setattr(rows, "core", None)
    whole = DirichletClassifier(leak=0.05).fit(graph, labels, sure).leave_one_out()
    monkeypatch.setattr(freed, "ROOM", room)
    parts = DirichletClassifier(leak=0.05).fit(graph, labels, sure).leave_one_out()
    assert np.array_equal(parts.temperatures, whole.temperatures)
    assert np.array_equal(parts.error_bound, whole.error_bound)


@pytest.mark.skipif(core is None, reason="the core was not built")
@pytest.mark.parametrize("spread", [0, 1, 140])
@pytest.mark.parametrize("leak", [0.0, 0.1])
@pytest.mark.parametrize("kinds", list(product([np.float32, np.float64], repeat=2)))
def test_the_core_frees_seeds_as_numpy_does(rng, monkeypatch, spread, leak, kinds):
    graph = random_graph(rng, 150, degree=5, weighted=spread > 0, spread=spread)
    labels = random_seeds(rng, graph, 100, 4)
    sure = np.where(np.arange(graph.n_nodes) % 3, 1.0, 0.7)
    model = DirichletClassifier(leak=leak, tol=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numbers out of range
        model.fit(graph, labels, sure)
        places = np.arange(model.problem_.n_seeds)
        ((_, responses),) = solve_each_hot(model.session(), places, 1e-4)
    T, X = model.temperatures_.astype(kinds[0]), responses.temperatures.astype(kinds[1])
    given = (model.problem_, places, T, model.solution_.certificate.error_or_0,
             replace(responses, temperatures=X))  # fmt: skip
    fast = freed.free_each(*given)
    monkeypatch.setattr(rows, "core", None)
    for one, other in zip(fast, freed.free_each(*given), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-13)
    assert np.isfinite(fast.errors).any()


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("leak", [0.0, 0.1])
def test_a_certified_label_of_a_seed_left_out_is_that_of_fitting_again(decision, leak):
    rng = np.random.default_rng(4)
    certified = 0
    for _ in range(6):
        graph = random_graph(rng, 40, degree=4)
        labels = random_seeds(rng, graph, 9, 3)
        # Loose enough that not every label is certain.
        model = DirichletClassifier(decision, leak=leak, tol=0.02, solver="cg")
        found = model.fit(graph, labels).leave_one_out()
        for row, seed in enumerate(found.nodes.tolist()):
            if not found.certified[row]:
                continue
            fewer = labels.copy()
            fewer[seed] = -1
            if (fewer < 0).all():
                continue
            again = DirichletClassifier(decision, leak=leak, tol=1e-9).fit(graph, fewer)
            assert found.labels[row] == again.labels_[seed]
            certified += 1
    assert certified > 20


@pytest.mark.parametrize("confidence", [1e-300, 1e-30, 0.999999999999])
def test_ties_of_any_strength_can_be_cut(confidence):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], [1e-30, 1e-30, 1.0])
    sure = {0: confidence, 3: confidence}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of ties too weak to be proven
        found = DirichletClassifier().fit(graph, {0: "a", 3: "b"}, sure).leave_one_out()
    assert np.allclose(found.temperatures, [[0, 1], [1, 0]])


def test_a_tie_that_is_cut_takes_no_heat_where_heat_leaks():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    model = DirichletClassifier(leak=0.5, tol=1e-9)
    found = model.fit(graph, {0: "a", 1: "b"}, {0: 1.0, 1: 0.7}).leave_one_out()
    again = DirichletClassifier(leak=0.5, tol=1e-9).fit(graph, {0: "a"})
    assert np.allclose(found.temperatures[1, 0], again.temperatures_[1, 0], atol=1e-8)
    told = model.explain(1, without_own=True)
    assert np.isclose(told.classes["a"], again.temperatures_[1, 0], atol=1e-8)


def test_free_heat_however_little_counts_in_class_mass_normalisation():
    graph = Graph.from_edges([0, 0, 1, 1, 2, 3, 4], [1, 2, 2, 3, 3, 4, 5], [1, 1, 1, 1, 1, 1, 1e-8])
    labels = {0: "x", 3: "x", 5: "y", 4: "y"}
    found = DirichletClassifier("mass").fit(graph, labels).leave_one_out()
    again = DirichletClassifier("mass").fit(graph, without(labels, 4))
    row = found.nodes.tolist().index(4)
    assert again.certified_[4]
    assert found.labels[row] == again.labels_[4] == "y"


def test_a_label_left_out_is_certified_by_a_lead_beyond_the_errors_of_both_classes():
    even = np.full((3, 2), 0.5)
    left = LeftOut(
        places=np.arange(3),
        codes=np.array([0, 0, 1]),
        temperatures=np.array([[0.6, 0.4]] * 3),
        means=Means(even, even, even),
        errors=np.array([0.09, 0.11, np.nan]),
        mean_errors=Means(0 * even, 0 * even, 0 * even),
        is_last=np.zeros(3, dtype=bool),
        together=False,
    )
    assert left.labels("plain").tolist() == [0, 0, 0]
    assert left.certified("plain").tolist() == [True, False, False]


@pytest.mark.parametrize("confidence", [1e-20, 9.332636185032189e-302])
def test_a_mean_too_small_for_the_digits_of_the_others_certifies_nothing(confidence):
    """Class 0 has next to no heat without node 1, and by ratio both classes tie there."""
    path = Graph.from_edges([0, 1], [1, 2])
    model = DirichletClassifier("ratio", solver="cg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(path, {0: 1, 1: 0, 2: 0}, {0: 0.99, 1: 0.45156380303072197, 2: confidence})
    left = model.leave_one_out()
    assert left.certified[left.nodes.tolist().index(2)]
    assert not left.certified[left.nodes.tolist().index(1)]


@pytest.mark.parametrize("weight", [1e-3, 1e-15, 1e-18, 1e-30])
def test_shares_sum_to_one_across_links_however_weak(weight):
    graph = Graph.from_edges("aabb", "bsts", [1.0, weight, weight, weight])
    told = DirichletClassifier().fit(graph, {"s": 0, "t": 1}).explain("a")
    shares = [share for _, _, share in told.seeds]
    assert np.isclose(sum(shares), 1, atol=1e-12)
    # a and b are as good as one node, with two links to s and one to t.
    assert np.allclose(shares, [2 / 3, 1 / 3], atol=told.error_bound + weight)
    assert told.error_bound <= 1e-6


@pytest.mark.parametrize("leak", [0.0, 0.2])
def test_shares_are_those_of_the_temperatures_within_their_bound(rng, leak):
    for _ in range(10):
        graph = random_graph(rng, 30, degree=4)
        labels = random_seeds(rng, graph, 6, 3)
        model = DirichletClassifier(leak=leak, tol=1e-10).fit(graph, labels)
        for node in np.flatnonzero(model.status_ == "predicted")[:5].tolist():
            told = model.explain(node)
            shares = [told.classes[label] for label in model.classes_.tolist()]
            bound = 6 * told.error_bound + 1e-10
            assert np.abs(shares - model.temperatures_[node]).max() <= bound
            assert told.error_bound <= 1e-7
