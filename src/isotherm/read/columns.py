"""Which columns of a table hold the edges or the labels: those named, those that look so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.errors import GraphError, LabelError, ParameterError

if TYPE_CHECKING:
    from isotherm.read.layout import Layout
    from isotherm.read.table import Columns


def choose_edge_columns(layout: Layout, columns: Columns, name: str) -> list[int]:
    """Positions of the source, the target and, if there is one, the weight.

    Raises
    ------
    GraphError
        If there is but one column.
    ParameterError
        If a column that was asked for is not there.
    """
    weight = layout.find(columns.get("weight"), "weight", name)
    ends = [layout.find(columns.get(role), role, name) for role in ("source", "target")]
    chosen = _filled(ends, weight, layout, name, GraphError)
    third_is_weight = not layout.header and len(layout.columns) == 3 and layout.numbers(2)
    if weight is None and chosen == [0, 1] and third_is_weight:
        weight = 2
    return chosen if weight is None else [*chosen, weight]


def choose_label_columns(layout: Layout, columns: Columns, name: str) -> list[int]:
    """Positions of the node, its label and, if there is one, the weight; see `choose_edge_columns`.

    Raises
    ------
    LabelError
        If there is but one column, or if none of several is named so that it must be the label.
    """
    weight = layout.find(columns.get("weight"), "weight", name)
    found = [layout.find(columns.get(role), role, name) for role in ("node", "label")]
    if found[1] is None and layout.header and len(layout.columns) > 2 + (weight is not None):
        raise LabelError(
            f"{name} has several columns, which of them has the labels? Name it: "
            f"{', '.join(map(repr, layout.columns))}"
        )
    chosen = _filled(found, weight, layout, name, LabelError)
    return chosen if weight is None else [*chosen, weight]


def _filled(
    found: list[int | None],
    taken: int | None,
    layout: Layout,
    name: str,
    error: type[GraphError | LabelError],
) -> list[int]:
    """Columns found, and for those that were not the first ones left."""
    left = [k for k in range(len(layout.columns)) if k not in (*found, taken)]
    if None not in found and found[0] == found[1]:
        raise ParameterError(f"{name}: column {layout.columns[found[0] or 0]!r} is asked for twice")
    if found.count(None) > len(left):
        raise error(
            f"{name} has {len(layout.columns)} column(s) where two are needed; if they are not "
            "told apart as they should be, name the delimiter"
        )
    chosen = [left.pop(0) if k is None else k for k in found]
    if taken in chosen:
        raise ParameterError(f"{name}: column {layout.columns[taken or 0]!r} is asked for twice")
    return chosen
