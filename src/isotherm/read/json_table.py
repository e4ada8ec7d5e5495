"""JSON of rows → a table: records, lists, columns, or one record per line."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from isotherm.errors import FileError
from isotherm.read.json_text import is_lines, parse_json, parse_lines
from isotherm.read.row_table import table_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isotherm.read.arrow_table import ArrowTable
    from isotherm.read.options import TextOptions
    from isotherm.read.row_table import Rows
    from isotherm.read.source import Source

EDGES = (
    'edges in JSON must be a list of records, [{"source": …, "target": …}], one record per line, '
    'or a graph with "nodes" and "links"'
)
FIRST = 200  # records whose keys are the columns


def open_json(source: Source, options: TextOptions, _: Sequence[str | None] = ()) -> ArrowTable:
    """A table of a list of records, or of one per line.

    Raises
    ------
    FileError
        If it is not JSON, or has no rows.
    """
    if is_lines(source):
        return table_of_rows(source, options, lambda: _rows(parse_lines(source), source.name))
    found = parse_json(source)
    if isinstance(found, dict) and found and all(isinstance(v, list) for v in found.values()):
        names, columns = list(found), list(found.values())
        if len({len(column) for column in columns}) > 1:
            lengths = ", ".join(map(str, sorted({len(column) for column in columns})))
            raise FileError(
                f"{source.name} has columns of different lengths ({lengths}): they must be equal"
            )
        return table_of_rows(source, options, lambda: (names, list(zip(*columns, strict=True))))
    if not isinstance(found, list):
        raise FileError(f"{source.name}: {EDGES}")
    return table_of_rows(source, options, lambda: _rows(found, source.name))


def _rows(values: Iterable[object], name: str) -> Rows:
    """Names of columns, and rows, of records or lists."""
    rest = iter(values)
    first = list(islice(rest, FIRST))
    if not first:
        raise FileError(f"{name} has no rows")
    if isinstance(first[0], list):
        names = [str(k) for k in range(1, len(first[0]) + 1)]
    else:
        keys = (key for record in first if isinstance(record, dict) for key in record)
        names = list(dict.fromkeys(keys))
        if not names:
            raise FileError(f"{name}: {EDGES}, got {str(first[0])[:40]!r}")
    return names, _cells(first, rest, names, name)


def _cells(
    first: Iterable[object], rest: Iterable[object], names: list[str], name: str
) -> Iterator[Sequence[object]]:
    for number, row in enumerate(chain(first, rest), start=1):
        if isinstance(row, dict):
            yield [row.get(key) for key in names]
        elif isinstance(row, list) and len(row) == len(names):
            yield row
        else:
            raise FileError(f"{name}, row {number} is not like the first: {str(row)[:80]}")
