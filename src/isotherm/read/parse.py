"""Blocks of whole lines → columns, twice: fast, and row by row where that does not do.

Arrow's parser is fast and says little of what is wrong. A block that it does not like goes through
a slow and obvious parser, which finds the line.
"""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from isotherm.read.layout import WHITE_SPACE
from isotherm.read.report import shown
from isotherm.read.table import Batch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isotherm.read.layout import Layout


class Parser:
    """Blocks of whole lines → columns.

    Parameters
    ----------
    layout, columns, empty
        See `TextTable.batches`.
    """

    def __init__(self, layout: Layout, columns: Sequence[int], *, empty: bool = False) -> None:
        self.layout, self.columns, self.empty = layout, list(columns), empty

    def fast(self, block: bytes) -> Batch | None:
        """The columns of a block; None if anything about it is not as it should be."""
        try:
            prepared, delimiter = self._prepared(block)
            table = pa.csv.read_csv(
                pa.BufferReader(prepared),
                read_options=pa.csv.ReadOptions(column_names=self.layout.keys),
                parse_options=pa.csv.ParseOptions(
                    delimiter=delimiter,
                    quote_char=False if self.layout.delimiter == WHITE_SPACE else '"',
                ),
                convert_options=self._conversion(),
            )
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None
        if b'"' in prepared and len(table) != _n_lines(prepared):
            return None  # a quotation mark that is never closed takes in what follows
        first, second = (_in_one(table.column(k)) for k in (0, 1))
        if self.layout.delimiter != WHITE_SPACE and _has_blanks(prepared, delimiter):
            first, second = pc.utf8_trim_whitespace(first), pc.utf8_trim_whitespace(second)
        if _any_empty(first) or (not self.empty and _any_empty(second)):
            return None
        numbers = None
        if len(self.columns) == 3:
            column = table.column(2)
            if column.null_count:
                return None
            numbers = column.to_numpy()
            if not ((numbers >= 0) & (numbers < math.inf)).all():
                return None
        return Batch(first, second, numbers)

    def careful(self, block: bytes) -> tuple[Batch, list[tuple[int, str]]]:
        """The same, row by row; and the faults, each with its line in the block, from 0 on."""
        first: list[str] = []
        second: list[str] = []
        numbers: list[float] = []
        faults = []
        for at, raw in enumerate(block.split(b"\n")):
            try:
                cells = self._row(raw)
            except ValueError as fault:
                text = raw.rstrip(b"\r").decode(errors="replace")
                faults.append((at, f"{fault}: {shown(text)}"))
                continue
            if cells:
                first.append(cells[0])
                second.append(cells[1])
                numbers += [float(cells[2])] if len(self.columns) == 3 else []
        weights = np.array(numbers, dtype=np.float64) if len(self.columns) == 3 else None
        texts = [pa.array(column, pa.string()) for column in (first, second)]
        return Batch(texts[0], texts[1], weights), faults

    def _row(self, raw: bytes) -> list[str]:
        """The cells wanted of a line; ValueError says what is wrong with it."""
        try:
            cells = self.layout.split(raw.decode())
        except UnicodeDecodeError:
            raise ValueError(
                "not UTF-8 (the encoding of the file can be given, such as latin-1)"
            ) from None
        except csv.Error as fault:
            raise ValueError(f"cannot be split: {fault}") from None
        if not cells:
            return []
        expected = len(self.layout.columns)
        if len(cells) != expected:
            raise ValueError(f"{len(cells)} column(s) where the others have {expected}")
        chosen = [cells[k] for k in self.columns]
        if not chosen[0] or (not self.empty and not chosen[1]):
            raise ValueError("an empty cell")
        if len(chosen) == 3:
            _check_number(chosen[2])
        return chosen

    def _prepared(self, block: bytes) -> tuple[bytes, str]:
        """A block as Arrow takes it, and its delimiter."""
        if self.layout.comment:
            mark = self.layout.comment.encode()
            block = b"\n".join(line.partition(mark)[0] for line in block.split(b"\n"))
        if self.layout.delimiter == WHITE_SPACE:
            block = block.translate(bytes.maketrans(b"\t\v\f\r", b"    "))
            return _without(block, {b"  ": b" ", b" \n": b"\n", b"\n ": b"\n"}).strip(b" "), " "
        mark = self.layout.delimiter.encode()
        if (
            b" " in block and b'"' not in block
        ):  # within quotation marks blanks may stand beside a delimiter
            block = _without(block, {mark + b" ": mark, b" " + mark: mark})
        return block, self.layout.delimiter

    def _conversion(self) -> pa.csv.ConvertOptions:
        names = self.layout.keys
        kinds = [pa.string(), pa.string(), pa.float64()]
        chosen = [names[k] for k in self.columns]
        return pa.csv.ConvertOptions(
            include_columns=chosen,
            column_types=dict(zip(chosen, kinds, strict=False)),
            strings_can_be_null=False,
            null_values=[""],
        )


def _check_number(text: str) -> None:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"a weight is a number, not {shown(text)}") from None
    if not 0 <= value < math.inf or "_" in text:
        raise ValueError(f"a weight is finite and not negative, {shown(text)} is not")


def _without(block: bytes, pairs: dict[bytes, bytes]) -> bytes:
    """A block with each of these replaced until there is none of them."""
    for old, new in pairs.items():
        while old in block:
            block = block.replace(old, new)
    return block


def _n_lines(block: bytes) -> int:
    """Lines with something in them, or fewer where one has blanks only."""
    ends = _without(block.replace(b"\r", b"\n"), {b"\n\n": b"\n"}).strip(b"\n")
    return ends.count(b"\n") + 1


def _in_one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _has_blanks(block: bytes, delimiter: str) -> bool:
    """Whether there may be blanks around the cells."""
    return b" " in block or (delimiter != "\t" and b"\t" in block)


def _any_empty(column: pa.Array) -> bool:
    return len(column) > 0 and pc.min(pc.binary_length(column)).as_py() == 0
