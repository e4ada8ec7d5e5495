"""What a graph file lists: nodes, edges and attributes, with the checks that formats share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from isotherm.errors import GraphError
from isotherm.read.report import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

BLOCK = 1 << 20  # bytes that are read at a time
# One tag, text or comment is looked at again with every block until it is complete: its length is
# bounded so that the time stays linear in the size of the file.
LONGEST = 1 << 24
# Absent attributes that are stored per node: else a file could ask for a table of the square of
# its size, by nodes that have each an attribute of their own.
MOST_ABSENT = 100
ALWAYS_ALLOWED = 10**6
WEIGHT_RULE = "a weight must be a finite number ≥ 0"


class Contents(NamedTuple):
    """The nodes and edges of a file, in its order.

    Attributes
    ----------
    nodes : list of str
        The ids, all different.
    source, target : list of str
        The two ends of each edge; all are among the nodes.
    weight : list of float or None
        None where no edge has one.
    columns : dict of str to list
        The other attributes of nodes, by name: a text, or None, for each node.
    directed : bool
        Whether the file says that its edges have a direction.
    """

    nodes: list[str]
    source: list[str]
    target: list[str]
    weight: list[float] | None
    columns: dict[str, list[str | None]]
    directed: bool = False


def as_weight(text: str) -> float | None:
    """The number of a weight, or None where the text is no finite number or a negative one.

    Examples
    --------
    >>> as_weight("2.5e-1"), as_weight("-1"), as_weight("nan"), as_weight("heavy")
    (0.25, None, None, None)
    """
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < math.inf and "_" not in text else None


class ContentsBuilder:
    """A `Contents` in the making: nodes and edges may come in any order.

    Parameters
    ----------
    name : str
        The file, as messages call it.

    Examples
    --------
    >>> builder = ContentsBuilder("pair.gml")
    >>> builder.add_edge("a", "b", "0.5", line=1)
    >>> builder.add_node("a", {"club": "red"}, line=2)
    >>> builder.add_node("b", {}, line=3)
    >>> nodes, source, target, weight, columns, _ = builder.finish()
    >>> nodes, source, target, weight, columns
    (['a', 'b'], ['a'], ['b'], [0.5], {'club': ['red', None]})
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.directed = False
        self._known: dict[str, str] = {}  # each id to itself, so that it is stored once
        self._awaited: dict[str, tuple[str, int]] = {}  # ids not yet declared: where first used
        self._source: list[str] = []
        self._target: list[str] = []
        self._weight: list[float] = []  # NaN where absent
        self._columns: dict[str, list[str | None]] = {}
        self._n_absent = 0

    def fault(self, line: int | None, what: str) -> GraphError:
        """The error to raise for a fault in this file."""
        return GraphError(f"{self.name}{'' if line is None else f', line {line}'}: {what}")

    def add_node(self, node: str | None, attributes: Mapping[str, str], line: int) -> None:
        """Declare a node.

        Raises
        ------
        GraphError
            Without an id; with that of an earlier node; more attributes than can be stored.
        """
        if not node:
            raise self.fault(line, "a node without an id")
        if node in self._known:
            raise self.fault(line, f"a second node with the id {shown(node)}")
        if node in self._awaited:
            node = self._awaited.pop(node)[0]
        position = len(self._known)
        self._known[node] = node
        for key, value in attributes.items():
            column = self._columns.get(key)
            if column is None:
                column = self._columns[key] = []
            if len(column) < position:
                self._fill(column, position, line)
            column.append(value)

    def add_edge(
        self, source: str | None, target: str | None, weight: str | None, line: int
    ) -> None:
        """Add an edge.

        Raises
        ------
        GraphError
            Without source or target; a weight that is not a finite number, or is negative.
        """
        if not source or not target:
            missing = "target" if source else "source"
            raise self.fault(line, f"an edge without a {missing}")
        self._source.append(self._known.get(source) or self._await(source, line))
        self._target.append(self._known.get(target) or self._await(target, line))
        value = math.nan if weight is None else as_weight(weight)
        if value is None:
            what = f"the edge from {shown(source)} to {shown(target)} has the weight"
            raise self.fault(line, f"{what} {shown(weight or '')}: {WEIGHT_RULE}")
        self._weight.append(value)

    def finish(
        self, weight: float | None = None, defaults: Mapping[str, str] | None = None
    ) -> Contents:
        """All that was found.

        Parameters
        ----------
        weight : float, optional
            Weight of the edges that have none of their own, where the file declares one.
        defaults : dict of str to str, optional
            Attributes of the nodes that have none of their own, by name.

        Raises
        ------
        GraphError
            Edges of nodes that were not declared; no node; more attributes than can be stored.
        """
        for node, (_, line) in self._awaited.items():
            raise self.fault(line, f"an edge names the node {shown(node)}, which is not declared")
        if not self._known:
            raise self.fault(None, "the graph has no nodes")
        weights = None
        if weight is not None or not all(map(math.isnan, self._weight)):
            absent = 1.0 if weight is None else weight
            weights = [absent if math.isnan(value) else value for value in self._weight]
        for column in self._columns.values():
            self._fill(column, len(self._known), None)
        for key, text in (defaults or {}).items():
            column = self._columns.setdefault(key, [])
            self._fill(column, len(self._known), None)
            column[:] = [text if value is None else value for value in column]
        ends = self._source, self._target
        return Contents(list(self._known), *ends, weights, self._columns, self.directed)

    def _await(self, node: str, line: int) -> str:
        return self._awaited.setdefault(node, (node, line))[0]

    def _fill(self, column: list[str | None], length: int, line: int | None) -> None:
        """Make the column as long as this, absent where it has no entry."""
        n_absent = length - len(column)
        self._n_absent += n_absent
        if self._n_absent > ALWAYS_ALLOWED + MOST_ABSENT * len(self._known):
            raise self.fault(
                line,
                f"the nodes have {len(self._columns)} different attributes, and most nodes have "
                "few of them: too many to store. Remove some",
            )
        column += [None] * n_absent
