"""`isotherm evaluate`: what a draw is scored by, and who is compared."""

import numpy as np
import pytest

from isotherm import BlockModel, DirichletClassifier, Graph
from isotherm.decision import DECISIONS
from isotherm.experiments.evaluate import COLUMNS, evaluate
from isotherm.experiments.hold_out import draw_seeds, macro_f1, predictions, temperatures_of
from isotherm.experiments.models import make_models
from isotherm.experiments.peers import PEERS, Peer
from isotherm.graph.keys import node_keys, salted
from isotherm.graph.nodes import NodeIndex
from oracle import random_graph


def test_f1_is_averaged_over_the_true_classes():
    truth = np.array([0, 0, 0, 1, 1, 2])
    found = np.array([0, 0, 1, 1, 1, 0])
    # class 0: 2 right of 3 found and 3 true; class 1: 2 of 3 and 2; class 2: none
    assert macro_f1(truth, found) == pytest.approx((2 / 3 + 4 / 5 + 0) / 3)


def test_an_abstention_is_a_wrong_answer_but_no_class():
    truth, found = np.array([0, 0, 1, 1]), np.array([0, -1, 1, 1])
    assert macro_f1(truth, found) == pytest.approx((2 / 3 + 1) / 2)


def test_seeds_are_drawn_among_known_labels():
    labels = np.where(np.arange(100) < 40, np.arange(100) % 3, -1)
    seeds = draw_seeds(labels, 0.2, node_keys(NodeIndex(100)))
    assert len(set(seeds.tolist())) == 20
    assert (labels[seeds] >= 0).all()


def test_seeds_that_leave_nothing_to_score_are_refused():
    with pytest.raises(ValueError, match="leave none to score"):
        draw_seeds(np.array([0, 1, -1, -1]), 0.5, node_keys(NodeIndex(4)))


def test_each_decision_labels_as_the_classifier_does(rng):
    graph = random_graph(rng, 300, degree=2)  # with nodes out of reach
    labels = rng.integers(0, 4, 300)
    seeds = draw_seeds(labels, 0.1, node_keys(graph.nodes))
    given = np.full(300, -1)
    given[seeds] = labels[seeds]
    solution, classes = temperatures_of(graph, labels, seeds)
    assert solution.unreached.any()
    found = dict(predictions(solution, classes, labels, seeds, decisions=DECISIONS))
    assert list(found) == list(DECISIONS)
    for decision, predicted in found.items():
        model = DirichletClassifier(decision).fit(graph, given)
        np.testing.assert_array_equal(predicted, model.labels_)


def test_evaluation_gives_a_row_for_each_share_repeat_and_model(rng):
    graph, labels = BlockModel([60, 40], 0.3, 0.05).sample(rng)
    rows = evaluate(graph, labels, [0.1, 0.2], repeats=2)
    models = list(make_models())
    assert [row["model"] for row in rows] == 4 * models
    more = evaluate(graph, labels, [0.1], repeats=1, decisions=True, against=["spreading"])
    others = [decision for decision in DECISIONS if decision != "centered"]
    assert [row["model"] for row in more] == [*models, *others, "spreading"]
    for row in (*rows, *more):
        assert set(COLUMNS) <= set(row)
        assert 0 <= row["macro_f1"] <= 1
        assert row["answered"] >= row["accuracy"]
        assert row["converged"]
        assert not row["failure"]


def test_progress_goes_from_nothing_to_all_at_each_share(rng):
    graph, labels = BlockModel([60, 40], 0.3, 0.05).sample(rng)
    told = []
    evaluate(graph, labels, [0.1, 0.2], repeats=2, progress=lambda *now: told.append(now))
    total = 2 * len(make_models())
    assert told == [
        (f"{share} % seeds", done, total) for share in (10, 20) for done in range(total + 1)
    ]


def test_models_are_scored_as_a_fit_of_ones_own_would_be(rng):
    graph, labels = BlockModel([60, 40], 0.3, 0.05).sample(rng)
    rows = evaluate(graph, labels, [0.3], repeats=1, decisions=True)
    seeds = draw_seeds(labels, 0.3, salted(node_keys(graph.nodes), "seeds 300000000 0"))
    known = np.full(100, -1)
    known[seeds] = labels[seeds]
    free = known < 0
    by_hand = {"paper": DirichletClassifier(), "auto": DirichletClassifier("auto", leak="auto")}
    by_hand["ratio"] = DirichletClassifier("ratio")
    for name, model in by_hand.items():
        (row,) = (row for row in rows if row["model"] == name)
        found = model.fit(graph, known).labels_
        assert row["macro_f1"] == macro_f1(labels[free], found[free])
        assert row["accuracy"] == np.mean(found[free] == labels[free])


def test_what_is_not_reached_counts_as_wrong_and_as_not_answered():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4])
    rows = evaluate(graph, np.array([0, 0, 0, 1, 1]), [0.2], repeats=1)
    (row,) = (row for row in rows if row["model"] == "paper")
    assert row["answered"] == row["accuracy"] in (0.25, 0.5)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("n_classes", [1, 2, 10])
def test_few_seeds_and_odd_classes_are_no_error(share, n_classes):
    ring = Graph.from_edges(range(10), [*range(1, 10), 0])
    labels = np.arange(10) % n_classes
    rows = evaluate(ring, labels, [share], repeats=2, decisions=True, against=["all"])
    assert {row["model"] for row in rows} >= {*make_models(), "plain", "spreading"}


def test_a_peer_that_fails_scores_nothing_and_ends_nothing(rng, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("oh")

    monkeypatch.setitem(PEERS, "poisson", Peer("poisson", "", "numpy", "numpy", fail))
    graph, labels = BlockModel([60, 40], 0.3, 0.05).sample(rng)
    rows = evaluate(graph, labels, [0.1], repeats=2, against=["poisson", "spreading"])
    failed = [row for row in rows if row["model"] == "poisson"]
    assert [row["failure"] for row in failed] == 2 * [
        "poisson gave no answer: ZeroDivisionError: oh"
    ]
    assert {(row["macro_f1"], row["accuracy"], row["answered"]) for row in failed} == {(0, 0, 0)}
    assert all(row["macro_f1"] > 0 for row in rows if row["model"] == "spreading")
