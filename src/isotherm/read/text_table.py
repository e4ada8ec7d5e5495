"""Text in rows and columns → columns, block by block."""

from __future__ import annotations

import codecs
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from isotherm.errors import FileError
from isotherm.read.layout import MAY_DELIMIT, Layout, checked_delimiter, find_layout
from isotherm.read.parse import Parser
from isotherm.read.report import ReadReport
from isotherm.read.row_splitter import LINE_FEED, RowSplitter, row_ends

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isotherm.errors import IsothermError
    from isotherm.read.options import TextOptions
    from isotherm.read.source import Source
    from isotherm.read.table import Batch

BLOCK = 1 << 22
LONGEST_LINE = 1 << 26


class TextTable:
    """Rows of a text file, whose layout is found by looking where it is not known."""

    def __init__(
        self,
        source: Source,
        options: TextOptions,
        wanted: Sequence[str | None] = (),
        layout: Layout | None = None,
    ) -> None:
        self.source, self.options = source, options
        if self._is_plain and b"\0" in source.head:
            raise FileError(
                f"{source.name} is neither text nor in another format that isotherm reads; save it "
                "as CSV"
            )
        self.layout = layout or self._found(wanted)
        self.format = {",": "CSV", "\t": "TSV"}.get(self.layout.delimiter, "text")

    @property
    def _is_plain(self) -> bool:
        """Whether the bytes of the file are those that are parsed."""
        utf8 = codecs.lookup(self.options.encoding).name == "utf-8"
        return utf8 and not self.source.is_marked

    def _found(self, wanted: Sequence[str | None]) -> Layout:
        source, options = self.source, self.options
        head = source.recoded_head(options.encoding).removeprefix(codecs.BOM_UTF8)
        if b"\n" not in head:
            head = head.replace(b"\r", b"\n")
        delimiter = options.delimiter and checked_delimiter(options.delimiter)
        splitter = RowSplitter(delimiter or MAY_DELIMIT, options.comment, closed=True)
        rows = splitter.rows(splitter.without_comments(head))
        lines = [row.decode(errors="replace") for row in rows]
        if not source.is_whole and len(lines) > 1:
            lines.pop()  # it goes on
        return find_layout(
            lines,
            source.name,
            source.ending,
            delimiter=options.delimiter,
            header=options.header,
            comment=options.comment,
            wanted=wanted,
        )

    def first_rows(self) -> Sequence[Sequence[str]]:
        """See `Table.first_rows`."""
        return self.layout.sample

    def batches(
        self,
        columns: Sequence[int],
        report: ReadReport,
        *,
        error: type[IsothermError],
        empty: bool = False,
        also: Sequence[int] = (),
    ) -> Iterator[Batch]:
        """See `Table.batches`."""
        parser = Parser(self.layout, columns, self.options.numbers, empty=empty, also=also)
        raised = error if self.options.on_error == "raise" else None
        left, told = self.layout.skipped, False
        for number, block, breaks in whole_rows(self.source, self.options, self.layout, error):
            if breaks and not told:
                report.hint(f"from line {number} on cells in quotation marks have line breaks")
                told = True
            while left and block:
                block = block.partition(b"\n")[2]
                left, number = left - 1, number + 1
            if not block or block.isspace():
                continue
            batch = parser.fast(block, breaks=breaks)
            if batch is None:
                batch, faults = parser.careful(block)
                for line, fault in faults:
                    report.take_fault(f"line {number + line}", fault, raised)
            report.n_rows += len(batch.first)
            report.check_currencies(parser.currencies, error)
            yield batch

    def progress(self, _: ReadReport) -> tuple[int, int | None]:
        """How much was read, and how much there is."""
        return self.source.position, self.source.size

    def pieces(
        self, columns: Sequence[int], most: int, count: int
    ) -> Iterator[tuple[Batch, float]]:
        """See `Table.pieces`."""
        size, seen = self.source.size, 0
        if size is not None and self.source.path is not None and self._is_plain and size > most:
            parser = Parser(self.layout, columns, self.options.numbers)
            with self.source.path.open("rb") as file:
                for k in range(count):
                    file.seek(k * size // count)
                    piece = self._rows_within(file.read(most // count))
                    if piece.strip():
                        seen += len(piece)
                        found = parser.fast(piece, breaks=True) or parser.careful(piece)[0]
                        yield found, seen / size
            return
        rows = copy(self)
        rows.options = replace(self.options, on_error="skip")
        for batch in rows.batches(columns, ReadReport(self.source.name), error=FileError):
            seen += batch.nbytes
            yield batch, self.source.position / size if size else 1.0
            if seen > most and size:
                return

    def _rows_within(self, piece: bytes) -> bytes:
        """Whole rows of a piece from anywhere in the file; none where it cannot be told."""
        splitter = self.layout.splitter
        if splitter.has_marks and b'"' in piece:
            piece = splitter.from_outside(piece)
        piece = splitter.without_comments(piece)
        ends = row_ends(piece, splitter.edges(piece))[0][self.layout.skipped :]
        return piece[ends[0] + 1 : ends[-1] + 1] if len(ends) else b""


def whole_rows(
    source: Source, options: TextOptions, layout: Layout, error: type[IsothermError]
) -> Iterator[tuple[int, bytes, bool]]:
    """Blocks that end with a row: the number of the first line, and whether cells have breaks."""
    splitter, number, rest = layout.splitter, 1, b""
    old_mac = b"\n" not in source.head and b"\r" in source.head
    for block in source.blocks(BLOCK, options.encoding):
        if old_mac:  # lines that end in a carriage return alone
            block = block.replace(b"\r", b"\n")
        breaks = False
        if splitter.has_marks and (b'"' in block or b'"' in rest):
            rest, block = b"", rest + block
            ends, breaks = row_ends(block, splitter.edges(block))
            cut = int(ends[-1]) + 1 if len(ends) else 0
        else:
            cut = block.rfind(b"\n") + 1
        if cut == 0:
            rest += block
            if len(rest) > LONGEST_LINE:
                _check_closed(rest, number, source, splitter, error)
                raise FileError(
                    f"{source.name}, line {number} is longer than {LONGEST_LINE >> 20} MB: this is "
                    "not a table with one row per line"
                )
            continue
        lines = b"".join((rest, memoryview(block)[:cut]))
        yield number, splitter.without_comments(lines), breaks
        number += int(np.count_nonzero(np.frombuffer(lines, np.uint8) == LINE_FEED))
        rest = block[cut:]
    if rest:
        _check_closed(rest, number, source, splitter, error)
        yield number, splitter.without_comments(rest), row_ends(rest, splitter.edges(rest))[1]


def _check_closed(
    rest: bytes, number: int, source: Source, splitter: RowSplitter, error: type[IsothermError]
) -> None:
    """Refuse a row, of which this is the first line, with a cell that has no end."""
    edges = splitter.edges(rest)
    if len(edges) % 2:
        number += rest.count(b"\n", 0, int(edges[-1]))
        raise error(
            f"{source.name}, line {number}: cannot be split: a quotation mark is opened and never "
            "closed; close it, or take it out"
        )
