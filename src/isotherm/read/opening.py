"""A name → what is read: one file, or the files of a folder or a pattern as one table.

Folders of part files are written by Spark, Polars and DuckDB. Those called ``key=value`` (of Hive)
are read as any others: their keys are no columns.
"""

from __future__ import annotations

import glob
import hashlib
import os
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from isotherm.errors import FileError, IsothermError, MissingLibrary
from isotherm.read.faults import reading
from isotherm.read.formats import PARTED
from isotherm.read.report import ReadReport
from isotherm.read.source import STANDARD_INPUT, open_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isotherm.read.formats import Format
    from isotherm.read.layout import Layout
    from isotherm.read.options import TextOptions
    from isotherm.read.source import Source
    from isotherm.read.table import Batch, Table
    from isotherm.read.unpacking import UnpackLimit

MOST_LISTED = 8


class Part(NamedTuple):
    """A file of several."""

    path: Path
    size: int  # bytes


@dataclass
class PartedSource:
    """Several files that are read as one table, in order."""

    name: str  # as the user wrote it
    parts: list[Part]
    hashed: bool = False
    checksums: dict[str, str] = field(default_factory=dict)  # of the parts that were read
    format: Format = PARTED

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(part.size for part in self.parts)

    def checksum(self) -> str:
        """SHA-256 of the list of the files' checksums and names, once all were read."""
        if not self.hashed:
            return "not known"
        lines = [f"{found}  {name}\n" for name, found in self.checksums.items()]
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def check_libraries(path: str) -> None:
    """Refuse a file that needs a library that is missing, before any work is done.

    Whatever else is wrong with it is said when it is read.
    """
    try:
        if not Path(path).is_file():  # a pipe can be read but once
            return
        with open_file(path):
            return
    except MissingLibrary:
        raise
    except (IsothermError, OSError, ValueError):
        return


@contextmanager
def open_source(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    limit: UnpackLimit | None = None,
    *,
    hashed: bool = False,
) -> Iterator[Source | PartedSource]:
    """Open a file, a folder, the files that match a pattern, or several of these."""
    names = [os.fspath(one) for one in ([path] if isinstance(path, str | os.PathLike) else path)]
    name, several = names[0], len(names) > 1
    if several and STANDARD_INPUT in names:
        raise FileError("standard input (-) cannot be one of several files: name files only")
    parted: PartedSource | None = None
    with reading(name):
        if several:
            parted = _joined(names, hashed=hashed)
        elif name != STANDARD_INPUT:
            parted = _find_parts(name, hashed=hashed)
    if parted is not None:
        yield parted
        return
    with open_file(name, limit, hashed=hashed) as source:
        yield source


def _find_parts(name: str, *, hashed: bool = False) -> PartedSource | None:
    """The files of a folder or a pattern; None of a name that is that of one file."""
    path = Path(name)
    if path.is_dir():
        found = _files_in(path)
        if not found:
            raise FileError(f"{name} is a folder that has no files to read")
    elif glob.has_magic(name) and not path.exists():
        found = _matching(name)
        if not found:
            raise FileError(f"no file matches {name}; {_there(_root(name))}")
    else:
        return None
    return PartedSource(name, [Part(one, one.stat().st_size) for one in found], hashed)


def _joined(names: Sequence[str], *, hashed: bool) -> PartedSource:
    """Several files, folders and patterns as one, in the order in which they are named."""
    parts: list[Part] = []
    for name in names:
        found = _find_parts(name)
        if found is None and not Path(name).exists():
            raise FileError(f"there is no file {name}")
        parts += [Part(Path(name), Path(name).stat().st_size)] if found is None else found.parts
    return PartedSource(f"{names[0]} and {len(names) - 1} more", parts, hashed)


def _files_in(folder: Path) -> list[Path]:
    """The files of a folder and of those in it, but for marks of programs such as _SUCCESS."""
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[:1] not in "._")
        counted = [Path(place, name) for name in sorted(files) if name[:1] not in "._"]
        found += [path for path in counted if path.suffix != ".crc" and path.stat().st_size]
    return found


def _matching(pattern: str) -> list[Path]:
    found: list[Path] = []
    for name in sorted(glob.glob(pattern, recursive=True)):  # noqa: PTH207  # also absolute
        path = Path(name)
        found += _files_in(path) if path.is_dir() else [path] if path.stat().st_size else []
    return list(dict.fromkeys(found))


def _root(pattern: str) -> Path:
    """The folder that a pattern starts from."""
    fixed = []
    for part in Path(pattern).parts:
        if glob.has_magic(part):
            break
        fixed.append(part)
    return Path(*fixed)


def _there(folder: Path) -> str:
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return f"there is no folder {folder}"
    more = ", …" if len(names) > MOST_LISTED else ""
    listed = ", ".join(names[:MOST_LISTED]) or "nothing"
    return f"{folder} contains: {listed}{more}"


class PartsTable:
    """The rows of several files; see `Table`."""

    def __init__(
        self, source: PartedSource, options: TextOptions, wanted: Sequence[str | None] = ()
    ) -> None:
        self._source, self._options, self._wanted = source, options, wanted
        self._n_done = 0  # bytes of files read
        self._own: Layout | None = None  # that of the first file
        with self._opened(source.parts[0]) as table:
            self._own = table.layout
            self.layout = replace(table.layout, sample=())
            self._first_rows = table.first_rows()
            count = len(source.parts)
            self.format = f"{table.format}, {count:,} file{'s' if count > 1 else ''}"

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
        for part in self._source.parts:
            with self._opened(part) as table:
                own = ReadReport(str(part.path))
                chosen, more = (self._columns_of(table, wanted) for wanted in (columns, also))
                yield from table.batches(chosen, own, error=error, empty=empty, also=more)
                report.add(own, error)
            self._n_done += part.size

    def progress(self, _: ReadReport) -> tuple[int, int | None]:
        """How many bytes of files were read, and how many there are."""
        return self._n_done, self._source.size

    def pieces(
        self, columns: Sequence[int], most: int, count: int
    ) -> Iterator[tuple[Batch, float]]:
        """See `Table.pieces`; from the first files on."""
        seen, done, total = 0, 0, self._source.size
        for part in self._source.parts:
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
        options, source = self._options, self._source
        if self._own is not None and self._own.delimiter:
            options = replace(options, header=self._own.header, delimiter=self._own.delimiter)
        with open_file(str(part.path), options.unpacking, hashed=source.hashed) as file:
            if file.format.open_table is None:
                raise FileError(
                    f"{part.path} is {file.format.name}, and only tables can be read from several "
                    "files; name one file, or the tables by a pattern such as 'folder/*.csv'"
                )
            table = file.format.open_table(file, options, self._wanted)
            if self._own is not None:
                self._check(part, table.layout, self._own)
            yield table
            if source.hashed:
                source.checksums[str(part.path)] = file.checksum()

    def _check(self, part: Part, layout: Layout, own: Layout) -> None:
        if set(own.columns) == set(layout.columns):
            return
        one, other = (", ".join(map(repr, names)) for names in (own.columns, layout.columns))
        raise FileError(
            f"{self._source.parts[0].path} and {part.path} have different columns, {one} and "
            f"{other}; read them one by one, or name those you want by a pattern such as "
            "'folder/part-*'"
        )

    def _columns_of(self, table: Table, columns: Sequence[int]) -> list[int]:
        """Where the columns are in one file."""
        return [table.layout.columns.index(self.layout.columns[k]) for k in columns]
