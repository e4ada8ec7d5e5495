"""Nodes and the edges among them → positions in the plane, and a drawing in colours of classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import cKDTree

from isotherm.report.page import Legend
from isotherm.report.palette import colour
from isotherm.report.svg import element, picture, together
from isotherm.report.words import counted, short

if TYPE_CHECKING:
    from markupsafe import Markup
    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.report.findings import Findings

    Edges = tuple[NDArray[np.intp], NDArray[np.intp]]

MOST_NODES = 2000  # of a graph that is drawn as a whole
MOST_NEIGHBOURS = 30
MOST_EDGES = 8000  # lines of a drawing
MOST_NAMES = 60  # nodes that are drawn with their names
LONGEST_NAME = 14
KINDS = ("unlabelled", "", "doubtful", "seed")  # of nodes; what is marked lies on top
MOST_PULLS = 80_000  # entries of the adjacency matrix that positions are made from
PIVOTS = 40
STEPS = 80
NEAR = 0.3  # how much more nodes repel that would lie on each other
GAP = 2.2  # between components; the next node of one's own is at about 1
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


def edges_among(graph: Graph, nodes: NDArray[np.intp]) -> Edges:
    """The edges between the given nodes, as places among these; no self loops."""
    start, ends = graph.rows.start, graph.rows.ends
    place = np.full(graph.n_nodes, -1, dtype=np.intp)
    place[nodes] = np.arange(len(nodes))
    rows = [place[ends[start[node] : start[node + 1]]] for node in nodes.tolist()]
    i = np.repeat(np.arange(len(nodes)), [len(row) for row in rows])
    j = np.concatenate(rows)
    return i[j > i], j[j > i]


def spread(n: int, most: int) -> NDArray[np.intp]:
    """At most so many of n places, evenly."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def positions(n: int, edges: Edges) -> NDArray[np.float64]:
    """Places of n nodes: neighbours close, others apart, components side by side.

    Pivot MDS (Brandes and Pich 2006) finds the shape of each component, forces between its nodes
    (Fruchterman and Reingold 1991) spread it. The same graph has the same drawing.
    """
    i, j = edges
    ones = np.ones(2 * len(i), dtype=np.float32)
    A = sparse.csr_array((ones, (np.r_[i, j], np.r_[j, i])), shape=(n, n))
    _, part = csgraph.connected_components(A, directed=False)
    sizes = np.bincount(part)
    groups = np.split(np.argsort(part, kind="stable"), np.cumsum(sizes)[:-1])
    groups.sort(key=len, reverse=True)
    placed = [_component(A[group][:, group]) if len(group) > 1 else np.zeros((1, 2))
              for group in groups]  # fmt: skip
    X = np.empty((n, 2))
    X[np.concatenate(groups)] = _packed(placed)
    return X


def _component(A: sparse.csr_array) -> NDArray[np.float64]:
    """Places of the nodes of one component: the next node at about 1, the longer side level."""
    n = A.shape[0]
    X = _forced(A, _pivot_mds(A)) if n > 2 else np.array([[0.0, 0.0], [1.0, 0.0]])
    nearest = cKDTree(X).query(X, k=2)[0][:, 1]
    X = (X - X.mean(axis=0)) / max(float(np.median(nearest)), 1e-6)
    _, axes = np.linalg.eigh(X.T @ X)
    axes *= np.where(axes.sum(axis=0) < 0, -1, 1)
    return np.asarray(X @ axes[:, ::-1])


def _pivot_mds(A: sparse.csr_array) -> NDArray[np.float64]:
    """Places from the distances to a few nodes, each far from those before it."""
    n = A.shape[0]
    A = A.copy()  # of short indices, the only ones that the distances of older SciPy take
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    pivot, nearest, rows = int(np.diff(A.indptr).argmax()), np.full(n, np.inf), []
    for _ in range(min(PIVOTS, n)):
        rows.append(csgraph.dijkstra(A, indices=pivot, unweighted=True))
        nearest = np.minimum(nearest, rows[-1])
        pivot = int(nearest.argmax())
    D = np.array(rows) ** 2
    C = D - D.mean(axis=0) - D.mean(axis=1, keepdims=True) + D.mean()
    values, vectors = np.linalg.eigh(C @ C.T)
    X = C.T @ vectors[:, -2:] / np.maximum(np.abs(values[-2:]), 1e-9) ** 0.25
    size = max(math.sqrt(n) / 2, math.sqrt(D.max()) / 3.5)  # of a disc, or of a path or ring
    X *= size / max(math.sqrt((X**2).sum() / n), 1e-9)
    # Nodes with the same distances, such as the leaves of a star, are told apart.
    angle = GOLDEN_ANGLE * np.arange(n)
    return np.asarray(X + 0.3 * np.column_stack([np.cos(angle), np.sin(angle)]))


def _forced(A: sparse.csr_array, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Let all nodes repel each other by 1 / distance (near: more) and edges pull by distance²."""
    n = A.shape[0]
    i, j = A.nonzero()
    edges = (i.astype(np.intp) * n + j)[spread(len(i), MOST_PULLS)]
    steps = min(STEPS, 20 + n)
    X = X.astype(np.float32)
    for step in range(steps):
        square = (X**2).sum(axis=1)
        distance = np.maximum(square[:, np.newaxis] + square - 2 * (X @ X.T), 0.01)  # squared
        push = 1 / distance
        push += NEAR * push**2
        push.reshape(-1)[edges] -= np.sqrt(distance.reshape(-1)[edges])
        force = X * push.sum(axis=1, keepdims=True) - push @ X
        size = np.linalg.norm(force, axis=1, keepdims=True)
        longest = 0.1 * math.sqrt(n) * (1 - step / steps)
        X += force * (np.minimum(size, longest) / np.maximum(size, 1e-9))
    return X.astype(np.float64)


def _packed(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Boxes on shelves, each in the middle of its shelf; a much lower box starts another."""
    sides = np.array([np.ptp(part, axis=0) for part in parts])
    sides += GAP
    width = max(sides[:, 0].max(), math.sqrt(1.6 * sides.prod(axis=1).sum()))
    shelves: list[list[int]] = [[]]
    x = 0.0
    for k, (side, tall) in enumerate(sides):
        first = shelves[-1][0] if shelves[-1] else k
        if shelves[-1] and (x + side > width * (1 + 1e-9) or tall < 0.5 * sides[first, 1]):
            shelves.append([])
            x = 0.0
        shelves[-1].append(k)
        x += side
    y, placed = 0.0, []
    for shelf in shelves:
        x, tallest = -sides[shelf, 0].sum() / 2, sides[shelf, 1].max()
        for k in shelf:
            corner = np.array([x, y + (tallest - sides[k, 1]) / 2]) + GAP / 2
            placed.append(parts[k] - parts[k].min(axis=0) + corner)
            x += sides[k, 0]
        y += tallest
    return np.concatenate(placed)


def draw(found: Findings, nodes: NDArray[np.intp], *, width: float, named: bool) -> Markup:
    """The given nodes and the edges among them; letters are eleven units of the width high.

    A node has the colour of its class, a seed a ring, a doubtful node a dashed ring; one without
    a label is hollow. Below nodes are their names, if there is room, or else (not `named`) the
    labels of those whose class has no colour.
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
