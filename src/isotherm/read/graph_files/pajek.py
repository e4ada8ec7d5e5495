"""Pajek's ``.net`` files: numbered vertices with labels, then arcs and edges."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from isotherm.read.graph_files import graph_of
from isotherm.read.graph_files.contents import ContentsBuilder
from isotherm.read.report import shown

if TYPE_CHECKING:
    from isotherm.graph import Graph
    from isotherm.read.graph_files.contents import Contents
    from isotherm.read.report import ReadReport
    from isotherm.read.source import Source

_VERTEX = re.compile(r'(\d+)(?:\s+(?:"([^"]*)"|(\S+)))?')
LISTS = ("*arcs", "*edges", "*arcslist", "*edgeslist")


def read_graph(source: Source, report: ReadReport) -> Graph:
    """The graph of a file; nodes are called by their labels where all differ."""
    return graph_of(read_pajek(source.whole(), source.name), report)


def read_pajek(data: bytes, name: str) -> Contents:
    r"""Nodes and edges of a file.

    Raises
    ------
    GraphError
        Not text, no vertices, a section that is not read, and what is wrong with edges in any
        format.

    Examples
    --------
    >>> text = b'*Vertices 2\n1 "Ann"\n2 "Bob"\n*Edges\n1 2 0.5\n'
    >>> contents = read_pajek(text, "pair.net")
    >>> contents.nodes, contents.source, contents.weight
    (['Ann', 'Bob'], ['Ann'], [0.5])
    """
    reader = _Reader(name, len(data))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # as programs of its time wrote
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("%"):
            reader.line(line.strip(), number)
    return reader.finish()


class _Reader:
    def __init__(self, name: str, most: int) -> None:
        self.builder = ContentsBuilder(name)
        self.most = most  # vertices: a file has at least a byte for each that is of use
        self.count, self.section = 0, ""
        self.labels: dict[int, str] = {}
        self.edges: list[tuple[int, int, str | None, int]] = []

    def line(self, text: str, number: int) -> None:
        if text.startswith("*"):
            self._section(text, number)
        elif self.section == "*vertices":
            self._vertex(text, number)
        elif self.section in LISTS:
            self._edge(text.split(), number)

    def finish(self) -> Contents:
        names = [self.labels.get(k, str(k)) for k in range(1, self.count + 1)]
        if len(set(names)) < len(names):
            names = [str(k) for k in range(1, self.count + 1)]
        for k, name in enumerate(names, start=1):
            label = {"label": self.labels[k]} if k in self.labels else {}
            self.builder.add_node(name, label, 0)
        for i, j, weight, number in self.edges:
            self.builder.add_edge(names[i - 1], names[j - 1], weight, number)
        return self.builder.finish()

    def _section(self, text: str, number: int) -> None:
        words = text.lower().split()
        self.section = words[0].split(":")[0]
        if self.section == "*vertices":
            if self.count:
                raise self.builder.fault(number, "a second network: only files with one are read")
            count = words[1] if len(words) > 1 and words[1].isdecimal() else "0"
            self.count = int(count[:18])
            if not 0 < self.count <= max(self.most, 1000):
                raise self.builder.fault(
                    number, f"expected the number of vertices, at least 1, got {shown(text)}"
                )
        elif self.section.startswith("*arcs"):
            self.builder.directed = True
        elif self.section == "*matrix":
            raise self.builder.fault(number, "Pajek matrices are not read, only arcs and edges")

    def _vertex(self, text: str, number: int) -> None:
        found = _VERTEX.match(text)
        if not found:
            raise self.builder.fault(
                number, f"a vertex must begin with its number, got {shown(text)}"
            )
        label = found[2] or found[3]
        if label:
            self.labels[self._place(found[1], number)] = label

    def _edge(self, words: list[str], number: int) -> None:
        first, *others = words
        start = self._place(first, number)
        if not others:
            raise self.builder.fault(number, "an edge without a target")
        if self.section.endswith("list"):
            self.edges += [(start, self._place(word, number), None, number) for word in others]
            return
        weight = others[1] if len(others) > 1 else None
        self.edges.append((start, self._place(others[0], number), weight, number))

    def _place(self, word: str, number: int) -> int:
        place = int(word) if word.isdecimal() and len(word) < 19 else 0
        if not 1 <= place <= self.count:
            raise self.builder.fault(
                number, f"a vertex must be a number from 1 to {self.count}, got {shown(word)}"
            )
        return place
