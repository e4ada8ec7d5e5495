"""The page of a classification: all of it is there, counts agree, names from files do no harm."""

import re

import numpy as np
import pytest

from html_page import Page, classification_page, parse
from isotherm import BlockModel, DirichletClassifier, Graph, load_dataset
from isotherm.job import Run
from isotherm.read.report import ReadReport
from isotherm.report import charts
from isotherm.report.findings import Findings
from isotherm.report.network import MOST_NEIGHBOURS, edges_among, neighbourhood, positions
from isotherm.report.words import short

SECTIONS = [
    "What was found",
    "The lists",
    "The picture",
    "How far to trust it",
    "Calibration",
    "How sure a label must be",
    "Suspects",
    "The most doubtful nodes",
    "Margins and certificate",
    "Temperatures",
    "What was read",
    "The record of the run",
]


def run_of(graph, labels, *, name="edges.csv", n_rows=None, **options):
    model = DirichletClassifier(**options).fit(graph, labels)
    n_rows = graph.n_edges if n_rows is None else n_rows
    return Run(
        model,
        graph,
        ReadReport(
            name,
            "CSV",
            ("source", "target"),
            n_rows,
            1,
            ["line 3: one column"],
            ["A note."],
            checksum="ab" * 32,
        ),
        ReadReport(
            "labels.csv",
            "CSV",
            ("node", "label"),
            int((model.status_ == "seed").sum()),
            checksum="cd" * 32,
        ),
        options={"decision": "centered", "tol": "1e-06"},
        command="isotherm classify edges.csv labels.csv",
        seconds={"reading": 0.25, "solving": 1.5},
        converged=True,
        memory=123_000_000,
        versions={"isotherm": "0.1.0"},
    )


def parsed(run):
    """The page, after the checks that every page must pass."""
    page = Page(classification_page(run))
    assert list(page.sections) == SECTIONS
    assert "could not be worked out" not in page.words
    return page


@pytest.fixture(scope="module")
def karate():
    club = load_dataset("karate")
    return run_of(club.graph, {0: club.labels[0], 33: club.labels[33]}, n_rows=90)


def test_the_page_says_what_was_read_found_and_done(karate):
    page = parsed(karate)
    summary = (
        "34 nodes, labelled from 2 seeds into 2 classes; all 32 labels found are numerically exact"
    )
    assert summary in page.words
    assert "heat reached every node" in page.words
    assert page.row("edges.csv") == ["edges", "CSV", "source, target", "90", "1"]
    assert "edges.csv: skipped: line 3: one column" in page.words
    assert "edges.csv: A note." in page.words
    assert [page.row("duplicates merged"), page.row("components")] == [["12"], ["1"]]
    assert page.row("solver") == [karate.classifier.solution_.solver]
    assert [page.row("peak memory"), page.row("seconds, solving")] == [["123 MB"], ["1.500"]]
    assert ["edges.csv", "ab" * 32] in page.rows
    assert karate.command in page.words


def test_counts_on_the_page_are_those_of_the_classifier(rng):
    graph, truth = BlockModel([60, 30, 10], 0.08, 0.01).sample(rng)
    known = np.where(rng.random(100) < 0.2, truth, -1)
    run = run_of(graph, known)
    model, page = run.classifier, parsed(run)
    for status in ("seed", "predicted", "tie", "unreached"):
        mask = model.status_ == status
        proven = int((mask & model.certified_).sum())
        n, _, *certified = page.row(status)
        assert [int(cell) for cell in (n, *certified)] == [mask.sum(), proven, mask.sum() - proven]
    for label in model.classes_:
        _, seeds, _, labelled, _ = page.row(str(label))
        assert int(seeds) == (known == label).sum()
        assert int(labelled) == (model.labels_ == label).sum()


def test_the_least_margins_come_first_with_their_runner_up(karate):
    model, found = karate.classifier, Findings(karate.classifier, karate.graph)
    free = np.flatnonzero(model.status_ == "predicted")
    least = free[np.argsort(model.margins_[free], kind="stable")][:20]
    assert found.doubtful.tolist() == least.tolist()
    for node, runner_up in zip(least, found.runners_up(least), strict=True):
        order = np.argsort(-model.scores_[node])
        assert [found.codes[node], runner_up] == order[:2].tolist()
    rows = parsed(karate).table("Smallest margins")
    assert [row[0] for row in rows] == [str(node) for node in least]
    neighbours = karate.graph.adjacency[[least[0]]].nonzero()[1]
    around = dict(cell.split(":\u00a0") for cell in rows[0][6].split(", "))
    assert {name: int(count) for name, count in around.items()} == {
        name: int((model.labels_[neighbours] == name).sum()) for name in model.classes_
    }


def test_a_small_graph_is_drawn_with_every_node_named_and_told(karate):
    page = parsed(karate)
    assert page.tags.count("circle") == 34
    model = karate.classifier
    assert "33: Officer (seed)" in page.texts
    assert f"2: {model.labels_[2]} (predicted, margin {model.margins_[2]:.3g})" in page.texts


def test_of_a_large_graph_the_surroundings_of_doubtful_nodes_are_drawn(rng):
    graph, truth = BlockModel([1500, 1000], 0.006, 0.001).sample(rng)
    known = np.where(rng.random(2500) < 0.1, truth, -1)
    run = run_of(graph, known)
    nodes = Findings(run.classifier, graph).doubtful[:6].tolist()
    circles = parsed(run).tags.count("circle")
    assert circles == sum(len(neighbourhood(graph, node)) for node in nodes)


def test_a_hub_is_drawn_with_some_of_its_neighbours():
    star = Graph.from_edges(np.zeros(500, dtype=int), np.arange(1, 501))
    near = neighbourhood(star, 0)
    assert len(near) == len(set(near.tolist())) == MOST_NEIGHBOURS
    assert [near[0], *neighbourhood(star, 7)] == [0, 7, 0]
    edges = np.transpose(edges_among(star, near))
    assert sorted(edges.tolist()) == [[0, k] for k in range(1, MOST_NEIGHBOURS)]


NASTY = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "& </title></svg></table>"]
NASTY += ["nul\0bell\x07", "turned\u202egnihsif", "half\ud800", "x" * 5000, "", "starred*", "plain"]


def test_names_and_labels_from_files_do_no_harm():
    graph = Graph.from_edges(NASTY, NASTY[1:] + NASTY[:1])
    run = run_of(graph, {NASTY[0]: NASTY[1], NASTY[5]: NASTY[0], NASTY[3]: NASTY[6]}, name=NASTY[2])
    page, text = parsed(run), classification_page(run)
    assert page.tags.count("circle") == len(NASTY)
    assert "<script>alert(1)</script>" in page.words
    assert not re.search("[\0\x07\u202e]", text)
    assert r"nul\x00bell\x07" in page.words
    assert "x" * 61 not in text
    assert ("class", "marked") not in page.attributes


def test_names_kept_by_arrow_are_those_of_the_nodes():
    pa = pytest.importorskip("pyarrow")
    graph = Graph.from_edges(pa.array(["ada", "bob"]), pa.array(["bob", "cyd"]))
    page = parsed(run_of(graph, {"ada": "warm", "cyd": "cold"}))
    assert any(text.startswith("bob: cold (tie") for text in page.texts)


def test_words_from_a_file_are_cut_after_they_are_escaped():
    assert short("\0" * 100, 10) == r"\x00\x00\…"
    assert short("na\u200cme") == "na\u200cme"


@pytest.mark.parametrize(
    ("edges", "labels", "rule", "words"),
    [
        (("ab", "bc"), {"a": 1, "b": 2, "c": 1}, "abstain", "0 labels found"),
        (("abc", "bac"), {"a": 1, "b": 2}, "abstain", "no heat reached 1 node, left without"),
        (("abxy", "bcyx"), {"a": 0, "b": 1}, "zero", "which counts as temperature 0"),
        (("ab", "bc"), {"a": 0, "c": 1}, "abstain", "1 label found, 0 numerically exact"),
    ],
    ids=["all seeds", "all others unreached", "unreached as zero", "tie"],
)
def test_the_smallest_problems_have_a_page(edges, labels, rule, words):
    graph = Graph.from_edges(*map(list, edges))
    page = parsed(run_of(graph, labels, unreached=rule))
    assert words in page.words
    assert page.tags.count("circle") == graph.n_nodes


def test_margins_that_are_no_numbers_are_left_out(karate):
    run = run_of(karate.graph, {0: "a", 33: "b"})
    margins = run.classifier.margins_.copy()
    margins[5:20] = np.nan
    run.classifier.margins_ = margins
    assert "Margins of 17 predicted nodes" in parsed(run).words
    assert not set(Findings(run.classifier, run.graph).doubtful) & set(range(5, 20))


def test_of_many_classes_the_largest_are_shown_and_the_others_summed_up(rng):
    n = 1100
    graph = Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n)
    labels = {int(node): f"class {k}" for k, node in enumerate(rng.choice(n, 1000, replace=False))}
    run = run_of(graph, labels, tol=1e-3)
    page = parsed(run)
    _, seeds, _, labelled, _ = page.row("970 other classes")
    assert seeds == "970"
    *listed, _ = page.table("Size of each class")
    shown = sum(int(row[4]) for row in listed)
    assert shown + int(labelled.replace(",", "")) == n
    assert sum(text.startswith("class ") and ", mean" in text for text in page.texts) == 12


def ring(n):
    return np.arange(n), (np.arange(n) + 1) % n


@pytest.mark.parametrize(
    ("n", "edges"),
    [
        pytest.param(1, ([], []), id="one"),
        pytest.param(7, ([], []), id="no edge"),
        pytest.param(40, ring(40), id="ring"),
        pytest.param(12, ([0, 2, 4, 5, 6], [1, 3, 5, 6, 4]), id="parts"),
        pytest.param(30, (np.zeros(29, dtype=int), np.arange(1, 30)), id="star"),
        pytest.param(20, np.triu_indices(20, 1), id="complete"),
    ],
)
def test_nodes_have_a_place_of_their_own_and_always_the_same(n, edges):
    edges = tuple(np.asarray(end, dtype=np.intp) for end in edges)
    X = positions(n, edges)
    assert X.shape == (n, 2)
    assert np.isfinite(X).all()
    assert np.array_equal(X, positions(n, edges))
    distance = np.linalg.norm(X[:, np.newaxis] - X, axis=2) + np.eye(n)
    assert distance.min() > 0.05


def test_components_lie_side_by_side():
    first, second = ring(30), ring(20)
    i, j = (np.concatenate([a, b + 30]) for a, b in zip(first, second, strict=True))
    X = positions(52, (np.minimum(i, j), np.maximum(i, j)))
    boxes = [(part.min(axis=0), part.max(axis=0)) for part in (X[:30], X[30:50], X[50:51])]
    for k, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:k]:
            assert (low > other_high).any() or (other_low > high).any()
    assert np.ptp(X, axis=0).max() < 4 * np.ptp(X[:30], axis=0).max()


def test_neighbours_are_closer_than_others():
    X = positions(60, ring(60))
    along, across = (np.linalg.norm(X - np.roll(X, k, axis=0), axis=1) for k in (1, 30))
    assert along.max() < across.min()


def test_a_path_is_drawn_straight_with_steps_of_a_length():
    X = positions(6, (np.arange(5), np.arange(1, 6)))
    steps = np.linalg.norm(np.diff(X, axis=0), axis=1)
    assert np.linalg.norm(X[0] - X[-1]) == pytest.approx(steps.sum(), rel=0.01)
    assert steps == pytest.approx(steps.mean(), rel=0.15)


def test_bars_count_every_value_once(rng):
    values = rng.random(1000, dtype=np.float32)
    assert (
        charts.bin_counts(values, 1.0).tolist()
        == np.histogram(values, charts.BINS, (0, 1))[0].tolist()
    )


def test_counts_that_differ_much_are_drawn_as_logarithms():
    uneven = np.array([100_000, 3, 1, 0])
    even = np.array([5, 9, 7]), np.zeros(3, dtype=int)
    assert [charts.is_uneven(counts) for counts in (uneven, *even)] == [True, False, False]
    drawn = parse(charts.Histogram(1.0, 100_000, log=True).draw(uneven, "counts"))
    heights = [float(bar.get("height")) for bar in drawn.iter("rect")]
    assert heights[0] > heights[1] > heights[2] > 4
