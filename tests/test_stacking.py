"""Several flows combined: labels, probabilities, left-out seeds, bad input."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from isotherm import (
    BlockModel,
    DirichletClassifier,
    Graph,
    IsothermWarning,
    ParameterError,
    StackedDirichletClassifier,
)
from isotherm.graph.keys import node_keys
from isotherm.graph.nodes import NodeIndex
from isotherm.report.model_lines import model_lines
from isotherm.stacking.combination import lead
from isotherm.stacking.embedding import embed, fits
from isotherm.stacking.flows import damped, log_ratios
from isotherm.stacking.left_out import plan
from isotherm.stacking.model import Stack, fit_stack
from isotherm.stacking.surroundings import Surroundings


@pytest.fixture(scope="module")
def blocks():
    graph, truth = BlockModel([120, 90, 60], p=0.08, q=0.02).sample(np.random.default_rng(1))
    known = np.full(len(truth), -1)
    seeds = np.random.default_rng(2).choice(len(truth), 60, replace=False)
    known[seeds] = truth[seeds]
    return graph, truth, known


@pytest.fixture(scope="module")
def model(blocks):
    graph, _, known = blocks
    return StackedDirichletClassifier().fit(graph, known)


def right(model, truth):
    free = model.status_ != "seed"
    return np.mean(model.labels_[free] == truth[free])


# --- labels and probabilities ---------------------------------------------------------------------


def test_it_is_more_often_right_than_the_paper_on_blurred_blocks(blocks, model):
    graph, truth, known = blocks
    assert right(model, truth) > right(DirichletClassifier().fit(graph, known), truth) + 0.05


def test_the_label_is_the_most_probable_class(model):
    P = model.predict_proba()
    assert np.allclose(P.sum(axis=1), 1)
    assert np.array_equal(model.classes_[P.argmax(axis=1)], model.labels_)
    assert model.tally().n_outdone == 0


def test_probabilities_do_not_depend_on_the_balance_and_rare_classes_gain_by_it(blocks, model):
    graph, _, known = blocks
    even = StackedDirichletClassifier(balance=1.0).fit(graph, known)
    assert np.allclose(even.predict_proba(), model.predict_proba())
    rare = np.argmin(np.bincount(model.labels_))
    assert np.count_nonzero(even.labels_ == rare) > np.count_nonzero(model.labels_ == rare)
    assert even.tally().n_outdone > 0


def test_scores_decide_and_margins_are_their_leads(model):
    free = model.status_ == "predicted"
    Z = np.sort(model.scores_[free], axis=1)
    assert np.allclose(model.margins_[free], Z[:, -1] - Z[:, -2])
    assert np.array_equal(model.scores_[free].argmax(axis=1), model.labels_[free])


def test_seeds_keep_their_labels(blocks, model):
    known = blocks[2]
    assert np.array_equal(model.labels_[known >= 0], known[known >= 0])
    assert (model.status_[known >= 0] == "seed").all()


def test_certified_labels_are_those_of_temperatures_solved_far_better(blocks):
    graph, _, known = blocks
    rough = StackedDirichletClassifier(tol=1e-2).fit(graph, known)
    fine = StackedDirichletClassifier(tol=1e-9).fit(graph, known)
    # The same model on both: only the temperatures differ.
    views = fine.stack_.views
    exact = rough.stack_.stack.logits(views.at(np.arange(graph.n_nodes)))
    low, high = rough.stack_.bounds(slice(0, graph.n_nodes))
    free = rough.status_ != "seed"
    assert ((low <= exact + 1e-9) & (exact <= high + 1e-9))[free].all()
    sure = rough.certified_ & free
    assert sure.sum() > 0
    assert np.array_equal(exact[sure].argmax(axis=1), rough.labels_[sure])


# --- bounds of the logits -------------------------------------------------------------------------


def between(weights, low, high):
    stack = Stack(np.array(weights), np.zeros(1), 0)
    return [float(end[0]) for end in stack.bounds(np.array(low), np.array(high))]


def test_a_view_that_is_unbounded_on_one_side_makes_that_side_infinite():
    low, high = [[-1.0], [0.0]], [[np.inf], [2.0]]
    assert between([1.0, 1.0], low, high) == [pytest.approx(-1), np.inf]
    assert between([-1.0, 1.0], low, high) == [-np.inf, pytest.approx(3)]
    assert between([-1.0, -1.0], low, high) == [-np.inf, pytest.approx(1)]
    low, high = [[-1.0], [0.0]], [[np.inf], [np.inf]]
    assert between([1.0, -1.0], low, high) == [-np.inf, np.inf]


def test_a_view_of_weight_0_takes_no_part_whatever_it_is():
    low, high = [[-1.0], [0.0]], [[np.inf], [2.0]]
    assert between([0.0, 1.0], low, high) == pytest.approx([0, 2])
    assert between([0.0, -1.0], low, high) == pytest.approx([-2, 0])


def test_what_is_no_number_proves_nothing():
    low, high = np.array([[np.nan, 0.0]]), np.array([[1.0, 1.0]])
    ends = Stack(np.ones(1), np.zeros(2), 0).bounds(low, high)
    assert not lead(np.array([[3.0, 0.0]]), *(end[np.newaxis] for end in ends)) > 0


def test_the_rounding_of_a_sum_is_within_its_bounds(rng):
    for _ in range(200):
        weights, views = rng.normal(size=6), rng.normal(size=(6, 1))
        stack = Stack(weights, rng.normal(size=1), 0)
        exact = Fraction(stack.offsets[0]) - Fraction(0.1)
        exact += sum(map(Fraction.__mul__, map(Fraction, weights), map(Fraction, views[:, 0])))
        low, high = (Fraction(end[0]) for end in stack.bounds(views, views, np.array([0.1])))
        assert low <= exact <= high


# --- seeds left out -------------------------------------------------------------------------------


def test_a_seed_is_judged_by_a_model_that_was_not_fitted_to_it(blocks, model):
    """Labels of seeds that were shuffled are not found again."""
    graph, truth, known = blocks
    shuffled = known.copy()
    seeds = np.flatnonzero(known >= 0)
    shuffled[seeds] = np.random.default_rng(3).permutation(known[seeds])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsothermWarning)
        mixed = StackedDirichletClassifier().fit(graph, shuffled)
    share = np.bincount(shuffled[seeds]).max() / len(seeds)
    assert mixed.leave_one_out().accuracy.value < share + 0.1
    assert abs(model.leave_one_out().accuracy.value - right(model, truth)) < 0.12


def test_a_seed_left_out_alone_is_what_fitting_without_it_finds(blocks, model):
    """Its temperatures in each flow, exactly; the paper's flow is in `left_out_`."""
    graph, _, known = blocks
    left = model.left_out_
    place = left.places[7]
    without = known.copy()
    without[model.seeds_.nodes[place]] = -1
    other = DirichletClassifier().fit(graph, without)
    assert left.temperatures[7] == pytest.approx(
        other.temperatures_[model.seeds_.nodes[place]], abs=1e-3
    )


def test_suspects_are_seeds_of_another_class(blocks):
    graph, truth, known = blocks
    wrong = known.copy()
    liars = np.flatnonzero(known >= 0)[:3]
    wrong[liars] = (truth[liars] + 1) % 3
    found = StackedDirichletClassifier().fit(graph, wrong).suspects()
    assert len({one.node for one in found[:10]} & set(liars.tolist())) >= 2
    assert all(one.own_probability < one.suggested_probability for one in found)


def test_max_seeds_leaves_fewer_out(model):
    assert len(model.leave_one_out(max_seeds=12).nodes) == 12
    assert len(model.leave_one_out().nodes) == 60


@pytest.mark.parametrize("n_drawn", [None, 40])
def test_the_terminal_says_how_the_model_and_the_papers_fare(blocks, n_drawn):
    graph, _, known = blocks
    drawn = None if n_drawn is None else np.flatnonzero(known >= 0)[:n_drawn]
    model, paper = (
        kind().fit(graph, known, drawn=drawn)
        for kind in (StackedDirichletClassifier, DirichletClassifier)
    )
    ours, theirs = (one.leave_one_out() for one in (model, paper))
    assert ours.accuracy.value > theirs.accuracy.value
    line, *_ = model_lines(model)
    assert line == (
        f"stacked model, scored by leaving out {n_drawn or 60} seeds: "
        f"accuracy {ours.accuracy.value:.3f}, macro-F1 {ours.macro_f1.value:.3f}; paper's model: "
        f"accuracy {theirs.accuracy.value:.3f}, macro-F1 {theirs.macro_f1.value:.3f}, "
        + ("by 40 labels drawn at random" if n_drawn else "if the labels were drawn at random")
    )


# --- the contract ---------------------------------------------------------------------------------


def test_a_copy_answers_as_the_original(model):
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert np.array_equal(copy.labels_, model.labels_)
    assert np.allclose(copy.predict_proba(), model.predict_proba())
    assert copy.explain(0).classes == pytest.approx(model.explain(0).classes)


def test_it_can_be_cloned_and_takes_parameters(model):
    assert clone(model).set_params(balance=0.5).get_params()["balance"] == 0.5


def test_new_nodes_are_labelled_like_their_neighbours(blocks, model):
    graph, truth, _ = blocks
    rows = graph.adjacency[:40]
    found = model.predict(rows)
    assert np.mean(found == truth[:40]) > 0.7
    P = model.predict_proba(rows)
    assert np.array_equal(model.classes_[P.argmax(axis=1)], found)
    empty = model.predict_proba({"new": {}})
    assert empty[0] == pytest.approx(np.bincount(model.seeds_.codes) / 60)


def test_explanations_mix_the_flows(blocks, model):
    node = int(np.flatnonzero(model.status_ == "predicted")[0])
    why = model.explain(node)
    assert why.label == model.labels_[node]
    assert sum(why.classes.values()) <= 1 + 1e-9
    assert sum(share for *_, share in why.seeds) == pytest.approx(sum(why.classes.values()))
    seed = int(model.seeds_.nodes[0])
    alone = model.explain(seed, without_own=True)
    assert alone.own_label == blocks[2][seed]
    assert alone.label in model.classes_


def test_advice_and_expectations_work_on_it(blocks, model):
    truth = blocks[1]
    assert len(model.suggest(4)) == 4
    low, high = model.expected_accuracy()[1:]
    assert low <= right(model, truth) <= high
    assert model.should_stop().accuracy.low == low
    shares = [one.labelled for one in model.coverage([0.0, 0.9])]
    assert shares[0] == 1 > shares[1]


def test_an_update_is_a_fit_with_the_labels_changed(blocks):
    graph, truth, known = blocks
    more = known.copy()
    node = int(np.flatnonzero(known < 0)[5])
    more[node] = truth[node]
    updated = StackedDirichletClassifier().fit(graph, known).update({node: truth[node]})
    fresh = StackedDirichletClassifier().fit(graph, more)
    assert np.allclose(updated.predict_proba(), fresh.predict_proba(), atol=1e-4)


def test_a_warm_start_changes_nothing(blocks):
    graph, _, known = blocks
    cold = StackedDirichletClassifier().fit(graph, known)
    warm = StackedDirichletClassifier(warm_start=True).fit(graph, known).fit(graph, known)
    assert np.allclose(cold.predict_proba(), warm.predict_proba(), atol=1e-4)


def test_distributions_and_confidence_are_taken(blocks):
    graph, truth, known = blocks
    seeds = np.flatnonzero(known >= 0).tolist()
    soft = {node: {int(known[node]): 0.8, (int(known[node]) + 1) % 3: 0.2} for node in seeds}
    model = StackedDirichletClassifier().fit(graph, soft, confidence=0.9)
    assert model.stack_ is not None
    assert right(model, truth) > 0.6


def test_scaling_all_weights_changes_nothing(blocks, model):
    graph, _, known = blocks
    heavy = StackedDirichletClassifier().fit(graph.adjacency * 1024.0, known)
    assert np.allclose(heavy.predict_proba(), model.predict_proba(), atol=1e-3)


def test_progress_can_end_a_fit_and_nothing_is_changed(blocks, model):
    graph, _, known = blocks
    own = StackedDirichletClassifier().fit(graph, known)
    calls = []

    def stop(*_):
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        own.fit(graph, np.roll(known, 1), progress=stop)
    assert np.array_equal(own.labels_, model.labels_)


# --- bad input: the paper's choice stays and the output says so -----------------------------------


@pytest.mark.parametrize("n_classes", [2, 58])
def test_one_seed_per_class_leaves_the_paper_s_choice(n_classes):
    graph, truth = BlockModel([10] * n_classes, p=0.6, q=0.02).sample(np.random.default_rng(0))
    known = {int(np.flatnonzero(truth == k)[0]): int(k) for k in range(n_classes)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsothermWarning)
        model = StackedDirichletClassifier().fit(graph, known)
        paper = DirichletClassifier().fit(graph, known)
    assert model.stack_ is None
    assert "too few" in model.fallback_
    assert np.array_equal(model.labels_, paper.labels_)
    assert np.array_equal(model.predict_proba(), paper.predict_proba())


def test_one_class_leaves_the_paper_s_choice(blocks):
    model = StackedDirichletClassifier().fit(blocks[0], dict.fromkeys(range(20), "fraud"))
    assert model.fallback_ == "there is only one class"


@pytest.mark.filterwarnings("ignore::isotherm.IsothermWarning")
def test_a_rare_class_of_one_in_a_thousand_does_no_harm():
    rng = np.random.default_rng(0)
    graph, truth = BlockModel([3000, 40], p=0.01, q=0.001).sample(rng)
    known = np.full(len(truth), -1)
    known[rng.choice(3000, 1000, replace=False)] = 0
    known[3000] = 1
    model = StackedDirichletClassifier().fit(graph, known)
    assert np.isfinite(model.predict_proba()).all()
    known[3001:3003] = 1
    assert np.isfinite(StackedDirichletClassifier().fit(graph, known).predict_proba()).all()


@pytest.mark.filterwarnings("ignore::isotherm.IsothermWarning")
def test_nodes_that_no_heat_reaches_abstain_and_seeds_in_one_component_do(blocks):
    graph, _, known = blocks
    n = graph.n_nodes
    apart = Graph.from_matrix(
        np.block(
            [[graph.adjacency.toarray(), np.zeros((n, 2))], [np.zeros((2, n)), np.ones((2, 2))]]
        )
    )
    model = StackedDirichletClassifier().fit(apart, np.append(known, [-1, -1]))
    assert model.status_[-2:].tolist() == ["unreached"] * 2
    assert model.labels_[-2:].tolist() == [-1, -1]
    zero = StackedDirichletClassifier(unreached="zero").fit(apart, np.append(known, [-1, -1]))
    assert np.isfinite(zero.predict_proba()).all()


@pytest.mark.filterwarnings("ignore::isotherm.IsothermWarning")
def test_a_graph_without_edges_between_seeds_and_classes_without_free_nodes():
    star = Graph.from_edges([0] * 30, range(1, 31))
    model = StackedDirichletClassifier().fit(star, {k: k % 2 for k in range(1, 25)})
    assert np.isfinite(model.predict_proba()).all()
    every = StackedDirichletClassifier().fit(star, {k: k % 2 for k in range(31)})
    assert (every.status_ == "seed").all()


def test_an_embedding_that_fails_is_left_out(blocks, monkeypatch):
    graph, truth, known = blocks
    broken = np.full((graph.n_nodes, 4), np.nan, dtype=np.float32)
    monkeypatch.setattr("isotherm.classifier.stack.embed", lambda *_: broken)
    model = StackedDirichletClassifier().fit(graph, known)
    assert "embedding" not in dict(model.views_)
    assert right(model, truth) > 0.5


def test_graphs_that_are_too_large_are_not_embedded(blocks, monkeypatch):
    assert fits(10_000, 100_000)
    assert not fits(10_000_000, 100_000)
    monkeypatch.setattr("isotherm.stacking.embedding.MOST_ENTRIES", 10)
    model = StackedDirichletClassifier().fit(blocks[0], blocks[2])
    assert "embedding" not in dict(model.views_)


@pytest.mark.parametrize("balance", [-0.1, 1.5, "much", None, True])
def test_a_balance_outside_of_0_and_1_is_refused(blocks, balance):
    with pytest.raises(ParameterError, match="balance must be"):
        StackedDirichletClassifier(balance=balance).fit(blocks[0], blocks[2])


# --- the parts ------------------------------------------------------------------------------------


def test_damped_weights_are_those_of_the_formula(blocks):
    A, d = blocks[0].adjacency.toarray(), blocks[0].degrees
    expected = A / np.sqrt(np.outer(d, d), where=A > 0, out=np.ones_like(A))
    assert np.allclose(damped(blocks[0], 0.5).adjacency.toarray(), expected)


def test_ratios_of_the_mean_are_one():
    means = np.array([0.2, 0.05])
    assert np.exp(log_ratios(means[np.newaxis], means)) == pytest.approx(np.array([[1.05, 1.05]]))
    assert np.isnan(log_ratios(np.full((1, 2), np.nan), means)).all()


def test_the_embedding_finds_eigenvectors(blocks):
    """Its rows span what the largest eigenvectors do: blocks are linearly separable in it."""
    graph, truth, _ = blocks
    X = np.column_stack([embed(graph), np.ones(graph.n_nodes)])
    W, *_ = np.linalg.lstsq(X, np.eye(3)[truth], rcond=None)
    assert np.mean((X @ W).argmax(axis=1) == truth) > 0.9
    assert np.linalg.norm(X[:, :-1], axis=1) == pytest.approx(np.ones(graph.n_nodes), abs=1e-4)


def test_surroundings_count_seeds_but_not_oneself(blocks):
    graph, _, known = blocks
    seeds = np.flatnonzero(known >= 0)
    Y = np.eye(3)[known[seeds]]
    found = Surroundings(graph, seeds, Y)
    place = 4
    others = np.delete(np.arange(len(seeds)), place)
    without = Surroundings(graph, seeds[others], Y[others])
    assert np.allclose(found.left_out(np.array([place]))[:, 0], without.at(seeds[[place]])[:, 0])


def test_the_model_is_the_maximum_of_its_posterior():
    """No small change of a weight makes what was seen more likely: a slow check of the gradient."""
    rng = np.random.default_rng(0)
    Y = np.eye(3)[rng.integers(0, 3, 80)]
    views = np.array([Y + rng.normal(size=Y.shape), rng.normal(size=Y.shape)])
    shares, counts = Y.mean(axis=0), np.array([True, True])
    best = fit_stack(views, Y, shares, counts)
    again = fit_stack(views[:, rng.permutation(80)][:, :0], Y[:0], shares, counts)
    assert best.weights[0] > 3 * abs(best.weights[1])
    assert again.weights == pytest.approx([1.0, 1.0])  # nothing seen: the centre of the prior


def test_parts_are_of_equal_size_and_hold_each_row_once():
    codes = np.random.default_rng(0).integers(0, 7, 2500)
    found = plan(codes, 7, node_keys(NodeIndex(2500)))
    assert found.groups == 6  # of a tenth of the seeds each
    assert np.array_equal(np.sort(np.concatenate(found.parts)), np.arange(1500))
    assert {len(part) for part in found.parts} == {150}


@pytest.mark.parametrize(("n_seeds", "groups", "rows"), [(200, 0, 32), (5000, 1, 500)])
def test_less_is_left_out_of_a_large_graph(n_seeds, groups, rows):
    found = plan(np.arange(n_seeds) % 3, 3, node_keys(NodeIndex(n_seeds)), 10**8)
    assert (found.groups, len(found.places)) == (groups, rows)
