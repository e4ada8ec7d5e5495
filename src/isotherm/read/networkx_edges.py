"""Lists of edges with attributes, as networkx writes them: ``a b {'weight': 4}``."""

from __future__ import annotations

import ast
from itertools import chain, islice
from typing import TYPE_CHECKING

from isotherm.errors import FileError
from isotherm.read.report import shown
from isotherm.read.row_table import table_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isotherm.read.arrow_table import ArrowTable
    from isotherm.read.options import TextOptions
    from isotherm.read.row_table import Rows
    from isotherm.read.source import Source

FIRST = 200  # edges whose attributes are the columns
DELIMITERS = ("\t", ",", ";", "|", None)  # None is any white space


def open_edges(source: Source, options: TextOptions, _: Sequence[str | None] = ()) -> ArrowTable:
    """A table with a column for each attribute."""

    def rows() -> Rows:
        edges = _edges(source, options)
        first = list(islice(edges, FIRST))
        names = list(dict.fromkeys(key for *_, found in first for key in found))
        return ["source", "target", *names], _cells(first, edges, names)

    return table_of_rows(source, options, rows)


def _cells(
    first: list[tuple[str, str, dict[str, object]]],
    rest: Iterator[tuple[str, str, dict[str, object]]],
    names: list[str],
) -> Iterator[Sequence[object]]:
    for one, other, found in chain(first, rest):
        yield [one, other, *(found.get(name) for name in names)]


def _edges(source: Source, options: TextOptions) -> Iterator[tuple[str, str, dict[str, object]]]:
    """The ends of each edge, and its attributes.

    Raises
    ------
    FileError
        A line that is none, with its number.
    """
    for number, line in enumerate(source.everything(), start=1):
        text = line.decode("utf-8-sig" if number == 1 else options.encoding, "replace").strip()
        if not text or text.startswith(options.comment or "#"):
            continue
        ends, _, attributes = text.partition("{")
        cells = _split(ends)
        try:
            found = ast.literal_eval("{" + attributes) if attributes else {}
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            found = None
        if cells is None or not isinstance(found, dict):
            raise FileError(
                f"{source.name}, line {number}: expected two ids and attributes in braces, got "
                f"{shown(text)}"
            )
        yield cells[0], cells[1], {str(key): value for key, value in found.items()}


def _split(text: str) -> list[str] | None:
    """Two ids, whatever stands between them."""
    for delimiter in DELIMITERS:
        cells = [cell.strip() for cell in text.strip(" ,;|\t").split(delimiter)]
        if len(cells) == 2 and all(cells):
            return cells
    return None
