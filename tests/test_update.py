"""DirichletClassifier.update: labels given, changed and withdrawn after a fit."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from isotherm import BlockModel, DirichletClassifier, Graph
from isotherm.decision import DECISIONS
from isotherm.errors import IsothermWarning, LabelError, UnknownNode
from oracle import random_graph, random_seeds


@pytest.fixture(autouse=True)
def few_labels():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsothermWarning)
        yield


def same(updated, fitted, tol):
    """Whether an updated model is one that was fitted with the same labels."""
    assert updated.classes_.tolist() == fitted.classes_.tolist()
    assert np.array_equal(updated.status_, fitted.status_)
    assert np.array_equal(np.isnan(updated.temperatures_), np.isnan(fitted.temperatures_))
    T = np.abs(updated.temperatures_ - fitted.temperatures_)
    assert np.nanmax(T, initial=0.0) <= 2 * tol
    both = updated.certified_ & fitted.certified_
    assert (updated.labels_ == fitted.labels_)[both].all()
    assert np.array_equal(updated.seeds_.nodes, fitted.seeds_.nodes)
    assert np.array_equal(updated.seeds_.codes, fitted.seeds_.codes)
    assert updated.mean_temperatures_ == pytest.approx(fitted.mean_temperatures_, abs=4 * tol)


@pytest.mark.parametrize("decision", DECISIONS)
def test_an_update_is_fitting_again(decision, rng):
    how = {"decision": decision, "tol": 1e-7}
    for leak in (0.0, 0.2):
        graph = random_graph(rng, 50, degree=4)
        known = random_seeds(rng, graph, 10, 3)
        labels = {i: int(known[i]) for i in np.flatnonzero(known >= 0).tolist()}
        model = DirichletClassifier(leak=leak, **how).fit(graph, labels)
        for changes in (
            {1: 0, 2: 2},
            {min(labels): None, 2: 1},
            {1: 3, max(labels): 0},  # a new class
            {1: None, 2: None},  # gone again
        ):
            model.update(changes)
            labels = {i: y for i, y in (labels | changes).items() if y is not None}
            fitted = DirichletClassifier(leak=leak, **how).fit(graph, labels)
            tol = max(m.solution_.certificate.bound for m in (model, fitted))
            same(model, fitted, max(tol, 1e-7))


def test_a_class_may_come_first_or_vanish():
    path = Graph.from_edges("abcdef", "bcdefg")
    model = DirichletClassifier().fit(path, {"a": "m", "g": "z"})
    model.update({"d": "a"})
    same(model, DirichletClassifier().fit(path, {"a": "m", "g": "z", "d": "a"}), 1e-6)
    model.update({"g": None})
    same(model, DirichletClassifier().fit(path, {"a": "m", "d": "a"}), 1e-6)
    model.update({"a": "z"})
    same(model, DirichletClassifier().fit(path, {"a": "z", "d": "a"}), 1e-6)


@pytest.mark.parametrize("node", [3, 5])
def test_a_new_class_does_not_reach_nodes_without_a_seed(node):
    """Of a node without edges, or of one with: the others of no class keep theirs, none."""
    graph = Graph.from_edges([1], [5], nodes=range(8))
    labels = {1: 1, 6: 2}
    model = DirichletClassifier().fit(graph, labels).update({}).update({node: 0})
    same(model, DirichletClassifier().fit(graph, labels | {node: 0}), 1e-6)
    assert (model.labels_[[0, 2, 4, 7]] == -1).all()


def test_labels_withdrawn_and_given_again_bring_back_the_certified_labels(rng):
    graph, truth = BlockModel([80, 60, 40], 0.15, 0.03).sample(rng)
    known = np.where(rng.random(180) < 0.2, truth, -1)
    model = DirichletClassifier().fit(graph, known)
    labels, certified = model.labels_.copy(), model.certified_.copy()
    some = np.flatnonzero(known >= 0)[:6].tolist()
    for node in some:
        model.update({node: None})
    assert model.seeds_.nodes.tolist() == np.flatnonzero(known >= 0)[6:].tolist()
    model.update({node: truth[node] for node in some})
    assert np.array_equal(model.labels_[certified], labels[certified])
    assert np.array_equal(model.certified_, certified)


def test_a_label_that_was_not_certain_becomes_so(rng):
    graph = random_graph(rng, 40, degree=5)
    labels = {0: "x", 9: "y", 20: "x"}
    model = DirichletClassifier(tol=1e-8).fit(graph, labels, {20: 0.3})
    model.update({20: "y", 5: "x"})
    fitted = DirichletClassifier(tol=1e-8).fit(graph, {0: "x", 9: "y", 20: "y", 5: "x"})
    same(model, fitted, 1e-8)
    model = DirichletClassifier(tol=1e-8).fit(graph, labels, {20: 0.3}).update({9: None, 3: "y"})
    same(
        model, DirichletClassifier(tol=1e-8).fit(graph, {0: "x", 3: "y", 20: "x"}, {20: 0.3}), 1e-8
    )


def test_what_follows_an_update_is_what_follows_a_fit(rng):
    graph, truth = BlockModel([40, 40], 0.25, 0.04).sample(rng)
    known = {i: int(truth[i]) for i in range(0, 80, 6)}
    model = DirichletClassifier(tol=1e-8).fit(graph, known)
    model.update({1: int(truth[1]), 0: None})
    del known[0]
    fitted = DirichletClassifier(tol=1e-8).fit(graph, known | {1: int(truth[1])})
    left, again = model.leave_one_out(), fitted.leave_one_out()
    assert left.temperatures == pytest.approx(again.temperatures, abs=1e-7)
    assert model.predict_proba() == pytest.approx(fitted.predict_proba(), abs=1e-3)
    assert model.explain(30).classes == pytest.approx(fitted.explain(30).classes, abs=1e-7)
    assert [one.node for one in model.suggest(3)] == [one.node for one in fitted.suggest(3)]


def test_updates_go_on_after_questions_in_between():
    path = Graph.from_edges("abcdefgh", "bcdefghi")
    known = {"a": "left", "i": "right"}
    updated = DirichletClassifier().fit(path, known)
    for node, label in (("e", "left"), ("g", "new"), ("e", None)):
        known = known | {node: label}
        updated.update({node: label})
        updated.explain("c")  # which makes the changed problem ready
        updated.suggest(2)
        fitted = DirichletClassifier().fit(path, {k: v for k, v in known.items() if v})
        same(updated, fitted, 1e-6)


def test_a_copy_is_updated_like_the_original(rng):
    graph, truth = BlockModel([40, 40], 0.25, 0.04).sample(rng)
    known = {i: int(truth[i]) for i in range(0, 80, 6)}
    model = DirichletClassifier().fit(graph, known)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert copy.update({1: 0}).temperatures_ == pytest.approx(
        model.update({1: 0}).temperatures_, abs=2e-6
    )


def test_unknown_labels_withdraw_and_no_labels_change_nothing():
    path = Graph.from_edges("abcd", "bcde")
    model = DirichletClassifier().fit(path, {"a": 0, "e": 1, "c": 1})
    assert model.update({}) is model
    assert model.update({"c": -1}).seeds_.nodes.tolist() == [0, 4]
    assert model.update({"b": None}).seeds_.nodes.tolist() == [0, 4]


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ({"q": 0}, UnknownNode, "not in the graph: 'q'"),
        ({"a": None, "e": None}, LabelError, "no seed would be left"),
        ({"b": {"x": 1}}, LabelError, "hashable"),
        (None, LabelError, "takes labels as"),
        ([0, 1], LabelError, "takes labels as"),
    ],
)
def test_an_update_that_cannot_be_is_refused_and_nothing_changed(labels, error, message):
    path = Graph.from_edges("abcd", "bcde")
    model = DirichletClassifier().fit(path, {"a": 0, "e": 1})
    before = model.temperatures_.copy()
    with pytest.raises(error, match=message):
        model.update(labels)
    assert np.array_equal(model.temperatures_, before)
    assert model.seeds_.nodes.tolist() == [0, 4]


def test_a_model_that_is_not_fitted_has_nothing_to_update():
    with pytest.raises(NotFittedError):
        DirichletClassifier().update({0: 1})


@pytest.mark.parametrize("engine", ["auto", "scipy"])
def test_a_label_that_was_not_certain_can_be_withdrawn_changed_and_made_certain(engine, rng):
    graph = random_graph(rng, 30, 6.0)
    labels = {i: "ab"[i % 2] for i in range(0, 24, 3)}
    sure = dict.fromkeys(labels, 1.0) | {3: 0.5, 9: 0.2}
    model = DirichletClassifier(engine=engine, tol=1e-7).fit(graph, labels, sure)
    for node, label in [(3, None), (9, "a"), (9, None), (12, None)]:
        model.update({node: label})
        labels, sure = dict(labels), dict(sure)
        labels.pop(node), sure.pop(node)
        if label is not None:
            labels[node], sure[node] = label, 1.0
        same(model, DirichletClassifier(engine=engine, tol=1e-7).fit(graph, labels, sure), 1e-7)
        left = model.leave_one_out()
        assert len(left.labels) == len(labels)


def test_the_last_label_cannot_be_withdrawn_even_if_it_was_not_certain():
    path = Graph.from_edges("abc", "bcd")
    model = DirichletClassifier().fit(path, {"a": "x", "d": "y"}, {"a": 0.5, "d": 0.5})
    with pytest.raises(LabelError, match="no seed would be left"):
        model.update({"a": None, "d": None})
    assert model.update({"a": None}).classes_.tolist() == ["y"]
