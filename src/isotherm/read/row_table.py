"""Rows of Python objects, as libraries give them → a table of texts, batch by batch."""

from __future__ import annotations

import datetime
import json
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from isotherm.read.arrow_table import FIRST_ROWS, MIXED, ArrowTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from isotherm.read.options import TextOptions
    from isotherm.read.source import Source

    Rows = tuple[Sequence[str], Iterable[Sequence[object]]]  # names of columns, and rows

Row = TypeVar("Row")

ROWS = 1 << 14  # of a batch
MOST_DIGITS = 1e15  # up to which a whole number in floating point is exact


class RowBatches:
    """Batches of columns of text, made of rows; those that are too short end in empty cells."""

    def __init__(self, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        self.schema = pa.schema([(name, pa.string()) for name in _different(names)])
        self._rows = rows

    def batches(self, weight: str | None = None) -> Iterator[pa.RecordBatch]:
        """All rows; weights that are numbers stay numbers, which no decimal mark can change."""
        rows, names = iter(self._rows), self.schema.names
        while some := list(islice(rows, ROWS)):
            columns = []
            for k, name in enumerate(names):
                values = [row[k] if k < len(row) else None for row in some]
                columns.append(_mixed(values) if name == weight else _texts(values))
            yield pa.RecordBatch.from_arrays(columns, names)


def table_of_rows(source: Source, options: TextOptions, opened: Callable[[], Rows]) -> ArrowTable:
    """A table of what a library makes of a file, each time it is asked to open it."""
    return ArrowTable(source, options, lambda: RowBatches(*opened()))


def peek_rows(rows: Iterable[Row]) -> tuple[list[Row], Iterator[Row]]:
    """The first rows, which tell what the columns are, and all of them."""
    rest = iter(rows)
    first = list(islice(rest, FIRST_ROWS))
    return first, chain(first, rest)


def _texts(values: Sequence[object]) -> pa.Array:
    return pa.array(map(as_cell, values), pa.string())


def _mixed(values: Sequence[object]) -> pa.Array:
    """Numbers and, in the other cells, texts."""
    numbers = [_number(value) for value in values]
    texts = [
        value if number is None else None for value, number in zip(values, numbers, strict=True)
    ]
    parts = [pa.array(numbers, pa.float64()), _texts(texts)]
    return pa.StructArray.from_arrays(parts, fields=[*MIXED])


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def as_cell(value: object) -> str | None:
    """A value as text: whole numbers without a point, dates as ISO has them; None if absent.

    Examples
    --------
    >>> as_cell(7.0), as_cell("007"), as_cell(0.5), as_cell(True), as_cell(float("nan"))
    ('7', '007', '0.5', 'true', None)
    >>> as_cell(datetime.datetime(2025, 10, 11))
    '2025-10-11'
    """
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, float):
        if is_nan(value):
            return None
        return str(int(value)) if value.is_integer() and abs(value) < MOST_DIGITS else repr(value)
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ")
    if isinstance(value, bool | dict | list):
        return json.dumps(value)
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def is_nan(value: object) -> bool:
    """Whether a value is NaN, which stands for none; JSON does not have it, but many write it."""
    return isinstance(value, float) and value != value


def _different(names: Sequence[str]) -> list[str]:
    """Names of columns, none of which comes twice."""
    found: dict[str, None] = {}
    for place, name in enumerate(names, start=1):
        name = name or str(place)
        others = (f"{name} ({k})" for k in range(2, len(names) + 2))
        found[name if name not in found else next(one for one in others if one not in found)] = None
    return list(found)
