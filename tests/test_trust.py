"""Leave-one-out, suspects and explanations against fitting again."""

import itertools

import numpy as np
import pytest

from isotherm import (
    DirichletClassifier,
    Graph,
    IsothermWarning,
    LabelError,
    ParameterError,
    UnknownNode,
)
from isotherm.decision import DECISIONS, Means, scores
from isotherm.trust.choose import COMPARED, LEAKS, PREFERRED, choose
from isotherm.trust.interval import proportion
from isotherm.trust.sample import CHOOSING, JUDGING, columns_of_sample
from isotherm.trust.scoring import confusion_of, macro_f1


def random_graph(rng, n=40, m=90, *, weighted=True, loops=True):
    source, target = rng.integers(0, n, (2, m))
    if not loops:
        source, target = source[source != target], target[source != target]
    weight = rng.uniform(0.1, 3, len(source)) if weighted else None
    return Graph.from_edges(source, target, weight, nodes=range(n))


def random_labels(rng, graph, n_classes=3, share=0.3):
    labels = np.full(graph.n_nodes, -1)
    chosen = rng.permutation(graph.n_nodes)[: int(share * graph.n_nodes)]
    labels[chosen] = np.arange(len(chosen)) % n_classes
    return labels


@pytest.mark.parametrize("leak", [0.0, 0.2])
@pytest.mark.parametrize("unreached", ["abstain", "zero"])
@pytest.mark.parametrize("weighted", [False, True])
def test_leaving_a_seed_out_is_fitting_without_it(rng, leak, unreached, weighted):
    compared = 0
    for _ in range(2):
        graph = random_graph(rng, weighted=weighted)
        labels = random_labels(rng, graph)
        for decision in DECISIONS:
            model = DirichletClassifier(decision, leak=leak, unreached=unreached, tol=1e-10)
            found = model.fit(graph, labels).leave_one_out()
            for k, node in enumerate(found.nodes.tolist()):
                without = labels.copy()
                without[node] = -1
                again = DirichletClassifier(decision, leak=leak, unreached=unreached, tol=1e-10)
                again.fit(graph, without)
                if again.status_[node] == "unreached":
                    assert np.isnan(found.temperatures[k]).all()
                    assert found.labels[k] == -1
                    continue
                if len(again.classes_) < 3:
                    continue  # the only seed of its class
                compared += 1
                assert np.allclose(found.temperatures[k], again.temperatures_[node], atol=1e-6)
                assert np.allclose(found.scores[k], again.scores_[node], atol=1e-6)
                if again.margins_[node] > 1e-5:
                    assert found.labels[k] == again.labels_[node]
    assert compared > 60


def test_the_only_seed_of_a_class_cannot_be_found():
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    found = DirichletClassifier().fit(graph, {0: "a", 1: "a", 4: "b"}).leave_one_out()
    assert found.labels.tolist()[2] == "a"
    assert found.margins[2] == -np.inf
    assert found.n_seeds == 3


def test_a_sample_of_the_seeds_is_part_of_the_whole(rng):
    graph = random_graph(rng)
    model = DirichletClassifier().fit(graph, random_labels(rng, graph))
    whole, part = model.leave_one_out(), model.leave_one_out(max_seeds=5, random_state=3)
    assert (len(part.nodes), part.n_seeds) == (5, len(whole.nodes))
    at = [whole.nodes.tolist().index(node) for node in part.nodes.tolist()]
    assert np.allclose(whole.scores[at], part.scores, equal_nan=True)
    assert "a sample of 12" in str(part)
    assert "a sample" not in str(whole)
    with pytest.raises(ParameterError, match="max_seeds"):
        model.leave_one_out(max_seeds=0)


def test_many_seeds_are_solved_in_parts(rng, monkeypatch):

    graph = random_graph(rng)
    model = DirichletClassifier().fit(graph, random_labels(rng, graph))
    whole = model.leave_one_out()
    monkeypatch.setattr("isotherm.trust.hot_seeds.COLUMNS", 5)
    assert np.allclose(whole.scores, model.leave_one_out().scores, equal_nan=True)


def test_scores_of_seeds_are_those_of_their_labels(rng):
    from sklearn.metrics import accuracy_score, f1_score

    truth, found = rng.integers(0, 4, (2, 200))
    table = confusion_of(truth, found, 4)
    assert proportion(int(np.trace(table)), 200).value == accuracy_score(truth, found)
    interval = macro_f1(truth, found, 4)
    assert interval.value == pytest.approx(f1_score(truth, found, average="macro"))
    assert interval.low < interval.value < interval.high
    assert interval == macro_f1(truth, found, 4)
    few = macro_f1(truth[:20], found[:20], 4)
    assert few.high - few.low > interval.high - interval.low


def test_flipped_seeds_are_suspect(rng):
    from isotherm import BlockModel

    graph, truth = BlockModel([150, 150, 150], 0.1, 0.01).sample(rng)
    labels = np.full(450, -1)
    seeds = rng.permutation(450)[:90]
    labels[seeds] = truth[seeds]
    flipped = seeds[:6]
    labels[flipped] = (labels[flipped] + 1) % 3
    suspects = DirichletClassifier().fit(graph, labels).suspects()
    assert {suspect.node for suspect in suspects[:6]} == set(flipped.tolist())
    for suspect in suspects[:6]:
        assert suspect.label == labels[suspect.node]
        assert 0 <= suspect.own_probability < 0.5
    right = [suspect.suggested == truth[suspect.node] for suspect in suspects[:6]]
    assert sum(right) >= 5
    own = [suspect.own_probability for suspect in suspects]
    assert own == sorted(own)


def test_of_a_suspect_another_label_is_the_most_probable(rng):
    graph = random_graph(rng, 60, 150)
    found = DirichletClassifier().fit(graph, random_labels(rng, graph)).leave_one_out()
    suspects = {one.node: one for one in found.suspects()}
    assert 0 < len(suspects) < len(found.nodes)
    classes = [each.label for each in found.classes]
    for node, code, P, margin in zip(
        found.nodes.tolist(), found.codes, found.probabilities, found.margins, strict=True
    ):
        if node in suspects:
            one = suspects[node]
            assert one.suggested == classes[P.argmax()] != one.label == classes[code]
            assert one.own_probability == P[code] < one.suggested_probability == P.max()
        else:
            assert not np.isfinite(margin) or P[code] == P.max()


@pytest.mark.parametrize("leak", [0.0, 0.3])
def test_the_shares_of_seeds_make_the_temperatures(rng, leak):
    graph = random_graph(rng)
    labels = random_labels(rng, graph)
    model = DirichletClassifier(leak=leak, tol=1e-10).fit(graph, labels)
    explained = 0
    for node in range(graph.n_nodes):
        if model.status_[node] == "unreached":
            with pytest.raises(LabelError, match="no heat reaches"):
                model.explain(node)
            continue
        found = model.explain(node)
        total = sum(share for _, _, share in found.seeds)
        assert np.allclose(list(found.classes.values()), model.temperatures_[node][
            np.isin(model.classes_, list(found.classes))], atol=1e-7)  # fmt: skip
        assert all(share > 0 for _, _, share in found.seeds)
        if model.status_[node] == "seed":
            assert found.seeds == [(node, labels[node], 1.0)]
            continue
        explained += 1
        assert total == pytest.approx(1.0, abs=1e-7) if leak == 0 else total < 1
        carried = {}
        for path, share in found.paths:
            assert path[0] == node
            assert labels[path[-1]] >= 0
            assert len(set(path)) == len(path)
            for a, b in itertools.pairwise(path):
                assert graph.adjacency[a, b] > 0
            carried[path[-1]] = carried.get(path[-1], 0.0) + share
        own = {seed: share for seed, _, share in found.seeds}
        assert all(share <= own[seed] + 1e-9 for seed, share in carried.items())
        widths = [share for _, share in found.paths]
        assert widths == sorted(widths, reverse=True)
    assert explained > 10


def test_explaining_a_stranger_is_an_error():
    model = DirichletClassifier().fit(Graph.from_edges([0, 1], [1, 2]), {0: "a", 2: "b"})
    with pytest.raises(UnknownNode):
        model.explain(17)
    with pytest.raises(ParameterError, match="paths"):
        model.explain(1, paths=-1)
    assert model.explain(1, paths=0).paths == []
    assert model.explain(1, paths=10**20).paths == model.explain(1, paths=1000).paths


def test_means_of_a_row_are_those_of_the_decision(rng):
    T, m = rng.random((1, 3)), rng.random(3)
    means = Means(m, m / 2, m / m.sum())
    for decision in DECISIONS:
        assert np.isfinite(scores(T, means, decision)).all()


# --- choosing by leave-one-out --------------------------------------------------------------------


def test_what_is_compared_is_leave_one_out_of_each_pair(rng):
    graph = random_graph(rng, loops=False, weighted=False, n=120, m=300)
    labels = random_labels(rng, graph, share=0.4)
    model = DirichletClassifier("auto", leak="auto", tol=1e-8).fit(graph, labels)
    found = model.selection_
    assert (found.n_judged, found.n_seeds) == (48, 48)
    pairs = [(c.decision, c.leak) for c in found.candidates]
    assert pairs[0] == ("centered", 0.0)
    assert len(set(pairs)) == len(pairs) == 4 * 3
    for candidate in found.candidates[::3]:
        one = DirichletClassifier(candidate.decision, leak=candidate.leak, tol=1e-8)
        alone = one.fit(graph, labels).leave_one_out()
        assert alone.macro_f1.value == pytest.approx(candidate.macro_f1, abs=0.03)
    chosen = DirichletClassifier(found.decision, leak=found.leak, tol=1e-8).fit(graph, labels)
    assert chosen.labels_.tolist() == model.labels_.tolist()
    assert np.allclose(chosen.predict_proba(), model.predict_proba())


def test_one_pair_is_preferred_unless_another_is_clearly_better(rng):
    truth = rng.integers(0, 3, 120)
    wrong = np.where(rng.random(120) < 0.3, (truth + 1) % 3, truth)
    lucky = wrong.copy()
    flip = rng.choice(np.flatnonzero(wrong != truth), 2, replace=False)
    lucky[flip] = truth[flip]
    lost = np.flatnonzero(wrong == truth)[0]
    lucky[lost] = (truth[lost] + 1) % 3
    paper, other, preferred = ("centered", 0.0), ("ratio", 0.1), PREFERRED
    for others in ({paper: lucky, other: wrong}, {paper: wrong, other: lucky}):
        found = choose(others | {preferred: wrong}, truth, 3, 120)
        assert found[:2] == preferred
        assert [c.gain for c in found.candidates if c[:2] == preferred] == [0.0]
    assert choose({paper: wrong, other: truth, preferred: wrong}, truth, 3, 120)[:2] == other
    assert choose({paper: truth, other: wrong, preferred: wrong}, truth, 3, 120)[:2] == paper


def test_the_pair_closest_to_the_preferred_one_stands_in_for_it(rng):
    truth = rng.integers(0, 2, 40)
    given_leak = {(decision, 0.2): truth for decision in COMPARED}
    assert choose(given_leak, truth, 2, 40)[:2] == ("standard", 0.2)
    given_decision = {("plain", leak): truth for leak in LEAKS}
    assert choose(given_decision, truth, 2, 40)[:2] == ("plain", 0.01)


def test_what_is_preferred_and_what_the_paper_does_are_compared():
    assert (COMPARED[0], LEAKS[0]) == ("centered", 0.0)
    assert PREFERRED[0] in COMPARED
    assert PREFERRED[1] in LEAKS
    assert set(COMPARED) <= set(DECISIONS)


def test_with_hardly_any_seeds_the_choice_is_the_papers(rng):
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    model = DirichletClassifier("auto", leak="auto").fit(graph, {0: "a", 4: "b"})
    assert (model.selection_.decision, model.selection_.leak) == ("centered", 0.0)
    assert model.selection_.n_judged == 0
    paper = DirichletClassifier().fit_predict(graph, {0: "a", 4: "b"})
    assert model.labels_.tolist() == paper.tolist()
    graph = random_graph(rng, loops=False, weighted=False, n=120, m=300)
    nine = dict.fromkeys(range(5), "a") | dict.fromkeys(range(60, 64), "b")
    few = DirichletClassifier("auto", leak="auto").fit(graph, nine).selection_
    assert (few.decision, few.leak, few.n_judged) == ("centered", 0.0, 9)
    assert all(np.isnan(candidate.macro_f1) for candidate in few.candidates)
    ten = DirichletClassifier("auto", leak="auto").fit(graph, nine | {64: "b"}).selection_
    assert not any(np.isnan(candidate.macro_f1) for candidate in ten.candidates)


def test_with_one_class_there_is_nothing_to_choose():
    graph = Graph.from_edges(range(29), range(1, 30))
    known = dict.fromkeys(range(15), "a")
    auto = DirichletClassifier("auto", leak="auto").fit(graph, known)
    assert auto.selection_[:3] == ("centered", 0.0, [])
    assert auto.ranking_.leak == DirichletClassifier().fit(graph, known).ranking_.leak


def test_more_seeds_are_left_out_to_choose_by_where_columns_are_cheap():
    cheap, medium, dear = (
        columns_of_sample(n, 10_000, CHOOSING) for n in (5_000, 200_000, 5_000_000)
    )
    assert (cheap, medium, dear) == (10_000, 300, 0)
    for entries in range(10_000, CHOOSING.large, 9999):
        count = columns_of_sample(entries, 10_000, CHOOSING)
        assert count == 300 or count * entries <= CHOOSING.work
        assert count >= columns_of_sample(entries, 10_000, JUDGING)
    assert columns_of_sample(5_000, 40, CHOOSING) == 40
    assert columns_of_sample(0, 40, CHOOSING) == 40


def test_a_given_decision_or_leak_is_kept(rng):
    graph = random_graph(rng)
    labels = random_labels(rng, graph)
    one = DirichletClassifier("auto", leak=0.2).fit(graph, labels).selection_
    assert {candidate.leak for candidate in one.candidates} == {0.2}
    assert one.candidates[0].decision == "centered"
    other = DirichletClassifier("ratio", leak="auto").fit(graph, labels).selection_
    assert {candidate.decision for candidate in other.candidates} == {"ratio"}
    none = DirichletClassifier("ratio", leak=0.2).fit(graph, labels).selection_
    assert (none.decision, none.leak, none.candidates) == ("ratio", 0.2, [])
    with pytest.raises(ParameterError, match="decision"):
        DirichletClassifier("best").fit(graph, labels)
    with pytest.raises(ParameterError, match="leak"):
        DirichletClassifier(leak="some").fit(graph, labels)


def test_a_seed_alone_in_its_part_gets_no_label_whatever_the_leak():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4])
    for leak in (0.0, 0.3):
        model = DirichletClassifier("plain", leak=leak, tol=1e-4).fit(graph, {0: 0, 2: 1, 3: 0})
        assert model.leave_one_out().labels.tolist() == [1, 0, -1]


def test_a_spot_check_is_leave_one_out_of_a_sample(rng, monkeypatch):
    from isotherm.trust import sample

    graph = random_graph(rng, 80, 300)
    model = DirichletClassifier().fit(graph, random_labels(rng, graph))
    whole, spot = model.leave_one_out(), model.spot_check()
    assert spot.accuracy == whole.accuracy
    assert not spot.together
    monkeypatch.setattr(sample, "MOST_SEEDS", 9)
    few = DirichletClassifier().fit(graph, random_labels(np.random.default_rng(0), graph))
    few._sample = None  # the fit has looked at some
    assert len(few.spot_check().nodes) == 9
    assert "9 seeds left out, one at a time (a sample of 24)" in str(few.spot_check())


@pytest.mark.slow
@pytest.mark.parametrize("weight", [1e-2, 1e-4, 1e-6])
def test_a_seed_behind_a_weak_link_is_left_out_well(rng, weight):
    n = 300
    source, target = rng.integers(0, n, (2, 3000))
    source, target = np.append(source, 0), np.append(target, n)
    weights = np.ones(3001)
    weights[-1] = weight
    more = np.arange(n, n + 60)  # a clique-like lump behind the link, with one seed
    a, b = np.triu_indices(60, 1)
    graph = Graph.from_edges(
        np.concatenate([source, more[a]]),
        np.concatenate([target, more[b]]),
        np.concatenate([weights, np.ones(len(a))]),
    )
    labels = {i: i // 10 % 2 for i in range(5, 200, 10)} | {n + 7: 0}
    model = DirichletClassifier(solver="cg").fit(graph, labels)
    found = model.leave_one_out()
    k = found.nodes.tolist().index(n + 7)
    del labels[n + 7]
    again = DirichletClassifier(solver="elimination").fit(graph, labels)
    assert np.allclose(found.temperatures[k], again.temperatures_[n + 7], atol=1e-4)


def test_one_seed_and_one_class_can_be_left_out(rng):
    graph = random_graph(rng)
    found = DirichletClassifier().fit(graph, {3: "only"}).leave_one_out()
    assert found.labels.tolist() == [None]
    assert np.isnan(found.probabilities).all()
    assert found.suspects() == []
    assert DirichletClassifier().fit(graph, {3: "only", 5: "only"}).suspects() == []


def test_a_class_without_heat_is_judged_as_in_a_fit():
    """A class all of whose seeds touch only seeds has no heat on free nodes."""
    graph = Graph.from_edges([0, 0, 0, 3, 4, 5, 6, 3], [1, 2, 3, 4, 5, 6, 3, 5], nodes=range(8))
    labels = {0: "a", 1: "b", 2: "b", 3: "a", 5: "c", 6: "c"}
    for decision in DECISIONS:
        found = DirichletClassifier(decision, solver="cg").fit(graph, labels).leave_one_out()
        for k, node in enumerate(found.nodes.tolist()):
            fewer = {i: y for i, y in labels.items() if i != node}
            again = DirichletClassifier(decision, tol=1e-10).fit(graph, fewer)
            if again.status_[node] != "unreached":
                assert np.allclose(found.scores[k], again.scores_[node], atol=1e-5)


def test_what_does_not_converge_still_gets_an_answer():
    """Two lumps joined by next to nothing, with all seeds in one: no proof to be had."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    from isotherm import Sweeps

    side = 40
    i = np.arange(side * side).reshape(side, side)
    grid = Graph.from_edges(
        np.concatenate([i[:-1].ravel(), i[:, :-1].ravel()]),
        np.concatenate([i[1:].ravel(), i[:, 1:].ravel()]),
    )
    labels = {int(k): int(k) % 2 for k in range(0, 1600, 97)}
    for how in ({}, {"decision": "auto", "leak": "auto"}):
        model = DirichletClassifier(solver=Sweeps(max_iter=3), **how)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(grid, labels)
        assert len(model.leave_one_out().nodes) == len(labels)
        assert np.allclose(model.predict_proba().sum(axis=1), 1)
        assert len(model.suggest(3)) == 3
        assert model.explain(5).seeds
        assert not model.should_stop()


def test_a_fit_that_fails_leaves_the_last_one_as_it_was(rng):
    graph = random_graph(rng)
    model = DirichletClassifier().fit(graph, random_labels(rng, graph))
    before = model.selection_
    model.set_params(unreached="melt", decision="plain")
    with pytest.raises(ParameterError):
        model.fit(graph, random_labels(rng, graph))
    assert model.selection_ is before


def test_intervals_of_macro_f1_are_those_of_seeds_drawn_anew(rng):
    truth, found = rng.integers(0, 3, (2, 60))
    found[:40] = truth[:40]
    value, low, high = macro_f1(truth, found, 3)
    drawn = []
    for _ in range(2000):
        some = rng.integers(0, 60, 60)
        drawn.append(macro_f1(truth[some], found[some], 3).value)
    assert value == pytest.approx(macro_f1(truth, found, 3).value)
    assert np.allclose(np.quantile(drawn, [0.025, 0.975]), [low, high], atol=0.02)


def test_that_all_were_right_so_far_proves_little():
    right = np.arange(9) % 2
    value, low, high = macro_f1(right, right, 2)
    assert (value, high) == (1.0, 1.0)
    assert 0.4 < low < 0.9
    value, low, high = macro_f1(right, 1 - right, 2)
    assert (value, low) == (0.0, 0.0)
    assert high > 0.1


@pytest.mark.parametrize("tied", [False, True])
def test_a_seed_can_be_explained_by_the_others(rng, tied):
    graph = random_graph(rng, 30, 80, loops=False)
    labels = {i: "ab"[i // 3 % 2] for i in range(0, 30, 3)}
    sure = {6: 0.7} if tied else None
    model = DirichletClassifier(tol=1e-9).fit(graph, labels, sure)
    why = model.explain(6, without_own=True)
    fewer = {i: y for i, y in labels.items() if i != 6}
    again = DirichletClassifier(tol=1e-9).fit(graph, fewer).explain(6)
    assert why.classes == pytest.approx(again.classes)
    assert [seed for seed, _, _ in why.seeds[:4]] == [seed for seed, _, _ in again.seeds[:4]]
    assert (why.label, why.own_label) == (again.label, labels[6])
    assert model.explain(6).own_label is None
    assert model.explain(1, without_own=True) == model.explain(1)
    alone = DirichletClassifier().fit(graph, {3: "a"})
    with pytest.raises(LabelError, match="there is only one seed"):
        alone.explain(3, without_own=True)


@pytest.mark.parametrize("bad", [2.5, "x", 0, True])
def test_numbers_that_are_none_are_refused(rng, bad):
    graph = random_graph(rng)
    model = DirichletClassifier().fit(graph, random_labels(rng, graph))
    with pytest.raises(ParameterError, match="max_seeds"):
        model.leave_one_out(max_seeds=bad)
    if bad != 0:
        with pytest.raises(ParameterError, match="paths"):
            model.explain(0, paths=bad)


def test_errors_know_of_auto(rng):
    graph = random_graph(rng)
    with pytest.raises(ParameterError, match="'auto'"):
        DirichletClassifier("melt").fit(graph, {0: 1})
    with pytest.raises(ParameterError, match="'auto'"):
        DirichletClassifier(leak="much").fit(graph, {0: 1})


def test_seeds_that_cannot_be_found_again_are_counted():
    graph = Graph.from_edges([0, 1, 2, 5], [1, 2, 3, 6])
    found = DirichletClassifier().fit(graph, {0: "a", 1: "a", 3: "b", 5: "a"}).leave_one_out()
    assert found.n_lost == 2
    assert "2 of them could not get their label back" in str(found)


def test_an_explanation_prints_a_line_for_each_seed_and_path_and_obeys_no_name():
    graph = Graph.from_edges(["a", "b\x1b[31m"], ["b\x1b[31m", "c\nd"])
    with pytest.warns(IsothermWarning, match="few labels"):
        model = DirichletClassifier().fit(graph, {"a": "x", "c\nd": "y"})
    assert str(model.explain("b\x1b[31m")).splitlines() == [
        "node b\\x1b[31m: x",
        "heat: 50% x, 50% y",
        "from the seeds:",
        "  a (x): 50%",
        "  c\\nd (y): 50%",
        "by the paths:",
        "  b\\x1b[31m → a: 50%",
        "  b\\x1b[31m → c\\nd: 50%",
    ]
