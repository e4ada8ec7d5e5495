"""Where a name is, by a table on disk of which only what is needed is read.

Twice as many slots as names, or more, a power of two. A slot holds the position of a node and one
more, 0 if it is free. The table is made and asked by the core: `native/lookup.hpp`.
"""

from __future__ import annotations

import hashlib
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.compiled import core
from isotherm.errors import GraphError
from isotherm.graph.texts import buffers_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Starts = NDArray[np.int64] | None  # of texts; None: names are numbers of 8 bytes

_ALL, _HALF = (1 << 64) - 1, (1 << 32) - 1


def make_lookup(starts: Starts, data: NDArray[np.uint8]) -> tuple[int, NDArray[np.int32]] | None:
    """The key and the slots of a table of these names; None without the core.

    The key follows from the names, so that the same names make the same table, and nobody can
    prepare names that all collide.

    Raises
    ------
    GraphError
        If some names are there twice.
    """
    if core is None:
        return None
    key, slots = _empty(starts, data)
    doubled = core.fill_lookup(starts, data, key, slots)
    if doubled:
        raise GraphError(f"{doubled:,} names of nodes occur more than once")
    return key, slots


def slow_lookup(starts: Starts, data: NDArray[np.uint8]) -> tuple[int, NDArray[np.int32]]:
    """The same without the core, name by name; the names are known to be all different."""
    key, slots = _empty(starts, data)
    ends = range(0, len(data) + 1, 8) if starts is None else starts.tolist()
    names, filled = data.tobytes(), [0] * len(slots)
    for i, (first, last) in enumerate(pairwise(ends)):
        at = _hash(key, names[first:last]) * len(slots) >> 32
        while filled[at]:
            at = (at + 1) % len(slots)
        filled[at] = i + 1
    slots[:] = filled
    return key, slots


def _empty(starts: Starts, data: NDArray[np.uint8]) -> tuple[int, NDArray[np.int32]]:
    """The key of these names, and slots for them."""
    count = len(data) // 8 if starts is None else len(starts) - 1
    digest = hashlib.sha256(data.data).digest()
    key = int.from_bytes(digest[:8], "little") >> 1 | 1
    return key, np.zeros(n_slots(count), dtype=np.int32)


def _hash(key: int, text: bytes) -> int:
    """See `hash_text` in ``native/names.cpp``."""
    found = key ^ len(text)
    for at in range(0, len(text) - 8, 8):
        found = _fold(found ^ _number(text[at : at + 8]), 0x9E3779B97F4A7C15 ^ key)
    if len(text) >= 8:
        last = _number(text[-8:])
    elif len(text) >= 4:
        last = _number(text[:4]) << 32 | _number(text[-4:])
    else:
        last = text[0] << 16 | text[len(text) // 2] << 8 | text[-1] if text else 0
    return _fold(_fold(found ^ last, 0xBF58476D1CE4E5B9 ^ key), 0x94D049BB133111EB) >> 16 & _HALF


def _fold(a: int, b: int) -> int:
    product = a * b
    return (product ^ product >> 64) & _ALL


def _number(text: bytes) -> int:
    return int.from_bytes(text, sys.byteorder)


def n_slots(count: int) -> int:
    """Slots of a table of so many names.

    Examples
    --------
    >>> n_slots(3), n_slots(4), n_slots(5)
    (8, 8, 16)
    """
    return 1 << max(1, (2 * count - 1).bit_length())


def find_texts(
    wanted: Any, starts: NDArray[np.int64], data: NDArray[np.uint8], table: Table
) -> NDArray[np.intp]:
    """The position of each text of an Arrow array, −1 if it has none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = pc.is_null(wanted).to_numpy(zero_copy_only=False)
    texts = pc.fill_null(wanted, "").cast(pa.large_string())
    begin, own = buffers_of(texts)
    places = np.empty(len(texts), dtype=np.int64)
    core.find_names(starts, data, table.key, table.slots, begin, own, places)
    places[missing] = -1
    return places.astype(np.intp, copy=False)


def find_numbers(
    wanted: NDArray[np.int64], numbers: NDArray[np.int64], table: Table
) -> NDArray[np.intp]:
    """The position of each number, −1 if it has none."""
    places = np.empty(len(wanted), dtype=np.int64)
    own = np.ascontiguousarray(wanted).view(np.uint8)
    core.find_names(None, numbers.view(np.uint8), table.key, table.slots, None, own, places)
    return places.astype(np.intp, copy=False)


class Table:
    """The slots of a table, and the key of its hash."""

    def __init__(self, key: int, slots: NDArray[np.int32]) -> None:
        self.key, self.slots = key, slots
