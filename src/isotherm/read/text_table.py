"""Text in rows and columns → columns, block by block."""

from __future__ import annotations

import codecs
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from isotherm.errors import FileError
from isotherm.read.layout import Layout, find_layout
from isotherm.read.parse import Parser
from isotherm.read.report import ReadReport
from isotherm.read.source import has_mark, recoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isotherm.errors import IsothermError
    from isotherm.read.options import TextOptions
    from isotherm.read.source import Source
    from isotherm.read.table import Batch

BLOCK = 1 << 22
NEW_LINE = ord("\n")
LONGEST_LINE = 1 << 26


class TextTable:
    """Rows of a text file.

    Parameters
    ----------
    source : Source
    options : TextOptions
    wanted : sequence of str or None
        Columns that the user names.
    layout : Layout, optional
        Where it is known; else it is found by looking.

    Attributes
    ----------
    layout : Layout
    format : str
    """

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
        return utf8 and not has_mark(self.source.head)

    def _found(self, wanted: Sequence[str | None]) -> Layout:
        source, options = self.source, self.options
        text = recoded(source.head, options.encoding).decode(errors="replace")
        text = text.removeprefix("\ufeff")
        lines = text.split("\n") if "\n" in text else text.split("\r")
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
    ) -> Iterator[Batch]:
        """See `Table.batches`."""
        parser = Parser(self.layout, columns, self.options.numbers, empty=empty)
        left = self.layout.skipped
        for number, block in whole_lines(self.source, self.options.encoding):
            while left and block:
                block = block.partition(b"\n")[2]
                left, number = left - 1, number + 1
            if not block or block.isspace():
                continue
            batch = parser.fast(block)
            if batch is None:
                batch, faults = parser.careful(block)
                for line, reason, fault in faults:
                    message = f"{report.name}, line {number + line}: {fault}"
                    if self.options.on_error == "raise":
                        raise error(f"{message} (--on-error skip leaves such rows out)")
                    report.skip(reason, message)
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
                    lines = file.read(most // count).split(b"\n", self.layout.skipped + 1)[-1]
                    lines = lines[: lines.rfind(b"\n") + 1]
                    if lines.strip():
                        seen += len(lines)
                        yield parser.fast(lines) or parser.careful(lines)[0], seen / size
            return
        rows = copy(self)
        rows.options = replace(self.options, on_error="skip")
        for batch in rows.batches(columns, ReadReport(self.source.name), error=FileError):
            seen += batch.nbytes
            yield batch, self.source.position / size if size else 1.0
            if seen > most and size:
                return


def whole_lines(source: Source, encoding: str) -> Iterator[tuple[int, bytes]]:
    """Blocks that end with a line, and the number of the first line of each.

    Raises
    ------
    FileError
        A line too long to be a row of a table.
    """
    number, rest = 1, b""
    old_mac = b"\n" not in source.head and b"\r" in source.head
    for block in source.blocks(BLOCK, encoding):
        if old_mac:  # lines that end in a carriage return alone
            block = block.replace(b"\r", b"\n")
        cut = block.rfind(b"\n") + 1
        if cut == 0:
            rest += block
            if len(rest) > LONGEST_LINE:
                raise FileError(
                    f"{source.name}, line {number} is longer than {LONGEST_LINE >> 20} MB: this is "
                    "not a table with one row per line"
                )
            continue
        lines = b"".join((rest, memoryview(block)[:cut]))
        yield number, lines
        number += int(np.count_nonzero(np.frombuffer(lines, np.uint8) == NEW_LINE))
        rest = block[cut:]
    if rest:
        yield number, rest
