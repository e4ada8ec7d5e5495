"""Labels drawn at random: where it is said which ones they are, only these are judged."""

import copy
import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score

from conftest import CliRun
from html_page import Page
from isotherm import (
    BlockModel,
    DirichletClassifier,
    Graph,
    IsothermWarning,
    LabelError,
    Labels,
    StackedDirichletClassifier,
    UnknownNode,
    read_labels,
    write_report,
)
from isotherm.cli.evaluate import Labelled
from isotherm.graph.keys import node_keys
from isotherm.graph.nodes import NodeIndex
from isotherm.report.model_lines import model_lines
from isotherm.trust.interval import proportion
from isotherm.trust.sample import some_of
from isotherm.trust.scoring import macro_f1

BLOCKS = BlockModel([150, 100, 50], p=0.12, q=0.012)
GRAPH, TRUTH = BLOCKS.sample(np.random.default_rng(0))


def labels_of(count, seed=0):
    nodes = np.random.default_rng(seed).choice(len(TRUTH), count, replace=False).tolist()
    return {node: int(TRUTH[node]) for node in nodes}


def accuracy(model, truth):
    free = model.status_ != "seed"
    return float((model.labels_[free] == truth[free]).mean())


def test_after_suggestions_intervals_rest_on_enough_checks_and_hold_the_truth():
    # Without `drawn` all seeds are judged, and 15 of 16 such intervals miss.
    blocks, given, missed = BlockModel([300, 200, 100], p=0.06, q=0.006), 0, 0
    for draw in range(32):
        graph, truth = blocks.sample(np.random.default_rng(draw))
        rng = np.random.default_rng(draw + 100)
        known = {int(rng.choice(np.flatnonzero(truth == k))): int(k) for k in range(3)}
        model = DirichletClassifier().fit(graph, known, drawn=[])
        for n_drawn in range(2, 26, 2):
            asked = model.suggest(5)
            model.update(
                {one.node: int(truth[one.node]) for one in asked},
                drawn=[one.node for one in asked if one.drawn],
            )
            if n_drawn not in (14, 24):
                continue
            for said in (model.expected_accuracy(), model.leave_one_out().accuracy):
                assert np.isfinite(said.value) == (said.high - said.low < 1) == (n_drawn >= 20)
                given += n_drawn >= 20
                missed += not said.low <= accuracy(model, truth) <= said.high
    assert given == 64
    assert missed <= 4


def test_intervals_by_drawn_labels_cover_where_many_labels_are_wrong():
    blocks, right = BlockModel([60, 40], p=0.12, q=0.06), []
    held = {name: [] for name in ("accuracy", "macro-F1", "recall", "coverage")}
    for draw in range(60):
        graph, truth = blocks.sample(np.random.default_rng(draw))
        rng = np.random.default_rng(draw)
        order = rng.permutation(100)
        hubs = np.setdiff1d(np.argsort(-graph.degrees)[:8], order[:24])  # chosen, not drawn
        nodes = [*order[:24].tolist(), *hubs.tolist()]
        model = DirichletClassifier().fit(
            graph, {i: int(truth[i]) for i in nodes}, drawn=order[:24]
        )
        right.append(accuracy(model, truth))
        free, P = model.status_ != "seed", model.certainty(slice(None))
        is_right, left = model.labels_ == truth, model.leave_one_out()
        f1 = f1_score(truth[free], model.labels_[free].astype(int), average="macro")
        facts = [
            ("accuracy", model.expected_accuracy(), right[-1]),
            ("macro-F1", left.macro_f1, f1),
            *(
                ("recall", one.recall_interval, is_right[free & (truth == one.label)].mean())
                for one in left.classes
            ),
            *(
                ("coverage", one.right, is_right[free & (one.min_probability <= P)].mean())
                for one in model.coverage([0.0, 0.5, 0.6])
                if np.isfinite(one.right.value)
            ),
        ]
        for name, said, fact in facts:
            held[name].append(said.low <= fact <= said.high)
    assert 0.5 < np.mean(right) < 0.9
    shares = {name: float(np.mean(each)) for name, each in held.items()}
    assert min(shares.values()) >= 0.9, shares


@pytest.mark.parametrize("kind", [DirichletClassifier, StackedDirichletClassifier])
def test_no_share_is_given_by_fewer_than_20_drawn_labels(kind):
    known = labels_of(60)
    model = kind().fit(GRAPH, known, drawn=list(known)[:7])
    left = model.leave_one_out()
    scores = model.coverage([0.0, 0.5])
    given = [*(one.right for one in scores), left.accuracy, left.macro_f1]
    given += [one.recall_interval for one in left.classes]
    for said in given:
        assert np.isnan(said.value)
        assert (said.low, said.high) == (0, 1)
    for one in left.classes:
        assert np.isnan([one.precision, one.recall, one.f1]).all()
    assert scores[0].n_judged == 7
    assert not re.search(r"precision|macro-F1|nan", str(left))


@pytest.mark.parametrize("kind", [DirichletClassifier, StackedDirichletClassifier])
def test_every_share_of_drawn_labels_has_the_interval_of_their_accuracy(kind):
    known = labels_of(60)
    model = kind().fit(GRAPH, known, drawn=list(known)[:30])
    left = model.leave_one_out()
    right, n_free = left.labels == left.truth, GRAPH.n_nodes - 60
    worth = 1 / (1.5 + 30 / n_free)  # of a seed drawn at random

    def share(judged):
        return proportion(worth * right[judged].sum(), worth * judged.sum())

    assert left.accuracy == share(left.drawn)
    assert model.coverage([0.0])[0].right == left.accuracy
    assert 0 < left.accuracy.low < proportion(right[left.drawn].sum(), 30).low
    for one in left.classes:
        assert one.recall_interval == share(left.drawn & (left.truth == one.label))
    for one in model.coverage([0.5, 0.9, 0.99, 1.0]):
        assert np.isfinite(one.right.value) == (one.n_judged >= 20 and one.n_labelled > 0)
    assert left.macro_f1.low < macro_f1(*some_codes(left), 3).low


def some_codes(left):
    found = np.searchsorted(np.unique(left.truth), left.labels.astype(int))
    return left.codes[left.drawn], found[left.drawn]


def test_drawn_labels_judge_all_labels_where_no_node_is_free(tmp_path):
    known = labels_of(GRAPH.n_nodes)
    model = DirichletClassifier().fit(GRAPH, known, drawn=list(known)[:30])
    left = model.leave_one_out()
    n_right = int((left.labels == left.truth)[left.drawn].sum())
    assert left.accuracy == proportion(n_right / 1.5, 30 / 1.5)
    assert np.isfinite([one.precision for one in left.classes]).all()
    assert np.isnan(model.expected_accuracy().value)  # there is none that it could be of
    words = page_of(model, tmp_path).words
    assert "nan" not in str(left) + words
    assert "No node without a label got one." in words
    assert "are needed" not in words


def test_where_it_is_not_known_which_were_drawn_shares_are_wilsons():
    model = DirichletClassifier().fit(GRAPH, labels_of(60))
    left = model.leave_one_out()
    right = left.labels == left.truth
    said = proportion(right.sum(), 60)
    assert said == left.accuracy == model.coverage([0.0])[0].right
    for one in left.classes:
        judged = left.truth == one.label
        assert one.recall_interval == proportion(right[judged].sum(), judged.sum())


def test_only_drawn_seeds_are_judged():
    known = labels_of(60)
    chosen = list(known)[:30]
    wrong = {node: (known[node] + 1) % 3 for node in chosen}  # as if hard cases had been chosen
    drawn = [node for node in known if node not in wrong]
    model = DirichletClassifier().fit(GRAPH, known | wrong, drawn=drawn)
    plain = DirichletClassifier().fit(GRAPH, known | wrong)
    left, all_left = model.leave_one_out(), plain.leave_one_out()
    assert left.n_drawn == 30
    assert all_left.n_drawn is None
    assert left.nodes.tolist() == all_left.nodes.tolist()  # suspects are looked for among all
    assert {one.node for one in left.suspects()} & set(wrong)
    right = left.labels[left.drawn] == left.truth[left.drawn]
    assert left.accuracy.value == pytest.approx(right.mean())
    assert right.mean() > all_left.accuracy.value + 0.05
    assert left.accuracy == model.expected_accuracy()
    assert sum(one.n_seeds for one in left.classes) == 30
    assert model.expected_accuracy().value == pytest.approx(right.mean())
    assert model.coverage([0.0])[0].n_judged == 30
    assert model.should_stop().words == f"{left.accuracy}, by 30 labels drawn at random"


@pytest.mark.parametrize("kind", [DirichletClassifier, StackedDirichletClassifier])
def test_of_fewer_than_20_drawn_labels_nothing_is_said_and_why(kind):
    known = labels_of(60)
    model = kind().fit(GRAPH, known, drawn=list(known)[:19])
    for said in (model.expected_accuracy(), model.leave_one_out().accuracy):
        assert np.isnan(said.value)
        assert (said.low, said.high) == (0, 1)
    advice = model.should_stop()
    assert not advice
    assert "only 19 seeds drawn at random can be left out" in advice.reason
    assert "at least 20 are needed" in advice.reason
    words = "not known (19 labels drawn at random can be judged, 20 are needed)"
    assert advice.words == words
    assert f"accuracy {words}" in str(model.leave_one_out())
    assert model.leave_one_out().suspects() == kind().fit(GRAPH, known).leave_one_out().suspects()


def test_where_it_is_not_said_sentences_are_if_the_labels_were_drawn():
    model = DirichletClassifier().fit(GRAPH, labels_of(60))
    assert "if the labels were drawn at random" in str(model.leave_one_out())
    assert model.should_stop().words.endswith("), if the labels were drawn at random")
    assert model.should_stop().reason.endswith("), if the labels were drawn at random")


@pytest.mark.parametrize("n_drawn", [None, 7, 30])
def test_reports_say_what_the_accuracy_rests_on(tmp_path, n_drawn):
    known = labels_of(60)
    drawn = None if n_drawn is None else list(known)[:n_drawn]
    write_report(DirichletClassifier().fit(GRAPH, known, drawn=drawn), tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    right = {
        None: ["95 % confidence, if the labels were drawn at random."],
        7: ["It is not known how many labels are right: 7 labels drawn at random could be checked"],
        30: ["This was checked on 30 seeds drawn at random", "by 30 labels drawn at random"],
    }
    for number, sentences in right.items():
        for sentence in sentences:
            assert (sentence in page) == (number == n_drawn)


def page_of(model, folder):
    write_report(model, folder / "r.html")
    return Page((folder / "r.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("n_drawn", [None, 7, 30])
def test_the_line_about_the_model_says_what_its_scores_rest_on(n_drawn):
    known = labels_of(60)
    drawn = None if n_drawn is None else list(known)[:n_drawn]
    model = StackedDirichletClassifier().fit(GRAPH, known, drawn=drawn)
    (line,) = model_lines(model)
    left, judged = model.left_out_, np.ones(60, bool) if n_drawn is None else model.seeds_.drawn
    left = left.only(np.flatnonzero(np.isin(left.places, np.flatnonzero(judged))))
    ours, paper = (
        f"accuracy {(found == left.codes).mean():.3f}, "
        f"macro-F1 {f1_score(left.codes, found, average='macro'):.3f}"
        for found in (left.labels(model.decision_), left.labels("centered"))
    )
    scores = f"{ours}; paper's model: {paper}"
    assert line == {
        None: f"stacked model, scored by leaving out 60 seeds: {scores}, if the labels were drawn "
        "at random",
        7: "stacked model: accuracy not known (7 labels drawn at random can be judged, 20 are "
        "needed)",
        30: f"stacked model, scored by leaving out 30 seeds: {scores}, by 30 labels drawn at "
        "random",
    }[n_drawn]  # fmt: skip


@pytest.mark.parametrize("kind", [DirichletClassifier, StackedDirichletClassifier])
def test_tables_of_a_report_have_no_number_by_fewer_than_20_drawn_labels(kind, tmp_path):
    known = labels_of(60)
    page = page_of(kind().fit(GRAPH, known, drawn=list(known)[:7]), tmp_path)
    assert {tuple(row[4:]) for row in page.table("Least probability of a label")} == {("–", "–")}
    words = page.words.replace("\u00a0", " ")
    assert "Seeds left out, class by class" not in words
    assert "7 seeds drawn at random could be checked, 20 are needed" in words
    assert "7 seeds drawn at random could be checked: too few" in words
    assert "Accuracy not known (7 labels drawn at random can be judged, 20 are needed)" in words
    assert not re.search(r"got their own label back|19 of 20|\bnan\b", words)


def test_intervals_of_a_report_are_those_of_drawn_labels(tmp_path):
    known = labels_of(60)
    model = DirichletClassifier().fit(GRAPH, known, drawn=list(known)[:30])
    page, left = page_of(model, tmp_path), model.leave_one_out()
    worth = 1 / (1.5 + 30 / (GRAPH.n_nodes - 60))

    def ends(n_right, n_judged):
        share = proportion(worth * n_right, worth * n_judged)
        return f"{share.low:.2f} to {share.high:.2f}"

    n_right = int((left.labels == left.truth)[left.drawn].sum())
    sentence = f"Of those drawn at random, {n_right} got their own label back: {left.words}"
    assert sentence in page.words.replace("\u00a0", " ")
    first, *_, last = page.table("Least probability of a label")
    assert first[3:] == ["30", f"{n_right / 30:.2f}", ends(n_right, 30)]
    assert int(last[3]) < 20
    assert last[4:] == ["–", "–"]
    for _, n, _, recall, interval, _ in page.table("Seeds left out, class by class"):
        assert interval == ends(round(float(recall) * int(n)), int(n))
    bins = page.table("Predicted and observed")
    assert sum(int(n) for _, n, _, _ in bins) == 30
    section, _ = page.section("Calibration")
    bars = [group.find("line") for group in section.iter("g") if group.get("class") == "point"]
    bars = [bar for bar in bars if bar.get("x1") == bar.get("x2")]
    assert len(bars) == len(bins)
    for (_, n, right, interval), bar in zip(bins, bars, strict=True):
        assert interval == ends(round(float(right) * int(n)), int(n))
        heights = ((264 - float(bar.get(key))) / 240 for key in ("y1", "y2"))
        assert [float(end) for end in interval.split(" to ")] == pytest.approx([*heights], abs=0.01)


def test_updates_keep_which_labels_were_drawn():
    known = labels_of(50)
    first, *others = known
    model = DirichletClassifier().fit(GRAPH, known, drawn=others)
    new = labels_of(60)
    more = [node for node in new if node not in known][:5]
    model.update({node: new[node] for node in more[:2]}, drawn=more[:1])
    model.update(Labels({node: new[node] for node in more[2:4]}, drawn=more[2:3]))
    model.update({more[4]: new[more[4]], first: None, others[0]: None, others[1]: 2})
    right = {*others[1:], more[0], more[2]}
    assert set(model.names_[model.seeds_.drawn_nodes].tolist()) == right
    again = copy.deepcopy(model)
    assert set(again.names_[again.seeds_.drawn_nodes].tolist()) == right


def test_an_update_may_be_the_first_to_say_which_were_drawn():
    known, new = labels_of(50), labels_of(80)
    model = DirichletClassifier().fit(GRAPH, known)
    more = {node: label for node, label in new.items() if node not in known}
    model.update(more, drawn=list(more))
    assert model.leave_one_out().n_drawn == len(more)


@pytest.mark.parametrize(
    "drawn",
    [
        lambda nodes: nodes,
        set,
        iter,
        np.array,
        pd.Series,
        lambda nodes: np.isin(np.arange(GRAPH.n_nodes), nodes),
        lambda nodes: pd.Series(np.isin(np.arange(GRAPH.n_nodes), nodes)),
        lambda nodes: [*nodes, int(np.setdiff1d(np.arange(100), [*labels_of(60)])[0])],
    ],
    ids=["list", "set", "iterator", "array", "Series", "mask", "Series of bool", "one unlabelled"],
)
def test_drawn_is_said_by_ids_or_by_a_mask(drawn):
    known = labels_of(60)
    nodes = list(known)[:25]
    model = DirichletClassifier().fit(GRAPH, known, drawn=drawn(nodes))
    assert set(model.seeds_.drawn_nodes.tolist()) == set(nodes)
    given = DirichletClassifier().fit(GRAPH, Labels(known, drawn=nodes))
    assert model.expected_accuracy() == given.expected_accuracy()


@pytest.mark.parametrize(
    ("drawn", "error", "message"),
    [
        (np.zeros(3, dtype=bool), LabelError, "one truth value per node"),
        ([0, 1, 1, 0], LabelError, "twice"),
        ([999_999], UnknownNode, "999999"),
        (True, LabelError, "ids of the nodes"),
        ("drawn", LabelError, "ids of the nodes"),
        ({0: True}, LabelError, "ids of the nodes"),
        (pd.array([True, None], dtype="boolean"), LabelError, "missing values"),
        (pd.Series([True, None], dtype="boolean"), LabelError, "missing values"),
        (np.ma.array([True, False], mask=[False, True]), LabelError, "masked"),
    ],
)
def test_what_does_not_say_which_were_drawn_is_refused(drawn, error, message):
    with pytest.raises(error, match=message):
        DirichletClassifier().fit(GRAPH, labels_of(20), drawn=drawn)


@pytest.mark.parametrize("drawn", [True, 3, "drawn", {0: True}])
def test_labels_refuse_what_names_no_nodes(drawn):
    with pytest.raises(LabelError, match="ids of the nodes"):
        Labels({0: "a"}, drawn=drawn)


def test_drawn_seeds_are_left_out_before_others():
    first, places = np.arange(100) % 4 == 0, np.arange(100)
    keys = node_keys(NodeIndex(100))
    few = some_of(places, 10, first, keys)
    assert first[few].all()
    assert len(few) == 10
    assert first[some_of(places, 40, first, keys)].sum() == 25


def test_labels_are_a_mapping_that_keeps_what_was_drawn():
    labels = copy.deepcopy(Labels({"a": 1, "b": 2}, drawn=["a"]))
    assert labels == {"a": 1, "b": 2}
    assert labels.drawn == {"a"}
    assert Labels({"a": 1}).drawn is None
    path = Graph.from_edges("abc", "bcd")
    assert DirichletClassifier().fit(path, labels).seeds_.drawn.tolist() == [True, False]


# --- in files -------------------------------------------------------------------------------------

ROWS = [("a", "left", True), ("b", "left", False), ("e", "right", True), ("f", "right", None)]
PATH = Graph.from_edges("abcde", "bcdef")


def written(tmp_path, ending, column="drawn"):
    frame = pd.DataFrame(ROWS, columns=["node", "label", column])
    path = tmp_path / f"known.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "parquet":
        frame.astype({column: "boolean"}).to_parquet(path)
    elif ending == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=ending == "jsonl")
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx", "json", "jsonl"])
def test_a_column_says_which_labels_were_drawn(tmp_path, ending):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = read_labels(written(tmp_path, ending), PATH)
    assert labels == {"a": "left", "b": "left", "e": "right", "f": "right"}
    assert labels.drawn == {"a", "e"}
    assert read_labels(written(tmp_path, ending, "other"), PATH, label="label").drawn is None


@pytest.mark.parametrize("words", ["yes no", "1 0", "X ,", "TRUE False", "1.0 0.0"])
def test_drawn_is_said_in_any_of_these_words(tmp_path, words):
    yes, no = words.replace(",", "").split(" ")
    path = tmp_path / "known.csv"
    path.write_text(f"Drawn,account,class\n{yes},a,left\n{no},b,left\n {yes} ,f,right\n")
    # Beside it, the two other columns are node and label, as without it.
    assert read_labels(path, PATH).drawn == {"a", "f"}


def test_a_column_of_other_words_is_left_alone_and_that_is_said(tmp_path):
    path = tmp_path / "known.csv"
    path.write_text("node,label,drawn\na,left,2021-03-04\nf,right,true\n")
    with pytest.warns(IsothermWarning, match="words other than true and false.*2021-03-04"):
        assert read_labels(path, PATH).drawn is None


def test_a_column_drawn_that_is_named_as_the_label_is_the_label(tmp_path):
    path = tmp_path / "known.csv"
    path.write_text("node,drawn\na,yes\nf,no\n")
    labels = read_labels(path, PATH, label="drawn")
    assert labels == {"a": "yes", "f": "no"}
    assert labels.drawn is None


def test_rows_that_are_no_labels_are_not_drawn_either(tmp_path):
    path = tmp_path / "known.csv"
    path.write_text("node,label,drawn\n A,left,1\nc,,1\nd,?,1\nz,left,1\nf,right,0\nb,left,1\n")
    with pytest.warns(IsothermWarning):
        labels = read_labels(path, PATH, ids="normalised")
    assert labels.drawn == {"a", "b"}


def test_guesses_of_a_result_are_not_drawn(tmp_path):
    path = tmp_path / "known.csv"
    path.write_text("node,label,status,drawn\na,left,seed,1\nb,left,predicted,1\nf,right,given,0\n")
    with pytest.warns(IsothermWarning, match="not given but found"):
        labels = read_labels(path, PATH)
    assert labels == {"a": "left", "f": "right"}
    assert labels.drawn == {"a"}


def edges_and_labels(folder, n_drawn):
    rows, names = GRAPH.rows, [f"n{i}" for i in range(GRAPH.n_nodes)]
    ends = zip(np.repeat(np.arange(rows.n_nodes), np.diff(rows.start)), rows.ends, strict=True)
    lines = [f"{names[i]},{names[j]}\n" for i, j in ends if i < j]
    (folder / "edges.csv").write_text("source,target\n" + "".join(lines))
    known = labels_of(60).items()
    lines = [f"{names[i]},c{k}" for i, k in known]
    if n_drawn is not None:
        lines = [f"{line},{int(at < n_drawn)}" for at, line in enumerate(lines)]
    heading = "node,label" if n_drawn is None else "node,label,drawn"
    (folder / "labels.csv").write_text("\n".join([heading, *lines, ""]))


@pytest.mark.slow
@pytest.mark.parametrize("n_drawn", [7, 30])
def test_the_command_line_judges_by_drawn_labels(tmp_path, n_drawn):
    here = CliRun(tmp_path)
    edges_and_labels(tmp_path, n_drawn)
    words = "not known (7 labels drawn at random can be judged, 20 are needed)"
    words = words if n_drawn == 7 else ", by 30 labels drawn at random"
    files = ("edges.csv", "labels.csv", "--model", "paper")
    found = here("suspects", *files)
    assert f"{n_drawn} of 60 labels were drawn at random" in found.stderr
    assert words in found.stdout.splitlines()[0]
    found = here("suggest", *files, "-o", "next.csv")
    assert words in found.stdout
    rows = pd.read_csv(tmp_path / "next.csv")
    assert ((rows["why"] == "check") == rows["drawn"]).all()
    assert rows["drawn"].sum() == 5
    found = here("classify", *files, "-o", "out.csv", "--summary", "run.json")
    said = json.loads((tmp_path / "run.json").read_text())
    said = said["found"]
    assert said["left_out"]["drawn"] == n_drawn
    assert (said["expected_accuracy"]["value"] is None) == (n_drawn == 7)
    found = here("evaluate", *files[:2], "--repeats", "2", "--seeds", "20%")
    assert ("since only 7 of them were drawn at random" in found.stdout) == (n_drawn == 7)


@pytest.mark.parametrize(
    ("n_drawn", "right"),
    [
        (None, "scores hold for nodes without a label if the labels were drawn at random"),
        (7, "all 60 labels are scored, since only 7 of them were drawn at random"),
        (30, "only the 30 labels drawn at random are scored"),
    ],
)
def test_evaluate_says_once_which_labels_it_scores(tmp_path, n_drawn, right):
    here = CliRun(tmp_path)
    edges_and_labels(tmp_path, n_drawn)
    how = ("--repeats", "1", "--seeds", "20%", "--report", "r.html")
    found = here("evaluate", "edges.csv", "labels.csv", *how)
    assert found.stdout.splitlines()[-2].startswith(right)
    assert found.stderr.count("drawn at random") == (n_drawn is not None)
    assert "judged" not in found.stderr
    words = Page((tmp_path / "r.html").read_text(encoding="utf-8")).words
    assert f" {right[:1].upper()}{right[1:]}" in words.replace("\u00a0", " ")


@pytest.mark.parametrize("n_drawn", [None, 0, 19, 20])
def test_evaluate_scores_drawn_labels_alone_if_they_are_enough(n_drawn):
    drawn = None if n_drawn is None else np.arange(GRAPH.n_nodes) < n_drawn
    codes = np.where(np.arange(GRAPH.n_nodes) < 60, TRUTH, -1)
    source = Labelled("blocks", GRAPH, codes, {}, drawn)
    assert source.judged is (drawn if n_drawn == 20 else None)
    assert ("only the 20 labels" in source.basis) == (n_drawn == 20)
    assert ("all 60 labels are scored" in source.basis) == (n_drawn in (0, 19))
    every = Labelled("blocks", GRAPH, TRUTH, {}, drawn).basis
    assert "without a label" not in every  # there is none
    assert (every == "") == (n_drawn is None)
