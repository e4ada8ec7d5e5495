"""The file of a saved graph, mapped; and whether it is still what it was when it was opened.

Nothing keeps others from writing into a file that is mapped, and arrays then change under a solve.
So the file is looked at before arrays are used and after they were: by size and times, which a
system call tells, and, where times have changed, by the checksums of all parts. They change by
``chmod``, by a link and by another file in its place, too, which do no harm.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.errors import FileError, GraphError
from isotherm.graph.rows import Rows
from isotherm.graph.saved.faults import fault_within, have_degrees
from isotherm.graph.saved.header import PAGE, Header, changed, unpack
from isotherm.memory import free_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

BLOCK = 1 << 24  # bytes that are hashed at once
TICK = 50_000_000  # nanoseconds within which two writes may leave the same times
LOOKS = 3  # at a file whose times change all the while
_TYPES = {  # of entries; others are bytes
    "starts": "i8",
    "ends": "i4",
    "weights": "f8",
    "degrees": "f8",
    "name_starts": "i8",
    "name_numbers": "i8",
    "lookup": "i4",
}


class Stamp(NamedTuple):
    """What tells that a file was written to; times in nanoseconds."""

    size: int
    written: int
    changed: int


class SavedFile:
    """A file that is mapped, for reading only.

    Parameters
    ----------
    path : str
        Absolute.
    header : Header
    number : int
        The descriptor of the file, which is closed with this.
    """

    def __init__(self, path: str, header: Header, number: int) -> None:
        self.path, self.header = path, header
        weakref.finalize(self, os.close, number).atexit = False
        self.memory = mmap.mmap(number, header.n_bytes, access=mmap.ACCESS_READ)
        self._number = number
        self._fault: GraphError | None = None  # once it was written over
        self._sound: Stamp | None = None  # when all of it was as it should be
        self._opened = self._stamp()
        self._settle(self._opened, time.time_ns())

    def part(self, name: str) -> NDArray[Any]:
        """An array of the file; its pages come when they are used."""
        self.look()
        place, kind = self.header.parts[name], np.dtype(_TYPES.get(name, "u1"))
        count = place.size // kind.itemsize
        return np.frombuffer(self.memory, dtype=kind, count=count, offset=place.offset)

    def optional(self, name: str) -> NDArray[Any] | None:
        """The same, or None if the file has no such part."""
        return self.part(name) if name in self.header.parts else None

    def rows(self, first: int, last: int) -> Rows:
        """The rows of some nodes, numbered from 0, after a look at these alone.

        Their entries lead to nodes of the whole graph. Whether other rows mirror them is not known.

        Raises
        ------
        FileError
            If they are not rows of a graph with the degrees of the file.
        """
        start = self.part("starts")[first : last + 1]
        self._check_starts(start, first, last)
        entries = slice(int(start[0]), int(start[-1]))
        weights = self.optional("weights")
        rows = Rows(
            start - start[0],
            self.part("ends")[entries],
            None if weights is None else weights[entries],
        )
        self._check_rows(rows, self.part("degrees")[first:last])
        return rows

    def rows_of(self, nodes: NDArray[np.intp]) -> Rows:
        """Rows of the whole graph of which all but those of these nodes are empty.

        Raises
        ------
        FileError
            See `rows`.
        """
        nodes, n, starts = np.unique(nodes), self.header.n_nodes, self.part("starts")
        first, last = starts[nodes], starts[nodes + 1]
        if (first < 0).any() or (last < first).any() or (last > self.header.n_entries).any():
            raise changed(self.path, "rows do not follow each other")
        counts = last - first
        within = np.concatenate([[0], np.cumsum(counts)])
        entries = np.repeat(first - within[:-1], counts) + np.arange(within[-1])
        weights = self.optional("weights")
        ends = self.part("ends")[entries]
        given = None if weights is None else weights[entries]
        self._check_rows(Rows(within, ends, given), self.part("degrees")[nodes])
        lengths = np.zeros(n + 1, dtype=np.int64)
        lengths[nodes + 1] = counts
        return Rows(np.cumsum(lengths), ends, given)

    def _check_starts(self, start: NDArray[np.int64], first: int, last: int) -> None:
        """See that some rows follow each other within the file."""
        n, n_entries = self.header.n_nodes, self.header.n_entries
        sound = start[0] >= 0 and start[-1] <= n_entries and not (start[1:] < start[:-1]).any()
        sound = sound and (first > 0 or start[0] == 0) and (last < n or start[-1] == n_entries)
        if not sound:
            raise changed(self.path, "rows do not follow each other")

    def _check_rows(self, rows: Rows, degrees: NDArray[np.float64]) -> None:
        """See that some rows are those of a graph, with these degrees."""
        fault = fault_within(rows, self.header.n_nodes)
        if fault is None and not have_degrees(rows, degrees):
            fault = "the degrees do not match the edges"
        if fault is not None:
            raise changed(self.path, fault)

    def expect(self, name: str) -> None:
        """Tell the system that a part will be read soon, and from its beginning to its end.

        It is fetched at once where there is room for it, else piece by piece, ahead of its use.
        """
        place = self.header.parts[name]
        if not hasattr(mmap, "MADV_WILLNEED") or not place.size:
            return
        free = free_memory()
        fits = free is None or 2 * place.size <= free
        advice = mmap.MADV_WILLNEED if fits else mmap.MADV_SEQUENTIAL
        self.memory.madvise(advice, place.offset, place.size)

    # --- whether it is as it was ------------------------------------------------------------------

    def look(self) -> Stamp:
        """See that the file still holds what it did when it was opened; its stamp.

        Raises
        ------
        GraphError
            If it was cut off or written over since.
        """
        now = self._stamp()
        if now == self._sound and self._fault is None:
            return now
        for _ in range(LOOKS):
            self._compare(now)
            before, now = now, self._stamp()
            if now == before:
                return now
        raise self.written_over("it is being written to")

    def steady(self) -> Steady:
        """While something is found in the arrays: what was changed meanwhile makes it an error."""
        return Steady(self)

    def written_over(self, how: str) -> GraphError:
        """What to say of a file that was changed in place; its graph is of no use any more."""
        self._sound = None
        self._fault = GraphError(
            f"{self.path} was written over while it was open ({how}): open it again. To replace a "
            "graph that is in use, save the other one to the same place (force=True, --force), "
            "which leaves the one that is open alone"
        )
        return self._fault

    def _stamp(self) -> Stamp:
        """Size and times of the file that is open, wherever that is by now."""
        try:
            found = os.fstat(self._number)
        except OSError as error:
            raise unreadable(self.path, error) from None
        return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    def _compare(self, now: Stamp) -> None:
        """Compare the size and all checksums with those of the header."""
        if self._fault is not None:
            raise GraphError(*self._fault.args)
        if now.size != self.header.n_bytes:
            raise self.written_over(f"it has {now.size:,} bytes")
        since = time.time_ns()
        name = self.damaged()
        if name is None:
            self._settle(now, since)
        elif now == self._opened:
            raise changed(self.path, f"the checksum of {name!r} does not match")
        else:
            raise self.written_over(f"the checksum of {name!r} does not match")

    def _settle(self, found: Stamp, since: int) -> None:
        """Know a stamp if whoever has written after that time has left another one."""
        self._sound = found if abs(since - max(found.written, found.changed)) > TICK else None

    def damaged(self, progress: Callable[[int, int | None], None] | None = None) -> str | None:
        """The first part whose checksum is not that of the header; None if there is none."""
        total, done = sum(part.size for part in self.header.parts.values()), 0
        for name, part in self.header.parts.items():
            digest = hashlib.sha256()
            for first in range(0, part.size, BLOCK):
                last = min(first + BLOCK, part.size)
                digest.update(self._bytes(part.offset + first, part.offset + last))
                if progress is not None:
                    progress(done + last, total)
            done += part.size
            if digest.hexdigest() != part.checksum:
                return name
        return None

    def _bytes(self, first: int, last: int) -> bytes:
        """Read, not mapped, where that can be: reading what was cut off does not end a process."""
        if not hasattr(os, "pread"):
            return self.memory[first:last]
        try:
            return os.pread(self._number, last - first, first)
        except OSError as error:
            raise unreadable(self.path, error) from None

    @property
    def sides(self) -> tuple[str, str] | None:
        """Of a bipartite graph; see `Graph`."""
        if "sides" not in self.header.parts:
            return None
        place = self.header.parts["sides"]
        try:
            sides = json.loads(self._bytes(place.offset, place.offset + place.size))
        except (ValueError, RecursionError):
            sides = None
        if type(sides) is not list or [type(side) for side in sides] != [str, str]:
            raise changed(self.path, "its sides")
        return sides[0], sides[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return _same_file, (self.path, self.header.pack(), self._sound)


def open_file(path: str | os.PathLike[str]) -> SavedFile:
    """Map a file; see `isotherm.graph.saved.open_graph`."""
    name = os.fspath(path)
    try:
        with Path(name).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            header = unpack(file.read(PAGE), size, name)
            return SavedFile(str(Path(name).absolute()), header, os.dup(file.fileno()))
    except OSError as error:
        raise unreadable(name, error) from None


def _same_file(path: str, header: bytes, sound: Stamp | None) -> SavedFile:
    """A file that was open when an object was pickled; if its times differ, it is looked at."""
    file = open_file(path)
    if file.header.pack() != header:
        raise FileError(
            f"{path} has been replaced by another graph since it was pickled: pickle it again"
        )
    file._sound = sound
    return file


class Steady:
    """A file before and after something was found in it; see `SavedFile.steady`."""

    def __init__(self, file: SavedFile) -> None:
        self._file = file

    def __enter__(self) -> None:
        self._before = self._file.look()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not issubclass(kind, Exception):
            return  # an interrupt
        if self._file.look().written != self._before.written:
            raise self._file.written_over("while its graph was at work")


def unreadable(name: str, error: OSError) -> FileError:
    """What to say of a file that the system does not read."""
    return FileError(f"{name} cannot be read: {error.strerror or error}")
