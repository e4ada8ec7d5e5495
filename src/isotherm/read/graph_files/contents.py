"""What a graph file lists: nodes with attributes, and edges; with the checks of all formats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from isotherm.errors import GraphError
from isotherm.read.report import shown
from isotherm.read.row_table import as_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Nodes = Iterable[tuple[str | None, Mapping[str, object]]]  # ids, and what is said of them
    Ends = Iterable[tuple[str | None, str | None, object]]  # of edges, and their weights

WEIGHT_RULE = "a weight must be a finite number ≥ 0"


class Contents(NamedTuple):
    """The nodes and edges of a file."""

    nodes: list[str]  # ids, all different, in the order of the file
    source: list[str]
    target: list[str]
    weight: list[float] | None  # None where no edge has one
    records: list[Mapping[str, object]]  # of each node: attributes by name
    defaults: Mapping[str, object]  # attributes of the nodes that have none of their own
    directed: bool = False

    def attributes(self) -> list[str]:
        """Names of the attributes that some node has."""
        named = {
            key: None
            for record in (*self.records, self.defaults)
            for key, value in record.items()
            if value is not None
        }
        return list(named)

    def column(self, key: str) -> list[str | None]:
        """An attribute of all nodes, as text.

        One at a time: a file whose nodes have each an attribute of their own would else ask for a
        table of the square of its size.
        """
        default = as_cell(self.defaults.get(key))
        values = (record.get(key) for record in self.records)
        return [default if value is None else as_cell(value) or "" for value in values]


def contents_of(
    name: str,
    nodes: Nodes,
    edges: Ends,
    *,
    directed: bool = False,
    defaults: Mapping[str, object] | None = None,
) -> Contents:
    """What a file lists, if all of it is as it must be.

    Raises
    ------
    GraphError
        No node; a node without an id, or with that of another; an edge that lacks an end, or ends
        at no node; a weight that is not a finite number, or is negative.

    Examples
    --------
    >>> edges = [("a", "b", "0.5"), ("b", "b", None)]
    >>> found = contents_of("g.json", [("a", {"club": "red"}), ("b", {})], edges)
    >>> found.nodes, found.source, found.weight, found.column("club")
    (['a', 'b'], ['a', 'b'], [0.5, 1.0], ['red', None])
    """
    records: dict[str, Mapping[str, object]] = {}
    for number, (node, record) in enumerate(nodes, start=1):
        if not node:
            raise GraphError(f"{name}, node {number}: a node without an id")
        if node in records:
            raise GraphError(f"{name}: a second node with the id {shown(node)}")
        records[node] = record
    if not records:
        raise GraphError(f"{name}: the graph has no nodes")
    source, target, weights = [], [], []
    for number, (one, other, weight) in enumerate(edges, start=1):
        if not one or not other:
            missing = "target" if one else "source"
            raise GraphError(f"{name}, edge {number}: an edge without a {missing}")
        for end in (one, other):
            if end not in records:
                raise GraphError(
                    f"{name}: an edge names the node {shown(end)}, which is not declared"
                )
        value = math.nan if weight is None else as_weight(weight)
        if value is None:
            if isinstance(weight, list):
                raise GraphError(
                    f"{name}: the edge from {shown(one)} to {shown(other)} has two values for its "
                    "weight"
                )
            raise GraphError(
                f"{name}: the edge from {shown(one)} to {shown(other)} has the weight "
                f"{shown(str(weight))}: {WEIGHT_RULE}"
            )
        source.append(one)
        target.append(other)
        weights.append(value)
    given = not all(map(math.isnan, weights))
    filled = [1.0 if math.isnan(value) else value for value in weights] if given else None
    return Contents(
        list(records), source, target, filled, list(records.values()), defaults or {}, directed
    )


def as_weight(value: object) -> float | None:
    """The number of a weight, or None where it is no finite number or a negative one.

    Examples
    --------
    >>> as_weight(" 2.5e-1 "), as_weight(4), as_weight("nan"), as_weight("heavy"), as_weight(True)
    (0.25, 4.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number < math.inf and "_" not in str(value) else None
