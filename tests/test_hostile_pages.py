"""Whatever names, labels and files are called: no element, attribute or script comes from them."""

import re

import pytest

from html_page import Page, classification_page
from isotherm import (
    DirichletClassifier,
    DirichletRegressor,
    Graph,
    MultiLabelDirichletClassifier,
)
from isotherm.graph import keys
from isotherm.job import Run
from isotherm.listing import list_nodes
from isotherm.read.report import ReadReport
from isotherm.report.evaluation import Evaluation, evaluation_page
from isotherm.report.explanation import Classes, explanation_page
from isotherm.report.model import model_page
from isotherm.report.node_lists import list_page
from isotherm.report.page import (
    TEMPLATES,
    Cell,
    Command,
    Heading,
    Legend,
    Notice,
    Paragraph,
    Part,
    Section,
    Table,
    page,
)
from isotherm.report.palette import N_COLOURS
from isotherm.report.record import Record
from test_classification_report import run_of

pytestmark = [pytest.mark.any_version, pytest.mark.core_free]

NAMED = ["other", "accent", "ink", "paper", "line", "mark"]
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "</style><script>alert(1)</script>",
    "</title></svg></table></body>",
    "<!-- <a href='javascript:alert(1)'>",
    "]]><![CDATA[<b>",
    "&#60;script&#62;alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "red; background: url(//evil)",
    "nul\0bell\x07escape\x1b[31m",
    "turned\u202egnihsif\u2028line",
    "half\ud800",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\u200f\u2067right to left\u2069\u200e",
    "\"'`</summary></details></form>",
    "<b>" + "x" * 10_000,
]


@pytest.fixture(autouse=True)
def drawn_by_number(monkeypatch):
    """What is drawn depends on names: here on the number alone that each begins with."""
    monkeypatch.setattr(keys, "_as_text", lambda node: str(node)[:2])


def skeleton(text):
    """The elements of a page with their attributes, but for words and the room these need."""
    words = {"aria-label", "alt", "textlength", "lengthadjust"}
    return [
        (element.tag, sorted(pair for pair in element.items() if pair[0] not in words))
        for element in Page(text).root.iter()
    ]


def classification(name):
    """A page all of whose words that come from outside are this one, or end in it."""
    nodes = [f"{k:02}{name}" for k in range(12)]
    graph = Graph.from_edges(nodes, nodes[1:] + nodes[:1])
    labels = {nodes[k]: f"{k // 6}{name}" for k in (0, 1, 2, 4, 6, 7, 8)} | {nodes[9]: f"0{name}"}
    model = DirichletClassifier().fit(graph, labels)
    file = ReadReport(name, name, (name, name), 12, 1, [name], [name], checksum=name)
    return classification_page(
        Run(
            *(model, graph, file, file),
            options={name: name},
            command=name,
            seconds={name: 1.0},
            converged=True,
            memory=0,
            versions={name: name},
        )
    )


def ringed(name):
    """A ring of nodes that are called so, and who of them is known."""
    nodes = [f"{k:02}{name}" for k in range(12)]
    return Graph.from_edges(nodes, nodes[1:] + nodes[:1]), nodes


def record(name):
    file = ReadReport(name, name, (name, name), 12, 1, [name], [name], checksum=name)
    texts = {name: name}
    return Record(texts, (file, file), name, {name: 1.0}, 0, texts)


def ranking(name):
    graph, nodes = ringed(name)
    model = DirichletClassifier().fit(graph, dict.fromkeys(nodes[:3], name))
    return model_page(model, record(name))


def listing(name):
    graph, nodes = ringed(name)
    labels = {node: f"{k // 2}{name}" for k, node in enumerate(nodes[:4])}
    run = run_of(graph, labels)
    return list_page(list_nodes(run.classifier, f"0{name}"), f"0{name}", run)


def values(name):
    graph, nodes = ringed(name)
    known = {node: k * 1.5 for k, node in enumerate(nodes[:8:2])}
    return model_page(DirichletRegressor().fit(graph, known), record(name))


def label_sets(name):
    graph, nodes = ringed(name)
    known = {node: {f"{k}{name}", f"a{name}"} for k, node in enumerate(nodes[:8:2])}
    return model_page(MultiLabelDirichletClassifier().fit(graph, known), record(name))


def explanation(name):
    nodes = [f"{k:02}{name}" for k in range(12)]
    graph = Graph.from_edges(nodes, nodes[1:] + nodes[:1])
    model = DirichletClassifier().fit(graph, {nodes[0]: f"0{name}", nodes[5]: f"1{name}"})
    return explanation_page(model.explain(nodes[2]), Classes.of(model))


def parts(name):
    table = Table(name, (name,), [(name,), (Cell(name),), (Cell(name, "var(--c1)"),)], [name])
    shown = [table, Heading(name), Paragraph(name), Command(name)]
    shown += [Notice(name, [name]), Legend([("background: var(--c1)", name)])]
    return page("Every part", "", [Section(name, name, shown)])


def evaluation(name):
    row = {"accuracy": 0.5, "answered": 0.9, "seconds": 1.0, "repeat": 0, "failure": name}
    rows = [
        row | {"seed_fraction": share, "model": f"{k}{name}", "macro_f1": k / 4}
        for share in (0.1, 0.2)
        for k in range(3)
    ]
    texts = {name: name}
    return evaluation_page(
        Evaluation(name, {name: 1}, rows, titles=texts, command=name, inputs=texts, versions=texts)
    )


MAKERS = [classification, ranking, listing, values, label_sets, evaluation, explanation, parts]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_elements_and_attributes_are_those_of_a_page_with_harmless_names(make, name):
    text = make(name)
    assert skeleton(text) == skeleton(make("harmless"))
    assert not {*"\0\x07\x1b\u202e\u2028\u200f\u2067"} & {*text}
    assert make is parts or "x" * 2000 not in text
    assert "49" not in Page(parts("{{ 7 * 7 }}")).words


@pytest.mark.parametrize("name", HOSTILE[:10])
def test_words_are_shown_as_they_are(name):
    shown = Page(parts(name))
    assert shown.root.findtext("body/section/h2") == name
    assert shown.table(name)[0] == [name]


def test_control_characters_are_written_out_even_where_nobody_thought_of_them():
    text = page("a\0b", "c\u202ed", [])
    assert r"a\x00b" in text
    assert r"c\u202ed" in text


def test_every_colour_is_there_in_light_and_dark():
    style = (TEMPLATES / "colours.css").read_text(encoding="utf-8")
    for name in [*(f"c{k}" for k in range(N_COLOURS)), *NAMED]:
        assert style.count(f"--{name}: #") == 2


def test_templates_come_with_the_package_and_none_is_without_use():
    there = {path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*.*")}
    assert there == {"page.html", "parts.html", "style.css", "colours.css", "lists.js"}
    macros = re.findall(r"{% macro (\w+)", (TEMPLATES / "parts.html").read_text(encoding="utf-8"))
    assert sorted(macros) == sorted(
        [*(part.__name__ for part in Part.__subclasses__()), "class_name"]
    )
