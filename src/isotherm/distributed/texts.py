"""Texts between ranks: how they are hashed to an owner, and sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from isotherm.graph.texts import buffers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from isotherm.engines.mpi.ranks import Ranks

OFFSET, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # of FNV-1a


def hash_texts(column: pa.Array) -> NDArray[np.uint64]:
    """A number of 64 bits for each text, the same on all machines (FNV-1a, then mixed).

    Examples
    --------
    >>> hashes = hash_texts(pa.array(["a", "b", "a", ""]))
    >>> len(set(hashes.tolist())), bool(hashes[0] == hashes[2])
    (3, True)
    """
    start, data = buffers_of(column)
    begin, lengths = start[:-1].astype(np.int64), np.diff(start).astype(np.int64)
    found = np.full(len(begin), OFFSET)
    left = np.flatnonzero(lengths > 0)
    place = 0
    while len(left):
        found[left] = (found[left] ^ data[begin[left] + place]) * PRIME
        place += 1
        left = left[lengths[left] > place]
    return mixed(found)


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers of 64 bits whose every bit depends on all bits of those given (SplitMix64's end)."""
    found = numbers ^ (numbers >> np.uint64(30))
    found = found * np.uint64(0xBF58476D1CE4E5B9)
    found ^= found >> np.uint64(27)
    found *= np.uint64(0x94D049BB133111EB)
    return np.asarray(found ^ (found >> np.uint64(31)))


def send_texts(ranks: Ranks, parts: Sequence[pa.Array]) -> list[pa.Array]:
    """Send a column of texts to each rank, and get one from each."""
    wide = [part.cast(pa.large_string()) for part in parts]
    if ranks.size == 1:
        return wide
    lengths, contents = [], []
    for part in wide:
        start, data = buffers_of(part)
        lengths.append(np.diff(start).astype(np.int32))
        contents.append(data[start[0] : start[-1]])
    got = ranks.exchange(lengths, "names")
    texts = ranks.exchange(contents, "names")
    return [_column(own, content) for own, content in zip(got, texts, strict=True)]


def _column(lengths: NDArray[np.int32], data: NDArray[np.uint8]) -> pa.Array:
    start = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    parts = [None, pa.py_buffer(start), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.large_string(), len(lengths), parts)


def joined(parts: Sequence[pa.Array]) -> pa.Array:
    """Several columns one after the other."""
    if not parts:
        return pa.array([], pa.large_string())
    return pa.concat_arrays([part.cast(pa.large_string()) for part in parts])
