"""What GraphML, GEXF, GML and JSON graphs list, checked → Graph, and labels from attributes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from isotherm.errors import GraphError, LabelError, ParameterError
from isotherm.graph import Graph
from isotherm.graph.ends import DIRECTED
from isotherm.read.column_kinds import NAMES
from isotherm.read.label_columns import STATUS, has_status
from isotherm.read.report import shown
from isotherm.read.row_table import as_cell
from isotherm.read.table import LabelRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from isotherm.errors import IsothermError
    from isotherm.read.report import ReadReport
    from isotherm.read.table import Columns

    Nodes = Iterable[tuple[str | None, Mapping[str, object]]]  # ids, and what is said of them
    Ends = Iterable[tuple[str | None, str | None, object]]  # of edges, and their weights

WEIGHT_RULE = "a weight must be a finite number ≥ 0"
MANY = 20  # nodes, all with different values of an attribute, which then is no class
SHOWN = 30  # attributes that a message lists
_MADE_UP = re.compile(r"n?\d+")


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


def graph_of(contents: Contents, report: ReadReport) -> Graph:
    """The graph, its nodes in the order of the file."""
    report.columns = ("source", "target") + (() if contents.weight is None else ("weight",))
    report.n_rows = len(contents.source)
    if contents.directed:
        report.notes.append(f"{report.name}: {DIRECTED}")
    nodes = _texts(_names(contents, report), report, GraphError)
    number = {node: k for k, node in enumerate(contents.nodes)}
    source, target = (
        np.fromiter(map(number.__getitem__, end), np.int32)
        for end in (contents.source, contents.target)
    )
    plain = Graph.from_edges(source, target, contents.weight, nodes=range(len(nodes)))
    return plain.renamed(nodes)


def _names(contents: Contents, report: ReadReport) -> list[str]:
    """What nodes are called: their ids, unless igraph made these up and kept the names apart."""
    if not all(_MADE_UP.fullmatch(node) for node in contents.nodes):
        return contents.nodes
    names = contents.column("name")
    if len(set(names) - {None, ""}) < len(contents.nodes) or names == contents.nodes:
        return contents.nodes
    report.notes.append(f"{report.name}: nodes are named by their attribute 'name', not by id")
    return [name or "" for name in names]


def _texts(
    values: Sequence[str | None], report: ReadReport, error: type[IsothermError]
) -> pa.Array:
    """A column of texts, if all of them are."""
    try:
        return pa.array(values, pa.large_string())
    except UnicodeEncodeError as fault:
        raise error(
            f"{report.name}: {ascii(fault.object)[:80]} has half a character (a lone surrogate)"
        ) from None


def labels_of(contents: Contents, columns: Columns, report: ReadReport) -> LabelRows:
    """The nodes, and what an attribute says of them: the one wanted, or one named like a label."""
    wanted, known = columns.get("label"), contents.attributes()
    more = ", …" if len(known) > SHOWN else ""
    there = f"{', '.join(map(repr, known[:SHOWN])) or 'none'}{more}"
    if wanted is None:
        named = [key for key in known if key.lower() in NAMES["label"]]
        wanted = next((key for key in named if not _tells_nodes_apart(key, contents)), None)
    if wanted is None:
        raise LabelError(
            f"{report.name}: it is not clear which attribute of the nodes is the label; name it "
            f"with --label (label=). The attributes are: {there}"
        )
    if wanted not in known:
        raise ParameterError(
            f"nodes of {report.name} have no attribute {wanted!r}; choose one of: {there}"
        )
    report.columns = ("node", wanted)
    if columns.get("label") is None and len(known) > 1:
        report.hint(f"labels are read from the attribute {wanted!r}; the attributes are {there}")
    # `write_predictions` names it class there; networkx writes what `to_networkx` names label.
    of_result = has_status(("node", *known), wanted, also="class")
    status = contents.column(STATUS) if of_result else None
    names = _texts(_names(contents, report), report, LabelError)
    return LabelRows(names, _texts(contents.column(wanted), report, LabelError), None, status)


def _tells_nodes_apart(key: str, contents: Contents) -> bool:
    """Whether an attribute is a name rather than a class: no two nodes have the same."""
    values = contents.column(key)
    known = [value for value in values if value]
    different = len(set(known)) == len(known)
    return different and (len(known) >= MANY or values == contents.nodes)
