"""A file, or standard input, as a stream of bytes: unpacked, and looked at before it is read."""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import stat
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from isotherm.errors import FileError, NotEnoughMemory
from isotherm.memory import SMALL, free_memory, size_text
from isotherm.read.faults import reading
from isotherm.read.formats import recognise
from isotherm.read.unpacking import UNPACKERS, Counted, UnpackLimit
from isotherm.read.zip_archives import OnlyMember, is_packed_file

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = 1 << 18  # bytes that are looked at to tell what a file is
BLOCK = 1 << 24  # bytes that are read at once where all are wanted
STANDARD_INPUT = "-"

_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class Source:
    """The bytes of a file after any unpacking."""

    def __init__(
        self, raw: Any, name: str, limit: UnpackLimit | None = None, *, hashed: bool = False
    ) -> None:
        first = raw.peek(512)
        unpack = next((found for mark, found in UNPACKERS.items() if first.startswith(mark)), None)
        zipped = is_packed_file(first, _ending(name))
        packed = unpack is not None or zipped
        self._raw, self._counted = raw, Counted(raw, hashed=hashed)
        self._stream = self._counted if unpack is None else unpack(self._counted)
        self._written: tuple[int, int] | None = None  # when, of a file read in any order
        self._limit, self._is_packed = limit or UnpackLimit(), packed
        self.n_read = 0  # bytes so far, unpacked
        self._kept: bytes | None = None
        self._free: tuple[int | None] | None = None  # memory, where it was asked for
        self.name = name
        self.size = _size(raw) if name != STANDARD_INPUT else None  # as it is stored
        # Of a plain file that is not packed, which may be read in any order.
        self.path = None if packed or self.size is None else Path(name)
        self.ending = _ending(name)  # without that of a compression
        if zipped:
            self._open_archive()
        self.head = self._read(HEAD)
        self.is_whole = len(self.head) < HEAD
        self._mark = _marked(self.head)
        self.format = recognise(self.head, self.ending, name)
        self.format.check_library(name)

    def _open_archive(self) -> None:
        """Read the one file that is in an archive, in the place of the archive."""
        file: Any = self._raw
        if self.size is None:
            file = io.BytesIO(b"".join(iter(lambda: self._counted.read(BLOCK), b"")))
        else:
            self._written = _last_write(self._raw)
        self._stream = member = OnlyMember(file, self.name)
        self.ending = _ending(member.name)

    @property
    def is_marked(self) -> bool:
        """Whether the text begins with a mark of its encoding."""
        return self._mark is not None

    @property
    def identity(self) -> tuple[int, ...] | None:
        """What tells this file, as it is now, from any other; None of what can be read but once."""
        if self.size is None:
            return None
        status = os.fstat(self._raw.fileno())
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    @property
    def position(self) -> int:
        """Bytes of the file, as it is stored, that were read so far."""
        return 0 if self.size is None else int(self._raw.tell())

    def blocks(self, size: int, encoding: str = "utf-8") -> Iterator[bytes]:
        """The contents as UTF-8, in blocks of about this size."""
        marked = _marked(self.head)
        decoder = None
        if marked or codecs.lookup(encoding).name != "utf-8":
            decoder = codecs.getincrementaldecoder(marked or encoding)()
        head, self.head = self.head, b""  # they are needed but once
        block = head + self._read(size - len(head)) if size > len(head) else head
        with self._decoding(marked or encoding):
            while block:
                yield decoder.decode(block).encode(errors="replace") if decoder else block
                block = self._read(size)
            if decoder:
                yield decoder.decode(b"", True).encode(errors="replace")

    def recoded_head(self, encoding: str) -> bytes:
        """The first bytes as UTF-8, without what cannot be read."""
        encoding = _marked(self.head) or encoding
        with self._decoding(encoding):
            text = codecs.getincrementaldecoder(encoding)(errors="ignore").decode(self.head)
        return text.encode(errors="replace")

    def everything(self) -> BinaryIO:
        """The contents as a file that can be read in any order."""
        if self.path is not None:
            self._written = _last_write(self._raw)
            self._raw.seek(0)
            return self._raw  # type: ignore[no-any-return]
        if self._kept is None:  # it may be asked for again
            self._kept = self.whole()
        return io.BytesIO(self._kept)

    def whole(self) -> bytes:
        """The contents, as UTF-8 if they are text."""
        parts, total = [], 0
        for block in self.blocks(BLOCK):
            parts.append(block)
            total += len(block)
            free = free_memory() if len(parts) > 1 else None
            if free is not None and free < total:  # they are joined, and so there twice
                raise NotEnoughMemory(
                    f"{self.name} needs more than {size_text(2 * total)} of memory, and "
                    f"{size_text(free + total)} is free; unpack it first, or use a format that is "
                    "read piece by piece, such as CSV or Parquet"
                )
        return b"".join(parts)

    def checksum(self) -> str:
        """SHA-256 of the file as it is stored, once it was read; or why it is not known.

        It is that of the bytes that were read, whatever the name of the file leads to by now.
        """
        if self._counted.sha256 is None:
            return "not known"
        if self._written is not None:  # not read in order: once more, through the same open file
            self._raw.seek(0)
            found = hashlib.file_digest(self._raw, "sha256").hexdigest()
            changed = self._written != _last_write(self._raw)
            return "not known: the file changed while it was read" if changed else found
        while self._counted.read(BLOCK):  # what comes after the end of the data
            pass
        return self._counted.sha256.hexdigest()

    def check_unpacked(self, count: int) -> None:
        """Raise FileError if so many bytes are too many to be made of this file."""
        self._limit.check(self.name, count, self.size or self._counted.count)

    def lines(self, encoding: str = "utf-8") -> Iterator[str]:
        """The lines of a text, from its beginning; what cannot be read is replaced."""
        mark = self._mark
        file = self.everything()
        if self.path is None and mark is not None:
            mark = "utf-8"  # as which it is kept
        text = io.TextIOWrapper(file, mark or encoding, errors="replace", newline="\n")
        try:
            yield from text
        finally:
            if not file.closed:  # it stays open for others
                text.detach()

    def check_room(self, count: int) -> None:
        """Refuse so many bytes of text where what they become takes more memory than is free."""
        needed = int(count * self.format.memory)
        if needed <= SMALL:
            return
        if self._free is None:
            self._free = (free_memory(),)  # once: what is read takes up the rest
        free = self._free[0]
        if free is not None and needed > free:
            raise NotEnoughMemory(
                f"reading {self.name}, {size_text(count)} of {self.format.name}, takes about "
                f"{size_text(needed)} of memory, and {size_text(free)} is free: save it as a list "
                "of edges in CSV or Parquet, which is read piece by piece"
            )

    @contextmanager
    def _decoding(self, encoding: str) -> Iterator[None]:
        try:
            yield
        except UnicodeError as error:
            raise FileError(
                f"{self.name} is not {encoding}: {getattr(error, 'reason', error)}; name its "
                "encoding with --encoding (encoding=)"
            ) from None

    def _read(self, count: int) -> bytes:
        """So many bytes, or what is left."""
        parts, wanted = [], count
        with reading(self.name):
            while wanted > 0:
                part = self._stream.read(wanted)
                if not part:
                    break
                parts.append(part)
                wanted -= len(part)
                self.n_read += len(part)
                if self._is_packed or self.size is None:
                    packed = (self._counted.count or self.size) if self._is_packed else None
                    self._limit.check(self.name, self.n_read, packed)
        return parts[0] if len(parts) == 1 else b"".join(parts)


def _marked(head: bytes) -> str | None:
    """The encoding of a text that begins with a mark of it."""
    return next((name for mark, name in _BOMS.items() if head.startswith(mark)), None)


def _size(raw: Any) -> int | None:
    """Bytes of a file; None of a pipe, which has no end until it is reached."""
    status = os.fstat(raw.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _last_write(raw: Any) -> tuple[int, int]:
    """What changes when a file is written to: its time and its size."""
    status = os.fstat(raw.fileno())
    return status.st_mtime_ns, status.st_size


@contextmanager
def open_file(
    name: str, limit: UnpackLimit | None = None, *, hashed: bool = False
) -> Iterator[Source]:
    """Open a file, ``-`` for standard input; what packed it is told by its first bytes.

    Where it is `hashed`, `Source.checksum` tells what was read; it takes its time.
    """
    with reading(name), _opened(name) as raw:
        source = Source(raw, name, limit, hashed=hashed)
        if not source.head.strip(b"\0 \t\r\n"):
            raise FileError(f"{name} is empty")
        yield source


@contextmanager
def _opened(name: str) -> Iterator[Any]:
    if name == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    with Path(name).open("rb") as file:
        yield file


def _ending(name: str) -> str:
    path = Path(name.lower())
    if path.suffix in {".gz", ".zst", ".bz2", ".xz"}:
        path = path.with_suffix("")
    return path.suffix
