"""GraphML and GML: nodes and edges as a file lists them → Graph, and labels from attributes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from isotherm.errors import LabelError, ParameterError
from isotherm.graph import Graph
from isotherm.read.gml import read_gml
from isotherm.read.graphml import read_graphml
from isotherm.read.layout import NAMES

_MADE_UP = re.compile(r"n?\d+")

if TYPE_CHECKING:
    from isotherm.read.listed import Listed
    from isotherm.read.record import Reading
    from isotherm.read.source import Source


def read_listed(source: Source) -> Listed:
    """What a GraphML or GML file lists."""
    read = read_graphml if source.format == "GraphML" else read_gml
    return read(source.rest(), source.name)


def graph_of(listed: Listed, reading: Reading) -> Graph:
    """The graph, its nodes in the order of the file."""
    reading.columns = ("source", "target") + (() if listed.weight is None else ("weight",))
    reading.n_rows = len(listed.source)
    nodes = pa.array(_names(listed, reading), pa.large_string())
    number = {node: k for k, node in enumerate(listed.nodes)}
    source, target = (
        np.fromiter(map(number.__getitem__, end), np.int32)
        for end in (listed.source, listed.target)
    )
    plain = Graph.from_edges(source, target, listed.weight, nodes=range(len(nodes)))
    return plain.renamed(nodes)


def _names(listed: Listed, reading: Reading) -> list[str]:
    """What nodes are called: their ids, unless igraph made these up and kept the names apart."""
    names = listed.columns.get("name", [])
    made_up = all(_MADE_UP.fullmatch(node) for node in listed.nodes)
    if not made_up or len(set(names) - {None, ""}) < len(listed.nodes):
        return listed.nodes
    reading.notes.append(f"{reading.name}: nodes are called by their attribute 'name', not by id")
    return [name or "" for name in names]


def labels_of(
    listed: Listed, wanted: str | None, reading: Reading
) -> tuple[list[str], list[str | None]]:
    """The nodes, and what an attribute says of them: the one wanted, or one named like a label.

    Raises
    ------
    ParameterError
        If there is no such attribute.
    LabelError
        If none is named like a label.
    """
    there = ", ".join(map(repr, listed.columns)) or "none"
    if wanted is None:
        wanted = next((key for key in listed.columns if key.lower() in NAMES["label"]), None)
    if wanted is None:
        raise LabelError(
            f"{reading.name}: which attribute of the nodes is the label? There are: {there}"
        )
    if wanted not in listed.columns:
        raise ParameterError(
            f"nodes of {reading.name} have no attribute {wanted!r}; there are: {there}"
        )
    reading.columns = ("node", wanted)
    return _names(listed, reading), listed.columns[wanted]
