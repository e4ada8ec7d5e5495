"""Keys of nodes: numbers as if drawn at random that follow from ids alone.

Whatever is drawn of nodes is drawn by keys, and so does not depend on the order of edges, part
files or labels. A key is a hash of the id as it is written: the same wherever the node stands,
whatever type of integer ids have, whether they are in memory or in a saved graph. 7, 7.0 and "7"
have the same key.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.errors import ParameterError
from isotherm.graph.texts import buffers_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.graph.nodes import NodeIndex

    Keys = NDArray[np.uint64]
    # Bytes, and where each id begins and ends among them.
    Written = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]

NODES_AT_ONCE = 1 << 13  # arrays of so many stay in the cache
DIGITS = 24  # bytes in which every integer can be written; a multiple of 8
LONGEST = 512  # bytes of an id that is hashed together with others
STEP = np.uint64(0x9E3779B97F4A7C15)  # of SplitMix64 (Steele, Lea and Flood 2014)


def node_keys(nodes: NodeIndex, positions: NDArray[np.intp] | None = None) -> Keys:
    """A key for each node, or for those at some positions; all different.

    Parameters
    ----------
    nodes : NodeIndex
    positions : int array of shape (m,), optional
        All different.

    Examples
    --------
    >>> from isotherm.graph.nodes import NodeIndex
    >>> numbers, texts = NodeIndex(np.array([3, 7])), NodeIndex(np.array(["7", "3"], dtype=object))
    >>> node_keys(numbers).tolist() == node_keys(texts)[::-1].tolist()
    True
    """
    written, count = _writer(nodes), len(nodes) if positions is None else len(positions)
    keys = np.empty(count, dtype=np.uint64)
    for first in range(0, count, NODES_AT_ONCE):
        some = slice(first, min(first + NODES_AT_ONCE, count))
        at = np.arange(some.start, some.stop) if positions is None else positions[some]
        keys[some] = _hashes(*written(at))
    _tell_apart(keys, nodes, positions)
    return keys


def salted(keys: Keys, purpose: str, random_state: int = 0) -> Keys:
    """Other keys, for one purpose: keys that differ still do.

    Parameters
    ----------
    keys : array of `node_keys`
    purpose : str
        Keys for different purposes have nothing to do with each other.
    random_state : int
        Nor have those of different states.

    Raises
    ------
    ParameterError
        If the state is not a whole number.
    """
    if not isinstance(random_state, int | np.integer):
        raise ParameterError(f"random_state must be a whole number, got {random_state!r}")
    salt = blake2b(f"{purpose} {random_state:d}".encode(), digest_size=8).digest()
    return _mixed(keys ^ np.uint64(int.from_bytes(salt, "little")))


def streams(keys: Keys, length: int) -> Keys:
    """So many numbers for each key, shape (m, length): SplitMix64 with the key as its seed."""
    return _mixed(keys[:, np.newaxis] + STEP * np.arange(1, length + 1, dtype=np.uint64))


def uniform(keys: Keys) -> NDArray[np.float64]:
    """Keys as numbers between 0 and 1, evenly spread."""
    return np.asarray((keys >> np.uint64(11)) + 0.5) * 2.0**-53


def least(keys: Keys, count: int) -> NDArray[np.intp]:
    """The places of so many keys, the least; in ascending order of places.

    Examples
    --------
    >>> least(np.array([5, 2, 9, 1], dtype=np.uint64), 2).tolist()
    [1, 3]
    """
    if count >= len(keys):
        return np.arange(len(keys))
    return np.sort(np.argpartition(keys, count)[:count])


def _writer(nodes: NodeIndex) -> Callable[[NDArray[np.intp]], Written]:
    """Writes the ids at some positions."""
    if nodes.are_positions:
        return _digits
    texts = nodes.texts
    if texts is not None:
        start, data = buffers_of(texts)
        return lambda at: (data, start[at].astype(np.int64), start[at + 1].astype(np.int64))
    ids = nodes.ids
    write = _digits if ids.dtype.kind in "iu" else _letters
    return lambda at: write(ids[at])


def _digits(numbers: NDArray[Any]) -> Written:
    data = numbers.astype(f"S{DIGITS}").view(np.uint8)
    first = np.arange(0, len(data), DIGITS)
    return data, first, first + np.count_nonzero(data.reshape(-1, DIGITS), axis=1)


def _letters(ids: NDArray[np.generic]) -> Written:
    written = [_as_text(node).encode("utf-8", "surrogatepass") for node in ids.tolist()]
    ends = np.cumsum([0, *map(len, written)])
    return np.frombuffer(b"".join([*written, b"."]), dtype=np.uint8), ends[:-1], ends[1:]


def _as_text(node: object) -> str:
    """An id as it is written, the same for numbers that are equal."""
    if isinstance(node, bool | np.bool_):
        return str(int(node))
    if isinstance(node, float | np.floating) and node.is_integer():
        return str(int(node))
    return str(node)


def _hashes(data: NDArray[np.uint8], first: NDArray[np.int64], last: NDArray[np.int64]) -> Keys:
    """Of each id: its length and words of eight bytes, mixed in one after the other."""
    lengths = last - first
    found = _mixed(lengths.astype(np.uint64) + STEP)
    for row in np.flatnonzero(lengths > LONGEST).tolist():
        digest = blake2b(data[first[row] : last[row]].tobytes(), digest_size=8).digest()
        found[row] = int.from_bytes(digest, "little")
    rows = np.flatnonzero((lengths > 0) & (lengths <= LONGEST))
    at, end = first[rows], last[rows]
    while len(rows):
        places = at[:, np.newaxis] + np.arange(8)
        letters = data.take(places, mode="clip")
        letters[places >= end[:, np.newaxis]] = 0
        words = letters.view("<u8")[:, 0].astype(np.uint64, copy=False)
        found[rows] = _mixed(found[rows] ^ words)
        at = at + 8
        left = at < end
        rows, at, end = rows[left], at[left], end[left]
    return found


def _mixed(numbers: Keys) -> Keys:
    """The output function of SplitMix64: numbers that differ still do."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(numbers ^ (numbers >> np.uint64(31)))


def _tell_apart(keys: Keys, nodes: NodeIndex, positions: NDArray[np.intp] | None) -> None:
    """Change keys that occur more than once, by the order of the ids that have them."""
    while True:
        ordered = np.sort(keys)
        doubled = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(doubled) == 0:
            return
        rows = np.flatnonzero(np.isin(keys, doubled))
        ids = nodes.ids[rows if positions is None else positions[rows]].tolist()
        by_id = sorted(range(len(ids)), key=lambda k: _in_full(ids[k]))
        rows = rows[by_id]
        keys[rows] = _mixed(keys[rows] + STEP * np.arange(1, len(rows) + 1, dtype=np.uint64))


def _in_full(node: object) -> tuple[str, str, str]:
    """By which ids are ordered that have the same key: 7 and "7" may both be nodes."""
    return _as_text(node), type(node).__name__, repr(node)
