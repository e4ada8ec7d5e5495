"""Which nodes to label while nothing can be said yet: no class, or only one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.graph.keys import node_keys, salted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph

FIRST = "first"  # why such a node is suggested


def starting_nodes(graph: Graph, known: NDArray[np.bool_], count: int) -> list[int]:
    """Nodes drawn at random, from large components and with neighbours to pass heat on to.

    At random, so that they are of several classes and fair to judge by later; the same graph has
    the same ones.

    Parameters
    ----------
    graph : Graph
    known : bool array of shape (n,)
        Nodes that are left out.
    count : int
    """
    neighbours = np.diff(graph.rows.start)
    parts = np.bincount(graph.components)
    worth = (parts[graph.components] >= parts.max() / 10) & (neighbours >= np.median(neighbours))
    order = np.lexsort((salted(node_keys(graph.nodes), "start"), ~worth))
    found: list[int] = order[~known[order]][:count].tolist()
    return found
