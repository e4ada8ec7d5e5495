"""The page of an explanation: its words, its drawing and its file tell the same as the numbers."""

import itertools
import re

import numpy as np
import pytest

from conftest import CliRun
from html_page import Page, classification_page
from isotherm import BlockModel, DirichletClassifier, Graph
from isotherm.report.explanation import Classes, explanation_page
from isotherm.report.heat_flow import MOST_STEPS
from isotherm.report.palette import Palette
from isotherm.trust.explain import Explanation
from test_classification_report import NASTY, run_of

pytestmark = pytest.mark.core_free


class Picture:
    """The drawing of a page: circles by the kind and name of their nodes, and lines."""

    def __init__(self, page):
        (tree,) = page.root.iterfind(".//svg[@class='flow']")
        lines, *self.groups = list(tree)
        self.lines = [
            (
                path.get("stroke"),
                float(path.get("stroke-width")),
                [float(number) for number in re.findall(r"-?[\d.]+", path.get("d"))],
            )
            for path in lines
        ]
        self.nodes = {}
        for group in self.groups:
            circle, *texts = list(group)
            spot = [float(circle.get(key)) for key in ("cx", "cy", "r")]
            name = circle.find("title").text
            assert name not in self.nodes, "a node is drawn once"
            self.nodes[name] = (group.get("class"), spot, [text.text for text in texts])
        self.size = [float(number) for number in tree.get("viewbox").split()[2:]]

    def widths(self, stroke):
        return sorted(width for colour, width, _ in self.lines if colour == stroke)


def checked(why, *, classes=None, most=10):
    """The page, after the checks that every page must pass, and its drawing."""
    classes = classes or Classes(palette_of(why))
    text = explanation_page(why, classes, most=most)
    assert text == explanation_page(why, classes, most=most)
    page = Page(text)
    assert ("class", "marked") not in page.attributes
    return page, Picture(page) if why.paths else None


def palette_of(why):
    """Colours for the first classes that an explanation names."""
    return Palette(list(why.classes), [1] * len(why.classes))


def told(paths, labels, *, node="it", label=None):
    """An explanation whose heat takes these paths, all of it."""
    shares, classes = {}, {}
    for path, share in paths:
        shares[path[-1]] = shares.get(path[-1], 0.0) + share
        classes[labels[path[-1]]] = classes.get(labels[path[-1]], 0.0) + share
    seeds = sorted(((s, labels[s], share) for s, share in shares.items()), key=lambda s: -s[2])
    return Explanation(node, label or max(classes, key=classes.get), classes, seeds, paths, 0.0)


FORK = told(
    [(("it", "m", "a"), 0.4), (("it", "m", "b"), 0.2), (("it", "c"), 0.4)],
    {"a": "warm", "b": "cold", "c": "warm"},
)


def test_the_page_says_which_share_comes_from_where():
    path = Graph.from_edges("abcd", "bcde")
    why = DirichletClassifier().fit(path, {"a": "left", "e": "right"}).explain("b")
    page, _ = checked(why)
    assert "Why b has the label left" in page.texts
    sentence = "b has the label “left”. Its heat comes from 2 seeds: 75.0 % from “left” and 25.0 %"
    assert sentence in page.words
    assert ["a", "left", "75.0 %", "75.0 %"] in page.rows
    assert ["b → c → d → e", "25.0 %"] in page.rows
    assert "2 paths carry 100.0 % of all heat." in page.words


def test_lines_are_as_wide_as_the_heat_they_carry():
    _, picture = checked(FORK)
    warm, cold = "var(--c0)", "var(--c1)"
    thin = picture.widths(cold)
    assert thin[0] == pytest.approx(thin[1], abs=0.01)  # to m, and on to b
    assert picture.widths(warm) == pytest.approx([2 * thin[0]] * 4, abs=0.02)  # c's has a bend


def test_heat_of_two_classes_runs_side_by_side():
    _, picture = checked(FORK)
    x, y, _ = picture.nodes["m"][1]
    reaching = [(d[-1], width) for _, width, d in picture.lines if abs(d[-2] - x) < 1]
    near = sorted(spot for spot in reaching if abs(spot[0] - y) < 20)
    (first, above), (second, below) = near
    assert second - first == pytest.approx((above + below) / 2, abs=0.11)


def test_a_node_of_several_paths_is_drawn_once_and_the_ends_tell_their_shares():
    _, picture = checked(FORK)
    kinds = {name: kind for name, (kind, *_) in picture.nodes.items()}
    assert kinds == {"it": "it", "m": "way", "a": "seed", "b": "seed", "c": "seed"}
    words = {name: texts for name, (*_, texts) in picture.nodes.items()}
    assert words["it"] == ["it", "warm", "100.0 % drawn"]
    assert words["b"] == ["b", "20.0 % · cold"]
    assert words["m"] == ["m"]


@pytest.mark.parametrize("n_paths", [1, 10, 30])
def test_paths_run_from_left_to_right_and_nodes_keep_apart(blocks, n_paths):
    for node in np.flatnonzero(blocks.status_ == "predicted")[:12].tolist():
        why = blocks.explain(node, paths=n_paths)
        _, picture = checked(why)
        spots = {name: spot for name, (_, spot, _) in picture.nodes.items()}
        assert set(spots) == {str(name) for path, _ in why.paths for name in path}
        for path, _ in why.paths:
            across = [spots[str(name)][0] for name in path]
            assert across == sorted(set(across))
        ends = {spots[str(path[-1])][0] for path, _ in why.paths}
        assert ends == {max(x for x, *_ in spots.values())}
        wide, high = picture.size
        for (x, y, r), (x2, y2, r2) in itertools.combinations(spots.values(), 2):
            assert x != x2 or abs(y - y2) > r + r2 + 10
        assert all(r < y < high - r and r < x < wide - r for x, y, r in spots.values())


def test_a_line_ends_where_the_next_begins(blocks):
    node = int(np.flatnonzero(blocks.status_ == "predicted")[0])
    _, picture = checked(blocks.explain(node, paths=10))
    x, y, r = picture.nodes[str(node)][1]
    last = max(spot[0] for _, spot, _ in picture.nodes.values())
    for end, others, stop in ((slice(0, 2), slice(-2, None), x), (slice(-2, None), slice(2), last)):
        for _, _, d in picture.lines:
            spot = d[end]
            if abs(spot[0] - stop) < 1:
                continue
            nearest = min(
                np.hypot(*np.subtract(spot, other[others])) for *_, other in picture.lines
            )
            assert nearest < 9  # the widest line is 16
    total = sum(width for _, width, d in picture.lines if d[0] == x)
    assert total == pytest.approx(2 * r - 4, abs=0.2)
    assert all(abs(d[1] - y) < r for _, _, d in picture.lines if d[0] == x)


def test_many_nodes_in_a_row_are_drawn_as_one():
    n = 60
    chain = Graph.from_edges(range(n), range(1, n + 1))
    model = DirichletClassifier().fit(chain, {0: "one", 1: "one", n: "one"})
    page, picture = checked(model.explain(21))
    assert [texts[0] for kind, _, texts in picture.nodes.values() if kind == "way row"] == [
        "19 nodes",
        "38 nodes",
    ]
    assert " → ".join(map(str, range(21, 0, -1))) in [row[0] for row in page.rows]
    short = DirichletClassifier().fit(chain, {21 - MOST_STEPS: "one", 21 + MOST_STEPS: "one"})
    _, picture = checked(short.explain(21))
    assert len(picture.nodes) == 2 * MOST_STEPS + 1


def test_a_seed_explains_itself():
    model = DirichletClassifier().fit(Graph.from_edges("ab", "bc"), {"a": "x", "c": "y"})
    page, _ = checked(model.explain("a"), classes=Classes.of(model))
    assert "a is a seed: its label, “x”, was given." in page.words
    assert "A seed gets no heat from others." in page.words
    assert "outlined" not in page.words
    page, _ = checked(model.explain("b", paths=0))
    assert "There is no path to draw." in page.words


def test_one_class_has_all():
    model = DirichletClassifier().fit(Graph.from_edges("ab", "bc"), {"a": "x", "c": "x"})
    page, picture = checked(model.explain("b"), classes=Classes.of(model))
    assert "Its heat comes from 2 seeds: 100.0 % from “x”." in page.words
    assert {stroke for stroke, *_ in picture.lines} == {"var(--c0)"}


def many_classes(label):
    weights = 1.0 / np.arange(1, 41)
    weights /= weights.sum()
    paths = [(("it", f"way {k}", f"seed {k}"), float(w)) for k, w in enumerate(weights)]
    return told(paths, {f"seed {k}": f"class {k}" for k in range(40)}, label=label)


def test_of_many_classes_the_greatest_have_a_colour_and_the_others_one_bar():
    why = many_classes("class 0")
    page, picture = checked(why, most=7)
    assert "28 other classes" in page.texts
    assert {f"var(--c{k})" for k in range(12)} | {"var(--other)"} == {s for s, *_ in picture.lines}
    assert len(picture.nodes) == 81
    assert re.search(r"33 other seeds: [\d.]+ % in all", page.words)
    assert sum(row[0].startswith("seed ") for row in page.rows) == 7


def test_the_label_has_a_colour_whatever_its_share():
    why = many_classes("class 39")
    palette = Palette(list(why.classes), [*range(1, 40), 100])
    page, picture = checked(why, classes=Classes(palette, decision="centered"))
    (mark,) = (group for group in picture.groups if group.get("class") == "it")
    assert mark[0].get("fill") == palette.colour("class 39") == "var(--c11)"
    assert "class 39" in [row[0] for row in page.table("Share of each class")]
    assert "“class 0” has the greatest share, but it also has much of the heat" in page.words
    plain, _ = checked(why, classes=Classes(palette))
    assert "greatest share, but" not in plain.words


def test_the_mean_of_each_class_is_drawn_beside_its_share():
    means = {"warm": 0.5, "cold": 0.4, "none": 0.1}
    page, _ = checked(FORK, classes=Classes(palette_of(FORK), means, "centered"))
    assert "The outlined bar is the mean over all nodes." in page.words
    bars = [float(re.match(r"width: (.*?)%", bar)[1]) for bar in page.bars]
    assert bars == [62.5, 100.0, 50.0, 25.0]
    assert page.table("Share of each class")[0] == ["warm", "", "80.0 %", "50.0 %"]


def test_what_leaks_is_said():
    path = Graph.from_edges("abc", "bcd")
    model = DirichletClassifier(leak=0.2).fit(path, {"a": "x", "d": "y"})
    why = model.explain("b")
    lost = 1 - sum(why.classes.values())
    page, _ = checked(why)
    assert f"The rest, {100 * lost:.1f} %, is lost to the leak." in page.words
    assert "weaker paths" not in page.words


def test_a_seed_without_its_own_label_is_said_to_get_what_the_others_give_it():
    path = Graph.from_edges("abcd", "bcde")
    model = DirichletClassifier().fit(path, {"a": "x", "b": "y", "e": "y"})
    page, _ = checked(model.explain("a", without_own=True))
    assert "Why a would get the label y" in page.words
    assert "a is a seed with the label “x”. Without it, it would get “y”." in page.words
    page, _ = checked(model.explain("b", without_own=True))
    assert "b is a seed with the label “y”. Without it, it would get “x”." in page.words
    page, _ = checked(model.explain("e", without_own=True))
    assert "Without its own label, “y”, e would get the same from the others." in page.words


def colours_of(page):
    """The colour of the dot beside each class, and how many dots it has."""
    dots = {}
    for around in (*page.root.iter("td"), *page.root.iter("h3")):
        if len(around) and around[0].get("class") == "dot":
            name = around[0].tail or around[1].text  # a link has its text inside
            dots.setdefault(name.strip(), set()).add(around[0].get("style"))
    return dots


def test_a_class_has_one_colour_on_all_pages_of_a_run():
    rng = np.random.default_rng(2)
    graph, truth = BlockModel([40] * 5, 0.25, 0.05).sample(rng)
    known = {int(i): f"class {truth[i]}" for i in rng.choice(200, 60, replace=False)}
    report = colours_of(Page(classification_page(run_of(graph, known))))
    assert len(report) == len({style for (style,) in report.values()}) == 5
    for decision in ("centered", "plain", "mass"):
        model = DirichletClassifier(decision).fit(graph, known)
        for node in np.flatnonzero(model.status_ == "predicted")[:5].tolist():
            why = model.explain(node)
            page, picture = checked(why, classes=Classes.of(model))
            shown = colours_of(page)
            assert shown == {name: report[name] for name in shown}
            (mark,) = (group for group in picture.groups if group.get("class") == "it")
            assert {f"background: {mark[0].get('fill')}"} == report[why.label]


def test_names_and_labels_from_files_do_no_harm():
    graph = Graph.from_edges(NASTY * 2, NASTY[1:] + NASTY[:1] + NASTY[3:] + NASTY[:3])
    labels = {NASTY[0]: "<b>bold</b>", NASTY[5]: NASTY[6], NASTY[8]: "low*"}
    model = DirichletClassifier().fit(graph, labels)
    for node in NASTY:
        why = model.explain(node, paths=10)
        page, picture = checked(why, classes=Classes.of(model))
        assert "x" * 61 not in page.words
        assert not re.search("[\0\x07\u202e]", page.words)
        if picture:
            assert len(picture.nodes) == len({name for path, _ in why.paths for name in path})
            assert max(len(t) for *_, texts in picture.nodes.values() for t in texts) <= 27


# --- the command --------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path):
    """A folder with a path of five nodes, its two ends labelled, and a way to run commands."""
    (tmp_path / "edges.csv").write_text("source,target\na,[/b]\n[/b],c\nc,d\nd,e\n")
    (tmp_path / "labels.csv").write_text("node,label\na,left\ne,right\n")
    return CliRun(tmp_path)


@pytest.mark.slow
def test_the_command_says_what_the_others_give_a_seed_and_what_its_own_label_is(here):
    result = here("explain", "edges.csv", "labels.csv", "a", "--without-own")
    assert result.stdout.startswith("a: right without its own label, which is left, probability ")


@pytest.mark.slow
def test_the_command_draws_what_it_says(here):
    result = here("explain", "edges.csv", "labels.csv", "[/b]", "--draw", "new/why.html", "-q")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("[/b]: left, probability 0.")
    assert result.stdout.endswith("\n\nwrote new/why.html\n")
    page = Page((here.folder / "new" / "why.html").read_text(encoding="utf-8"))
    assert "[/b] has the label “left”, with a probability of " in page.words
    assert "Its heat comes from 2 seeds: 75.0 % from “left”" in page.words
    assert "The outlined bar is the mean over all nodes." in page.words
    assert ["[/b] → c → d → e", "25.0 %"] in page.rows


@pytest.mark.slow
def test_a_file_that_is_there_is_replaced_only_by_force(here):
    (here.folder / "why.html").write_text("old")
    refused = here("explain", "missing.csv", "labels.csv", "c", "--draw", "why.html")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "why.html already exists" in refused.stderr  # and not: there is no missing.csv
    assert (here.folder / "why.html").read_text() == "old"
    forced = here("explain", "edges.csv", "labels.csv", "c", "--draw", "why.html", "--force")
    assert forced.returncode == 0
    assert (here.folder / "why.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["c", "--draw", "edges.csv", "--force"], 2, "is an input"),
        (["c", "--draw", "-"], 2, "name a file for the rest"),
        (["c", "--draw", "labels.csv/why.html"], 1, "cannot be written"),
        (["nobody", "--draw", "why.html"], 1, "'nobody'"),
    ],
)
def test_what_cannot_be_drawn_leaves_no_file(here, arguments, code, said):
    before = sorted(here.folder.iterdir())
    result = here("explain", "edges.csv", "labels.csv", *arguments)
    assert (result.returncode, result.stdout) == (code, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert sorted(here.folder.iterdir()) == before
