"""The accuracy expected of free nodes, against the truth, for seeds of all kinds."""

import numpy as np
import pytest

from isotherm import BlockModel, DirichletClassifier, Graph
from isotherm.trust.expected import Labelled, expect


def labelled(probability, degree=1.0):
    p = np.asarray(probability, dtype=np.float64)
    return Labelled(p, np.broadcast_to(np.float64(degree), p.shape))


def test_seeds_like_free_nodes_count_alike(rng):
    p = rng.uniform(0.5, 1, 400)
    found = expect(labelled(p), labelled(p), rng.random(400) < p)
    assert np.allclose(found.weights, 1)
    assert found.accuracy.low < p.mean() < found.accuracy.high


def test_seeds_in_doubt_are_weighted_down(rng):
    seeds = np.where(np.arange(300) < 200, 0.5, 0.98)
    free = np.where(np.arange(3000) < 300, 0.5, 0.98)
    right = rng.random(300) < seeds
    found = expect(labelled(free), labelled(seeds), right)
    assert found.weights[0] < 1 < found.weights[-1]
    assert found.weights.mean() == pytest.approx(1)
    assert right.mean() < 0.8 < found.accuracy.low < free.mean() < found.accuracy.high


def test_clear_cases_do_not_flatter(rng):
    seeds = np.where(np.arange(300) < 30, 0.5, 0.98)
    free = np.where(np.arange(3000) < 1500, 0.5, 0.98)
    right = rng.random(300) < seeds
    found = expect(labelled(free), labelled(seeds), right).accuracy
    assert found.low < free.mean() < found.high < right.mean()


def test_probabilities_that_promise_too_much_are_corrected(rng):
    said, true = np.full(500, 0.95), 0.7
    found = expect(labelled(said), labelled(said), rng.random(500) < true).accuracy
    assert found.low < true < found.high < 0.95


def test_what_moved_the_estimate_makes_the_interval_wider(rng):
    right = rng.random(200) < 0.7
    alike = expect(labelled(np.full(900, 0.7)), labelled(np.full(200, 0.7)), right).accuracy
    moved = expect(labelled(np.full(900, 0.9)), labelled(np.full(200, 0.7)), right).accuracy
    assert moved.high - moved.value > moved.value - moved.low
    assert moved.value > alike.value


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_the_unit_of_weights_does_not_matter(rng, scale):
    p, degree = rng.uniform(0.5, 1, 100), rng.uniform(1, 9, 100)
    right = rng.random(100) < p
    ours, theirs = (
        expect(Labelled(p, degree * unit), Labelled(p[::2], degree[::2] * unit), right[::2])
        for unit in (1.0, scale)
    )
    assert np.allclose(ours.accuracy, theirs.accuracy)


def test_nothing_to_judge_by_is_no_number():
    nothing = labelled([])
    for free, seeds in ((nothing, labelled([0.5])), (labelled([0.5]), nothing)):
        found = expect(free, seeds, np.ones(len(seeds.degree), dtype=bool)).accuracy
        assert np.isnan(found.value)
        assert (found.low, found.high) == (0.0, 1.0)


def test_when_all_is_labelled_nothing_is_expected():
    graph, truth = BlockModel([20, 20], 0.5, 0.05).sample(np.random.default_rng(0))
    assert np.isnan(DirichletClassifier().fit(graph, truth).expected_accuracy().value)


def test_seeds_out_of_reach_do_not_count():
    graph, truth = BlockModel([40, 40], 0.3, 0.02).sample(np.random.default_rng(1))
    edges = np.transpose(np.nonzero(np.triu(graph.adjacency.toarray())))
    known = {i: int(truth[i]) for i in range(0, 80, 5)}
    alone = {100: 0, 102: 1}  # each the only seed of its pair
    more = Graph.from_edges(*np.vstack([edges, [[100, 101], [102, 103]]]).T)
    beside = DirichletClassifier().fit(more, known | alone)
    assert beside.leave_one_out().n_lost == 2
    assert beside.expected_accuracy().value > beside.leave_one_out().accuracy.value + 0.05


def test_suggested_seeds_do_not_mislead():
    covered = missed = 0
    for draw in range(8):
        rng = np.random.default_rng(draw)
        graph, truth = BlockModel([300, 200, 100], p=0.06, q=0.006).sample(rng)
        known = {int(rng.choice(np.flatnonzero(truth == k))): k for k in range(3)}
        for _ in range(6):
            model = DirichletClassifier(tol=1e-4).fit(graph, known)
            known |= {one.node: int(truth[one.node]) for one in model.suggest(6)}
        model = DirichletClassifier(tol=1e-4).fit(graph, known)
        free = np.isin(model.status_, ["predicted", "tie"])
        right = np.mean(model.labels_[free] == truth[free])
        ours, theirs = model.expected_accuracy(), model.leave_one_out().accuracy
        covered += ours.low <= right <= ours.high
        missed += not theirs.low <= right <= theirs.high
        assert abs(ours.value - right) < 0.1
    assert covered >= 7
    assert missed >= 2  # what leave-one-out says is about the seeds
