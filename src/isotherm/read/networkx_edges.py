"""Lists of edges with attributes, as networkx writes them: ``a b {'weight': 4}``."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from isotherm.errors import FileError
from isotherm.read.report import shown
from isotherm.read.row_table import peek_rows, table_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isotherm.read.arrow_table import ArrowTable
    from isotherm.read.options import TextOptions
    from isotherm.read.row_table import Rows
    from isotherm.read.source import Source

LINES = 10_000  # that networkx parses at once
_LINE = re.compile(r"[^\s{}]+\s+[^\s{}]+(?:\s+\{.*\})?", re.DOTALL)


def open_edges(source: Source, options: TextOptions, _: Sequence[str | None] = ()) -> ArrowTable:
    """A table with a column for each attribute."""

    def rows() -> Rows:
        first, edges = peek_rows(_edges(source, options))
        names = list(dict.fromkeys(key for *_, found in first for key in found))
        cells = ([one, other, *map(found.get, names)] for one, other, found in edges)
        return ["source", "target", *names], cells

    return table_of_rows(source, options, rows)


def _edges(source: Source, options: TextOptions) -> Iterator[tuple[str, str, dict[str, object]]]:
    """The ends of each edge, and its attributes, as networkx reads them."""
    import networkx as nx

    lines = _Lines(source, options)
    while True:
        rows = rows_kept(nx)
        try:
            nx.parse_edgelist(islice(lines, LINES), None, create_using=rows)
        except FileError:
            raise
        except Exception:  # networkx has no class of its own for lines that are none
            raise lines.fault() from None
        yield from rows.rows
        if len(rows.rows) < LINES:
            return


class _Lines:
    """Lines of a file that have two ids, and attributes in braces or none."""

    def __init__(self, source: Source, options: TextOptions) -> None:
        self._name, self._comment = source.name, options.comment or "#"
        self._lines = source.lines(options.encoding)
        self._number, self._text = 0, ""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while True:
            self._text = next(self._lines).strip()
            self._number += 1
            if self._text and not self._text.startswith(self._comment):
                break
        if not _LINE.fullmatch(self._text):
            raise self.fault()
        return self._text

    def fault(self) -> FileError:
        """The error to raise for this line."""
        return FileError(
            f"{self._name}, line {self._number}: expected two ids with blanks between them and "
            f"attributes in braces, as networkx writes them by default, got {shown(self._text)}"
        )


def rows_kept(nx: Any) -> Any:
    """A graph that keeps what is added to it as rows, in its order."""

    class Rows(nx.MultiGraph):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.rows: list[tuple[str, str, dict[str, object]]] = []

        def add_edge(self, one: str, other: str, /, **found: object) -> None:
            self.rows.append((one, other, found))

    return Rows()
