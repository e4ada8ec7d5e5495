"""XML that is looked at before networkx parses it: what would harm, or be read as another graph.

networkx builds a tree of all that a file unfolds to, makes nodes of ends that no node has, and lets
a second node or edge of one name take the place of the first. So each block goes through this
parser before networkx gets it; the largest things that are kept are the ids of the nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from xml.parsers import expat

from isotherm.errors import GraphError
from isotherm.read.report import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    Tag = Mapping[str, str]  # the attributes of an element

DEEPEST = 1000  # elements within each other
LONGEST = 1 << 24  # bytes of a tag or a comment: it is looked at again with every block
OVER_TIME = (
    "attributes that change over time are not read: in Gephi, export one moment of the timeline, "
    "as a static graph"
)


class XmlGuard:
    """Looks at the elements of a file, one after the other."""

    ROOT: ClassVar[str]
    FORMAT: ClassVar[str]
    # Where the elements that matter may stand; any other is skipped with all that it holds.
    PARENTS: ClassVar[dict[str, tuple[str, ...]]]
    REFUSED: ClassVar[dict[str, str]] = {}  # anywhere, or in this element

    def __init__(self, name: str) -> None:
        self.name = name
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._document_type
        self.parser.SkippedEntityHandler = self._entity
        self.ids: set[str] = set()  # of nodes
        self.n_edges = self.n_graphs = 0
        self.root: int | None = None  # bytes before the outermost element
        self.is_dynamic = False  # whether the graph says that it changes over time
        self._open, self._skipped = [""], 0
        self._n_fed = self._n_done = 0
        self._values: set[str] = set()  # keys of the node or edge that is open

    def feed(self, block: bytes) -> None:
        """Look at the next bytes."""
        self._parse(block)
        self._n_fed += len(block)
        self._n_done = max(self._n_done, self.parser.CurrentByteIndex)
        if self._n_fed - self._n_done > LONGEST:
            raise self.fault(f"a tag or comment has more than {LONGEST:,} bytes")

    def finish(self) -> None:
        """Look at the file as a whole, all of which was fed."""
        self._parse(b"", last=True)
        if not self.n_graphs:
            raise GraphError(f"{self.name}: no <graph> inside <{self.ROOT}>")

    def fault(self, what: str) -> GraphError:
        """The error to raise for a fault at this place."""
        return GraphError(f"{self.name}, line {self.parser.CurrentLineNumber}: {what}")

    def _parse(self, block: bytes, *, last: bool = False) -> None:
        try:
            self.parser.Parse(block, last)
        except expat.ExpatError as error:
            what = f"not well-formed XML: {expat.ErrorString(error.code)}"
            raise GraphError(f"{self.name}, line {error.lineno}: {what}") from None
        except GraphError:
            raise
        except (LookupError, ValueError, Warning) as error:
            raise self.fault(f"the encoding cannot be read: {shown(str(error))}") from None

    def _document_type(
        self, _name: str, _system: str | None, _public: str | None, has_declarations: bool
    ) -> None:
        # Entities and default attributes make a small file unfold to a huge one.
        if has_declarations:
            raise self.fault(
                "a document type with its own declarations (entities and the like) is not read: "
                "remove the part between [ and ] in <!DOCTYPE … [ … ]>"
            )

    def _entity(self, name: str, _of_parameter: bool) -> None:
        raise self.fault(f"the entity {shown(name)} is not declared")

    def _start(self, tag: str, attributes: Tag) -> None:
        element, parent = tag.rpartition(":")[2], self._open[-1]
        if self.root is None:
            self.root = self.parser.CurrentByteIndex
        if len(self._open) + self._skipped > DEEPEST:
            raise self.fault(f"elements are nested more than {DEEPEST} deep")
        if self._skipped or parent in ("data", "default"):
            self._skipped += 1
        elif element in self.PARENTS and parent in self.PARENTS[element]:
            self._open.append(element)
            self._look(element, attributes)
        else:
            self._check_misplaced(element, parent)
            self._skipped = 1

    def _end(self, _tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        else:
            self._open.pop()

    def _check_misplaced(self, element: str, parent: str) -> None:
        """Refuse what would be wrong to skip."""
        if not parent:
            raise self.fault(f"not {self.FORMAT}: the outermost element is <{element[:80]}>")
        why = self.REFUSED.get(element) or self.REFUSED.get(f"{element} in {parent}")
        if why is not None:
            raise self.fault(why)
        if element == "graph":
            raise self.fault(f"a graph inside a <{parent}>: nested graphs are not read")
        if element in self.PARENTS:
            raise self.fault(f"<{element}> must not be inside <{parent}>")

    def _look(self, element: str, attributes: Tag) -> None:
        """Look at an element that matters; it is the last in `_open`."""
        if element == "graph":
            self.n_graphs += 1
            self.is_dynamic = attributes.get("mode") == "dynamic"
            if self.n_graphs > 1:
                raise self.fault("a second graph: only files with one graph are read")
        elif element == "node":
            node = attributes.get("id")
            if not node:
                raise self.fault("a node without an id")
            if node in self.ids:
                raise self.fault(f"a second node with the id {shown(node)}")
            self.ids.add(node)
            self._values = set()
        elif element == "edge":
            for end in ("source", "target"):
                if not attributes.get(end):
                    raise self.fault(f"an edge without a {end}")
            self.n_edges += 1
            self._values = set()

    def _take_value(self, key: str, what: str) -> None:
        """Count a value of the node or edge that is open."""
        if key in self._values:
            raise self.fault(what)
        self._values.add(key)


class GraphMLGuard(XmlGuard):
    """Looks at GraphML."""

    ROOT, FORMAT = "graphml", "GraphML"
    PARENTS: ClassVar = {
        "graphml": ("",),
        "key": ("graphml",),
        "default": ("key",),
        "graph": ("graphml",),
        "node": ("graph",),
        "edge": ("graph",),
        "data": ("graphml", "graph", "node", "edge"),
    }
    REFUSED: ClassVar = {
        "hyperedge": "hyperedges are not read: an edge must have two ends",
        "port": "ports are not read: an edge must end at a node",
        "locator": "parts of the graph in other files (<locator>) are not read",
    }

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._keys: dict[str, str] = {}  # what each is for
        self._key = ""

    def _look(self, element: str, attributes: Tag) -> None:
        super()._look(element, attributes)
        if element == "key":
            self._key = attributes.get("id", "")
            if self._key in self._keys:
                raise self.fault(f"a second <key> with the id {shown(self._key)}")
            self._keys[self._key] = attributes.get("for", "all")
        elif element == "default" and self._keys[self._key] == "all":
            # networkx would leave it out.
            raise self.fault(
                f"the <key> {shown(self._key)} has a default for all kinds of elements: declare "
                'one key for="node" and one for="edge"'
            )
        elif element == "data" and self._open[-2] in ("node", "edge"):
            key = attributes.get("key", "")
            self._take_value(key, f"a second value of the <key> {shown(key)}")


class GexfGuard(XmlGuard):
    """Looks at GEXF."""

    ROOT, FORMAT = "gexf", "GEXF"
    PARENTS: ClassVar = {
        "gexf": ("",),
        "graph": ("gexf",),
        "attributes": ("graph",),
        "attribute": ("attributes",),
        "nodes": ("graph",),
        "node": ("nodes",),
        "edges": ("graph",),
        "edge": ("edges",),
        "attvalues": ("node", "edge"),
        "attvalue": ("attvalues",),
    }
    REFUSED: ClassVar = dict.fromkeys(
        ("node in node", "nodes in node", "nodes in nodes"), "nodes inside a node are not read"
    )

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._class = ""

    def _look(self, element: str, attributes: Tag) -> None:
        super()._look(element, attributes)
        if element == "attributes":
            self._class = attributes.get("class", "")
            if attributes.get("mode") == "dynamic":
                raise self.fault(OVER_TIME)
        elif element == "attribute":
            # networkx puts what is drawn beside a node in its place.
            if self._class == "node" and attributes.get("title") == "label":
                raise self.fault(
                    "an attribute of nodes is called 'label', as is what Gephi draws beside them: "
                    "give it another name"
                )
        elif element == "edge" and attributes.get("type") == "mutual":
            raise self.fault("an edge of type 'mutual' is not read: write an undirected graph")
        elif element == "attvalue":
            key = attributes.get("for", "")
            self._take_value(key, f"a second value of the attribute {shown(key)}. {OVER_TIME}")
