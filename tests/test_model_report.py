"""`report()` of every estimator, and the pages of values and of several labels a node."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import isotherm
from conftest import CliRun
from html_page import Page
from isotherm import (
    BlockModel,
    DirichletClassifier,
    DirichletRegressor,
    FileError,
    Graph,
    MultiLabelDirichletClassifier,
    ParameterError,
    StackedDirichletClassifier,
)
from isotherm.report.model import model_page
from isotherm.report.record import Record

PATH = Graph.from_edges("abcdefgh", "bcdefghi")
ENDS = {"a": "left", "b": "left", "h": "right", "i": "right"}
MODELS = {
    "classifier": (DirichletClassifier(), ENDS, "left"),
    "stacked": (StackedDirichletClassifier(), ENDS, "left"),
    "one class": (DirichletClassifier(), {"a": "left"}, "The nearest nodes"),
    "values": (DirichletRegressor(), {"a": 0.0, "i": 8.0}, "All values found, the highest first"),
    "sets": (MultiLabelDirichletClassifier(), {"a": {"x", "y"}, "i": {"z"}, "e": set()}, "x"),
}


@pytest.mark.parametrize(("model", "known", "title"), MODELS.values(), ids=MODELS)
@pytest.mark.filterwarnings("ignore::isotherm.IsothermWarning")
def test_every_estimator_writes_a_page_of_itself(model, known, title, tmp_path):
    path = tmp_path / "report.html"
    model.fit(PATH, known).report(path)
    page = Page(path.read_text(encoding="utf-8"))
    assert page.list(title)
    assert page.script
    assert next(iter(page.sections)) in ("What was found", "Ranking")
    assert list(page.sections)[-2:] == ["What was read", "The record of the run"]
    assert page.row("nodes") == ["9"]
    assert page.row("tol") == ["1e-06"]
    assert "Input files" not in page.words
    with pytest.raises(FileError, match="already exists"):
        isotherm.write_report(model, path)
    model.report(path, force=True)


def test_what_cannot_be_reported_is_said(tmp_path):
    with pytest.raises(NotFittedError):
        DirichletClassifier().report(tmp_path / "r.html")
    model = DirichletRegressor().fit(PATH, {"a": 0.0})
    with pytest.raises(ParameterError, match=r"min_probability=0\.5 is for models with one label"):
        model.report(tmp_path / "r.html", min_probability=0.5)
    with pytest.raises(FileError, match="is a folder"):
        model.report(tmp_path, force=True)
    assert list(tmp_path.iterdir()) == []


def test_a_least_probability_leaves_nodes_without_a_label(tmp_path):
    model = DirichletClassifier().fit(PATH, ENDS)
    model.report(tmp_path / "r.html", min_probability=1.0)
    words = Page((tmp_path / "r.html").read_text(encoding="utf-8")).words
    assert "5 nodes got no label: it would not be probable enough." in words


# --- values ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def valued():
    """A long path of values known at every fifth node, of which one is far off; and a pair."""
    n = 400
    graph = Graph.from_edges([*range(n - 1), "x"], [*range(1, n), "y"])
    known = {node: node / 10 for node in range(0, n, 5)} | {200: 99.0}
    return DirichletRegressor().fit(graph, known)


def test_values_list_the_highest_and_the_lowest_with_their_neighbours(valued):
    page = Page(model_page(valued, Record.of_model(valued)))
    free = np.flatnonzero(valued.status_ == "predicted")
    order = free[np.argsort(-valued.temperatures_[free], kind="stable")]
    for title, nodes in (("The highest values", order), ("The lowest values", order[::-1])):
        listed = page.list(title)
        assert [cells[1] for cells, *_ in listed] == [str(valued.names_[i]) for i in nodes[:100]]
        assert [float(cells[2]) for cells, *_ in listed] == pytest.approx(
            valued.temperatures_[nodes[:100]], abs=1e-3
        )
    cells, gist, facts = page.list("The highest values")[0]
    assert gist.startswith("Its 2 neighbours have values from ")
    assert float(facts["Their mean, by weight"]) == pytest.approx(float(cells[2]), rel=1e-4)
    assert f"100 of {len(free)} nodes" in page.words


def test_values_are_summed_up_drawn_and_their_exactness_told(valued):
    page = Page(model_page(valued, Record.of_model(valued)))
    found = valued.temperatures_[valued.status_ == "predicted"]
    assert f"{found.min():.4g} to {found.max():.4g} " in page.words.replace("\n", "")
    assert "2 nodes cannot be reached from any seed: they have no value." in page.words
    bars = page.section("The picture")[0].iter("rect")
    assert sum(1 for _ in bars) > 10
    assert page.row("predicted")[0] == f"{len(found):,}"
    assert "numerically exact if it is within 1e-06" in page.words
    assert "prove" not in page.words


def test_a_value_far_from_what_the_others_say_comes_first_among_the_seeds(valued):
    page = Page(model_page(valued, Record.of_model(valued)))
    node, own, found, difference = page.table("Values to check")[0]
    assert (node, own) == ("200", "99")
    assert float(found) == pytest.approx(20.0, abs=0.01)
    assert float(difference) == pytest.approx(-79.0, abs=0.01)


@pytest.mark.parametrize("leak", [0.0, 0.1])
def test_seeds_left_out_get_what_a_fit_without_them_gives(rng, leak):
    graph, _ = BlockModel([20, 20], 0.3, 0.1).sample(rng)
    known = {int(i): float(rng.normal(50, 20)) for i in rng.choice(40, 15, replace=False)}
    check = DirichletRegressor(leak=leak).fit(graph, known).spot_check()
    assert sorted(check.nodes.tolist()) == sorted(known)
    for node, value, found in zip(*(column.tolist() for column in check), strict=True):
        others = {other: known[other] for other in known if other != node}
        alone = DirichletRegressor(leak=leak).fit(graph, others)
        assert value == known[node]
        assert found == pytest.approx(alone.temperatures_[node], abs=0.02)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"a": 5.0}, "too few seeds could be left out"),
        ({"a": 5.0, "i": 5.0}, "5 to 5"),
        (dict(zip("abcdefghi", range(9), strict=True)), "Only the seeds have a value."),
    ],
)
def test_the_smallest_problems_have_a_page_of_values(known, words):
    model = DirichletRegressor().fit(PATH, known)
    page = Page(model_page(model, Record.of_model(model)))
    assert words in page.words


# --- several labels -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def several():
    rng = np.random.default_rng(4)
    graph, truth = BlockModel([40, 40, 20], 0.25, 0.02).sample(rng)
    sets = [{f"block {k}", "odd" if k % 2 else "even"} for k in truth.tolist()]
    known = {int(i): sets[i] for i in rng.choice(100, 40, replace=False)}
    return MultiLabelDirichletClassifier().fit(graph, known)


def test_each_label_lists_the_nodes_that_have_it(several):
    page = Page(model_page(several, Record.of_model(several)))
    P = several.predict_proba()
    for k, label in enumerate(several.classes_.tolist()):
        own = np.flatnonzero(several.indicator_[:, k] & (several.status_ == "predicted"))
        listed = page.list(label)
        assert {cells[1] for cells, *_ in listed} == {str(node) for node in own}
        for cells, gist, facts in listed:
            node = int(cells[1])
            assert float(cells[2]) == pytest.approx(P[node, k], abs=6e-4)
            others = set(several.labels_[node]) - {label}
            assert set(cells[3].split(", ")) == (others or {"–"})
            around = several.problem_.graph.adjacency[[node]].nonzero()[1]
            share = several.indicator_[around, k].mean()
            assert gist.startswith(f"{100 * share:.1f} % of the weight of its edges")
            assert facts["Neighbours"] == str(len(around))


def test_counts_and_scores_of_each_label_are_those_of_the_model(several):
    page = Page(model_page(several, Record.of_model(several)))
    got, has, judged = several.spot_check()
    assert judged.all()
    scored = {row[0]: row[1:] for row in page.table("Seeds left out, label by label")}
    sizes = {row[0]: row[1:] for row in page.table("Size of each label")}
    for k, label in enumerate(several.classes_.tolist()):
        assert int(sizes[label][3]) == several.indicator_[:, k].sum()
        right = (got[:, k] & has[:, k]).sum()
        assert scored[label][:3] == [str(has[:, k].sum()), str(got[:, k].sum()), str(right)]
        assert float(scored[label][3]) == pytest.approx(right / got[:, k].sum(), abs=0.006)
    precision = (got & has).sum() / got.sum()
    assert f"Of the labels they got, {100 * precision:.1f} %" in page.words


# --- on the command line --------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\nc,d\nd,e\nx,y\n")
    (tmp_path / "values.csv").write_text("node,value\na,-2\ne,2\n")
    (tmp_path / "labels.csv").write_text("node,label\na,red\na,round\ne,blue\n")
    return CliRun(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "title", "words"),
    [
        (["regress", "edges.csv", "values.csv"], "Values of edges.csv", "-1 to 1"),
        (["classify", "edges.csv", "labels.csv", "--multi"], "Labels of edges.csv", "round"),
    ],
)
def test_regress_and_multi_write_reports_with_files_and_checksums(here, arguments, title, words):
    result = here(*arguments, "--report", "r.html", "-v")
    assert result.returncode == 0
    assert "wrote r.html\n" in result.stderr
    page = Page((here.folder / "r.html").read_text(encoding="utf-8"))
    assert page.root.findtext("head/title") == title
    assert words in page.words
    assert page.row("edges.csv") == ["edges", "CSV", "source, target", "5", "0"]
    assert all(len(row[1]) == 64 for row in page.table("Input files"))
    assert f"isotherm {' '.join(arguments)} --report r.html -v" in page.words
