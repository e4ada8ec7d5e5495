"""The two ends of edges: nodes of one kind, or of two kinds that have ids of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isotherm.errors import GraphError
from isotherm.graph.nodes import NodeIndex, as_column, encode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIRECTED = "the graph is directed, but heat flows both ways: the direction of edges is ignored"


def as_ends(source: Any, target: Any) -> list[NDArray[np.generic]]:
    """Two columns of ids, equally long.

    Raises
    ------
    GraphError
        If they are not.
    """
    ends = [as_column(source, "source"), as_column(target, "target")]
    if len(ends[0]) != len(ends[1]):
        raise GraphError(
            f"source has {len(ends[0])} entries but target has {len(ends[1])}: they need the same "
            "number"
        )
    return ends


def two_sides(
    source: Any, target: Any
) -> tuple[NodeIndex, list[NDArray[np.generic]], tuple[str, str]]:
    """Nodes of two kinds: their ids, the positions of both ends, and the names of the kinds.

    Examples
    --------
    >>> nodes, (i, j), sides = two_sides(["a", "b"], ["a", "a"])
    >>> nodes.ids.tolist(), i.tolist(), j.tolist(), sides
    (['source:a', 'source:b', 'target:a'], [0, 1], [2, 2], ('source', 'target'))
    """
    names = [str(getattr(column, "name", None) or "") for column in (source, target)]
    named = all(names) and names[0] != names[1]
    sides = (names[0], names[1]) if named else ("source", "target")
    ids: list[str] = []
    positions = []
    for side, column in zip(sides, as_ends(source, target), strict=True):
        index, (place,) = encode([column], None)
        positions.append(place + len(ids))
        ids += [f"{side}:{node}" for node in index.ids.tolist()]
    return encode([], as_column(ids, "nodes"))[0], positions, sides


def networkx_edges(g: Any, weight: str | None) -> tuple[list[Any], list[Any], list[Any] | None]:
    """The two ends and the weights of the edges of a networkx graph; see `Graph.from_networkx`."""
    ends = list(g.edges(data=weight)) if weight else [(u, v, None) for u, v in g.edges()]
    weights = [w for _, _, w in ends]
    source, target = [u for u, _, _ in ends], [v for _, v, _ in ends]
    if any(w is not None for w in weights):
        return source, target, [1.0 if w is None else w for w in weights]
    if ends and weight not in (None, "weight"):
        raise GraphError(f"no edge has an attribute {weight!r}: name another, or weight=None")
    return source, target, None


def side_names(matrix: Any) -> NDArray[np.generic] | None:
    """Names of the rows and then the columns of a DataFrame; None where it has only positions.

    What is in both is told apart by the name of the index or the columns, or ``row``, ``column``.
    """
    if not hasattr(matrix, "columns") or not hasattr(matrix, "index"):
        return None
    rows, columns = list(matrix.index), list(matrix.columns)
    if all(ids == list(range(len(ids))) for ids in (rows, columns)):
        return None
    if set(rows) & set(columns):
        rows = [f"{matrix.index.name or 'row'}:{node}" for node in rows]
        columns = [f"{matrix.columns.name or 'column'}:{node}" for node in columns]
    return as_column([*rows, *columns], "nodes")
