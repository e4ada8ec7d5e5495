"""The warning that there are few labels: when it comes, what it says, and when it does not come."""

import warnings

import numpy as np
import pytest

from isotherm import BlockModel, DirichletClassifier, Graph, IsothermWarning
from isotherm.trust.few_labels import (
    can_be_told_from_chance,
    collapsed,
    lonely,
    no_better_than_chance,
)


def doubts_of(graph, labels, decision="centered", **how):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        DirichletClassifier(decision, **how).fit(graph, labels)
    found = [str(one.message) for one in caught if issubclass(one.category, IsothermWarning)]
    assert len(found) <= 1  # all in one
    return found[0] if found else ""


@pytest.fixture(scope="module")
def blocks():
    return BlockModel([60, 60], 0.25, 0.02).sample(np.random.default_rng(3))


def test_enough_good_labels_raise_no_doubt(blocks):
    graph, truth = blocks
    assert doubts_of(graph, np.where(np.arange(120) % 6 == 0, truth, -1)) == ""


def test_a_class_with_one_seed_is_named(blocks):
    graph, _ = blocks
    said = doubts_of(graph, {0: "a", 1: "a", 100: "b"})
    assert said.startswith("few labels: class 'b' has only one seed")
    assert "2 classes have only one seed each ('a', 'b')" in doubts_of(graph, {0: "a", 100: "b"})
    assert "5 classes have only one seed each (0, 1, 2, …)" in doubts_of(
        graph, {10 * k: k for k in range(5)}
    )


def test_a_plain_decision_that_gives_all_nodes_one_label_is_told():
    star = Graph.from_edges([0] * 9 + [1, 1, 2], [*range(1, 10), 2, 3, 3])
    labels = {0: "hub", 1: "leaf", 2: "leaf", 3: "hub"}
    said = doubts_of(star, labels)
    assert "all free nodes are warmest in class 'hub'" in said
    assert "would give" in said
    assert "try 'centered'" in doubts_of(star, labels, "plain")


def test_labels_that_the_graph_does_not_know_are_told(blocks):
    graph, _ = blocks
    labels = np.full(120, -1)
    labels[::4] = np.arange(30) // 2 % 2  # nothing to do with the blocks
    said = doubts_of(graph, labels)
    assert "no more than by chance" in said
    assert "of 30 seeds" in said


def test_seeds_too_few_to_tell_chance_are_not_left_out(blocks, monkeypatch):
    from isotherm.classifier import predictor

    def fail(*_, **__):
        raise AssertionError("seeds were left out")

    monkeypatch.setattr(predictor, "leave_sample_out", fail)
    graph, truth = blocks
    assert doubts_of(graph, {node: truth[node] for node in (0, 1, 2, 3, 100, 101, 102, 103)}) == ""
    with pytest.raises(AssertionError, match="left out"):
        doubts_of(graph, {node: truth[node] for node in (*range(5), *range(100, 105))})


def test_chance_is_told_from_ten_seeds_that_share_one_of_several_classes():
    assert can_be_told_from_chance(np.repeat([0, 1], 5))
    assert not can_be_told_from_chance(np.repeat([0, 1], [5, 4]))
    assert not can_be_told_from_chance(np.repeat([0, 1], [12, 1]))  # the other cannot be found
    assert not can_be_told_from_chance(np.arange(12))


def test_one_class_is_no_reason_for_doubt():
    assert doubts_of(Graph.from_edges([0, 1], [1, 2]), {0: "only"}) == ""


def test_a_large_problem_is_not_slowed_down(blocks, monkeypatch):
    from isotherm.classifier import diagnostics

    graph, _ = blocks
    labels = np.full(120, -1)
    labels[::4] = np.arange(30) // 2 % 2
    monkeypatch.setattr(diagnostics, "GUARDED", (63, 10))
    assert doubts_of(graph, labels) == ""
    assert "by chance" in doubts_of(graph, labels, "auto")  # which has left them out anyhow


def test_the_warning_points_at_the_caller(blocks):
    graph, _ = blocks
    with pytest.warns(IsothermWarning, match="few labels") as caught:
        DirichletClassifier().fit(graph, {0: "a", 100: "b"})
    assert caught[0].filename == __file__


def test_one_free_node_is_no_collapse():
    path = Graph.from_edges([0, 0, 1, 1], [1, 2, 2, 3])
    assert "warmest" not in doubts_of(path, {0: "a", 1: "b", 3: "b"})  # node 2 is as warm in both
    assert "warmest in class 'b'" in doubts_of(
        Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4]), {0: "a", 1: "b", 4: "b"}
    )


def test_each_doubt_alone():
    classes = np.array(["a", "b"])
    assert "class 'b' has" in lonely(np.array([0, 0, 1]), np.array([np.str_("b")] * 2, object))
    assert lonely(np.array([0, 0, 1, 1]), classes) is None
    assert collapsed(None, classes, "plain") is None
    assert "warmest in class 'b'" in collapsed(1, classes, "plain")
    half = np.arange(20) % 2
    assert no_better_than_chance(half, half) is None
    assert no_better_than_chance(half[:8], 1 - half[:8]) is None  # too few to tell
    assert "0 of 20" in no_better_than_chance(half, 1 - half)
    assert "0 of 20" in no_better_than_chance(half, np.full(20, -1))


def test_seeds_that_are_all_found_again_are_no_reason_for_doubt():
    only = np.zeros(23, dtype=int)
    assert no_better_than_chance(only, only) is None
