"""GEXF, the format of Gephi: a graph as XML, read block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.read.graph_files import graph_of, labels_of
from isotherm.read.graph_files.contents import BLOCK
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
    "gexf": ("",),
    "graph": ("gexf",),
    "attributes": ("graph",),
    "attribute": ("attributes",),
    "default": ("attribute",),
    "nodes": ("graph",),
    "node": ("nodes",),
    "edges": ("graph",),
    "edge": ("edges",),
    "attvalues": ("node", "edge"),
    "attvalue": ("attvalues",),
}
OVER_TIME = (
    "attributes that change over time are not read: in Gephi, export one moment of the timeline, "
    "as a static graph"
)


def read_graph(source: Source, report: ReadReport) -> Graph:
    """The graph of a file."""
    return graph_of(read_gexf(source.rest(), source.name), report)


def read_labels(source: Source, columns: Columns, report: ReadReport) -> LabelRows:
    """The labels of a file: an attribute of its nodes."""
    return labels_of(read_gexf(source.rest(), source.name), columns, report)


def read_gexf(stream: BinaryIO, name: str) -> Contents:
    """Nodes and edges of a GEXF file.

    Nodes are called by their ``id``; their ``label`` and their attributes, by title, are columns.

    Raises
    ------
    GraphError
        Not well-formed XML or not GEXF; not exactly one graph; nodes inside nodes; attributes that
        change over time; and what is wrong with nodes and edges in any format.

    Examples
    --------
    >>> from io import BytesIO
    >>> text = b'''<gexf><graph><nodes><node id="a" label="Ann"/><node id="b"/></nodes>
    ... <edges><edge source="a" target="b" weight="0.5"/></edges></graph></gexf>'''
    >>> contents = read_gexf(BytesIO(text), "pair.gexf")
    >>> contents.nodes, contents.weight, contents.columns
    (['a', 'b'], [0.5], {'label': ['Ann', None]})
    """
    reader = _Reader(name)
    reader.read(stream, BLOCK)
    return reader.finish()


class _Reader(XmlReader):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.n_graphs = 0
        self.titles: dict[tuple[str, str], str] = {}  # of attributes, by what has them and by id
        self.of_what, self.attribute = "node", ""
        self.defaults: dict[str, str] = {}
        self.text: list[str] | None = None
        self.line = 0  # of the node or edge being read
        self.tag: dict[str, str] = {}
        self.values: dict[str, str] = {}

    def finish(self) -> Contents:
        if not self.n_graphs:
            raise self.builder.fault(None, "no <graph> inside <gexf>")
        return self.builder.finish(defaults=self.defaults)

    def _start_element(self, element: str, attributes: dict[str, str]) -> None:
        parent = self.open[-1]
        if element not in PARENTS or parent not in PARENTS[element]:
            self._check_misplaced(element, parent)
            self.skipped = 1
            return
        self.open.append(element)
        if element in ("node", "edge"):
            self.line, self.tag, self.values = self.parser.CurrentLineNumber, attributes, {}
        elif element == "attvalue":
            self._take_value(attributes)
        elif element == "graph":
            self.n_graphs += 1
            if self.n_graphs > 1:
                raise self._fault("a second graph: only files with one graph are read")
            self.builder.directed = attributes.get("defaultedgetype") == "directed"
        elif element == "attributes":
            self.of_what = attributes.get("class", "node")
        elif element == "attribute":
            self.attribute = attributes.get("title") or attributes.get("id", "")
            self.titles[self.of_what, attributes.get("id", "")] = self.attribute
        elif element == "default":
            self.text = []
            self.parser.CharacterDataHandler = self.text.append

    def _end_element(self, element: str) -> None:
        if element == "node":
            label = {"label": self.tag["label"]} if "label" in self.tag else {}
            self.builder.add_node(self.tag.get("id"), label | self.values, self.line)
        elif element == "edge":
            self.builder.directed |= self.tag.get("type") == "directed"
            weight = self.tag.get("weight", self.values.get("weight"))
            ends = self.tag.get("source"), self.tag.get("target")
            self.builder.add_edge(*ends, weight, self.line)
        elif element == "default" and self.text is not None:
            if self.of_what == "node":
                self.defaults[self.attribute] = "".join(self.text)
            self.text, self.parser.CharacterDataHandler = None, None

    def _take_value(self, attributes: dict[str, str]) -> None:
        key = attributes.get("for", attributes.get("id", ""))
        of_what = self.open[-3]
        title = self.titles.get((of_what, key))
        if title is None:
            raise self._fault(f"no <attribute> declares the value of {shown(key)}")
        if of_what == "edge":
            title = title.lower()  # only its weight is wanted
        if title in self.values:
            raise self._fault(OVER_TIME)
        self.values[title] = attributes.get("value", "")

    def _check_misplaced(self, element: str, parent: str) -> None:
        """Refuse what would be wrong to skip."""
        if not parent:
            raise self._fault(f"not GEXF: the outermost element is <{element[:80]}>")
        if element in ("nodes", "node") and parent in ("node", "nodes"):
            raise self._fault("nodes inside a node are not read")
