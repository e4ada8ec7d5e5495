"""Text in rows and columns → columns, block by block."""

from __future__ import annotations

import codecs
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from isotherm.errors import FileError
from isotherm.read.layout import Layout, find_layout
from isotherm.read.parse import Parser
from isotherm.read.record import Reading
from isotherm.read.source import has_mark, recoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isotherm.errors import IsothermError
    from isotherm.read.parse import Batch
    from isotherm.read.record import Said
    from isotherm.read.source import Source

BLOCK = 1 << 22
LONGEST_LINE = 1 << 26


class TextTable:
    """Rows of a text file.

    Parameters
    ----------
    source : Source
    said : Said
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
        said: Said,
        wanted: Sequence[str | None] = (),
        layout: Layout | None = None,
    ) -> None:
        self.source, self.said = source, said
        is_plain = codecs.lookup(said.encoding).name == "utf-8" and not has_mark(source.head)
        if is_plain and b"\0" in source.head:
            raise FileError(f"{source.name} is not text, nor a format that isotherm knows")
        self.layout = layout or self._found(wanted)
        self.format = {",": "CSV", "\t": "TSV"}.get(self.layout.delimiter, "text")

    def _found(self, wanted: Sequence[str | None]) -> Layout:
        source, said = self.source, self.said
        text = recoded(source.head, said.encoding).decode(errors="replace")
        text = text.removeprefix("\ufeff")
        lines = text.split("\n") if "\n" in text else text.split("\r")
        if not source.is_whole and len(lines) > 1:
            lines.pop()  # it goes on
        return find_layout(
            lines,
            source.name,
            source.ending,
            delimiter=said.delimiter,
            header=said.header,
            comment=said.comment,
            wanted=wanted,
        )

    def batches(
        self,
        columns: Sequence[int],
        reading: Reading,
        *,
        error: type[IsothermError],
        empty: bool = False,
    ) -> Iterator[Batch]:
        """The rows, some at a time.

        Parameters
        ----------
        columns : sequence of int
            Two, or three: then the last one holds weights.
        reading : Reading
            Gets the count of rows and what is wrong with them.
        error : type
            Of the exceptions raised.
        empty : bool
            Whether cells of the second column may be empty.
        """
        parser = Parser(self.layout, columns, empty=empty)
        left = self.layout.skipped
        for number, block in whole_lines(self.source, self.said.encoding):
            while left and block:
                block = block.partition(b"\n")[2]
                left, number = left - 1, number + 1
            if not block.strip():
                continue
            batch = parser.fast(block)
            if batch is None:
                batch, faults = parser.careful(block)
                for line, fault in faults:
                    message = f"{reading.name}, line {number + line}: {fault}"
                    if self.said.on_error == "raise":
                        raise error(f"{message} (--on-error skip leaves such rows out)")
                    reading.skip(message)
            reading.n_rows += len(batch.first)
            yield batch

    def progress(self, _: Reading) -> tuple[int, int | None]:
        """How much was read, and how much there is."""
        return self.source.position, self.source.size

    def pieces(
        self, columns: Sequence[int], most: int, count: int
    ) -> Iterator[tuple[Batch, float]]:
        """Some of the rows, about `most` bytes of them, and the share of all seen so far.

        From `count` places of the file where it can be read in any order; else from its beginning.
        """
        size, seen = self.source.size, 0
        plain = codecs.lookup(self.said.encoding).name == "utf-8" and not has_mark(self.source.head)
        if size is not None and self.source.path is not None and plain and size > most:
            parser = Parser(self.layout, columns)
            with self.source.path.open("rb") as file:
                for k in range(count):
                    file.seek(k * size // count)
                    lines = file.read(most // count).split(b"\n", self.layout.skipped + 1)[-1]
                    lines = lines[: lines.rfind(b"\n") + 1]
                    if lines.strip():
                        seen += len(lines)
                        yield parser.fast(lines) or parser.careful(lines)[0], seen / size
            return
        skipping = replace(self.said, on_error="skip")
        rows = copy(self)
        rows.said = skipping
        for batch in rows.batches(columns, Reading(self.source.name), error=FileError):
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
                    "no list with a row per line"
                )
            continue
        yield number, rest + block[:cut]
        number += rest.count(b"\n") + block.count(b"\n", 0, cut)
        rest = block[cut:]
    if rest:
        yield number, rest
