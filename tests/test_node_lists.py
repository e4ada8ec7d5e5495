"""The lists of a report: who, in which order and why; and the script that sorts them."""

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from html_page import Page
from isotherm import BlockModel, DirichletClassifier, Graph, StackedDirichletClassifier
from isotherm.report import node_lists
from isotherm.report.classification import labels_page
from isotherm.report.page import TEMPLATES
from isotherm.report.record import Record


@pytest.fixture(scope="module")
def blocks():
    rng = np.random.default_rng(1)
    graph, truth = BlockModel([40, 30, 10], 0.2, 0.02).sample(rng)
    names = np.array(["red", "green", "blue"])[truth]
    known = np.where(rng.random(80) < 0.25, names, None)
    return DirichletClassifier().fit(graph, known)


def page_of(model, min_probability=0.0):
    return Page(labels_page(model, Record.of_model(model), min_probability))


@pytest.fixture(scope="module")
def page(blocks):
    return page_of(blocks)


def test_each_class_lists_the_nodes_that_have_it_the_most_probable_first(blocks, page):
    P = blocks.predict_proba()
    for k, label in enumerate(blocks.classes_.tolist()):
        own = np.flatnonzero((blocks.labels_ == label) & (blocks.status_ != "seed"))
        listed = page.list(label)
        assert {cells[1] for cells, *_ in listed} == {str(node) for node in own}
        probabilities = [float(cells[2]) for cells, *_ in listed]
        assert probabilities == sorted(probabilities, reverse=True)
        assert [cells[0] for cells, *_ in listed] == [str(n + 1) for n in range(len(own))]
        for cells, *_ in listed:
            assert float(cells[2]) == pytest.approx(P[int(cells[1]), k], abs=6e-4)


def test_a_row_opens_the_seeds_the_runner_up_and_the_weights(blocks, page):
    names = blocks.classes_.tolist()
    cells, gist, facts = page.list("red")[0]
    node = int(cells[1])
    P = blocks.predict_proba()[node]
    P[names.index("red")] = -1
    rival = names[int(P.argmax())]
    assert facts["Runner-up"] == f"{rival} ({P.max():.3f})"
    assert cells[3:5] == [rival, f"{P.max():.3f}"]
    around = blocks.problem_.graph.adjacency[[node]].nonzero()[1]
    assert facts["Neighbours"] == str(len(around))
    weights = dict(part.split(":\u00a0") for part in facts["Weight of its edges to"].split(", "))
    assert {name: int(weight) for name, weight in weights.items()} == {
        name: int((blocks.labels_[around] == name).sum()) for name in set(blocks.labels_[around])
    }
    assert facts["Label numerically exact"] == "yes"
    why = blocks.explain(node)
    share = why.classes["red"] / sum(why.classes.values())
    assert gist.startswith(f"{share:.0%} of its heat comes from red seeds: ".replace("%", " %"))
    assert "strongest path: " in gist


def test_a_label_that_is_not_probable_enough_is_on_no_list(blocks):
    least = 0.9
    listed = [
        float(cells[2])
        for label in blocks.classes_.tolist()
        for cells, *_ in page_of(blocks, least).list(label)
    ]
    assert min(listed) >= least - 6e-4
    assert len(listed) == (blocks.tally(least).n_labelled)


def test_lists_are_bounded_and_say_how_many_there_are(monkeypatch, blocks):
    lists = np.unique(blocks.labels_[blocks.status_ == "predicted"])
    monkeypatch.setattr(node_lists, "MOST_OF_A_CLASS", 5)
    monkeypatch.setattr(node_lists, "MOST_EXPLAINED", 2 * len(lists))
    page = page_of(blocks)
    _, words = page.section("The lists")
    for label in lists.tolist():
        n = int(((blocks.labels_ == label) & (blocks.status_ != "seed")).sum())
        listed = page.list(label)
        assert len(listed) == min(n, 5)
        assert n <= 5 or f"5 of {n} nodes" in words
        reasons = ["of its heat comes from" in gist for _, gist, _ in listed]
        assert reasons == [True] * 2 + [False] * (len(listed) - 2)
        for cells, gist, _ in listed[2:]:
            around = blocks.problem_.graph.adjacency[[int(cells[1])]].nonzero()[1]
            like = around[blocks.labels_[around] == label]
            share = f"{100 * len(like) / len(around):.1f} % of the weight of its edges goes to"
            assert gist.startswith(f"{share} {label} nodes: ")
            named = gist.split(": ")[1].removesuffix(", …").split(", ")
            seeds = blocks.status_ == "seed"
            assert set(named) <= {f"{i} (seed)" if seeds[i] else str(i) for i in like.tolist()}
    assert "The first nodes of each list name the seeds" in words


def test_the_lists_of_many_classes_stay_within_the_room_of_the_page(monkeypatch):
    monkeypatch.setattr(node_lists, "MOST_EXPLAINED", 0)
    n = 600
    graph = Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n)
    labels = {int(node): f"class {k % 60}" for k, node in enumerate(range(0, n, 5))}
    model = DirichletClassifier(tol=1e-3).fit(graph, labels)
    page = page_of(model)
    assert page.tags.count("details") <= node_lists.MOST_NODES
    assert sum(box.get("class") == "nodes" for box in page.root.iter("div")) == 50
    assert "The 50 largest of 60 classes are shown." in page.words


def test_the_table_of_classes_leads_to_their_lists(page):
    lists = {box.get("id") for box in page.root.iter("div") if box.get("class") == "nodes"}
    links = {link.get("href")[1:] for link in page.root.iterfind(".//td/a")}
    assert links == lists
    options = {one.get("value") for one in page.root.iter("option")}
    assert options == {"", *lists}


def test_without_a_script_there_are_tables_and_no_controls(page):
    (form,) = page.root.iter("form")
    assert "hidden" in form.attrib
    assert not [one for one in page.root.iter("button") if one.get("type") != "reset"]
    assert not [one for one in page.root.iter("tbody") if "hidden" in one.attrib]
    assert all(heading.get("scope") == "col" for heading in page.root.iter("th"))


def test_the_order_of_the_page_is_that_of_a_readers_questions(page):
    order = ["What was found", "The lists", "The picture", "How far to trust it", "What was read"]
    titles = list(page.sections)
    assert [title for title in titles if title in order] == order
    assert titles[-1] == "The record of the run"


def test_proven_never_stands_where_it_could_be_taken_for_correct(page):
    assert not re.search(r"prove[dns]|certified", page.words)
    assert "numerically exact (not necessarily correct)" in page.words


def test_a_stacked_model_lists_reasons_too():
    rng = np.random.default_rng(1)
    graph, truth = BlockModel([60, 60], 0.2, 0.02).sample(rng)
    model = StackedDirichletClassifier().fit(graph, np.where(rng.random(120) < 0.4, truth, -1))
    _, gist, _ = page_of(model).list("0")[0]
    assert "of its heat comes from 0 seeds" in gist


def test_the_script_is_small_and_asks_nobody():
    script = (TEMPLATES / "lists.js").read_text(encoding="utf-8")
    assert len(script) < 5000
    assert not re.search(r"https?:|fetch|XMLHttp|import|eval|innerHTML|document\.write", script)


BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
DRIVER = """
const all = (what) => [...document.querySelectorAll(what)];
const [form] = all("form");
const { text, which, least } = form.elements;
const name = (node) => node.rows[0].cells[1].textContent;
const names = () => all(".nodes:not([hidden]) tbody:not([hidden])").map((node) => name(node));
const set = (field, value) => {
  field.value = value;
  form.dispatchEvent(new Event("input"));
  return [names(), form.querySelector("output").textContent];
};
const found = { visible: !form.hidden, start: names() };
found.search = set(text, "N1"); set(text, "");
found.least = set(least, "0.9"); set(least, "");
found.which = set(which, "list-1"); set(which, "");
const [first] = all(".nodes");
first.querySelector(":scope > button").click();
found.whole = names();
found.focus = document.activeElement.tagName;
const headings = [...first.querySelectorAll("th")];
for (const column of [1, 1, 2, 3, 0]) {
  headings[column].querySelector("button").click();
  const key = `sort${column}${headings[column].getAttribute("aria-sort")}`;
  found[key] = [...first.querySelectorAll("tbody")].map((node) => name(node));
  found.marked = headings.filter((one) => one.hasAttribute("aria-sort")).length;
}
document.title = JSON.stringify(found);
"""


def dumped(page, folder):
    """The page as a browser has it once its scripts have run."""
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", path.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return run.stdout


@pytest.fixture(scope="module")
def ladder():
    """Nodes n0 … n59 between two classes, the first of them nearer to the one, and so on."""
    names = [f"n{k}" for k in range(60)]
    graph = Graph.from_edges(names[:-1], names[1:])
    known = dict.fromkeys(names[:4], "left") | dict.fromkeys(names[-4:], "right")
    model = DirichletClassifier().fit(graph, known)
    return labels_page(model, Record.of_model(model))


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="there is no browser")
def test_the_script_sorts_filters_and_searches_in_a_browser(ladder, tmp_path):
    driven = re.sub('<meta http-equiv="Content-Security-Policy".*?>', "", ladder)
    driven = driven.replace("</body>", f"<script>{DRIVER}</script></body>")
    title = re.search("<title>(.*?)</title>", dumped(driven, tmp_path))[1]
    found = json.loads(html.unescape(title))
    lists = {label: Page(ladder).list(label) for label in ("left", "right")}
    names = {label: [cells[1] for cells, *_ in listed] for label, listed in lists.items()}
    both = [*names["left"], *names["right"]]
    assert found["visible"]
    assert set(found["start"]) == {name for one in names.values() for name in one[:10]}
    matching, said = found["search"]
    assert sorted(matching) == sorted(name for name in both if "n1" in name)
    assert said == f"{len(matching)} of {len(both)} listed nodes match."
    probable, _ = found["least"]
    assert sorted(probable) == sorted(
        cells[1] for one in lists.values() for cells, *_ in one if float(cells[2]) >= 0.9
    )
    assert set(found["which"][0]) == set(names["right"])
    first = names["left"] if found["start"][0] in names["left"] else names["right"]
    assert set(first) <= set(found["whole"])
    assert found["focus"] == "SUMMARY"
    by_name = sorted(first, key=lambda name: int(name[1:]))
    assert found["sort1ascending"] == by_name
    assert found["sort1descending"] == by_name[::-1]
    assert found["sort2descending"] == first
    assert found["sort0ascending"] == first
    assert found["marked"] == 1


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="there is no browser")
def test_the_policy_of_the_page_lets_its_own_script_run_and_no_other(ladder, tmp_path):
    strange = ladder.replace("</body>", "<script>document.title = 'ran'</script></body>")
    shown = dumped(strange, tmp_path)
    assert "nodes are listed." in shown
    assert "<title>Labels of a graph</title>" in shown
