"""Ids that somebody gives to the nodes of a graph: as many, all different, none missing."""

from __future__ import annotations

from typing import Any

from isotherm.errors import GraphError
from isotherm.graph.nodes import NodeIndex, as_column, encode
from isotherm.graph.texts import TextNumbers, text_column


def index_of(ids: Any, n_nodes: int) -> NodeIndex:
    """The ids of so many nodes, in their order.

    Raises
    ------
    GraphError
        Too few or too many, an id twice, missing or not hashable.

    Examples
    --------
    >>> index_of(["ann", "bob"], 2).positions(["bob"]).tolist()
    [1]
    """
    texts = text_column(ids)
    column = as_column(ids, "nodes") if texts is None else texts
    if len(column) != n_nodes:
        raise GraphError(f"{len(column)} nodes for {n_nodes} rows: give one per row")
    if texts is None:
        return encode([], column)[0]
    numbers = TextNumbers()
    numbers.encode(texts)
    if len(numbers) != n_nodes:
        raise GraphError(
            f"`nodes` has {n_nodes} entries but only {len(numbers)} different ids: name each node "
            "once"
        )
    return NodeIndex(numbers.take_texts())
