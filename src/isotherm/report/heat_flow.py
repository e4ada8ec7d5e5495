"""The ways that heat takes → SVG: lines from a node to its seeds, as wide as their shares."""

from __future__ import annotations

import graphlib
import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.isotonic import isotonic_regression

from isotherm.colours import COLOURS, OTHER
from isotherm.report.palette import colour
from isotherm.report.svg import element, picture, together
from isotherm.report.words import counted, percent, short

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from markupsafe import Markup

    from isotherm.report.palette import Palette
    from isotherm.trust.explain import Explanation

    Edge = tuple[Hashable, Hashable]
    Paths = list[tuple[tuple[Hashable, ...], float]]

MOST_STEPS = 8  # of a path that is drawn with all its nodes
LETTERS, SEED_LETTERS = 14, 18  # of names in the drawing
RADIUS = {"it": 11.0, "seed": 8.0, "way": 4.5, "way row": 4.5}
LEFT, RIGHT, STEP, WIDTH = 120.0, 200.0, 96.0, 680.0  # margins, layer to layer, all; at the least
NODE_ROOM, LINE_ROOM = 42.0, 10.0
WIDEST, WIDEST_SUM, THINNEST = 16.0, 40.0, 0.6  # lines
SIDES = {"it": -1, "seed": 1}  # of a node at which its name is; else below
SWEEPS = 12  # that order the nodes of a layer, and then place them
TITLE_ROOM = 48.0  # above a picture of its own
INK, PAPER = "#1d2733", "#ffffff"
# What a page has from its stylesheet; a picture of its own has no names for colours.
STYLE = f"""
text {{ font: 11px system-ui, sans-serif; fill: {INK}; }}
.title {{ font-size: 14px; font-weight: 600; }}
.lines {{ fill: none; opacity: .6; }}
.seed circle {{ stroke: {INK}; stroke-width: 2; }}
.way {{ text-anchor: middle; }}
.way circle {{ fill: {PAPER}; stroke: {OTHER}; stroke-width: 1.5; }}
.row circle {{ stroke-dasharray: 2.5 1.5; }}
.it {{ text-anchor: end; }}
"""


def heat_flow(why: Explanation, palette: Palette) -> Markup:
    """A drawing of the paths of an explanation; seeds and lines have the colours of classes."""
    layout = FlowLayout(why, palette)
    told = f"Paths from {short(why.node)} to the seeds that its heat comes from"
    wide = f"--wide: {layout.size[0]:.0f}px"
    return picture(_drawn(layout, colour), layout.size, told, "flow", style=wide)


def heat_flow_file(title: str, note: str, why: Explanation, palette: Palette) -> str:
    """The same as an SVG file, below a title and a note."""
    layout = FlowLayout(why, palette)
    wide, high = layout.size[0], layout.size[1] + TITLE_ROOM
    return element(
        "svg",
        element("style", STYLE),
        element("rect", width=wide, height=high, fill=PAPER),
        element("text", title, x=16.0, y=22.0, class_="title"),
        element("text", note, x=16.0, y=38.0),
        element("g", _drawn(layout, _fixed), transform=f"translate(0 {TITLE_ROOM:.0f})"),
        xmlns="http://www.w3.org/2000/svg",
        width=wide,
        height=high,
        viewBox=f"0 0 {wide:.0f} {high:.0f}",
    )


def _fixed(number: int) -> str:
    """A colour by its number, for paper; grey if there is none of that number."""
    return COLOURS[number] if 0 <= number < len(COLOURS) else OTHER


def _drawn(layout: FlowLayout, paint: Callable[[int], str]) -> Markup:
    lines = []
    for line in layout.lines():
        (a, b), (c, d), half = line.start, line.stop, line.bend
        curve = f"{half:.1f} {b:.1f} {half:.1f} {d:.1f} {c + 0.5:.1f} {d:.1f}"
        lines.append(
            element(
                "path",
                element("title", percent(line.share)),
                d=f"M{a:.1f} {b:.1f}C{curve}",
                stroke=paint(line.number),
                stroke_width=line.width,
            )
        )
    marks = []
    for mark in layout.marks():
        (x, y), title = mark.spot, element("title", mark.told)
        circle = element("circle", title, cx=x, cy=y, r=mark.radius, fill=paint(mark.number))
        texts = (element("text", line, x=x, y=y) for line, x, y in mark.texts)
        marks.append(element("g", circle, *texts, class_=mark.kind))
    return together(element("g", *lines, class_="lines"), *marks)


class Line(NamedTuple):
    """A curve from one node to the next."""

    start: tuple[float, float]
    stop: tuple[float, float]
    width: float
    share: float
    number: int  # of its colour

    @property
    def bend(self) -> float:
        """Where the curve turns: both its control points are there, one at each height."""
        return (self.start[0] + self.stop[0]) / 2


class Mark(NamedTuple):
    """A node and its name."""

    kind: str  # a key of `RADIUS`
    spot: tuple[float, float]
    radius: float
    number: int  # of its colour
    told: str  # who it is, in full
    texts: list[tuple[str, float, float]]  # lines, and where they are


@dataclass(frozen=True)
class _Row:
    """Nodes one after the other that are drawn as one."""

    nodes: tuple[Hashable, ...]


@dataclass(frozen=True)
class _Bend:
    """Where an edge passes a layer."""

    edge: Edge
    layer: int


class FlowLayout:
    """Paths as lines from left to right; a node that several of them take is drawn once."""

    def __init__(self, why: Explanation, palette: Palette) -> None:
        self.why, self.palette = why, palette
        self.labels = {seed: label for seed, label, _ in why.seeds}
        paths = _in_layers(_in_rows(why.paths))
        layers = zip(*(path for path, _ in paths), strict=True)
        self.columns = [list(dict.fromkeys(layer)) for layer in layers]
        self.shares: defaultdict[Hashable, float] = defaultdict(float)  # of all heat, by node
        self.strands: defaultdict[Edge, defaultdict[int, float]]  # by edge and number of colour
        self.strands = defaultdict(lambda: defaultdict(float))
        for path, share in paths:
            shade = palette.number(self.labels.get(path[-1]))
            for node in path:
                self.shares[node] += share
            for edge in itertools.pairwise(path):
                self.strands[edge][shade] += share
        greatest = max(share for node, share in self.shares.items() if node != why.node)
        self.scale = min(WIDEST / greatest, WIDEST_SUM / self.shares[why.node])
        step = max(STEP, (WIDTH - LEFT - RIGHT) / (len(self.columns) - 1))
        self.x = {item: LEFT + step * k for k, layer in enumerate(self.columns) for item in layer}
        self.y = self._heights()

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        return max(self.x.values()) + RIGHT, max(self.y.values()) + NODE_ROOM

    def marks(self) -> list[Mark]:
        """The nodes."""
        return [self._mark(node) for node in self.x if not isinstance(node, _Bend)]

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

    def lines(self) -> list[Line]:
        """Lines, side by side where they leave a node or reach one."""
        ends: defaultdict[tuple[Edge, int], list[float]] = defaultdict(list)
        for end in (0, 1):
            used: defaultdict[Hashable, float] = defaultdict(float)
            for edge in sorted(self.strands, key=lambda edge: self.y[edge[1 - end]]):
                for shade, share in sorted(self.strands[edge].items()):
                    middle = used[edge[end]] + share / 2 - self.shares[edge[end]] / 2
                    ends[edge, shade].append(self.y[edge[end]] + self.scale * middle)
                    used[edge[end]] += share
        lines = []
        for (edge, shade), (b, d) in ends.items():
            share = self.strands[edge][shade]
            width = max(self.scale * share, THINNEST)
            start, stop = (self.x[edge[0]], b), (self.x[edge[1]], d)
            lines.append(Line(start, stop, width, share, shade))
        return lines

    def _mark(self, node: Hashable) -> Mark:
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
        side = SIDES.get(kind, 0)
        top = y + 4 - 6.5 * (len(lines) - 1) if side else y + r + 11
        texts = [(line, x + side * (r + 6), top + 13 * k) for k, line in enumerate(lines)]
        return Mark(kind, (x, y), r, self.palette.number(label), short(told, 400), texts)


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
