"""GraphML, GEXF and GML by networkx → what the file says, behind guards of ours.

networkx believes what a file says, and raises whatever comes. XML is looked at before it gets
there (`xml_guard`), and afterwards nodes and edges are compared with those of the file. What takes
more memory than is free is refused, and each error names the file.
"""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from isotherm.errors import GraphError, IsothermError, NotEnoughMemory
from isotherm.read.graph_files import Contents, contents_of
from isotherm.read.report import shown
from isotherm.read.row_table import as_cell
from isotherm.read.xml_guard import OVER_TIME, GexfGuard, GraphMLGuard, XmlGuard

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isotherm.read.source import Source

BLOCK = 1 << 20  # bytes that are read at a time
LONGEST_REASON = 200  # characters of what networkx says
NAMESPACES = {
    "graphml": b"http://graphml.graphdrawing.org/xmlns",
    "gexf": b"http://www.gexf.net/1.2draft",
}
_TAG = re.compile(rb"<((?:[^\s:<>/]+:)?)(\w+)((?:[^>\"']|\"[^\"]*\"|'[^']*')*+)>")
_ENCODING = re.compile(rb"\A(\s*<\?xml\b[^>]*?)\s+encoding\s*=\s*(?:\"[^\"]*\"|'[^']*')")
# Remarks, texts, the graph; and 1e-05, as igraph writes numbers and networkx does not know them.
_GML_PARTS = re.compile(r'#[^\n\r]*|"[^"]*"|\bgraph\s*\[|(?<![\w.])[+-]?\d++[eE](?=[+-]?\d)')
_NUMERAL = "+-0123456789"


def read_graphml(source: Source) -> Contents:
    """Nodes and edges of GraphML.

    The weight of an edge is its attribute called ``weight``, in upper or lower case. The values of
    nodes that are XML rather than text, such as the drawings of yEd, are left out.
    """
    import networkx as nx

    guard = GraphMLGuard(source.name)
    # Edges that have the same id must not take each other's place.
    with _faults(source.name, guard):
        graph = nx.read_graphml(
            WatchedXml(source, guard), edge_key_type=lambda _: object(), force_multigraph=True
        )
        return _checked(graph, guard)


def read_gexf(source: Source) -> Contents:
    """Nodes and edges of GEXF, the format of Gephi."""
    import networkx as nx

    guard = GexfGuard(source.name)
    with _faults(source.name, guard):
        return _checked(nx.read_gexf(WatchedXml(source, guard)), guard)


def read_gml(source: Source) -> Contents:
    """Nodes and edges of GML.

    The nodes are named by their ``label`` where each has one and all differ, and their ``id`` is
    then an attribute; else by their ``id``. Lists such as ``graphics`` are left out.
    """
    import networkx as nx

    data = source.whole()
    source.check_room(len(data))
    with _faults(source.name):
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise GraphError(f"{source.name}, line {line}: not UTF-8 text") from None
        del data
        lines = re.split(r"\r\n?|\n", _prepared_gml(text))
        graph = nx.parse_gml(lines, label="id")
        del lines
        nodes = [(as_cell(node), _plain(record)) for node, record in graph.nodes(data=True)]
        labels = [as_cell(record.get("label")) for _, record in nodes]
        names: dict[object, str | None] = {node: as_cell(node) for node in graph}
        if all(labels) and len(set(labels)) == len(labels):
            names = dict(zip(graph, labels, strict=True))
            for node, record in nodes:
                del record["label"]
                record["id"] = node
        named = ((names[node], record) for node, (_, record) in zip(graph, nodes, strict=True))
        edges = (
            (names[one], names[other], _weight(found, None))
            for one, other, found in graph.edges(data=True)
        )
        return contents_of(source.name, named, edges, directed=graph.is_directed())


class WatchedXml:
    """A stream of XML for networkx: looked at before it gets it, and of the namespace it knows."""

    def __init__(self, source: Source, guard: XmlGuard) -> None:
        self._source, self._guard = source, guard
        self._blocks, self._is_first = source.blocks(BLOCK), True

    def read(self, _size: int = -1) -> bytes:
        """The next bytes; none at the end."""
        block = next(self._blocks, b"")
        if not block:
            self._guard.finish()
            return block
        if self._is_first and self._source.is_marked:  # so it is in UTF-8 now, whatever it says
            block = _ENCODING.sub(rb"\1", block)
        self._guard.feed(block)
        self._source.check_room(self._source.n_read)
        if self._is_first:
            self._is_first = False
            block = _with_namespace(block, self._guard)
        return block


def _with_namespace(block: bytes, guard: XmlGuard) -> bytes:
    """The first bytes with the namespace that networkx looks for."""
    found = None if guard.root is None else _TAG.match(block, guard.root)
    if found is None:
        raise guard.fault(f"the element <{guard.ROOT}> does not begin in the first {BLOCK:,} bytes")
    prefix, tag, attributes = found.groups()
    key = b"xmlns:" + prefix[:-1] if prefix else b"xmlns"
    attributes = re.sub(rb"\s" + re.escape(key) + rb"\s*=\s*(\"[^\"]*\"|'[^']*')", b"", attributes)
    begin = b"<" + prefix + tag + b" " + key + b'="' + NAMESPACES[guard.ROOT] + b'"'
    return block[: found.start()] + begin + attributes + b">" + block[found.end() :]


def _checked(graph: Any, guard: XmlGuard) -> Contents:
    """What networkx has read, if it is what the file says."""
    for node in graph:
        if node not in guard.ids:
            raise GraphError(
                f"{guard.name}: an edge names the node {shown(node)}, which is not declared"
            )
    if len(graph) != len(guard.ids):
        missing = next(node for node in guard.ids if node not in graph)
        raise GraphError(
            f"{guard.name}: the node {shown(missing)} is in another namespace than <{guard.ROOT}>"
        )
    if graph.number_of_edges() != guard.n_edges:
        raise GraphError(
            f"{guard.name}: of its {guard.n_edges:,} edges networkx tells "
            f"{graph.number_of_edges():,} apart: give each an id of its own, or none"
        )
    defaults = graph.graph.get("edge_default", {})
    edges = ((one, other, _weight(found, defaults)) for one, other, found in graph.edges(data=True))
    nodes = ((node, _plain(record)) for node, record in graph.nodes(data=True))
    default = _plain(graph.graph.get("node_default", {}))
    return contents_of(guard.name, nodes, edges, directed=graph.is_directed(), defaults=default)


def _weight(found: Mapping[str, object], defaults: Mapping[str, object] | None) -> object:
    """The weight of an edge: what is called so, in upper or lower case."""
    for values in (found, defaults or {}):
        if values.get("weight") is not None:
            return values["weight"]
        for key, value in values.items():
            if isinstance(key, str) and key.lower() == "weight" and value is not None:
                return value
    return None


def _plain(record: dict[str, object]) -> dict[str, object]:
    """Attributes without lists of lists, such as drawings; the last of several of one name."""
    for key, value in list(record.items()):
        if isinstance(value, list):
            value = record[key] = value[-1] if value else "[]"
        if isinstance(value, dict | list):
            del record[key]
    return record


def _prepared_gml(text: str) -> str:
    """GML as networkx reads it: a text on one line, and several edges between two nodes allowed."""
    begun = False

    def prepare(found: re.Match[str]) -> str:
        nonlocal begun
        part = found[0]
        if part[0] == "#":  # in which networkx would take a quotation mark for one
            return ""
        if part[0] == "g" and not begun:
            begun = True
            return f"{part} multigraph 1 "
        if part[0] == '"' and ("\n" in part or "\r" in part):
            return part.replace("\n", "&#10;").replace("\r", "&#13;")
        return f"{part[:-1]}.{part[-1]}" if part[-1] in "eE" and part[0] in _NUMERAL else part

    return _GML_PARTS.sub(prepare, text)


@contextmanager
def _faults(name: str, guard: XmlGuard | None = None) -> Iterator[None]:
    """Whatever a damaged file makes of networkx becomes one error, which names the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of networkx, about keys without types
            yield
    except IsothermError:
        raise
    except MemoryError:
        raise NotEnoughMemory(
            f"{name} takes more memory than there is: save it as a list of edges, in CSV or Parquet"
        ) from None
    except RecursionError:
        raise GraphError(f"{name}: lists are nested too deep") from None
    except Exception as error:  # networkx has no class of its own for damaged files
        if guard is not None and guard.is_dynamic:
            raise GraphError(f"{name}: {OVER_TIME}") from None
        said = str(error) if str(error) else type(error).__name__
        said = said if len(said) <= LONGEST_REASON else f"{said[:LONGEST_REASON]}…"
        raise GraphError(f"{name} cannot be read by networkx: {said}") from None
