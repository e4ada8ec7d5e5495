"""Probabilities against how often labels are right."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime

from isotherm import BlockModel, DirichletClassifier, Graph
from isotherm.trust import calibrate as module
from isotherm.trust import sample
from isotherm.trust.calibrate import Calibration, calibrate, calibration_error, reliability
from isotherm.trust.leave_one_out import leave_one_out, leave_some_out
from isotherm.trust.sample import Budget, leave_sample_out


def drawn(rng, m, K=3):
    """Scores and classes drawn with the probabilities that a map gives them."""
    true = Calibration(2.0, 0.7, np.array([3.0, 2.0, 2.5])[:K], np.array([0.3, -0.2, 0.0])[:K], 0)
    S = rng.standard_cauchy((m, K))
    P = true(S)
    return true, S, (P.cumsum(axis=1) < rng.random((m, 1))).sum(axis=1)


def test_the_map_that_made_the_classes_is_found_again(rng):
    true, S, codes = drawn(rng, 20_000)
    found = calibrate(S, codes, 2.0)
    assert np.abs(found(S) - true(S)).mean() < 0.01
    assert found.n_judged == 20_000


def test_few_seeds_leave_the_classes_alike_and_many_do_not(rng):
    _, S, codes = drawn(rng, 5_000)
    apart = [np.ptp(np.log(calibrate(S[:m], codes[:m], 2.0).scales)) for m in (10, 5_000)]
    assert apart[0] < 0.2 < 0.3 < apart[1]  # log 1.5 is the truth


def test_no_seed_leaves_the_prior():
    found = calibrate(np.zeros((0, 3)), np.zeros(0, dtype=int), 0.5)
    assert (found.bend, found.scales.tolist(), found.offsets.tolist()) == (1, [1] * 3, [0] * 3)


def test_it_is_the_top_of_the_posterior(rng, monkeypatch):
    seen = {}

    def remember(loss, start, **how):
        seen["loss"] = loss
        seen["at"] = seen["minimum"](loss, start, **how)
        return seen["at"]

    seen["minimum"] = module.minimum
    monkeypatch.setattr(module, "minimum", remember)
    _, S, codes = drawn(rng, 200)
    calibrate(S, codes, 1.0)
    theta = rng.normal(size=9)
    numeric = approx_fprime(theta, lambda t: seen["loss"](t)[0], 1e-6)
    assert np.allclose(seen["loss"](theta)[1], numeric, rtol=1e-3, atol=1e-3)
    assert np.abs(seen["loss"](seen["at"])[1]).max() < 0.001


def test_huge_scores_are_no_trouble():
    found = calibrate(np.array([[1e200, -1e200], [0, 1.0]]), np.array([0, 1]), 1e-3)
    assert np.isfinite(found(np.array([[1e300, -1e300], [0, 0]]))).all()


def test_the_calibration_error_is_what_it_says():
    said = np.array([0.95] * 10 + [0.55] * 10)
    right = np.array([True] * 9 + [False] + [True] * 3 + [False] * 7)
    assert calibration_error(said, right, bins=10) == pytest.approx((0.05 + 0.25) / 2)
    assert [each.n_labels for each in reliability(said, right, 10)] == [10, 10]
    assert calibration_error(np.array([1.0]), np.array([True])) == 0


def test_probabilities_of_a_block_model_mean_what_they_say():
    graph, truth = BlockModel([700, 500, 800], 0.012, 0.003).sample(np.random.default_rng(1))
    known = np.full(2000, -1)
    known[:: 2000 // 160] = truth[:: 2000 // 160]
    model = DirichletClassifier(tol=1e-5).fit(graph, known)
    free = model.status_ == "predicted"
    P = model.certainty(slice(None))[free]
    error = calibration_error(P, (model.labels_ == truth)[free])
    assert error < 0.06
    assert error < calibration_error(np.full(free.sum(), 0.99), (model.labels_ == truth)[free])


def test_seeds_left_out_together_are_a_fit_without_them(rng):
    graph, truth = BlockModel([60, 60], 0.2, 0.05).sample(rng)
    known = np.full(120, -1)
    known[::4] = truth[::4]
    model = DirichletClassifier("partial", tol=1e-9).fit(graph, known)
    some = np.array([2, 9, 20])
    session = model.session()
    left = leave_some_out(session, model.solution_, model.seeds_.codes, some, tol=1e-9)
    nodes = model.seeds_.nodes[some]
    without = known.copy()
    without[nodes] = -1
    again = DirichletClassifier("partial", tol=1e-9).fit(graph, without)
    assert np.allclose(left.temperatures, again.temperatures_[nodes])
    for decision in ("partial", "mass", "centered"):
        again = DirichletClassifier(decision, tol=1e-9).fit(graph, without)
        assert np.allclose(left.scores(decision), again.scores_[nodes])


def test_a_large_graph_is_sampled_at_a_bounded_price(rng, monkeypatch):
    graph, truth = BlockModel([150, 150], 0.1, 0.02).sample(rng)
    model = DirichletClassifier().fit(graph, np.where(np.arange(300) % 3 == 0, truth, -1))
    given = (model.session(), model.solution_, model.seeds_.codes)
    how = {"tol": 1e-6, "abstain": True}
    whole = leave_one_out(*given, **how)
    enough = leave_sample_out(*given, **how)
    assert np.array_equal(enough.places, whole.places)
    few = leave_sample_out(*given, budget=Budget(large=10, work=0), **how)
    assert len(few.places) == sample.FEW_SEEDS
    assert np.allclose(few.temperatures, whole.temperatures[few.places])
    monkeypatch.setattr(sample, "FEW_SEEDS", 8)
    together = leave_sample_out(*given, budget=Budget(large=10, work=0), **how)
    assert len(together.places) == 10
    assert np.allclose(
        together.temperatures,
        leave_some_out(*given, together.places, **how).temperatures,
        atol=sample.TOGETHER_TOL,
    )


def test_a_component_keeps_a_seed_when_some_are_left_out_together(monkeypatch):
    monkeypatch.setattr(sample, "FEW_SEEDS", 1)
    monkeypatch.setattr(sample, "TOGETHER", 0.2)
    graph = Graph.from_edges(range(0, 40, 2), range(1, 40, 2))  # pairs
    labels = dict.fromkeys(range(10), 0) | {20: 1, 21: 1, 22: 0}
    model = DirichletClassifier().fit(graph, labels)
    left = leave_sample_out(
        model.session(),
        model.solution_,
        model.seeds_.codes,
        abstain=True,
        budget=Budget(large=0, work=0),
        tol=1e-6,
    )
    assert len(left.places) > 1
    assert left.reached.all()
    assert not left.is_last.any()


@pytest.mark.parametrize("unreached", ["abstain", "zero"])
def test_the_probability_of_a_label_is_the_one_among_all(rng, unreached):
    graph, truth = BlockModel([40, 30], 0.3, 0.05).sample(rng)
    apart = Graph.from_matrix(sparse.block_diag([graph.adjacency, np.ones((3, 3))]))
    known = {i: int(truth[i]) for i in range(0, 70, 5)} | {1: {0: 0.6, 1: 0.4}}
    model = DirichletClassifier(unreached=unreached).fit(apart, known, {2: 0.5})
    P, codes = model.predict_proba(), model.codes(slice(None))[0]
    found = np.concatenate([model.certainty(slice(0, 30)), model.certainty(slice(30, 73))])
    assert np.array_equal(np.isnan(found), codes < 0)
    has = codes >= 0
    assert np.array_equal(found[has], P[np.arange(73), codes][has])
