"""Nodes and the edges among them → a drawing with the colours of their classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from isotherm.report.network import edges_among, positions, spread
from isotherm.report.palette import colour
from isotherm.report.parts import Legend
from isotherm.report.svg import element, picture, together
from isotherm.report.words import counted, short

if TYPE_CHECKING:
    from markupsafe import Markup
    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.report.findings import Findings
    from isotherm.report.network import Edges

MOST_NODES = 2000  # of a graph that is drawn as a whole
MOST_NEIGHBOURS = 30
MOST_EDGES = 8000  # lines of a drawing
MOST_NAMES = 60  # nodes that are drawn with their names
LONGEST_NAME = 14
KINDS = ("unlabelled", "", "doubtful", "seed")  # of nodes; what is marked lies on top


def draw(found: Findings, nodes: NDArray[np.intp], *, width: float, named: bool) -> Markup:
    """The given nodes and the edges among them.

    A node has the colour of its class, a seed a ring, a doubtful node a dashed ring; one without
    a label is hollow.

    Parameters
    ----------
    found : Findings
    nodes : int array
        Positions in the graph.
    width : float
        Of the drawing, in units of which the letters of a name have eleven.
    named : bool
        Whether the names of nodes are written below them, if there is room; else the labels of
        those whose class has no colour.
    """
    edges = edges_among(found.graph, nodes)
    X = positions(len(nodes), edges)
    margin = 30.0 if len(nodes) <= MOST_NAMES else 12.0
    low, high = X.min(axis=0), X.max(axis=0)
    span = np.maximum(high - low, 1e-9)
    scale = min((width - 2 * margin) / span.max(), 50.0)
    height = round(max(span[1] * scale + 2 * margin, 0.25 * width))
    X = (X - (low + high) / 2) * scale + np.array([width, height]) / 2
    radius = min(max(0.48 * scale, 2.0), 10.0)
    body = _lines(X, edges, found.colours(nodes)) + _circles(X, nodes, found, radius)
    if len(nodes) <= MOST_NAMES:
        body += _names(X, nodes, found, radius, named=named)
    words = f"A drawing of {counted(len(nodes), 'node')} and {counted(len(edges[0]), 'edge')}"
    return picture(body, (width, height), words, "drawing whole" if named else "drawing")


def legend(found: Findings) -> Legend:
    """What colours and rings stand for."""
    shown = [k for k in found.order.tolist() if found.colour_of[k] >= 0]
    marks = [(f"background: {colour(int(found.colour_of[k]))}", found.names[k]) for k in shown]
    if len(found.order) > len(shown):
        others = counted(len(found.order) - len(shown), "other class", "other classes")
        marks.append((f"background: {colour(-1)}", others))
    marks.append(("border: 2px solid var(--ink)", "seed"))
    if found.marked:
        marks.append(("border: 2px dashed var(--mark)", "doubtful"))
    if (found.codes < 0).any():
        marks.append(("border: 1px solid var(--other)", "no label"))
    return Legend(marks)


def neighbourhood(graph: Graph, node: int) -> NDArray[np.intp]:
    """A node and its neighbours; of a hub some of them, evenly over their order."""
    start, stop = graph.rows.start[node : node + 2]
    others = graph.rows.ends[start:stop].astype(np.intp)
    others = others[others != node]
    if len(others) >= MOST_NEIGHBOURS:
        others = others[spread(len(others), MOST_NEIGHBOURS - 1)]
    return np.concatenate([[node], others])


def _lines(X: NDArray[np.float64], edges: Edges, colours: NDArray[np.intp]) -> Markup:
    """Edges in the colour of their two ends, grey and below the others where these differ."""
    some = spread(len(edges[0]), MOST_EDGES)
    i, j = edges[0][some], edges[1][some]
    shades = np.where(colours[i] == colours[j], colours[i], -1)
    lines = np.hstack([X[i], X[j]])
    opacity = min(max(30 / math.sqrt(max(len(i), 1)), 0.18), 0.6)
    paths = []
    for shade in np.unique(shades).tolist():
        mine = lines[shades == shade].tolist()
        d = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in mine)
        paths.append(element("path", d=d, stroke=colour(shade), opacity=opacity))
    return together(*paths)


def _circles(
    X: NDArray[np.float64], nodes: NDArray[np.intp], found: Findings, radius: float
) -> Markup:
    colours, kinds = found.colours(nodes).tolist(), [_kind(found, node) for node in nodes.tolist()]
    circles = (
        element(
            "circle",
            element("title", found.line(int(nodes[k]))),
            cx=X[k, 0],
            cy=X[k, 1],
            r=radius + (1.5 if kinds[k] in ("doubtful", "seed") else 0),
            class_=kinds[k] or None,
            fill=colour(colours[k]),
        )
        for k in sorted(range(len(nodes)), key=lambda k: KINDS.index(kinds[k]))
    )
    return together(*circles)


def _kind(found: Findings, node: int) -> str:
    if found.masks["seed"][node]:
        return "seed"
    if found.codes[node] < 0:
        return "unlabelled"
    return "doubtful" if node in found.marked else ""


def _names(
    X: NDArray[np.float64],
    nodes: NDArray[np.intp],
    found: Findings,
    radius: float,
    *,
    named: bool,
) -> Markup:
    texts = []
    for (x, y), node, shade in zip(X.tolist(), nodes.tolist(), found.colours(nodes), strict=True):
        if named or (shade < 0 <= found.codes[node]):
            name = (
                found.name(node, LONGEST_NAME) if named else short(found.label(node), LONGEST_NAME)
            )
            texts.append(element("text", name, x=x, y=y + radius + 11))
    return together(*texts)
