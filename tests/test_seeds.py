"""Seeds that are distributions or carry a confidence, against solving the dense system."""

import re

import numpy as np
import pytest

from isotherm import DirichletClassifier, Graph, LabelError, ParameterError, UnknownNode
from isotherm.classifier.seeds import read_seeds
from isotherm.decision import DECISIONS

PATH = Graph.from_edges("abcd", "bcde")


def random_graph(rng, n=30, m=70):
    source, target = rng.integers(0, n, (2, m))
    ring = np.arange(n)  # all of it connected
    return Graph.from_edges(
        np.concatenate([source, ring]),
        np.concatenate([target, np.roll(ring, 1)]),
        rng.uniform(0.1, 3, n + m),
    )


def dense(graph, seeds, values, confidence):
    """Equilibrium with each seed i replaced by ``T_i = c y_i + (1 − c) · mean of neighbours``."""
    A = graph.adjacency.toarray()
    P = A / A.sum(axis=1, keepdims=True)
    c = np.zeros(len(A))
    c[seeds] = confidence
    B = np.zeros((len(A), values.shape[1]))
    B[seeds] = values * np.asarray(confidence)[:, np.newaxis]
    return np.linalg.solve(np.eye(len(A)) - (1 - c)[:, np.newaxis] * P, B)


def test_a_confidence_is_the_part_a_label_has_in_a_temperature(rng):
    for _ in range(5):
        graph = random_graph(rng)
        seeds = np.sort(rng.choice(30, 8, replace=False))
        confidence = rng.choice([0.2, 0.7, 0.99, 1.0], 8)
        codes = np.arange(8) % 3
        labels, sure = np.full(30, -1), np.ones(30)
        labels[seeds], sure[seeds] = codes, confidence
        model = DirichletClassifier(tol=1e-10).fit(graph, labels, sure)
        T = dense(graph, seeds, np.eye(3)[codes], confidence)
        assert np.allclose(model.temperatures_, T, atol=1e-9)
        rounding = 1e-15  # of the reference
        bound = model.solution_.error_bound[:, None] + rounding
        assert (np.abs(model.temperatures_ - T) <= bound).all()
        assert np.allclose(model.mean_temperatures_, T.mean(axis=0))
        held = seeds[confidence == 1]
        assert sorted(np.flatnonzero(model.status_ == "seed")) == held.tolist()


def test_a_distribution_is_a_temperature_of_each_class(rng):
    graph = random_graph(rng)
    labels = {3: {"a": 1, "b": 3}, 10: "a", 20: {"c": 0.5, "b": 0.5}, 25: None}
    model = DirichletClassifier("plain", tol=1e-10).fit(graph, labels)
    Y = np.array([[0.25, 0.75, 0], [1, 0, 0], [0, 0.5, 0.5]])
    T = dense(graph, [3, 10, 20], Y, np.ones(3))
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert np.allclose(model.temperatures_, T, atol=1e-9)
    assert np.allclose(model.predict_proba()[[3, 10, 20]], Y)
    assert model.labels_[[3, 10]].tolist() == ["b", "a"]
    assert np.allclose(model.predict_proba().sum(axis=1), 1)


def test_rows_of_shares_are_distributions():
    Y = np.full((5, 2), np.nan)
    Y[0], Y[4] = [3, 1], [0, 2]
    model = DirichletClassifier(tol=1e-9).fit(PATH, Y)
    assert model.classes_.tolist() == [0, 1]
    assert np.allclose(model.temperatures_[:, 0], [0.75, 0.5625, 0.375, 0.1875, 0])


def test_a_seed_of_little_confidence_can_be_overruled():
    graph = Graph.from_edges([0, 0, 0, 1, 2, 4], [1, 2, 3, 2, 3, 0])
    labels = {1: "x", 2: "x", 3: "x", 0: "y", 4: "y"}
    assert DirichletClassifier("plain").fit(graph, labels).labels_[0] == "y"
    model = DirichletClassifier("plain").fit(graph, labels, {0: 0.1})
    assert model.labels_[0] == "x"
    assert model.status_[0] == "predicted"
    assert 0 < model.certainty(slice(None))[0] < 1


@pytest.mark.parametrize("leak", [0.0, 0.2])
@pytest.mark.parametrize("decision", DECISIONS)
def test_leaving_a_weak_seed_out_is_fitting_without_it(rng, decision, leak):
    graph = random_graph(rng)
    seeds = np.sort(rng.choice(30, 9, replace=False))
    labels = dict(zip(seeds.tolist(), (np.arange(9) % 3).tolist(), strict=True))
    sure = dict(zip(seeds.tolist(), rng.choice([0.3, 0.8, 1.0], 9).tolist(), strict=True))
    model = DirichletClassifier(decision, leak=leak, tol=1e-10)
    found = model.fit(graph, labels, sure).leave_one_out()
    assert sorted(found.nodes) == seeds.tolist()
    for k, node in enumerate(found.nodes.tolist()):
        fewer = {i: y for i, y in labels.items() if i != node}
        again = DirichletClassifier(decision, leak=leak, tol=1e-10)
        again.fit(graph, fewer, {i: sure[i] for i in fewer})
        assert np.allclose(found.temperatures[k], again.temperatures_[node], atol=1e-7)
        assert np.allclose(found.scores[k], again.scores_[node], atol=1e-6)


def test_leaving_a_distribution_out_is_fitting_without_it(rng):
    graph = random_graph(rng)
    labels = {int(i): {"a": 1.0 + i % 3, "b": i // 4 % 2, "c": 2.0} for i in range(0, 30, 4)}
    for decision in DECISIONS:
        found = DirichletClassifier(decision, tol=1e-10).fit(graph, labels).leave_one_out()
        for k, node in enumerate(found.nodes.tolist()):
            fewer = {i: y for i, y in labels.items() if i != node}
            again = DirichletClassifier(decision, tol=1e-10).fit(graph, fewer)
            assert np.allclose(found.scores[k], again.scores_[node], atol=1e-6)


def test_weak_seeds_are_explained_by_the_nodes_they_are_of():
    model = DirichletClassifier().fit(PATH, {"a": "left", "e": "right"}, {"a": 0.5})
    why = model.explain("b")
    assert dict(why.classes) == pytest.approx(
        dict(zip(model.classes_.tolist(), model.temperatures_[1].tolist(), strict=True))
    )
    assert [seed for seed, _, _ in why.seeds] == ["a", "e"]
    assert {path for path, _ in why.paths} == {("b", "a"), ("b", "c", "d", "e")}
    assert model.explain("a").seeds[0][0] == "a"


def test_all_seeds_may_be_weak_and_lie_anywhere():
    graph = Graph.from_edges(["a", "b"], ["b", "c"], nodes=["a", "b", "c", "alone", "cold"])
    model = DirichletClassifier().fit(
        graph, {"a": 0, "c": 1, "alone": 1}, confidence={"a": 0.5, "c": 0.5, "alone": 0.5}
    )
    assert model.status_.tolist() == ["predicted"] * 4 + ["unreached"]
    assert np.allclose(model.temperatures_[3], [0, 1])
    assert len(model.solution_.temperatures) == len(model.names_) == 5


def test_starting_warm_works_with_weak_seeds(rng):
    graph = random_graph(rng, 300, 900)
    labels = np.full(300, -1)
    labels[:30] = np.arange(30) % 3
    exact = DirichletClassifier(tol=1e-9).fit(graph, labels, 0.8)
    soon = DirichletClassifier(tol=1e-4, warm_start=True)
    for _ in range(2):
        soon.fit(graph, labels, 0.8)
        sure = soon.certified_
        assert sure.mean() > 0.9
        assert np.array_equal(soon.labels_[sure], exact.labels_[sure])


def test_a_certain_confidence_changes_nothing():
    plain = DirichletClassifier().fit(PATH, {"a": 0, "e": 1})
    for one in (1, 1.0, np.ones(5), {"a": 1}):
        sure = DirichletClassifier().fit(PATH, {"a": 0, "e": 1}, one)
        assert np.array_equal(sure.temperatures_, plain.temperatures_)
        assert sure.status_.tolist() == plain.status_.tolist()


@pytest.mark.parametrize(
    ("confidence", "words"),
    [
        (0, "above 0 and at most 1"),
        (1.5, "above 0 and at most 1"),
        (float("nan"), "above 0 and at most 1"),
        ("high", "must be numbers"),
        ([0.5, 0.5], "shape"),
        ({"a": "high"}, "must be numbers"),
    ],
)
def test_a_confidence_that_is_none_is_refused(confidence, words):
    with pytest.raises(ParameterError, match=words):
        read_seeds({"a": 0, "e": 1}, PATH, confidence)


def test_a_confidence_of_an_unknown_node_is_refused():
    with pytest.raises(UnknownNode):
        read_seeds({"a": 0}, PATH, {"z": 0.5})


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({"a": {"x": -1.0, "y": 2.0}}, "numbers ≥ 0"),
        ({"a": {"x": float("inf")}}, "numbers ≥ 0"),
        ({"a": {"x": "much"}}, "must be numbers"),
        ({"a": {}}, "no seed"),
        ({"a": {"x": 0}}, "no seed"),
        (np.ones((4, 2)), "4 rows"),
        (np.full((5, 2), np.nan), "no seed"),
        (np.array([["a", "b"]] * 5), "must be numbers"),
    ],
)
def test_shares_that_are_none_are_refused(labels, words):
    with pytest.raises(LabelError, match=words):
        read_seeds(labels, PATH)


def test_a_class_that_nobody_has_is_none(rng):
    graph = random_graph(rng)
    Y = np.full((30, 3), np.nan)
    Y[::4] = [1, 0, 3]
    Y[2::4] = [2, 0, 1]
    model = DirichletClassifier(leak=0.3).fit(graph, Y)
    assert model.classes_.tolist() == [0, 2]
    assert model.calibration_.n_judged == 15
    labels = {0: {"a": 1, "b": 0}, 5: {"c": 2, "b": 0}}
    assert DirichletClassifier().fit(graph, labels).classes_.tolist() == ["a", "c"]


def test_distributions_come_in_any_form(rng):
    import pandas as pd

    graph = random_graph(rng)
    labels = {3: {"a": 1, "b": 3}, 10: "a", 20: {"b": 1}}
    wanted = DirichletClassifier().fit(graph, labels).temperatures_
    listed = [labels.get(i) for i in range(30)]
    column = np.empty(30, dtype=object)
    column[:] = listed
    for form in (pd.Series(labels), listed, column):
        assert np.array_equal(DirichletClassifier().fit(graph, form).temperatures_, wanted)


def test_many_nodes_and_few_distributions_take_little_room():
    graph = Graph.from_edges(np.arange(99_999), np.arange(1, 100_000))
    labels = {i: {k: 1.0} for i, k in zip(range(0, 99_000, 990), range(100), strict=True)}
    seeds = read_seeds(labels, graph)
    assert seeds.values.shape == (100, 100)


def test_what_is_known_of_a_soft_seed_is_its_certainty(rng):
    graph = random_graph(rng)
    model = DirichletClassifier().fit(graph, {3: {"a": 1, "b": 3}, 10: "a", 20: "b"})
    P = model.predict_proba()
    for rows in (slice(None), slice(2, 15)):
        codes, _ = model.codes(rows)
        own = P[rows][np.arange(len(codes)), codes]
        assert np.allclose(model.certainty(rows), own)
    assert model.certainty(slice(None))[[3, 10]].tolist() == [0.75, 1.0]


@pytest.mark.parametrize("leak", [0.0, 0.2])
@pytest.mark.parametrize("sure", [0.01, 0.5, 0.999999])
def test_ties_of_any_strength_are_left_out_well(rng, leak, sure):
    graph = random_graph(rng)
    labels = {i: i % 2 for i in range(0, 30, 3)}
    how = {"leak": leak, "tol": 1e-7, "solver": "cg"}
    found = DirichletClassifier(**how).fit(graph, labels, {0: sure}).leave_one_out()
    k = found.nodes.tolist().index(0)
    del labels[0]
    again = DirichletClassifier(**how).fit(graph, labels)
    assert np.allclose(found.temperatures[k], again.temperatures_[0], atol=1e-5)
    assert np.allclose(found.scores[k], again.scores_[0], atol=1e-5)


def test_a_weak_seed_is_explained_without_a_path_to_itself():
    from isotherm.report.explanation import Classes, explanation_page

    model = DirichletClassifier().fit(PATH, {"a": "left", "e": "right"}, {"a": 0.5})
    why = model.explain("a")
    assert why.seeds[0][:2] == ("a", "left")
    assert {path[0][-1] for path in why.paths} == {"e"}
    assert "left" in explanation_page(why, Classes.of(model))


def test_the_report_counts_weak_seeds(tmp_path):
    from isotherm.job import Job
    from isotherm.pipeline import do

    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\nc,d\nd,a\nx,y\n")
    (tmp_path / "l.csv").write_text("node,label\na,1\nb,2\nc,1\nd,2\n")
    report = tmp_path / "r.html"
    do(Job(str(tmp_path / "e.csv"), str(tmp_path / "l.csv"), report=str(report), confidence=0.8))
    page = report.read_text(encoding="utf-8")
    assert "labelled from 4 seeds" in page
    words = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL).lower()
    assert "nan" not in words.replace("finance", "")


def test_a_series_of_confidences_goes_by_its_index():
    import pandas as pd

    labels = {"a": "x", "b": "y", "e": "y"}
    wanted = DirichletClassifier().fit(PATH, labels, {"b": 0.2}).temperatures_
    shuffled = pd.Series({"e": 1.0, "d": 1.0, "b": 0.2, "c": 1.0, "a": 1.0})
    for series in (shuffled, pd.Series({"b": 0.2})):
        assert np.array_equal(DirichletClassifier().fit(PATH, labels, series).temperatures_, wanted)
    with pytest.raises(UnknownNode):
        DirichletClassifier().fit(PATH, labels, pd.Series({"z": 0.2}))


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("n_changes", [1, 3])
def test_labels_added_and_changed_are_as_given_from_the_start(rng, soft, n_changes):
    graph = random_graph(rng, 40)
    labels = {int(i): int(i) % 3 for i in rng.choice(40, 12, replace=False)}
    if soft:
        labels[next(iter(labels))] = {0: 0.25, 1: 0.75}
    others = [i for i in range(40) if i not in labels]
    cases = [
        {i: i % 3 for i in others[:n_changes]},  # more of the same classes
        dict.fromkeys(others[:n_changes], 7),  # of a new one
        dict.fromkeys(list(labels)[-n_changes:]),  # withdrawn
        {list(labels)[-1]: 2, others[-1]: 1},
    ]
    for changes in cases:
        changed = {i: label for i, label in (labels | changes).items() if label is not None}
        expected = read_seeds(changed, graph)
        found = read_seeds(labels, graph).with_changes(changes)
        assert found.classes.tolist() == expected.classes.tolist()
        for name in ("nodes", "codes", "values"):
            assert np.array_equal(getattr(found, name), getattr(expected, name)), name
        assert found.confidence is None
