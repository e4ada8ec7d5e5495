"""The header of a saved graph: what is in the file, and where.

A file is a header of 4096 bytes and parts, each of which begins at a multiple of that::

    0   magic, 16 bytes        28  length of the JSON text, 4 bytes
    16  byte order, 4 bytes    32  SHA-256 of the text, 32 bytes
    20  version, 4 bytes       64  the text: sizes, and of each part offset, bytes and SHA-256
    24  (not used)

Parts are arrays as they are in memory: ``starts`` (int64, n + 1), ``ends`` (int32), ``weights``
(float64; absent if all are 1), ``degrees`` (float64, n), of names ``name_starts`` (int64, n + 1)
and ``name_bytes`` (UTF-8), or ``name_numbers`` (int64, n), the table ``lookup`` (int32; see
`isotherm.graph.saved.lookup`) and ``sides`` (JSON), of a bipartite graph.
"""

from __future__ import annotations

import hashlib
import json
import struct
import sys
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from isotherm.compiled import MOST_NODES
from isotherm.errors import FileError
from isotherm.files import SAVED_GRAPH

VERSION = 1
PAGE = 4096  # bytes of the header; parts begin at multiples of it
_FIXED = struct.Struct("=16sIIII32s")
_ORDER, _OTHER_ORDER = 0x01020304, 0x04030201
_ITEM = {  # bytes of an entry
    "starts": 8,
    "ends": 4,
    "weights": 8,
    "degrees": 8,
    "name_starts": 8,
    "name_bytes": 1,
    "name_numbers": 8,
    "lookup": 4,
    "sides": 1,
}
_NAMES = {"texts": {"name_starts", "name_bytes"}, "numbers": {"name_numbers"}, "positions": set()}


class Part(NamedTuple):
    """Where a part of the file is.

    Attributes
    ----------
    offset, size : int
        In bytes.
    checksum : str
        SHA-256, in hexadecimal digits.
    """

    offset: int
    size: int
    checksum: str


@dataclass(frozen=True)
class Header:
    """What is in a saved graph.

    Attributes
    ----------
    n_nodes, n_entries, n_loops : int
        Rows and entries of the adjacency matrix, and how many of these are self loops.
    names : {"texts", "numbers", "positions"}
        What kind of ids the nodes have.
    given : bool
        Whether somebody chose these ids; see `NodeIndex`.
    key : int
        Of the table of names.
    parts : dict
        Name → Part.
    """

    n_nodes: int
    n_entries: int
    n_loops: int
    names: Literal["texts", "numbers", "positions"]
    given: bool
    key: int = 0
    parts: dict[str, Part] = field(default_factory=dict)

    def pack(self) -> bytes:
        """The first 4096 bytes of the file."""
        text = json.dumps(self.__dict__, separators=(",", ":")).encode()
        digest = hashlib.sha256(text).digest()
        fixed = _FIXED.pack(SAVED_GRAPH, _ORDER, VERSION, 0, len(text), digest)
        return (fixed + text).ljust(PAGE, b"\0")

    @property
    def n_bytes(self) -> int:
        """Bytes of the whole file."""
        return max((part.offset + part.size for part in self.parts.values()), default=PAGE)


def unpack(head: bytes, size: int, name: str) -> Header:
    """The header of a file of so many bytes, from the first of them.

    Raises
    ------
    FileError
        A file of another kind, of another version or byte order, truncated or changed.
    """
    if not head.startswith(SAVED_GRAPH):
        raise FileError(f"{name} is not a saved graph; use isotherm build to make one")
    if len(head) < PAGE:
        raise _truncated(name)
    _, order, version, _, length, digest = _FIXED.unpack_from(head)
    if order == _OTHER_ORDER:
        raise FileError(
            f"{name} was saved on a machine with another byte order (this one is "
            f"{sys.byteorder}-endian); build it again on this one"
        )
    if order == _ORDER and version > VERSION:
        raise FileError(
            f"{name} is a saved graph of version {version}, but this isotherm reads up to version "
            f"{VERSION}; install a newer isotherm, or build the graph again"
        )
    text = head[_FIXED.size : _FIXED.size + length]
    if order != _ORDER or version < 1 or hashlib.sha256(text).digest() != digest:
        raise changed(name, "its header")
    try:
        header = _parsed(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise changed(name, "its header") from None
    if size < header.n_bytes:
        raise _truncated(name)
    if size > header.n_bytes or not _is_sound(header):
        raise changed(name, "its size or its header")
    return header


def _parsed(found: dict[str, Any]) -> Header:
    parts = {name: Part(*place) for name, place in found.pop("parts").items()}
    header = Header(**found, parts=parts)
    counts = (header.n_nodes, header.n_entries, header.n_loops, header.key)
    places = [number for part in parts.values() for number in part[:2]]
    if not all(type(number) is int and 0 <= number < 1 << 63 for number in (*counts, *places)):
        raise ValueError("a count must be a whole number")
    if header.names not in _NAMES:
        raise ValueError("no such kind of names")
    return header


def _is_sound(header: Header) -> bool:
    """Whether there are the parts that there should be, of the right sizes, one after the other."""
    n = header.n_nodes
    wanted = {"starts", "ends", "degrees"} | _NAMES[header.names]
    there = set(header.parts)
    if not 0 < n <= MOST_NODES or not wanted <= there <= wanted | {"weights", "lookup", "sides"}:
        return False
    counts = {
        "starts": n + 1,
        "ends": header.n_entries,
        "weights": header.n_entries,
        "degrees": n,
        "name_starts": n + 1,
        "name_numbers": n,
    }
    end = PAGE
    for name, part in sorted(header.parts.items(), key=lambda item: item[1].offset):
        if part.offset < end or part.offset % PAGE or part.size % _ITEM[name]:
            return False
        if part.size // _ITEM[name] != counts.get(name, part.size // _ITEM[name]):
            return False
        end = part.offset + part.size
    return True


def _truncated(name: str) -> FileError:
    return FileError(f"{name} is truncated: the end of the file is missing; build it again")


def changed(name: str, what: str) -> FileError:
    """What to say of a file that does not hold what it should."""
    return FileError(
        f"{name} has been changed or damaged since it was saved ({what}); build it again"
    )
