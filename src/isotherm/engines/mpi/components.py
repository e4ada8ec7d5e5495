"""Components across ranks: which nodes heat can reach, and from where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from isotherm.compiled import core, n_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.mpi.share import Share

NONE = np.iinfo(np.int64).max


def lowest_seeds(share: Share, boundary: NDArray[np.intp]) -> NDArray[np.int64]:
    """The least number of a seed in the component of each own node; −1 without one.

    Each rank finds the components of its own rows once. What is known at one node of such a part
    holds at all of them; ranks tell each other what they know of the nodes on both sides until
    nothing changes. Parts without a seed need no rounds: they wait for one that never comes.

    Parameters
    ----------
    share : Share
    boundary : int array
        Own nodes that are seeds.
    """
    part = _parts(share)
    known = np.full(share.n_all, NONE)
    known[boundary] = share.first + boundary
    order = np.argsort(part, kind="stable")
    begin = np.flatnonzero(np.diff(part[order], prepend=-1))
    while True:
        lowest = np.minimum.reduceat(known[order], begin) if len(begin) else known[:0]
        found = lowest[part] if len(part) else known
        before = found.copy()
        share.halo.fill(found)
        np.minimum(found, before, out=found)
        changed = not np.array_equal(found, known)
        known = found
        if not share.ranks.any(changed):
            known = known[: share.n_own]
            return np.where(known == NONE, -1, known)


def _parts(share: Share) -> NDArray[np.int32]:
    """The component of each node by own rows alone, numbered from 0."""
    rows = share.rows
    if rows.compiled:
        part = np.empty(share.n_all, dtype=np.int32)
        core.components(rows.start, rows.ends, part, n_threads(), share.n_own)
        return part
    ones = np.ones(len(rows.ends), dtype=np.int8)
    matrix = scipy.sparse.csr_array((ones, rows.ends, rows.start), shape=(share.n_all,) * 2)
    _, found = scipy.sparse.csgraph.connected_components(matrix, directed=False)
    return np.asarray(found)
