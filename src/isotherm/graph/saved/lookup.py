"""Where a name is, by a table on disk of which only what is needed is read.

Twice as many slots as names, or more, a power of two. A slot holds the position of a node and one
more, 0 if it is free. The table is made and asked by the core: `native/lookup.hpp`.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.compiled import core
from isotherm.errors import GraphError
from isotherm.graph.texts import buffers_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Starts = NDArray[np.int64] | None  # of texts; None: names are numbers of 8 bytes


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
    count = len(data) // 8 if starts is None else len(starts) - 1
    digest = hashlib.sha256(data.data).digest()
    key = int.from_bytes(digest[:8], "little") >> 1 | 1
    slots = np.zeros(n_slots(count), dtype=np.int32)
    doubled = core.fill_lookup(starts, data, key, slots)
    if doubled:
        raise GraphError(f"{doubled:,} names of nodes occur more than once")
    return key, slots


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
