"""Graphs in JSON, ``{"nodes": […], "links": […]}``, as networkx, D3 and Cytoscape write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.errors import GraphError
from isotherm.read.graph_files.contents import contents_of
from isotherm.read.json_text import parse_json
from isotherm.read.row_table import as_cell

if TYPE_CHECKING:
    from isotherm.read.graph_files.contents import Contents
    from isotherm.read.source import Source


def read_node_link(source: Source) -> Contents:
    """Nodes and edges of a file."""
    return node_link_contents(parse_json(source), source.name)


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
    >>> contents.nodes, contents.source, contents.target, contents.column("club")
    (['1', '2'], ['1'], ['2'], ['x', None])
    """
    whole = found if isinstance(found, dict) else {}
    parts = whole.get("elements", whole)  # of Cytoscape
    parts = parts if isinstance(parts, dict) else {}
    nodes = _records(parts.get("nodes"))
    links = _records(parts.get("links", parts.get("edges")))
    if nodes is None or links is None:
        raise GraphError(f'{name} needs lists of records called "nodes" and "links" (or "edges")')
    by_place = not any("id" in node for node in nodes)
    ids = [as_cell(node.get("name" if by_place else "id")) for node in nodes]
    places = ids if by_place else None
    edges = (
        (_end(link.get("source"), places), _end(link.get("target"), places), link.get("weight"))
        for link in links
    )
    others = ({key: value for key, value in node.items() if key != "id"} for node in nodes)
    directed = whole.get("directed") is True
    return contents_of(name, zip(ids, others, strict=True), edges, directed=directed)


def _records(found: object) -> list[dict[str, object]] | None:
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        return None
    inner = [one.get("data", one) for one in found]  # of Cytoscape
    return inner if all(isinstance(one, dict) for one in inner) else None


def _end(value: object, ids: list[str | None] | None) -> str | None:
    if ids is not None and isinstance(value, int) and 0 <= value < len(ids):
        return ids[value]
    return as_cell(value)
