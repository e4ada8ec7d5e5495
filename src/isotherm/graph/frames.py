"""Data frames of pandas and polars, and tables of pyarrow: their columns."""

from __future__ import annotations

from typing import Any

from isotherm.errors import GraphError

ENDS, WEIGHT = ("source", "target"), "weight"


def is_frame(data: Any) -> bool:
    """Whether it is a DataFrame of pandas or polars, or a table of pyarrow."""
    return hasattr(data, "columns") and hasattr(data, "shape") and hasattr(data, "__getitem__")


def column_names(frame: Any) -> list[Any]:
    """The names of its columns."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def edge_columns(frame: Any) -> tuple[Any, Any, Any]:
    """The two ends and, if there is one, the weight of the edges that its rows are.

    Raises
    ------
    GraphError
        If the columns do not say what they are.

    Examples
    --------
    >>> import pandas as pd
    >>> edge_columns(pd.DataFrame({"on": [1], "source": ["a"], "target": ["b"]}))[1].tolist()
    ['b']
    """
    names = column_names(frame)
    if set(ENDS) <= set(names):
        weight = frame[WEIGHT] if WEIGHT in names else None
        return frame[ENDS[0]], frame[ENDS[1]], weight
    if len(names) == 2 or (len(names) == 3 and names[2] == WEIGHT):
        ends = (frame[name] for name in names[:2])
        return *ends, frame[names[2]] if len(names) == 3 else None
    raise GraphError(
        "it is not clear which columns hold the ends of the edges; the columns are "
        f"{', '.join(map(repr, names))}. Name them source and target (and weight), or pass them "
        "one by one, as in Graph.from_edges(frame['sender'], frame['receiver'], frame['amount'])"
    )


def matrix_of_frame(frame: Any, nodes: Any) -> tuple[Any, Any]:
    """Matrix and node ids of a DataFrame whose index and columns name the same nodes."""
    index, columns = list(frame.index), list(frame.columns)
    if index != columns:
        if len(set(index)) != len(index) or set(index) != set(columns):
            raise GraphError(
                "the index and the columns of the DataFrame name different nodes; if it is an edge "
                "list, use Graph.from_edges(frame)"
            )
        frame = frame.reindex(columns=frame.index)
    positions = index == list(range(len(index)))
    return frame.to_numpy(), index if nodes is None and not positions else nodes
