"""What was said on the page: a file that only grows, a line of JSON for each act.

The first line says which graph it is about. A line is on the disk before anyone is told that it is
kept; one that finds no room leaves no byte. A last line that was cut off, because the machine went
down while it was written, was never acknowledged; it is dropped when the journal is opened again.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
from contextlib import suppress
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from isotherm.errors import IsothermError
from isotherm.files import written

try:
    import fcntl
except ImportError:  # not on this system: two pages on one journal are then not kept apart
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from pathlib import Path

    from isotherm.graph import Graph

FORMAT, VERSION = "isotherm labelling journal", 1
LABEL, SKIP, UNDO, CLASS, SAVED, ACCURACY = "label", "skip", "undo", "class", "saved", "accuracy"
DRAWN = "drawn"  # in `more` of a label: whether its node was drawn at random
ACTS = (LABEL, SKIP, UNDO, CLASS, SAVED, ACCURACY)
POINT = {"labels", "value", "low", "high"}  # what an accuracy has in `more`


class JournalError(IsothermError, ValueError):
    """A journal cannot be used: damaged, of another graph, or open elsewhere."""


class Entry(NamedTuple):
    """One line of a journal.

    Attributes
    ----------
    number : int
        From 1 on.
    time : str
        When, in UTC.
    act : str
        One of `ACTS`.
    who : str
    node : str
        Of a label and of a skip.
    label : str or None
        Of a label (None withdraws one) and of a class.
    of : int
        What an undo takes back.
    more : dict
        Of a saved file, of an accuracy, and of a label whose node was drawn at random.
    """

    number: int
    time: str
    act: str
    who: str = ""
    node: str = ""
    label: str | None = None
    of: int = 0
    more: dict[str, Any] = {}  # noqa: RUF012  # never changed

    def line(self) -> bytes:
        """As a line of the file."""
        empty: dict[str, Any] = {"who": "", "node": "", "of": 0, "more": {}}
        told = {k: v for k, v in self._asdict().items() if k not in empty or v != empty[k]}
        if self.act not in (LABEL, CLASS):
            told.pop("label")
        return json.dumps(told, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def parse_entry(line: bytes, number: int) -> Entry:
    """The entry of that number, or again of the one before, from its line.

    Raises
    ------
    ValueError
        If it is none.
    """
    told = json.loads(line)
    if not isinstance(told, dict) or set(told) - set(Entry._fields):
        raise ValueError("not an entry")
    kinds = {"number": int, "time": str, "act": str, "who": str, "node": str, "of": int}
    for name, kind in kinds.items():
        if name in told and type(told[name]) is not kind:
            raise ValueError(f"{name} is {told[name]!r}")
    kinds_of_more = (told.get("label"), str | None), (told.get("more", {}), dict)
    if not all(isinstance(value, kind) for value, kind in kinds_of_more):
        raise ValueError("'label' or 'more' has a wrong type")
    entry = Entry(**told)
    if entry.act not in ACTS:
        raise ValueError(f"unknown act {entry.act!r}")
    if entry.act == ACCURACY and not _is_point(entry.more):
        raise ValueError("'more' is no accuracy")
    if entry.number not in (number, max(number - 1, 1)) or not 0 <= entry.of < entry.number:
        raise ValueError(f"number {entry.number} where {number} was expected")
    return entry


def _is_point(more: dict[str, Any]) -> bool:
    return more.keys() == POINT and all(
        isinstance(value, int | float) and abs(value) < math.inf for value in more.values()
    )


def fingerprint(graph: Graph) -> str:
    """What tells a graph from others: a hash of its names, edges and weights."""
    digest = hashlib.sha256(f"{graph.n_nodes} {len(graph.rows.ends)}".encode())
    for text in graph.nodes.as_texts().to_pylist():
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    rows = graph.rows
    digest.update(rows.start.astype("<i8").tobytes())
    digest.update(rows.ends.astype("<i8").tobytes())
    if rows.weights is not None:
        digest.update(rows.weights.astype("<f8").tobytes())
    return digest.hexdigest()


class Journal:
    """A journal that is open for writing; a new one is begun where there is none.

    Parameters
    ----------
    path : Path
    graph : str
        Its `fingerprint`.
    labels : str
        The checksum of the label file that was read; empty without one.

    Attributes
    ----------
    entries : list of Entry
        All so far.
    dropped : bytes
        The last line, if it was cut off and is left out.
    refused : list of Entry
        Acts that found no room on a disk, and were never acknowledged, but are in the file before
        another of the same number: versions until 0.2 left them there. They are left out.
    labels_then : str
        The checksum of the label file when the journal was begun, or when it was last saved.

    Raises
    ------
    JournalError
        On one that is damaged, of another graph, or open elsewhere.
    """

    def __init__(self, path: Path, graph: str, labels: str = "") -> None:
        self.path, self.dropped = path, b""
        self.entries: list[Entry] = []
        self.refused: list[Entry] = []
        self.labels_then = labels
        self._write = threading.Lock()
        self._cut: int | None = None  # where the file ends, if the rest could not be taken away
        with written(str(path)):
            self._file: IO[bytes] = open(path, "a+b", buffering=0)  # noqa: SIM115, PTH123  # kept open
        try:
            self._lock()
            self._file.seek(0)
            with written(str(path)):
                self._read(self._file.read(), graph, labels)
        except BaseException:
            self._file.close()
            raise

    def append(self, act: str, **told: Any) -> Entry:
        """Add an entry; it is on the disk when this returns.

        Raises
        ------
        FileError
            If it cannot be written: nothing was added.
        """
        with self._write:
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            entry = Entry(len(self.entries) + 1, now, act, **told)
            with written(str(self.path)):
                self._store(entry.line())
            self.entries.append(entry)
            return entry

    def close(self) -> None:
        """Let others open it."""
        self._file.close()

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise JournalError(
                f"{self.path} is already open in another labelling page; use that page, or name "
                "another file with --journal"
            ) from None

    def _store(self, line: bytes) -> None:
        """Put a line at the end, or nothing: no half of it stays before the next one."""
        if self._cut is not None:
            self._file.truncate(self._cut)
        self._cut = self._file.seek(0, os.SEEK_END)
        try:
            while line:  # unbuffered: of a line that has no room, a part is written
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                self._file.truncate(self._cut)
            raise
        self._cut = None

    def _read(self, data: bytes, graph: str, labels: str) -> None:
        *lines, rest = data.split(b"\n")
        if not lines:  # empty, or its very first line was cut off
            self._file.truncate(0)
            self.dropped = rest
            head = {"journal": FORMAT, "version": VERSION, "graph": graph, "labels": labels}
            self._store(json.dumps(head).encode() + b"\n")
            _sync_folder(self.path)
            return
        _check_head(self.path, lines[0], graph)
        self.labels_then = str(json.loads(lines[0]).get("labels", ""))
        self._take(lines[1:], rest)

    def _take(self, lines: list[bytes], rest: bytes) -> None:
        self.entries, cut, self.refused = _entries(self.path, lines, rest)
        for entry in self.entries:
            if entry.act == SAVED and entry.more.get("original"):
                self.labels_then = str(entry.more.get("checksum", ""))
        self.dropped = cut
        if cut:
            self._file.truncate(self._file.seek(0, os.SEEK_END) - len(cut))
            os.fsync(self._file.fileno())


def _entries(path: Path, lines: list[bytes], rest: bytes) -> tuple[list[Entry], bytes, list[Entry]]:
    """The entries of some lines, what is cut off at the end, and what was refused."""
    found: list[Entry] = []
    refused: list[Entry] = []
    for place, line in enumerate(lines, start=1):
        try:
            entry = parse_entry(line, len(found) + 1)
        except (ValueError, TypeError, RecursionError) as error:
            if place < len(lines) or rest:
                raise JournalError(
                    f"{path} is damaged in line {place + 1} ({error}); only the last line may be "
                    "cut off. Repair it, or start another with --journal"
                ) from None
            return found, line + b"\n", refused
        if entry.number == len(found):  # again: the one before found no room
            refused.append(found.pop())
        found.append(entry)
    return found, rest, refused


def _check_head(path: Path, line: bytes, graph: str) -> None:
    try:
        head = json.loads(line)
        known = head.get("journal") == FORMAT and head.get("version") == VERSION
    except (ValueError, AttributeError):
        known = False
    if not known:
        raise JournalError(f"{path} is not a labelling journal; name another file with --journal")
    if head.get("graph") != graph:
        raise JournalError(
            f"{path} belongs to another graph; name another file with --journal, or use the edges "
            "that it was made with"
        )


def _sync_folder(path: Path) -> None:
    """Have the name of a new file on the disk, too."""
    if os.name != "posix":
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
