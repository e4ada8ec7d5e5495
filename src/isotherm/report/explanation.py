"""Why a node has its label → one page: the share of each class and seed, and the paths drawn."""

from __future__ import annotations

import graphlib
import html
import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from isotherm.report import charts
from isotherm.report.charts import N_COLOURS, colour, percent, svg
from isotherm.report.page import counted, figure, page, section, short
from isotherm.report.tables import table_of_words

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from isotherm.trust.explain import Explanation

    Shares = defaultdict[Any, float]
    Paths = list[tuple[tuple[Hashable, ...], float]]

MOST_IN_WORDS = 4  # classes that the sentence names
MOST_STEPS = 8  # of a path that is drawn with all its nodes
LONGEST_NAME = 30
LETTERS, SEED_LETTERS = 14, 18  # of names in the drawing
RADIUS = {"it": 11.0, "seed": 8.0, "way": 4.5, "way row": 4.5}
LEFT, RIGHT, STEP, WIDTH = 120.0, 200.0, 96.0, 680.0  # margins, layer to layer, all; at the least
NODE_ROOM, LINE_ROOM = 42.0, 10.0
WIDEST, WIDEST_SUM, THINNEST = 16.0, 40.0, 0.6  # lines
SWEEPS = 12  # that order the nodes of a layer, and then place them
NOTHING = 5e-4  # a share not worth a word

STYLE = """
h1, p { overflow-wrap: anywhere; }
.flow { min-width: calc(var(--wide) * .8); max-width: calc(var(--wide) * 1.4); }
.flow svg { display: block; width: 100%; height: auto; }
.flow .lines { fill: none; opacity: .6; }
.way circle { fill: var(--paper); stroke: var(--other); stroke-width: 1.5; }
.row circle { stroke-dasharray: 2.5 1.5; }
.seed circle { stroke: var(--ink); stroke-width: 2; }
.it { text-anchor: end; } .way { text-anchor: middle; }
.flow text { font-size: 11px; fill: var(--ink); pointer-events: none;
  paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
.it circle + text, .seed circle + text { font-size: 12px; font-weight: 600; }
.paths td:first-child { white-space: normal; overflow-wrap: anywhere; min-width: 12rem; }
@media (max-width: 40rem) { table { font-size: .82rem; } th, td { padding: .25rem .4rem; } }
"""


def explanation_page(
    why: Explanation,
    *,
    means: Mapping[Any, float] | None = None,
    decision: str = "plain",
    most: int = 10,
) -> str:
    """One HTML document that needs nothing but itself.

    Parameters
    ----------
    why : Explanation
        See `isotherm.DirichletClassifier.explain`.
    means : mapping, optional
        The mean temperature of each class over all nodes, drawn beside the shares.
    decision : str
        How temperatures became scores.
    most : int
        How many seeds to list.
    """
    title = f"Why {short(why.node)} has the label {short(why.label, LONGEST_NAME)}"
    known = {} if _is_seed(why) or means is None else means
    parts = [_shares(why, known, most), _paths(why)]
    return page(title, _sentence(why, decision), parts, style=charts.STYLE + STYLE)


def _is_seed(why: Explanation) -> bool:
    return [seed for seed, *_ in why.seeds] == [why.node]


def _ranked(why: Explanation) -> list[Any]:
    """Classes with a share, the greatest first; the node's own is among those with a colour."""
    some = [label for label, share in why.classes.items() if share > 0 or label == why.label]
    some.sort(key=lambda label: -why.classes[label])
    if why.label in some[N_COLOURS:]:
        some.remove(why.label)
        some.insert(N_COLOURS - 1, why.label)
    return some


def _sentence(why: Explanation, decision: str) -> str:
    """The explanation in words."""
    node, label = short(why.node), short(why.label, LONGEST_NAME)
    if _is_seed(why):
        return f"{node} is a seed: its label, “{label}”, was given."
    ranked = sorted(_ranked(why), key=lambda label: -why.classes[label])
    named, others = ranked[:MOST_IN_WORDS], ranked[MOST_IN_WORDS:]
    words = [f"{percent(why.classes[c])} from “{short(c, LONGEST_NAME)}”" for c in named]
    if others:
        rest = percent(sum(why.classes[c] for c in others))
        words.append(f"{rest} from {counted(len(others), 'other class', 'other classes')}")
    listed = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    seeds = counted(len(why.seeds), "seed")
    text = f"{node} has the label “{label}”. Its heat comes from {seeds}: {listed}."
    lost = 1 - sum(why.classes.values())
    if lost > NOTHING:
        text += f" The rest, {percent(lost)}, is lost to the leak."
    if decision != "plain" and why.classes[named[0]] > why.classes.get(why.label, 0.0):
        text += (
            f" “{short(named[0], LONGEST_NAME)}” has the greatest share, but it has much of the "
            f"heat of other nodes, too; the decision “{decision}” takes that into account."
        )
    return text.replace(" %", "\u00a0%")


def _shares(why: Explanation, means: Mapping[Any, float], most: int) -> str:
    """The share of each class, and of the seeds that give most."""
    ranked = _ranked(why)
    shown, others = ranked[:N_COLOURS], ranked[N_COLOURS:]
    groups = [[label] for label in shown] + ([others] if others else [])
    names = [short(label, LONGEST_NAME) for label in shown]
    names += [counted(len(others), "other class", "other classes")] if others else []
    before, after = (
        np.array([sum(max(numbers.get(label, 0.0), 0.0) for label in group) for group in groups])
        for numbers in (means, why.classes)
    )
    words = "The share of each class is the node's temperature in the problem of that class."
    if means:
        words += " The outlined bar is the mean over all nodes."
    silent = len(why.classes) - len(ranked)
    if silent:
        words += f" {counted(silent, 'class has', 'classes have')} no share."
    chart = charts.bars(names, before, after, words)
    drawn: defaultdict[Hashable, float] = defaultdict(float)
    for path, share in why.paths:
        drawn[path[-1]] += share
    rows = []
    for seed, label, share in why.seeds[:most]:
        cells = short(seed, LONGEST_NAME), short(label, LONGEST_NAME), percent(share)
        rows.append((*cells, percent(drawn[seed]) if seed in drawn else "–"))
    notes = []
    if len(why.seeds) > most:
        rest = percent(sum(share for *_, share in why.seeds[most:]))
        notes.append(f"{counted(len(why.seeds) - most, 'other seed')}: {rest} in all.")
    columns = ("seed", "label", "share", "on paths drawn")
    return section(
        "Where the heat comes from",
        words,
        '<div class="pair">',
        figure("Share of each class", chart),
        table_of_words("Seeds with the greatest shares", columns, rows, notes),
        "</div>\n",
    )


def _paths(why: Explanation) -> str:
    """The paths, drawn and listed."""
    title = "The paths it takes"
    if not why.paths:
        words = "A seed takes no heat from others" if _is_seed(why) else "There is no path to draw"
        return section(title, f"{words}.")
    total = sum(share for _, share in why.paths)
    carry = counted(len(why.paths), "path carries", "paths carry")
    words = (
        "On the left is the node, on the right, with rings, the seeds that its heat comes from. A "
        "line is as wide as the share of heat that it carries, and has the colour of the seed's "
        f"class. {carry} {percent(total)} of all heat"
    )
    if sum(why.classes.values()) - total > NOTHING:
        words += "; the rest takes others, each with less"
    rows = [(short(" → ".join(map(short, path)), 400), percent(share)) for path, share in why.paths]
    table = table_of_words("The paths, node by node", ("path", "share"), rows, kind="paths")
    return section(title, f"{words}.", _Drawing(why).drawn(), table)


# --- the drawing --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    """Nodes one after the other that are drawn as one."""

    nodes: tuple[Hashable, ...]


@dataclass(frozen=True)
class _Bend:
    """Where an edge passes a layer."""

    edge: tuple[Hashable, Hashable]
    layer: int


class _Drawing:
    """Paths as lines from left to right; a node that several of them take is drawn once."""

    def __init__(self, why: Explanation) -> None:
        self.why = why
        self.labels = {seed: label for seed, label, _ in why.seeds}
        self.places = {label: k for k, label in enumerate(_ranked(why)[:N_COLOURS])}
        paths = _in_layers(_in_rows(why.paths))
        layers = zip(*(path for path, _ in paths), strict=True)
        self.columns = [list(dict.fromkeys(layer)) for layer in layers]
        self.shares: Shares = defaultdict(float)  # of all heat, by node
        self.strands: defaultdict[tuple[Hashable, Hashable], Shares]  # by edge and colour
        self.strands = defaultdict(lambda: defaultdict(float))
        for path, share in paths:
            place = self.places.get(self.labels.get(path[-1]), N_COLOURS)
            for node in path:
                self.shares[node] += share
            for edge in itertools.pairwise(path):
                self.strands[edge][place] += share
        greatest = max(share for node, share in self.shares.items() if node != why.node)
        self.scale = min(WIDEST / greatest, WIDEST_SUM / self.shares[why.node])
        step = max(STEP, (WIDTH - LEFT - RIGHT) / (len(self.columns) - 1))
        self.x = {item: LEFT + step * k for k, layer in enumerate(self.columns) for item in layer}
        self.y = self._heights()

    def drawn(self) -> str:
        """The picture; it can be moved where there is too little room for it."""
        marks = [self._mark(node) for node in self.x if not isinstance(node, _Bend)]
        size = max(self.x.values()) + RIGHT, max(self.y.values()) + NODE_ROOM
        told = f"Paths from {short(self.why.node)} to the seeds that its heat comes from"
        picture = svg(self._lines() + "".join(marks), size, told, "heat")
        wide = f'<div class="flow" style="--wide: {size[0]:g}px">{picture}</div>'
        return f'<div class="scroll">{wide}</div>\n'

    def _room(self, item: Hashable) -> float:
        tall = self.scale * self.shares[item]
        return tall + LINE_ROOM if isinstance(item, _Bend) else max(tall + 26, NODE_ROOM)

    def _heights(self) -> dict[Hashable, float]:
        """Where lines are short and cross seldom: each item near the mean of those beside it."""
        sides: list[dict[Hashable, list[Hashable]]] = [defaultdict(list), defaultdict(list)]
        for a, b in self.strands:
            sides[0][b].append(a)
            sides[1][a].append(b)
        y = {item: NODE_ROOM * k for layer in self.columns for k, item in enumerate(layer)}
        for sweep in range(SWEEPS):
            ordering, back = sweep < SWEEPS // 2, sweep % 2
            for layer in self.columns[::-1] if back else self.columns:
                wish = {}
                for item in layer:
                    near = sides[back][item] if ordering else sides[0][item] + sides[1][item]
                    wish[item] = float(np.mean([y[other] for other in near or [item]]))
                if ordering:
                    layer.sort(key=wish.__getitem__)
                room = np.array([self._room(item) for item in layer])
                apart = np.cumsum(room) - room / 2
                fit = isotonic_regression([wish[item] for item in layer] - apart) + apart
                y |= dict(zip(layer, fit.tolist(), strict=True))
        top = min(height - self._room(item) / 2 for item, height in y.items()) - 5
        return {item: height - top for item, height in y.items()}

    def _lines(self) -> str:
        """Lines, side by side where they leave a node or reach one."""
        ends: defaultdict[Any, list[float]] = defaultdict(list)
        for end in (0, 1):
            used: Shares = defaultdict(float)
            for edge in sorted(self.strands, key=lambda edge: self.y[edge[1 - end]]):
                for place, share in sorted(self.strands[edge].items()):
                    middle = used[edge[end]] + share / 2 - self.shares[edge[end]] / 2
                    ends[edge, place].append(self.y[edge[end]] + self.scale * middle)
                    used[edge[end]] += share
        parts = []
        for (edge, place), (b, d) in ends.items():
            a, c = self.x[edge[0]], self.x[edge[1]]
            share, half = self.strands[edge][place], (a + c) / 2
            curve = f"{half:.1f} {b:.1f} {half:.1f} {d:.1f} {c + 0.5:.1f} {d:.1f}"
            parts.append(
                f'<path d="M{a:.1f} {b:.1f}C{curve}" stroke="{colour(place)}" '
                f'stroke-width="{max(self.scale * share, THINNEST):.2f}">'
                f"<title>{percent(share)}</title></path>"
            )
        return f'<g class="lines">{"".join(parts)}</g>'

    def _mark(self, node: Hashable) -> str:
        """A node and its name: at the ends of paths beside it, else below."""
        x, y, share = self.x[node], self.y[node], percent(self.shares[node])
        kind, label, told = "way", self.labels.get(node), short(node)
        lines = [short(node, LETTERS)]
        if isinstance(node, _Row):
            kind, told = "way row", " → ".join(map(short, node.nodes))
            lines = [counted(len(node.nodes), "node")]
        elif node == self.why.node:
            kind, label = "it", self.why.label
            lines += [short(label, LETTERS), f"{share} drawn"]
        elif node in self.labels:
            kind, lines = "seed", [short(node, SEED_LETTERS)]
            lines += [f"{share} · {short(label, SEED_LETTERS)}"]
        r = max(self.scale * self.shares[node] / 2 + 2, RADIUS[kind])
        side = {"it": -1, "seed": 1}.get(kind, 0)
        top = y + 4 - 6.5 * (len(lines) - 1) if side else y + r + 11
        text = "".join(
            f'<text x="{x + side * (r + 6):.1f}" y="{top + 13 * k:.1f}">{html.escape(line)}</text>'
            for k, line in enumerate(lines)
        )
        return (
            f'<g class="{kind}"><circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" '
            f'fill="{colour(self.places.get(label, -1))}">'
            f"<title>{html.escape(short(told, 400))}</title></circle>{text}</g>"
        )


def _in_rows(paths: Paths) -> Paths:
    """The same paths; of long ones, stretches that nothing joins or leaves are taken as one."""
    if max(len(path) for path, _ in paths) <= MOST_STEPS + 1:
        return paths
    edges = {edge for path, _ in paths for edge in itertools.pairwise(path)}
    leaving, joining = (Counter(edge[end] for edge in edges) for end in (0, 1))
    found = []
    for path, share in paths:
        nodes: list[Hashable] = []
        for alone, group in itertools.groupby(path, lambda n: leaving[n] == joining[n] == 1):
            some = tuple(group)
            nodes += [_Row(some)] if alone and len(some) > 2 else some
        found.append((tuple(nodes), share))
    return found


def _in_layers(paths: Paths) -> Paths:
    """The same paths with an item for each layer: a node comes after all before it, seeds last."""
    before: defaultdict[Hashable, list[Hashable]] = defaultdict(list)
    for a, b in itertools.chain(*(itertools.pairwise(path) for path, _ in paths)):
        before[b].append(a)
    layer: dict[Hashable, int] = {}
    for node in graphlib.TopologicalSorter(before).static_order():
        layer[node] = max((layer[other] + 1 for other in before.get(node, ())), default=0)
    layer |= dict.fromkeys((path[-1] for path, _ in paths), max(layer.values()))
    found = []
    for path, share in paths:
        items = list(path[:1])
        for a, b in itertools.pairwise(path):
            items += [_Bend((a, b), k) for k in range(layer[a] + 1, layer[b])] + [b]
        found.append((tuple(items), share))
    return found
