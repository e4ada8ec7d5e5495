"""Zip archives: what one is, how much it may unpack to, and the only file in one as a stream."""

from __future__ import annotations

import zipfile
import zlib
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from isotherm.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isotherm.read.source import Source

MARK = b"PK\x03\x04"
_OF_WORKBOOKS = ("[content_types].xml", "_rels/", "docprops/", "xl/")
BLOCK = 1 << 20  # bytes of each part of a workbook that are looked at
_DECLARED = (b"<!DOCTYPE", b"<!ENTITY")
_ENCRYPTED = 1  # the bit of a member that has a password


def first_member(head: bytes) -> str:
    """The name of the first file of an archive, in small letters; empty of what is none.

    Examples
    --------
    >>> first_member(MARK + bytes(22) + bytes([5, 0, 0, 0]) + b"A.csv")
    'a.csv'
    """
    if not head.startswith(MARK):
        return ""
    return head[30 : 30 + int.from_bytes(head[26:28], "little")].decode(errors="replace").lower()


def is_of_arrays(head: bytes, ending: str) -> bool:
    """Whether a file is an archive of arrays, as NumPy and SciPy save them."""
    return head.startswith(MARK) and (ending == ".npz" or first_member(head).endswith(".npy"))


def is_workbook(head: bytes, ending: str) -> bool:
    """Whether a file is a workbook of Excel."""
    named = ending in (".xlsx", ".xlsm") or first_member(head).startswith(_OF_WORKBOOKS)
    return head.startswith(MARK) and named


def is_open_document(head: bytes, ending: str) -> bool:
    """Whether a file is one of OpenDocument."""
    return head.startswith(MARK) and (ending == ".ods" or first_member(head) == "mimetype")


def is_packed_file(head: bytes, ending: str) -> bool:
    """Whether a file is an archive that is none of the above."""
    kinds = (is_of_arrays, is_workbook, is_open_document)
    return head.startswith(MARK) and not any(kind(head, ending) for kind in kinds)


@contextmanager
def open_archive(file: IO[bytes], *checks: Callable[[int], None]) -> Iterator[zipfile.ZipFile]:
    """An archive, once no check has refused the bytes that all its members unpack to."""
    with zipfile.ZipFile(file) as archive:
        size = sum(member.file_size for member in archive.infolist())
        for check in checks:
            check(size)
        yield archive


def check_workbook(source: Source) -> None:
    """Refuse a workbook that unpacks to too much, has macros, or declares entities."""
    with open_archive(source.everything(), source.check_unpacked, source.check_room) as archive:
        names = [member.filename.lower() for member in archive.infolist()]
        if any(name.endswith("vbaproject.bin") for name in names):
            raise FileError(f"{source.name} has macros: save it without them, as .xlsx, or as CSV")
        for member in archive.infolist():
            if member.filename.lower().endswith((".xml", ".rels")):
                with archive.open(member) as part:
                    if any(mark in part.read(BLOCK) for mark in _DECLARED):
                        raise FileError(
                            f"{source.name} declares XML entities, which no workbook needs, so it "
                            "is not read: save it again as .xlsx, or as CSV"
                        )


class OnlyMember:
    """The one file in an archive, read once from its beginning."""

    def __init__(self, file: IO[bytes], archive: str) -> None:
        self._archive = archive
        try:
            self._opened = zipfile.ZipFile(file)
            members = [member for member in self._opened.infolist() if _counts(member)]
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise FileError(f"{archive} is a damaged zip archive: {error}") from None
        if len(members) != 1:
            some = ", ".join(repr(member.filename) for member in members[:5])
            more = ", …" if len(members) > 5 else ""
            raise FileError(
                f"{archive} is a zip archive of {len(members)} files{': ' if some else ''}{some}"
                f"{more}; unpack the one you want"
            )
        if members[0].flag_bits & _ENCRYPTED:
            raise FileError(f"{archive} is protected by a password: unpack it first")
        self.name = members[0].filename
        try:
            self._stream: Any = self._opened.open(members[0])
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise FileError(f"{archive} cannot be unpacked: {error}") from None

    def read(self, count: int) -> bytes:
        """So many bytes, or what is left."""
        try:
            return bytes(self._stream.read(count))
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise FileError(f"{self._archive} is a damaged zip archive: {error}") from None


def _counts(member: zipfile.ZipInfo) -> bool:
    """Whether a member is a file that somebody put there, not one that a system added."""
    path = PurePosixPath(member.filename)
    if member.filename.endswith("/"):
        return False
    if not path.parts:
        raise zipfile.BadZipFile("a file in it has no name")
    return not (path.parts[0] == "__MACOSX" or path.name.startswith("._"))
