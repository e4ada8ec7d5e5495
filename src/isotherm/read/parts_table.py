"""Part files of one layout → one table, file after file."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from isotherm.errors import FileError
from isotherm.read.report import ReadReport
from isotherm.read.source import open_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isotherm.errors import IsothermError
    from isotherm.read.layout import Layout
    from isotherm.read.opening import PartedSource
    from isotherm.read.options import TextOptions
    from isotherm.read.parts import Part
    from isotherm.read.table import Batch, Table


class PartsTable:
    """The rows of several files; see `Table`.

    Parameters
    ----------
    source : PartedSource
    options : TextOptions
    wanted : sequence of str or None
        Columns that the user names.
    """

    def __init__(
        self, source: PartedSource, options: TextOptions, wanted: Sequence[str | None] = ()
    ) -> None:
        self._source, self._options, self._wanted = source, options, wanted
        self._n_done = 0  # bytes of files read
        self._own: Layout | None = None  # that of the first file
        first = source.parts.parts[0]
        with self._opened(first) as table:
            self._own = table.layout
            self._format = table.format
            self.layout = replace(table.layout, sample=())
            self._first_rows = table.first_rows()
        count = len(source.parts.parts)
        self.format = f"{self._format}, {count:,} file{'s' if count > 1 else ''}"

    def first_rows(self) -> Sequence[Sequence[str]]:
        """See `Table.first_rows`; those of the first file."""
        return self._first_rows

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
        for part in self._source.parts.parts:
            with self._opened(part) as table:
                own = ReadReport(str(part.path))
                chosen, more = (self._columns_of(table, wanted) for wanted in (columns, also))
                yield from table.batches(chosen, own, error=error, empty=empty, also=more)
                report.add(own, error)
            self._n_done += part.size

    def progress(self, _: ReadReport) -> tuple[int, int | None]:
        """How many bytes of files were read, and how many there are."""
        return self._n_done, self._source.parts.size

    def pieces(
        self, columns: Sequence[int], most: int, count: int
    ) -> Iterator[tuple[Batch, float]]:
        """See `Table.pieces`; from the first files on."""
        seen, total = 0, self._source.parts.size
        done = 0
        for part in self._source.parts.parts:
            with self._opened(part) as table:
                for batch, share in table.pieces(self._columns_of(table, columns), most, count):
                    seen += batch.nbytes
                    yield batch, (done + share * part.size) / total
            done += part.size
            if seen > most:
                return

    @contextmanager
    def _opened(self, part: Part) -> Iterator[Table]:
        """A file as a table; it must be like the first one."""
        options = self._options
        if self._own is not None and self._own.delimiter:
            known = {"header": self._own.header, "delimiter": self._own.delimiter}
            options = replace(options, **known)  # type: ignore[arg-type]
        parts = self._source.parts
        with open_file(str(part.path), options.unpacking, hashed=parts.hashed) as file:
            if file.format.open_table is None:
                raise FileError(
                    f"{part.path} is {file.format.name}, and only tables can be read from several "
                    "files; name one file, or the tables by a pattern such as 'folder/*.csv'"
                )
            table = file.format.open_table(file, options, self._wanted)
            if self._own is not None:
                self._check(part, table)
            yield table
            if parts.hashed:
                parts.checksums[str(part.path)] = file.checksum()

    def _check(self, part: Part, table: Table) -> None:
        first, own = self._source.parts.parts[0], self._own
        if own is None or set(own.columns) == set(table.layout.columns):
            return
        one, other = (", ".join(map(repr, names)) for names in (own.columns, table.layout.columns))
        raise FileError(
            f"{first.path} and {part.path} have different columns, {one} and {other}; read them "
            "one by one, or name those you want by a pattern such as 'folder/part-*'"
        )

    def _columns_of(self, table: Table, columns: Sequence[int]) -> list[int]:
        """Where the columns are in one file."""
        return [table.layout.columns.index(self.layout.columns[k]) for k in columns]
