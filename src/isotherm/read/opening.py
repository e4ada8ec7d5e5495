"""A name → what is read: one file, or the files of a folder or a pattern."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from isotherm.errors import FileError, IsothermError, MissingLibrary
from isotherm.read.faults import reading
from isotherm.read.formats import PARTED
from isotherm.read.parts import find_parts, join_parts
from isotherm.read.source import STANDARD_INPUT, open_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isotherm.read.formats import Format
    from isotherm.read.parts import Parts
    from isotherm.read.source import Source
    from isotherm.read.unpacking import UnpackLimit


@dataclass(frozen=True)
class PartedSource:
    """Several files that are read as one table.

    Attributes
    ----------
    name : str
        As the user wrote it, for messages.
    parts : Parts
    format : Format
    """

    name: str
    parts: Parts
    format: Format = PARTED

    def checksum(self) -> str:
        """See `Source.checksum`; of the list of all files."""
        return self.parts.checksum()


def check_libraries(path: str) -> None:
    """Refuse a file that needs a library that is missing, before any work is done.

    Whatever else is wrong with it is said when it is read.

    Raises
    ------
    MissingLibrary
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
    """Open a file, a folder, the files that match a pattern, or several of these; see `open_file`.

    Raises
    ------
    FileError
        If standard input is one of several files.
    """
    names = [os.fspath(one) for one in ([path] if isinstance(path, str | os.PathLike) else path)]
    name, several = names[0], len(names) > 1
    if several and STANDARD_INPUT in names:
        raise FileError("standard input (-) cannot be one of several files: name files only")
    parts: Parts | None = None
    with reading(name):
        if several:
            joined = join_parts(names, hashed=hashed)
            name, parts = joined.name, joined
        elif name != STANDARD_INPUT:
            parts = find_parts(name, hashed=hashed)
    if parts is not None:
        yield PartedSource(name, parts)
        return
    with open_file(name, limit, hashed=hashed) as source:
        yield source
