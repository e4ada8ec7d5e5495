"""Explanations of several nodes, in every kind of file; what is not drawn is said."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from conftest import CliRun
from html_page import Page
from isotherm import DirichletClassifier, Graph, ParameterError
from isotherm.report.explanation import (
    KINDS,
    Classes,
    Explanations,
    check_explanation_file,
    write_explanations,
)
from isotherm.report.explanation_lines import explanation_lines, rest_words
from isotherm.trust.leave_one_out import leave_one_out

pytestmark = pytest.mark.core_free

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def found(blocks):
    free = np.flatnonzero(blocks.status_ == "predicted")[:3]
    nodes = [*free.tolist(), int(blocks.seeds_.nodes[0])]
    whys = list(blocks.explain_each(nodes, paths=3, heat=0.8, probability=True))
    return Explanations(whys, Classes.of(blocks), ["no heat reaches node 'alone'"])


# --- probability, and how much of the heat is told of ---------------------------------------------


def test_paths_and_the_rest_are_all_of_the_heat(blocks):
    free = np.flatnonzero(blocks.status_ == "predicted").tolist()
    ended = 0
    for why in blocks.explain_each(free[:40], paths=2, heat=0.8):
        listed = sum(share for _, share in why.paths)
        assert listed + why.rest.share == pytest.approx(1.0, abs=1e-6)
        assert len(why.paths) >= 2
        for _, share in why.paths[2:]:
            assert share >= 0.01
        if listed >= 0.8:
            assert listed - why.paths[-1][1] < 0.8 or len(why.paths) == 2  # no more than needed
        else:
            assert len(why.paths) == 40 or why.rest.n_paths > 0
        if why.rest.is_all:
            ended += 1
            again = blocks.explain(why.node, paths=len(why.paths) + why.rest.n_paths)
            assert len(again.paths) == len(why.paths) + why.rest.n_paths
            assert sum(share for _, share in again.paths) == pytest.approx(1.0, abs=1e-6)
    assert ended < 40


def test_a_path_has_no_rest():
    path = Graph.from_edges("abcd", "bcde")
    why = DirichletClassifier().fit(path, {"a": "left", "e": "right"}).explain("b", heat=0.8)
    assert (why.rest.n_paths, why.rest.is_all, rest_words(why)) == (0, True, "")
    assert why.rest.share == pytest.approx(0.0, abs=1e-9)


def test_probabilities_are_those_of_predict_proba_and_of_leave_one_out(blocks):
    P, classes = blocks.predict_proba(), blocks.classes_.tolist()
    nodes = np.flatnonzero(blocks.status_ == "predicted")[:5].tolist()
    for why in blocks.explain_each(nodes, probability=True):
        assert why.probability == pytest.approx(P[why.node, classes.index(why.label)])
    assert blocks.explain(nodes[0]).probability is None
    seed = int(blocks.seeds_.nodes[0])
    assert blocks.explain(seed, probability=True).probability == 1.0
    left = blocks.leave_one_out()
    row = left.nodes.tolist().index(seed)
    alone = blocks.explain(seed, without_own=True, probability=True)
    freed = leave_one_out(
        blocks.session(), blocks.solution_, blocks.seeds_.codes, some=np.array([0])
    )
    expected = blocks.calibration_(freed.scores(blocks.decision_))[0]
    assert alone.probability == pytest.approx(expected[classes.index(alone.label)])
    assert alone.label == left.labels[row]


def test_several_nodes_are_explained_as_each_alone(blocks):
    nodes = [int(blocks.seeds_.nodes[0]), 3, 5]
    for one in blocks.explain_each(nodes, without_own=True):
        assert one == blocks.explain(one.node, without_own=True)


def test_nodes_that_nothing_explains_are_told_of_where_that_is_asked_for():
    model = DirichletClassifier().fit(Graph.from_edges("abx", "bcy"), {"a": 1, "c": 2})
    skipped = []
    assert [why.node for why in model.explain_each("xb", skipped=skipped)] == ["b"]
    why = "no heat reaches node 'x', so nothing explains it; label a node that is connected to it"
    assert skipped == [why]


# --- files ----------------------------------------------------------------------------------------


def test_a_page_of_several_nodes_has_them_all(found, tmp_path):
    write_explanations(str(tmp_path / "why.html"), found)
    page = Page((tmp_path / "why.html").read_text(encoding="utf-8"))
    assert "Why 4 nodes have their labels" in page.texts
    assert "no heat reaches node 'alone'" in page.words
    for why in found.whys:
        assert any(row[0] == str(why.node) and len(row) == 4 for row in page.rows)
        assert f"{why.node}: {why.label}" in page.texts
        assert rest_words(why) in page.words
    assert len(list(page.root.iterfind(".//svg[@class='flow']"))) == 3  # a seed has none


def test_text_is_what_the_terminal_shows(found, tmp_path):
    write_explanations(str(tmp_path / "why.txt"), found)
    text = (tmp_path / "why.txt").read_text(encoding="utf-8")
    assert text == "\n".join([*found.lines(100), ""])
    for why in found.whys:
        assert "\n".join(explanation_lines(why, 10, 100, found.classes.decision)) in text
        assert f"{why.node}: {why.label}, probability {why.probability:.2f}" in text
    assert text.endswith("\n\nno heat reaches node 'alone'\n")


def test_an_svg_file_stands_alone(found, tmp_path):
    for why in found.whys[:3]:
        write_explanations(str(tmp_path / "why.svg"), replace(found, whys=[why]), force=True)
        root = ElementTree.parse(tmp_path / "why.svg").getroot()  # noqa: S314  # our own
        assert root.tag == f"{SVG}svg"
        assert "var(" not in (tmp_path / "why.svg").read_text(encoding="utf-8")
        titles = [text.text for text in root.iterfind(f"{SVG}text[@class='title']")]
        assert titles == [f"{why.node}: {why.label}, probability {why.probability:.2f}"]
        drawn = list(root.iterfind(f".//{SVG}circle"))
        assert len(drawn) >= 1 + len(set(why.paths[0][0]))


def test_hostile_names_are_drawn_as_they_are(tmp_path):
    names = ["$\\frac{", "<script>", "\x1b[31m", "a_b^c$x$"]
    graph = Graph.from_edges(["s", *names], [*names, "t"])
    model = DirichletClassifier().fit(graph, {"s": "$\\bad$", "t": "</svg>"})
    for why in model.explain_each(names, heat=0.8):
        for ending in KINDS:
            name = str(tmp_path / f"why{ending}")
            write_explanations(name, Explanations([why], Classes.of(model)), force=True)
        text = (tmp_path / "why.svg").read_text(encoding="utf-8")
        ElementTree.fromstring(text)  # noqa: S314  # our own
        assert "<script>" not in text
        assert "\x1b" not in text


def test_nothing_to_draw_is_said_and_leaves_nothing(blocks, tmp_path):
    seeds = list(blocks.explain_each([int(blocks.seeds_.nodes[0])]))
    with pytest.raises(ParameterError, match="there is nothing to draw"):
        write_explanations(str(tmp_path / "why.svg"), Explanations(seeds, Classes.of(blocks)))
    assert list(tmp_path.iterdir()) == []


def test_files_that_cannot_be_made_are_refused():
    with pytest.raises(ParameterError, match=r"why\.jpg: .* must be one of \.html, \.htm, \.txt"):
        check_explanation_file("why.jpg", 1)
    with pytest.raises(ParameterError, match=r"why\.pdf: .* must be one of \.html"):
        check_explanation_file("why.pdf", 1)
    with pytest.raises(ParameterError, match=r"one node, and there are 2: write \.html, which"):
        check_explanation_file("why.svg", 2)
    check_explanation_file("why.SVG", 1)


@pytest.mark.slow
def test_the_command_takes_names_and_a_file_of_them(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\nc,d\nd,e\nx,y\n")
    (tmp_path / "labels.csv").write_text("node,label\na,left\ne,right\n")
    (tmp_path / "list.csv").write_text('rank,node\n1,"d"\n2,x\n3,b\n')
    here = CliRun(tmp_path)
    asked = ["explain", "edges.csv", "labels.csv", "b", "--nodes-from", "list.csv", "-q"]
    run = here(*asked, "-o", "why.html")
    assert run.returncode == 0
    assert re.findall(r"^\w: \w+, probability", run.stdout, re.MULTILINE) == [
        "b: left, probability",
        "d: right, probability",
    ]
    assert "no heat reaches node 'x'" in run.stdout
    assert (tmp_path / "why.html").exists()
    for more, said in (
        (["-o", "why.jpg"], "must be one of .html"),
        (["d", "-o", "why.svg"], "a drawing shows one node, and there are 2"),
        (["--nodes-from", "missing.csv"], "missing.csv cannot be read"),
    ):
        refused = here(*asked[:4], *more, "-q")
        assert refused.returncode in (1, 2)
        assert said in " ".join(refused.stderr.split())
    nobody = here("explain", "edges.csv", "labels.csv")
    assert "no node to explain" in nobody.stderr
