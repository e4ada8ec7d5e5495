"""A list of one class, ranked and with reasons, and the summary of a run."""

import csv
import io
import json

import numpy as np
import pytest

from conftest import CliRun
from html_page import Page
from isotherm import BlockModel, DirichletClassifier, Graph, ParameterError
from isotherm import StackedDirichletClassifier as Stacked
from isotherm.job import Job
from isotherm.listing import list_nodes, reason
from isotherm.pipeline import do

EDGES = "source,target\n" + "".join(
    f"{a},{b}\n" for part in ("abcdef", "uvwxyz") for a in part for b in part if a < b
)


@pytest.fixture
def here(tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES + "f,u\n")
    (tmp_path / "labels.csv").write_text("node,label\na,good\nb,good\ny,fraud\nz,fraud\n")
    return CliRun(tmp_path)


@pytest.fixture(scope="module")
def model():
    graph, truth = BlockModel([60, 40], p=0.2, q=0.04).sample(np.random.default_rng(0))
    known = {k: f"class {truth[k]}" for k in range(0, 100, 5)}
    return Stacked().fit(graph, known)


def test_nodes_come_by_the_probability_of_the_class(model):
    found = list_nodes(model, "class 1", top=30)
    P = model.predict_proba()
    k = model.classes_.tolist().index("class 1")
    assert [one.rank for one in found] == list(range(1, 31))
    assert [one.probability for one in found] == pytest.approx([P[one.node, k] for one in found])
    assert (np.diff([one.probability for one in found]) <= 1e-6).all()
    free = model.status_ != "seed"
    assert found[0].probability == pytest.approx(P[free, k].max())
    assert not {one.node for one in found} & set(model.seeds_.nodes.tolist())


def test_the_runner_up_is_the_best_of_the_other_classes(model):
    for one in list_nodes(model, "class 0", top=5):
        assert one.runner_up == "class 1"
        assert one.its_probability == pytest.approx(1 - one.probability)


def test_weights_are_those_of_the_edges_to_each_label(model):
    one = list_nodes(model, "class 0", top=1)[0]
    ends = model.problem_.graph.adjacency[[one.node]].indices
    labels, counts = np.unique(model.labels_[ends], return_counts=True)
    assert one.weights == dict(zip(labels.tolist(), counts.tolist(), strict=True))
    assert one.neighbours == len(ends)


def test_a_reason_names_seeds_of_the_class_and_a_path(model):
    one = list_nodes(model, "class 0", top=1)[0]
    why = model.explain(one.node, paths=1)
    assert one.why == reason(why, "class 0")
    share = why.classes["class 0"] / sum(why.classes.values())
    assert one.why.startswith(f"{share:.0%}".replace("%", " %") + " of its heat comes from class 0")
    assert one.why.endswith(" → ".join(map(str, why.paths[0][0])))


def test_equals_come_by_name_and_less_probable_ones_are_left_out():
    star = Graph.from_edges(["hub"] * 4, ["d", "b", "c", "a"])
    clf = DirichletClassifier().fit(star, {"a": "x", "hub": "y"})
    assert [one.node for one in list_nodes(clf, "y")] == ["b", "c", "d"]
    assert list_nodes(clf, "y", min_probability=0.999) == []


def test_with_one_class_the_list_is_the_ranking():
    path = Graph.from_edges("abcd", "bcde")
    clf = DirichletClassifier().fit(path, {"a": "fraud"})
    found = list_nodes(clf, "fraud", top=2)
    assert [(one.node, one.probability) for one in found] == [("b", None), ("c", None)]
    assert found[0].score == pytest.approx(clf.ranking_.scores[0])


def test_a_class_that_no_seed_has_is_refused(model):
    with pytest.raises(ParameterError, match="no seed has the class 'fraud'; choose one of"):
        list_nodes(model, "fraud")


def test_the_command_writes_a_list(here):
    result = here("classify", "edges.csv", "labels.csv", "--list", "fraud", "--top", "3", "-o", "-")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["rank"] for row in rows] == ["1", "2", "3"]
    assert {row["node"] for row in rows} <= set("uvwx")
    assert all(row["label"] == "fraud" and "fraud seeds: " in row["why"] for row in rows)
    assert "score" not in rows[0]


def test_a_list_can_be_a_page(here):
    (here.folder / "labels.csv").write_text("node,label\na,good\nb,good\ny,<b>fraud\nz,<b>fraud\n")
    here("classify", "edges.csv", "labels.csv", "--list", "<b>fraud", "-o", "l.html")
    text = (here.folder / "l.html").read_text(encoding="utf-8")
    assert "<b>fraud" not in text
    assert "most likely to be &lt;b&gt;fraud" in text
    assert Page(text).section("The list")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--list", "fraudd", "-o", "l.csv"], "no label is 'fraudd'; choose one of: fraud"),
        (["--list", "fraud", "--report", "r.html"], "--list needs a file to write the list to"),
        (["-o", "all.html"], "the ending chooses the format"),
        (["--list", "fraud", "-o", "l.html", "--spreadsheet-safe"], "is a web page"),
    ],
)
def test_what_cannot_be_listed_is_refused(here, options, message):
    result = here("classify", "edges.csv", "labels.csv", *options)
    assert result.returncode == 2
    assert message in result.stderr
    assert sorted(path.name for path in here.folder.iterdir()) == ["edges.csv", "labels.csv"]


def test_a_summary_says_what_was_done(here):
    (here.folder / "labels.csv").write_text("node,label\na,good\nb,good\ny,fraud\nzz,fraud\n")
    result = here("classify", "edges.csv", "labels.csv", "--summary", "run.json")
    assert result.returncode == 0
    found = json.loads((here.folder / "run.json").read_text(encoding="utf-8"))
    assert found["graph"] == {"nodes": 12, "edges": 31}
    assert found["read"]["edges"]["rows"] == 31
    assert len(found["read"]["labels"]["sha256"]) == 64
    assert found["found"]["classes"]["fraud"] == {"seeds": 1, "nodes": 6}
    assert found["found"]["nodes_by_status"] == {"predicted": 9, "seed": 3}
    assert found["model"]["name"] == "paper"
    assert found["solved"]["converged"] is True
    assert any("zz" in one or "not in the graph" in one for one in found["warnings"])
    assert {"reading", "solving"} <= set(found["seconds"])
    assert "isotherm" in found["versions"]


@pytest.mark.parametrize("out", ["list.csv", "list.xlsx", "list.html", "list.gexf"])
def test_a_class_that_is_not_there_is_refused_before_the_solve(tmp_path, monkeypatch, out):
    (tmp_path / "e.csv").write_text(EDGES)
    (tmp_path / "l.csv").write_text("node,label\na,good\nz,fraud\n")
    monkeypatch.setattr("isotherm.pipeline.fit", lambda *_: pytest.fail("it was solved"))
    job = Job(str(tmp_path / "e.csv"), str(tmp_path / "l.csv"), str(tmp_path / out), listed="Fraud")
    with pytest.raises(ParameterError, match=r"no label is 'Fraud'; choose one of: fraud, g"):
        do(job)
    assert not (tmp_path / out).exists()
