"""The part of the graph around a node that is drawn: those first that carry its heat."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from isotherm.report.network import edges_among, positions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph

MOST = 300  # nodes drawn
MOST_EDGES = 2500
NEAR = 60  # neighbours of the node itself, at the most
CARRIERS = 90  # nodes that carry the most heat


class Surroundings(NamedTuple):
    """Nodes to draw.

    Attributes
    ----------
    nodes : int array of shape (m,)
        Positions in the graph, the node itself first.
    places : array of shape (m, 2)
        In the plane.
    edges : pair of int arrays
        Numbers in `nodes`.
    """

    nodes: NDArray[np.intp]
    places: NDArray[np.float64]
    edges: tuple[NDArray[np.intp], NDArray[np.intp]]


def nearby(graph: Graph, node: int, count: int) -> list[int]:
    """Nodes by their distance, the node itself first; of a hub some neighbours only."""
    found, waiting = [node], deque([node])
    seen = {node}
    while waiting and len(found) < count:
        i = waiting.popleft()
        ends = graph.rows.ends[graph.rows.start[i] : graph.rows.start[i + 1]]
        order = np.argsort(-graph.degrees[ends], kind="stable")[:NEAR]
        for j in ends[order].tolist():
            if j not in seen and len(found) < count:
                seen.add(j)
                found.append(j)
                waiting.append(j)
    return found


def _connected(graph: Graph, nodes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Those of some nodes that hang together with the first."""
    i, j = edges_among(graph, nodes)
    A = sparse.coo_array((np.ones(len(i)), (i, j)), shape=(len(nodes), len(nodes)))
    _, part = csgraph.connected_components(A, directed=False)
    return np.asarray(nodes[part == part[0]])


def around(
    graph: Graph, node: int, heat: NDArray[np.float64] | None, ways: list[int], more: list[int]
) -> Surroundings:
    """What to draw around a node.

    Parameters
    ----------
    graph : Graph
    node : int
    heat : array of shape (n,) or None
        How much of its heat goes through each node; None where that is not known.
    ways : list of int
        Nodes on the paths of the heat, which are drawn in any case.
    more : list of int
        Nodes that were expanded: their neighbours are drawn, too.
    """
    chosen = dict.fromkeys([node, *ways])
    own = graph.rows.ends[graph.rows.start[node] : graph.rows.start[node + 1]]
    strength = graph.degrees if heat is None else heat
    chosen |= dict.fromkeys(own[np.argsort(-strength[own], kind="stable")][:NEAR].tolist())
    if heat is not None:
        most = np.argpartition(-heat, min(CARRIERS, len(heat) - 1))[:CARRIERS]
        most = most[np.argsort(-heat[most], kind="stable")]
        chosen |= dict.fromkeys(most[heat[most] > 0].tolist())
    else:
        chosen |= dict.fromkeys(nearby(graph, node, CARRIERS))
    for other in more:
        chosen |= dict.fromkeys(nearby(graph, other, NEAR // 2))
    nodes = _connected(graph, np.array(list(chosen)[:MOST], dtype=np.intp))
    i, j = edges_among(graph, nodes)
    if len(i) > MOST_EDGES:  # of a thicket some edges, those of the node itself first
        order = np.argsort(np.minimum(i, j), kind="stable")[:MOST_EDGES]
        i, j = i[order], j[order]
    return Surroundings(nodes, positions(len(nodes), (i, j)), (i, j))
