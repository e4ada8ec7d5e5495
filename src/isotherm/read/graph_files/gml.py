"""GML: a graph as nested lists of keys and values, read block by block."""

from __future__ import annotations

import codecs
import re
from html.entities import html5
from typing import TYPE_CHECKING

from isotherm.read.graph_files import graph_of, labels_of
from isotherm.read.graph_files.contents import BLOCK, LONGEST, Contents, ContentsBuilder
from isotherm.read.report import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from isotherm.errors import GraphError
    from isotherm.graph import Graph
    from isotherm.read.report import ReadReport
    from isotherm.read.source import Source
    from isotherm.read.table import Columns, LabelRows

# A key with its value, or the end of a list. The groups are told apart by their numbers: a match's
# `lastindex` is that of the value. Nothing is tried twice: all repetitions are possessive.
ITEM = re.compile(
    r"""
    (?: ([A-Za-z][A-Za-z0-9_]*+)
        \s*+ (?: \#[^\n\r]*+[\n\r]\s*+ )*+         # comments may stand before a value
        (?: ([^\s\[\]"\#]++)(?!\Z) | "([^"]*+)" | (\[) )
      | (\])
      | (\#[^\n\r]*+[\n\r])
      | (\S)                                        # none of these, or not complete
    ) \s*+
    """,
    re.VERBOSE,
)
KEY, WORD, STRING, OPEN, CLOSE, COMMENT, FAULT = range(1, 8)
ENTITY = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z][A-Za-z0-9]*));")
NEEDED = {"node": ("id", "label"), "edge": ("source", "target", "weight")}


def read_graph(source: Source, report: ReadReport) -> Graph:
    """The graph of a file."""
    return graph_of(read_gml(source.rest(), source.name), report)


def read_labels(source: Source, columns: Columns, report: ReadReport) -> LabelRows:
    """The labels of a file: an attribute of its nodes."""
    return labels_of(read_gml(source.rest(), source.name), columns, report)


def read_gml(stream: BinaryIO, name: str) -> Contents:
    """Nodes and edges of a GML file.

    The nodes are named by their ``label`` where each has one and all differ, and their ``id`` is
    then a column; else by their ``id``, as written. The weight of an edge is its ``weight``; its
    direction does not count. Keys may be in upper or lower case. The other attributes of nodes
    become columns (the last value, where a node has several of one name); nested lists such as
    ``graphics`` are skipped.

    Parameters
    ----------
    stream : binary file
        UTF-8, which includes the ASCII with ``&#233;`` that the format asks for.
    name : str
        The file, as messages call it.

    Raises
    ------
    GraphError
        Not text, or not GML; not exactly one graph, or nested ones; nodes without an id or declared
        twice; edges that lack an end or end at a node that is not declared; weights that are not
        finite numbers or are negative.

    Examples
    --------
    >>> from io import BytesIO
    >>> text = b'graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 weight 0.5 ] ]'
    >>> contents = read_gml(BytesIO(text), "pair.gml")
    >>> contents.nodes, contents.source, contents.target, contents.weight
    (['1', '2'], ['1'], ['2'], [0.5])
    """
    reader = _Reader(name)
    for block in _decoded(stream, reader.builder):
        reader.feed(block)
    return _named_by_label(reader.finish())


def _decoded(stream: BinaryIO, builder: ContentsBuilder) -> Iterator[str]:
    """The text of the file, block by block."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    line = 1
    while True:
        data = stream.read(BLOCK)
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as fault:
            line += fault.object.count(b"\n", 0, fault.start)
            raise builder.fault(line, "not UTF-8 text") from None
        if "\0" in text:
            line += text.count("\n", 0, text.index("\0"))
            raise builder.fault(line, "not text: it has a zero byte")
        line += text.count("\n")
        yield text
        if not data:
            return


def _unescaped(text: str) -> str:
    """The text with its entities replaced, those that stand for no character aside."""
    return ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    decimal, hexadecimal, name = entity.groups()
    if name:
        return html5.get(f"{name};", entity[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0 < code < 0xD800 or 0xDFFF < code < 0x110000
    return chr(code) if is_character else entity[0]


def _named_by_label(contents: Contents) -> Contents:
    labels = [label for label in contents.columns.get("label", ()) if label]
    if not len(set(labels)) == len(labels) == len(contents.nodes):
        return contents
    names = dict(zip(contents.nodes, labels, strict=True))
    others = {key: column for key, column in contents.columns.items() if key != "label"}
    return Contents(
        labels,
        [names[node] for node in contents.source],
        [names[node] for node in contents.target],
        contents.weight,
        {"id": list(contents.nodes), **others},
        contents.directed,
    )


class _Reader:
    def __init__(self, name: str) -> None:
        self.builder = ContentsBuilder(name)
        self.text = ""  # not read yet, from the line and place below on
        self.line = 1
        self.place = 0

        self.in_graph = False
        self.n_graphs = 0
        self.skipped = 0  # depth inside a list that does not matter
        self.element = ""  # the node or edge being read
        self.element_line = 0
        self.values: dict[str, str] = {}
        self.spelling: dict[str, str] = {}  # attributes of nodes: as first written

    def feed(self, block: str, *, last: bool = False) -> None:
        self.text += block
        self.place = 0
        kept = len(self.text)
        for item in ITEM.finditer(self.text):
            kind = item.lastindex
            if kind == WORD:
                self._value(item[KEY].lower(), item, item[WORD])
            elif kind == STRING:
                self._value(item[KEY].lower(), item, _unescaped(item[STRING]))
            elif kind == OPEN:
                self._open(item[KEY].lower(), item)
            elif kind == CLOSE:
                self._close(item)
            elif kind == FAULT:
                kept = item.start()  # the next block may complete it
                break
        self._line_at(kept)
        self.text = self.text[kept:]
        if self.text and (last or len(self.text) > LONGEST):
            what = f"not GML: expected a key and its value, got {shown(self.text[:200])}"
            raise self.builder.fault(self.line, what)

    def finish(self) -> Contents:
        self.feed("\r", last=True)  # ends a word or a comment, but counts for no line
        if not self.n_graphs:
            raise self.builder.fault(None, "not GML: it has no list called graph")
        if self.in_graph or self.skipped:
            raise self.builder.fault(self.line, "the file ends inside a list: a ] is missing")
        return self.builder.finish()

    # --- items --------------------------------------------------------------------------------

    def _value(self, key: str, item: re.Match[str], value: str) -> None:
        if self.skipped:
            return
        if not self.element:
            if key in ("graph", "node", "edge") and (self.in_graph or key == "graph"):
                raise self._fault(item, f"{key} must be a list in brackets, got {shown(value)}")
            if self.in_graph and key == "directed":
                self.builder.directed = value == "1"
            return
        needed = key in NEEDED[self.element]
        if needed and key in self.values:
            raise self._fault(item, f"the {self.element} has two values for {key}")
        if self.element == "node" and not needed:
            key = self.spelling.setdefault(key, item[KEY])
        self.values[key] = value

    def _open(self, key: str, item: re.Match[str]) -> None:
        if self.skipped:
            self.skipped += 1
        elif key == "graph":
            if self.in_graph:
                raise self._fault(item, "a graph inside a graph: nested graphs are not read")
            if self.n_graphs:
                raise self._fault(item, "a second graph: only files with one graph are read")
            self.n_graphs += 1
            self.in_graph = True
        elif self.in_graph and not self.element and key in NEEDED:
            self.element = key
            self.element_line = self._line_at(item.start())
            self.values = {}
        elif self.element and key in NEEDED[self.element]:
            raise self._fault(item, f"the {key} of the {self.element} must not be a list")
        else:
            self.skipped = 1

    def _close(self, item: re.Match[str]) -> None:
        if self.skipped:
            self.skipped -= 1
        elif self.element:
            values, element, self.element = self.values, self.element, ""
            if element == "node":
                self.builder.add_node(values.pop("id", None), values, self.element_line)
            else:
                ends = values.get("source"), values.get("target")
                self.builder.add_edge(*ends, values.get("weight"), self.element_line)
        elif self.in_graph:
            self.in_graph = False
        else:
            raise self._fault(item, "a ] without a [ before it")

    def _line_at(self, place: int) -> int:
        self.line += self.text.count("\n", self.place, place)
        self.place = place
        return self.line

    def _fault(self, item: re.Match[str], what: str) -> GraphError:
        return self.builder.fault(self._line_at(item.start()), what)
