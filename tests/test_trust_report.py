"""What the page of a classification says of how far to trust it: the numbers are the API's."""

import re
from dataclasses import replace

import numpy as np
import pytest

from html_page import Page, classification_page, parse
from isotherm import BlockModel, Graph, StackedDirichletClassifier
from isotherm.report import charts, trust
from isotherm.report.words import percent
from isotherm.trust.calibrate import Bin, calibration_error, reliability
from isotherm.trust.interval import proportion
from isotherm.trust.leave_one_out import leave_one_out, leave_some_out
from test_classification_report import NASTY, parsed, run_of

pytestmark = pytest.mark.core_free


def section_of(run, title):
    """The element of one section, and its text."""
    return Page(classification_page(run)).section(title)


def table_of(run, title):
    """The cells of the table of that title, without its head."""
    return Page(classification_page(run)).table(title)


def blocks(sizes, share, between=0.012, **options):
    rng = np.random.default_rng(0)
    graph, truth = BlockModel(sizes, 0.1, between).sample(rng)
    names = np.array([f"class {k}" for k in range(len(sizes))])
    known = np.flatnonzero(rng.random(len(truth)) < share)
    labels = {int(node): names[truth[node]] for node in known}
    return run_of(graph, labels, **options)


@pytest.fixture(scope="module")
def run():
    return blocks([150, 100, 50], 0.4)


def test_accuracy_and_macro_f1_are_those_of_the_spot_check(run):
    check = run.classifier.spot_check()
    n_right = int((check.labels == check.truth).sum())
    words = section_of(run, "How far to trust it")[1]
    assert f"All {check.n_seeds} seeds were left out, one at a time." in words
    assert f"{n_right} got their own label back: accuracy {check.accuracy}, " in words
    assert f"macro-F1 {check.macro_f1}." in words
    assert "19 of 20 such intervals would contain the true value" in words
    assert "too few labels" not in words


def test_the_page_says_how_often_another_class_is_more_probable_than_the_label(run):
    tally = run.classifier.tally()
    assert tally.n_outdone > 0
    words = section_of(run, "How far to trust it")[1]
    share = percent(tally.n_outdone / tally.n_labelled)
    sentence = f"For {share} of the labelled nodes, another class is more probable than the label."
    assert sentence in words


def test_what_is_expected_of_free_nodes_is_told(run):
    words = section_of(run, "How far to trust it")[1]
    assert f"a share of {run.classifier.expected_accuracy()} is expected to be right" in words


def test_each_class_has_the_scores_of_the_spot_check(run):
    scores = sorted(run.classifier.spot_check().classes, key=lambda score: -score.n_seeds)
    rows = table_of(run, "Seeds left out, class by class")
    assert [row[0] for row in rows] == [score.label for score in scores]
    for (_, n_seeds, precision, recall, interval, f1), score in zip(rows, scores, strict=True):
        assert int(n_seeds) == score.n_seeds
        numbers = [score.precision, score.recall, score.f1]
        assert [float(precision), float(recall), float(f1)] == pytest.approx(numbers, abs=0.005)
        assert interval == f"{score.recall_interval.low:.2f} to {score.recall_interval.high:.2f}"


def test_the_reliability_diagram_shows_what_was_said_and_what_is_so(run):
    check, left = run.classifier.spot_check(), run.classifier.left_out_
    some = left.reached
    right = check.labels[some] == check.truth[some]
    own = np.searchsorted(run.classifier.classes_, check.labels[some])
    probability = check.probabilities[some][np.arange(some.sum()), own]
    section, words = section_of(run, "Calibration")
    error = calibration_error(probability, right, 10)
    assert f"{some.sum()} labels of seeds left out: " in words
    assert f"expected calibration error {error:.3f}" in words
    points = reliability(probability, right, 10)
    told = [
        f"predicted {each.probability:.2f}, right {each.right:.2f}: {each.n_labels} label"
        for each in points
    ]
    titles = [point.findtext("title") for point in section.iter("ellipse") if len(point)]
    assert [title.removesuffix("s") for title in titles] == told
    for row, each in zip(table_of(run, "Predicted and observed"), points, strict=True):
        share = proportion(round(each.right * each.n_labels), each.n_labels)
        assert row[:2] == [f"{each.probability:.2f}", str(each.n_labels)]
        assert row[2:] == [f"{each.right:.2f}", f"{share.low:.2f} to {share.high:.2f}"]


def test_a_point_lies_where_its_numbers_say_and_is_larger_for_more_labels():
    bins = [Bin(4, 0.25, 0.25), Bin(16, 0.75, 0.5)]
    drawn = parse(charts.reliability(bins, "<words>"))
    assert "<words>" in drawn.get("aria-label")
    points = [point for point in drawn.iter("ellipse") if len(point)]
    small, large = ([float(p.get(key)) for key in ("cx", "cy", "rx")] for p in points)
    (diagonal,) = drawn.findall("path[@class='mean']")
    left, lower, right, upper = map(float, re.findall(r"\d+", diagonal.get("d")))
    at = [
        (left + (right - left) * each.probability, lower - (lower - upper) * each.right)
        for each in bins
    ]
    assert [(x, y) for x, y, _ in (small, large)] == [pytest.approx(xy, abs=0.06) for xy in at]
    assert large[2] > small[2]


def test_few_seeds_make_no_diagram():
    few = blocks([40, 40], 0.15)
    m = len(few.classifier.spot_check().nodes)
    section, words = section_of(few, "Calibration")
    assert 0 < m < 20
    assert f"{m} seeds could be checked: too few" in words
    assert section.find(".//svg") is None


def test_suspects_are_those_of_the_spot_check():
    run = blocks([150, 100, 50], 0.5, between=0.05)
    suspects = run.classifier.spot_check().suspects()
    rows, words = table_of(run, "Labels to check"), section_of(run, "Suspects")[1]
    assert len(suspects) > 20
    assert f"{len(suspects)} suspects among " in words
    assert "the 20 clearest are listed" in words
    assert rows == [
        [
            *(str(one.node), one.label, one.suggested),
            *map(percent, (one.own_probability, one.suggested_probability)),
        ]
        for one in suspects[:20]
    ]


def test_a_wrong_label_is_the_first_suspect(rng):
    graph, truth = BlockModel([40, 40], 0.4, 0.01).sample(rng)
    labels = {node: f"side {truth[node]}" for node in range(0, 80, 2)}
    clean = run_of(graph, labels)
    assert "There are none among 40 seeds left out." in section_of(clean, "Suspects")[1]
    wrong = run_of(graph, labels | {10: "side 1"})
    assert table_of(wrong, "Labels to check")[0][:3] == ["10", "side 1", "side 0"]
    assert "isotherm suspects" not in classification_page(wrong)


def sampled(run, make, count):
    """The run, judged by some of its seeds."""
    model = run.classifier
    some = np.arange(1, 2 * count, 2)
    given = (model.session(), model.solution_, model.seeds_.codes)
    model._later.sample = make(*given, some=some, tol=1e-6)
    return run


def test_of_a_sample_the_page_says_how_to_look_at_all():
    run = blocks([60, 40], 0.5, decision="plain", leak=0.1)
    run = sampled(run, leave_one_out, 22)
    n = run.classifier.spot_check().n_seeds
    words = section_of(run, "How far to trust it")[1]
    assert f"A sample of 22 of the {n} seeds was left out, one at a time." in words
    words = section_of(run, "Suspects")[1]
    assert f"The 22 seeds left out are a sample of {n}." in words
    assert "isotherm suspects EDGES LABELS --decision plain --leak 0.1" in words
    parsed(run)


def test_seeds_left_out_together_are_told_so():
    run = sampled(blocks([60, 40], 0.6, between=0.05), leave_some_out, 25)
    check = run.classifier.spot_check()
    words = section_of(run, "How far to trust it")[1]
    assert f"A sample of 25 of the {check.n_seeds} seeds was left out, all of these tog" in words
    assert "they scored slightly lower than each would alone" in words
    assert f"accuracy {check.accuracy}" in words
    section, words = section_of(run, "Suspects")
    assert check.suspects()
    assert "They were left out together" in words
    assert section.findtext("pre") == "isotherm suspects EDGES LABELS"
    assert "25 labels of seeds left out" in parsed(run).words


def test_doubts_of_the_fit_are_a_notice_and_warned_of_once(recwarn):
    graph = Graph.from_edges(list("abcde"), list("bcdef"))
    run = run_of(graph, {"a": "one", "b": "one", "f": "<b>two</b>"})
    assert len(recwarn) == 1
    assert len(run.classifier.doubts_) == 1
    section, words = section_of(run, "How far to trust it")
    assert section.find("div[@class='notice']") is section[2]  # before any number
    assert "left out, one at a time" in section[3].text
    assert "Class '<b>two</b>' has only one seed: nothing shows" in words
    assert "2 of 3 seeds, those that are not the only one of their class, were left out" in words
    assert "1 class had no seed in this sample." in words
    assert len(recwarn) == 1


def test_names_in_the_notice_are_cut():
    names = ["x" * 5000, "y " * 300, "\u202e" * 50]
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    text = classification_page(run_of(graph, dict(enumerate(names))))
    assert "3 classes have only one seed each (“" + "x" * 29 + "…”" in text
    assert not re.search(r"x{31}|(y ){31}|\u202e", text)


def test_hostile_names_among_the_suspects_do_no_harm():
    names = [name + "'\"<u>*" for name in NASTY[:6]]
    graph = Graph.from_edges(
        np.array(names)[[0, 0, 1, 3, 3, 4, 2]], np.array(names)[[1, 2, 2, 4, 5, 5, 3]]
    )
    labels = {name: NASTY[0] if k < 3 else NASTY[6] for k, name in enumerate(names)}
    run = run_of(graph, labels | {names[1]: NASTY[6]})
    page, check = parsed(run), run.classifier.spot_check()
    assert names[1] in [one.node for one in check.suspects()]
    assert names[1][:20] in section_of(run, "Suspects")[1]
    assert not {"u", "script", "img"} & set(page.tags)
    assert ("class", "marked") not in page.attributes


ONE_EACH = "Every class has only one seed"
NO_SEED = "No seed could be checked"


@pytest.mark.parametrize(
    ("edges", "labels", "options", "words"),
    [
        (("abc", "bcd"), {"a": 1, "d": 2}, {}, [ONE_EACH, NO_SEED, "No seed could be left out"]),
        (("ab", "bc"), {"a": 1, "b": 2, "c": 1}, {}, ["2 seeds could be checked"]),
        (("ab", "bc"), {"a": 1, "b": 2, "c": 3}, {}, [ONE_EACH, NO_SEED]),
        (("abxy", "bcyx"), {"a": 1, "b": 2}, {}, [ONE_EACH]),
        (("axpq", "bypr"), {"a": 1, "x": 1, "p": 2, "q": 2}, {}, ["No heat reached 4 seeds left"]),
        (("abxy", "bcyx"), {"a": 1, "b": 2, "c": 1}, {"unreached": "zero"}, ["left out"]),
        (("abcd", "bcde"), {"a": 1, "b": 1, "e": 2}, {"decision": "auto"}, ["2 of 3 seeds"]),
        (("abcd", "bcde"), {"a": {1: 0.6, 2: 0.4}, "e": {2: 1.0}, "d": {2: 1.0}}, {}, ["left out"]),
    ],
    ids=[
        "one seed each",
        "no free node",
        "no free node, one seed each",
        "unreached",
        "alone once left out",
        "unreached as zero",
        "chosen",
        "shares of labels",
    ],
)
def test_the_smallest_problems_are_told_in_words(edges, labels, options, words):
    run = run_of(Graph.from_edges(*map(list, edges)), labels, **options)
    page = parsed(run)
    for sentence in words:
        assert sentence in page.words
    assert not re.search(r"\bnan\b", page.words)


def test_of_many_classes_those_with_the_most_seeds_are_listed():
    n = 300
    graph = Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n)
    sizes = [2] * 30 + [3] * 12 + [1] * 2
    codes = np.repeat(np.arange(len(sizes)), sizes)
    run = run_of(graph, {3 * k: f"class {code}" for k, code in enumerate(codes)})
    words = section_of(run, "How far to trust it")[1]
    n_seeds = [int(row[1]) for row in table_of(run, "Seeds left out, class by class")]
    assert n_seeds == [3] * 12 + [2] * 3
    assert "And 27 more classes with 54 seeds left out." in words
    assert "2 classes had no seed in this sample." in words


def test_a_section_that_fails_leaves_the_others(run, monkeypatch):
    def broken(*_):
        raise MemoryError("no <room>")

    monkeypatch.setattr(trust, "_accuracy", broken)
    assert "could not be worked out: no <room>." in section_of(run, "How far to trust it")[1]
    assert section_of(run, "Calibration")[0].find(".//svg") is not None


def test_a_whole_bar_and_a_long_name_stay_within_their_cells():
    run = run_of(Graph.from_edges([0, 1], [1, 2]), {0: "W" * 100, 1: "W" * 100, 2: "plain"})
    page = Page(classification_page(run))
    assert [row[0] for row in page.table("Size of each class")] == ["W" * 29 + "…", "plain"]
    assert [bar.split(";")[0] for bar in page.bars] == ["width: 100.0%"] * 2 + ["width: 50.0%"] * 2


def test_a_stacked_model_is_told_with_what_it_combines(run):
    labels = dict(zip(run.classifier.names_.tolist(), run.classifier.labels_.tolist(), strict=True))
    known = {node: labels[node] for node in run.classifier.names_[run.classifier.seeds_.nodes]}
    model = StackedDirichletClassifier().fit(run.graph, known)
    assert model.views_
    stacked = replace(run, classifier=model)
    words = section_of(stacked, "How far to trust it")[1]
    assert "Each was scored by a model fitted to other seeds." in words
    assert "What was combined" in words
    assert "learnt from these very seeds" not in section_of(stacked, "Calibration")[1]
