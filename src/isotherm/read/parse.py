"""Blocks of whole lines → columns, twice: fast, and row by row where that does not do.

Arrow's parser is fast and says little of what is wrong. A block that it does not like goes through
a slow and obvious parser, which finds the line.
"""

from __future__ import annotations

import codecs
import csv
import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from isotherm.read.layout import WHITE_SPACE
from isotherm.read.numbers import NumberParser, currency_of
from isotherm.read.options import NumberOptions
from isotherm.read.report import shown
from isotherm.read.table import Batch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isotherm.read.layout import Layout

# Bytes with which all white space of Unicode begins in UTF-8, line ends apart. A single byte is
# found a hundred times as quickly as two.
BLANKS = tuple(bytes([byte]) for byte in b" \t\v\f\x1c\x1d\x1e\x1f\xc2\xe1\xe2\xe3")


class Parser:
    """Blocks of whole lines → columns."""

    def __init__(
        self,
        layout: Layout,
        columns: Sequence[int],
        numbers: NumberOptions | None = None,
        *,
        empty: bool = False,
        also: Sequence[int] = (),
    ) -> None:
        self.layout, self.columns, self.empty = layout, list(columns), empty
        self.also = list(also)
        self.numbers = NumberParser(numbers or NumberOptions())
        self.currencies: set[str] = set()  # whose signs weights have

    def fast(self, block: bytes, *, breaks: bool = False) -> Batch | None:
        """The columns of a block; None if anything about it is not as it should be.

        Whether cells have line `breaks` has to be known.
        """
        if b"\0" in block or (b"\xef" in block and codecs.BOM_UTF8 in block):
            return None
        prepared, delimiter = self._prepared(block)
        table = self._parsed(prepared, delimiter, pa.float64(), breaks=breaks)
        if table is None and len(self.columns) == 3:
            table = self._parsed(prepared, delimiter, pa.string(), breaks=breaks)
        if table is None:
            return None
        width = len(self.columns)
        texts = [_in_one(table.column(k)) for k in (0, 1, *range(width, width + len(self.also)))]
        if self.layout.delimiter != WHITE_SPACE and _may_begin_blank(prepared, delimiter, breaks):
            texts = [pc.utf8_trim_whitespace(column) for column in texts]
        first, second, *also = texts
        if _any_empty(first) or (not self.empty and _any_empty(second)):
            return None
        numbers = None
        if len(self.columns) == 3:
            column = table.column(2)
            if column.null_count:
                return None
            written = pa.types.is_string(column.type)
            numbers = self.numbers.parse(_in_one(column)) if written else column.to_numpy()
            if not ((numbers >= 0) & (numbers < math.inf)).all():
                return None
            if written:
                self.currencies |= self.numbers.currencies(_in_one(column))
        return Batch(first, second, numbers, tuple(also))

    def _parsed(
        self, prepared: bytes, delimiter: str, kind: pa.DataType, *, breaks: bool
    ) -> pa.Table | None:
        """A block as a table, its numbers of this type; None where it cannot be one."""
        try:
            return pa.csv.read_csv(
                pa.BufferReader(prepared),
                read_options=pa.csv.ReadOptions(column_names=self.layout.keys),
                parse_options=pa.csv.ParseOptions(
                    delimiter=delimiter,
                    quote_char=False if self.layout.delimiter == WHITE_SPACE else '"',
                    newlines_in_values=breaks,
                ),
                convert_options=self._conversion(kind),
            )
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None

    def careful(self, block: bytes) -> tuple[Batch, list[tuple[int, str]]]:
        """The same, row by row; and each fault, with its line in the block, from 0 on."""
        first: list[str] = []
        second: list[str] = []
        also: list[list[str]] = [[] for _ in self.also]
        numbers: list[float] = []
        faults, following = [], 0
        for raw in self.layout.splitter.rows(block):
            at, following = following, following + 1 + raw.count(b"\n")
            try:
                cells, more = self._row(raw)
                number = self.numbers.parse_one(cells[2]) if len(cells) == 3 else 0.0
            except ValueError as fault:
                text = raw.rstrip(b"\r").decode(errors="replace")
                faults.append((at, f"{fault}: {shown(text)}"))
                continue
            if cells:
                first.append(cells[0])
                second.append(cells[1])
                for column, cell in zip(also, more, strict=True):
                    column.append(cell)
                numbers.append(number)
                self.currencies |= {sign for text in cells[2:] if (sign := currency_of(text))}
        weights = np.array(numbers, dtype=np.float64) if len(self.columns) == 3 else None
        texts = [pa.array(column, pa.string()) for column in (first, second, *also)]
        return Batch(texts[0], texts[1], weights, tuple(texts[2:])), faults

    def _row(self, raw: bytes) -> tuple[list[str], list[str]]:
        """The cells wanted of a row, and further ones; ValueError says what is wrong with it."""
        if b"\0" in raw:
            raise ValueError("a NUL character, which text does not have")
        if raw.startswith(codecs.BOM_UTF8):
            raise ValueError(
                "a mark of UTF-8 (BOM), so two files were joined here, perhaps with a second "
                "header; name them one by one"
            )
        try:
            cells = self.layout.split(raw.decode())
        except UnicodeDecodeError:
            raise ValueError(
                "not UTF-8 (name the encoding of the file, such as --encoding latin-1)"
            ) from None
        except csv.Error as fault:
            raise ValueError(f"cannot be split: {fault}") from None
        if not cells:
            return [], []
        expected = len(self.layout.columns)
        if len(cells) != expected:
            raise ValueError(f"{len(cells)} column(s) where the others have {expected}")
        chosen = [cells[k] for k in self.columns]
        if not chosen[0] or (not self.empty and not chosen[1]):
            raise ValueError("an empty cell")
        return chosen, [cells[k] for k in self.also]

    def _prepared(self, block: bytes) -> tuple[bytes, str]:
        """A block as Arrow takes it, and its delimiter."""
        if self.layout.delimiter == WHITE_SPACE:
            block = block.translate(bytes.maketrans(b"\t\v\f\r", b"    "))
            return _without(block, {b"  ": b" ", b" \n": b"\n", b"\n ": b"\n"}).strip(b" "), " "
        mark = self.layout.delimiter.encode()
        if (
            b" " in block and b'"' not in block
        ):  # within quotation marks blanks may stand beside a delimiter
            block = _without(block, {mark + b" ": mark, b" " + mark: mark})
        return block, self.layout.delimiter

    def _conversion(self, kind: pa.DataType) -> pa.csv.ConvertOptions:
        names = self.layout.keys
        kinds = [pa.string(), pa.string(), kind]
        chosen = [names[k] for k in self.columns]
        return pa.csv.ConvertOptions(
            include_columns=chosen + [names[k] for k in self.also],
            column_types=dict(zip(chosen, kinds, strict=False))
            | {names[k]: pa.string() for k in self.also},
            strings_can_be_null=False,
            null_values=[""],
            decimal_point=self.numbers.options.decimal,
        )


def _without(block: bytes, pairs: dict[bytes, bytes]) -> bytes:
    """A block with each of these replaced until there is none of them."""
    for old, new in pairs.items():
        while old in block:
            block = block.replace(old, new)
    return block


def _in_one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _may_begin_blank(block: bytes, delimiter: str, breaks: bool) -> bool:
    """Whether cells may begin or end with white space, which `careful` takes off every cell."""
    return breaks or any(mark in block for mark in BLANKS if mark != delimiter.encode())


def _any_empty(column: pa.Array) -> bool:
    return len(column) > 0 and pc.min(pc.binary_length(column)).as_py() == 0
