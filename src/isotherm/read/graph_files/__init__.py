"""GraphML, GEXF, GML and JSON graphs: what a file lists → Graph, and labels from attributes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from isotherm.errors import GraphError, LabelError, ParameterError
from isotherm.graph import Graph
from isotherm.graph.ends import DIRECTED
from isotherm.read.column_kinds import NAMES
from isotherm.read.label_columns import STATUS, has_status
from isotherm.read.table import LabelRows

_MADE_UP = re.compile(r"n?\d+")
MANY = 20  # nodes, all with different values of an attribute, which then is no class
SHOWN = 30  # attributes that a message lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isotherm.errors import IsothermError
    from isotherm.read.graph_files.contents import Contents
    from isotherm.read.report import ReadReport
    from isotherm.read.table import Columns


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
    """The nodes, and what an attribute says of them: the one wanted, or one named like a label.

    Raises
    ------
    ParameterError
        If there is no such attribute.
    LabelError
        If none is named like a label.
    """
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
