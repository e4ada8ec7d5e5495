"""Folders and patterns of part files, as Spark, Polars and DuckDB write them, as one table.

Folders called ``key=value`` (those of Hive) are read as any others: their keys are no columns.
"""

from __future__ import annotations

import glob
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from isotherm.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LISTED = 8


@dataclass(frozen=True)
class Part:
    """A file of several.

    Attributes
    ----------
    path : Path
    size : int
        Bytes.
    """

    path: Path
    size: int


@dataclass
class Parts:
    """Files that are read as one.

    Attributes
    ----------
    name : str
        As the user wrote it.
    parts : list of Part
        By their names, in order.
    hashed : bool
        Whether checksums are wanted.
    checksums : dict
        Those of the parts that were read.
    """

    name: str
    parts: list[Part]
    hashed: bool = False
    checksums: dict[str, str] = field(default_factory=dict)

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


def find_parts(name: str, *, hashed: bool = False) -> Parts | None:
    """The files of a folder or a pattern; None of a name that is that of one file.

    Raises
    ------
    FileError
        If there are none.
    """
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
    return Parts(name, [Part(one, one.stat().st_size) for one in found], hashed)


def join_parts(names: Sequence[str], *, hashed: bool = False) -> Parts:
    """Several files, folders and patterns as one, in the order in which they are named.

    Raises
    ------
    FileError
        If some are not there.
    """
    parts: list[Part] = []
    for name in names:
        found = find_parts(name)
        if found is None and not Path(name).exists():
            raise FileError(f"there is no file {name}")
        parts += [Part(Path(name), Path(name).stat().st_size)] if found is None else found.parts
    return Parts(f"{names[0]} and {len(names) - 1} more", parts, hashed)


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
