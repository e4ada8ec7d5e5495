"""GraphML: a graph as XML, read block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isotherm.read.graph_files import graph_of, labels_of
from isotherm.read.graph_files.contents import (
    BLOCK,
    WEIGHT_RULE,
    as_weight,
)
from isotherm.read.graph_files.xml_reader import XmlReader
from isotherm.read.report import shown

if TYPE_CHECKING:
    from typing import BinaryIO

    from isotherm.graph import Graph
    from isotherm.read.graph_files.contents import Contents
    from isotherm.read.report import ReadReport
    from isotherm.read.source import Source
    from isotherm.read.table import Columns, LabelRows

# Where the elements that matter may stand; any other is skipped with all that it holds.
PARENTS = {
    "graphml": ("",),
    "key": ("graphml",),
    "default": ("key",),
    "graph": ("graphml",),
    "node": ("graph",),
    "edge": ("graph",),
    "data": ("graphml", "graph", "node", "edge"),
}
REFUSED = {
    "hyperedge": "hyperedges are not read: an edge must have two ends",
    "port": "ports are not read: an edge must end at a node",
    "locator": "parts of the graph in other files (<locator>) are not read",
}


def read_graph(source: Source, report: ReadReport) -> Graph:
    """The graph of a file."""
    return graph_of(read_graphml(source.rest(), source.name), report)


def read_labels(source: Source, columns: Columns, report: ReadReport) -> LabelRows:
    """The labels of a file: an attribute of its nodes."""
    return labels_of(read_graphml(source.rest(), source.name), columns, report)


def read_graphml(stream: BinaryIO, name: str) -> Contents:
    """Nodes and edges of a GraphML file.

    The weight of an edge is its attribute called ``weight``, in upper or lower case; its direction
    does not count. The attributes of nodes become columns, by their ``attr.name`` (the id of the
    key where it has none), with the default of the key where a node has no value. Values that are
    XML rather than text, such as the drawings of yEd, are left out.

    Parameters
    ----------
    stream : binary file
    name : str
        The file, as messages call it.

    Raises
    ------
    GraphError
        Not well-formed XML or not GraphML; not exactly one graph; hyperedges, ports or nested
        graphs; nodes without an id or declared twice; edges that lack an end or end at a node that
        is not declared; weights that are not finite numbers or are negative; a document type with
        declarations of its own.

    Examples
    --------
    >>> from io import BytesIO
    >>> text = b'''<graphml><graph><node id="a"/><node id="b"/>
    ... <edge source="a" target="b"/></graph></graphml>'''
    >>> contents = read_graphml(BytesIO(text), "pair.graphml")
    >>> contents.nodes, contents.source, contents.target, contents.weight
    (['a', 'b'], ['a'], ['b'], None)
    """
    reader = _Reader(name)
    reader.read(stream, BLOCK)
    return reader.finish()


class _Key(NamedTuple):
    name: str
    of_nodes: bool
    of_edges: bool
    is_weight: bool


class _Reader(XmlReader):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.n_graphs = 0
        self.keys: dict[str, _Key] = {}
        self.key = _Key("", False, False, False)  # of the value being read
        self.text: list[str] | None = None  # its pieces; None where it is not wanted
        self.defaults: dict[str, str] = {}
        self.default_weight: float | None = None

        self.line = 0  # of the node or edge being read
        self.attributes: dict[str, str] = {}  # those of its tag
        self.values: dict[str, str] = {}  # those of its <data>
        self.weight: str | None = None

    def finish(self) -> Contents:
        if not self.n_graphs:
            raise self.builder.fault(None, "no <graph> inside <graphml>")
        return self.builder.finish(self.default_weight, self.defaults)

    def _start_element(self, element: str, attributes: dict[str, str]) -> None:
        parent = self.open[-1]
        if parent in ("data", "default"):
            self._drop_text()
            self.skipped = 1
            return
        if element not in PARENTS or parent not in PARENTS[element]:
            self._check_misplaced(element, parent)
            self.skipped = 1
            return
        self.open.append(element)
        if element == "data":
            if parent in ("node", "edge"):
                self._start_data(attributes, of_node=parent == "node")
        elif element in ("node", "edge"):
            self.line = self.parser.CurrentLineNumber
            self.attributes = attributes
            self.values = {}
            self.weight = None
        elif element == "key":
            self._start_key(attributes)
        elif element == "default":
            self._take_text()
        elif element == "graph":
            self.n_graphs += 1
            self.builder.directed = attributes.get("edgedefault") == "directed"
            if self.n_graphs > 1:
                raise self._fault("a second graph: only files with one graph are read")

    def _end_element(self, element: str) -> None:
        if element == "edge":
            ends = self.attributes
            self.builder.add_edge(ends.get("source"), ends.get("target"), self.weight, self.line)
        elif element == "node":
            self.builder.add_node(self.attributes.get("id"), self.values, self.line)
        elif self.text is not None and element in ("data", "default"):
            value = "".join(self.text)
            self._drop_text()
            if element == "default":
                self._set_default(value)
            elif self.open[-1] == "node":
                self.values[self.key.name] = value
            else:
                self.weight = value

    # --- elements -----------------------------------------------------------------------------

    def _check_misplaced(self, element: str, parent: str) -> None:
        """Refuse what would be wrong to skip."""
        if not parent:
            raise self._fault(f"not GraphML: the outermost element is <{element[:80]}>")
        if element in REFUSED:
            raise self._fault(REFUSED[element])
        if element == "graph":
            raise self._fault(f"a graph inside a <{parent}>: nested graphs are not read")
        if element in PARENTS:
            raise self._fault(f"<{element}> must not be inside <{parent}>")

    def _start_key(self, attributes: dict[str, str]) -> None:
        key = attributes.get("id")
        if not key:
            raise self._fault("a <key> without an id")
        if key in self.keys:
            raise self._fault(f"a second <key> with the id {shown(key)}")
        scope = attributes.get("for", "all")
        name = attributes.get("attr.name") or key
        self.key = self.keys[key] = _Key(
            name, scope in ("node", "all"), scope in ("edge", "all"), name.lower() == "weight"
        )

    def _start_data(self, attributes: dict[str, str], *, of_node: bool) -> None:
        key = self.keys.get(attributes.get("key", ""))
        if key is None:
            raise self._fault(f"no <key> declares the <data> of {shown(attributes.get('key', ''))}")
        if of_node or key.is_weight:
            if not of_node and self.weight is not None:
                raise self._fault("an edge with two weights")
            self.key = key
            self._take_text()

    def _set_default(self, value: str) -> None:
        if self.key.of_nodes:
            self.defaults[self.key.name] = value
        if self.key.of_edges and self.key.is_weight:
            self.default_weight = as_weight(value)
            if self.default_weight is None:
                raise self._fault(f"the default weight is {shown(value)}: {WEIGHT_RULE}")

    def _take_text(self) -> None:
        self.text = []
        self.parser.CharacterDataHandler = self.text.append

    def _drop_text(self) -> None:
        self.text = None
        self.parser.CharacterDataHandler = None
