"""Graphs in JSON, ``{"nodes": […], "links": […]}``, as networkx, D3 and Cytoscape write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.errors import GraphError
from isotherm.read.graph_files import graph_of, labels_of
from isotherm.read.graph_files.contents import ContentsBuilder
from isotherm.read.json_text import parse_json
from isotherm.read.row_table import as_cell

if TYPE_CHECKING:
    from isotherm.graph import Graph
    from isotherm.read.graph_files.contents import Contents
    from isotherm.read.report import ReadReport
    from isotherm.read.source import Source
    from isotherm.read.table import Columns, LabelRows


def read_graph(source: Source, report: ReadReport) -> Graph:
    """The graph of a file."""
    return graph_of(node_link_contents(parse_json(source), source.name), report)


def read_labels(source: Source, columns: Columns, report: ReadReport) -> LabelRows:
    """The labels of a file: an attribute of its nodes."""
    return labels_of(node_link_contents(parse_json(source), source.name), columns, report)


def node_link_contents(found: object, name: str) -> Contents:
    """Nodes and edges of what was parsed.

    Nodes are called by their ``id``; where they have none their ``name``, and then links have the
    positions of nodes in the list, as D3 has them.

    Raises
    ------
    GraphError
        If there is no list of nodes and of links, and what is wrong with these in any format.

    Examples
    --------
    >>> nodes, links = [{"id": 1, "club": "x"}, {"id": 2}], [{"source": 1, "target": 2}]
    >>> contents = node_link_contents({"nodes": nodes, "links": links}, "g.json")
    >>> contents.nodes, contents.source, contents.target, contents.columns
    (['1', '2'], ['1'], ['2'], {'club': ['x', None]})
    """
    whole = found if isinstance(found, dict) else {}
    parts = whole.get("elements", whole)  # of Cytoscape
    parts = parts if isinstance(parts, dict) else {}
    nodes = _records(parts.get("nodes"))
    links = _records(parts.get("links", parts.get("edges")))
    if nodes is None or links is None:
        raise GraphError(f'{name} needs lists of records called "nodes" and "links" (or "edges")')
    builder = ContentsBuilder(name)
    builder.directed = whole.get("directed") is True
    by_place = not any("id" in node for node in nodes)
    ids = [as_cell(node.get("name" if by_place else "id")) for node in nodes]
    for number, (node, record) in enumerate(zip(ids, nodes, strict=True), start=1):
        others = {key: as_cell(value) for key, value in record.items() if key != "id"}
        known = {key: text for key, text in others.items() if text is not None}
        builder.add_node(node, known, number)
    for number, link in enumerate(links, start=1):
        places = ids if by_place else None
        source, target = _end(link.get("source"), places), _end(link.get("target"), places)
        builder.add_edge(source, target, as_cell(link.get("weight")), number)
    return builder.finish()


def _records(found: object) -> list[dict[str, object]] | None:
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        return None
    inner = [one.get("data", one) for one in found]  # of Cytoscape
    return inner if all(isinstance(one, dict) for one in inner) else None


def _end(value: object, ids: list[str | None] | None) -> str | None:
    if ids is not None and isinstance(value, int) and 0 <= value < len(ids):
        return ids[value]
    return as_cell(value)
