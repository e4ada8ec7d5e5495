"""Ownership: which rank has which rows, in balance by entries, and the share that comes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from isotherm.compiled import MOST_NODES, core, n_threads
from isotherm.engines.mpi.halo import Halo
from isotherm.engines.mpi.share import Share
from isotherm.graph.rows import Rows
from isotherm.labels import different

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.mpi.ranks import Ranks
    from isotherm.read.edges import Growing

USUAL = 60  # the greatest weight is within 2 to the power of this, either way
PIECE, MOST_PIECES = 1 << 19, 16  # entries looked at at once, or a part of all
ROW_COST = 8  # a row costs about as much as so many entries even if it has none


def balanced_bounds(ranks: Ranks, n_entries: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the nodes of each rank begin and end, so that all have about as many entries.

    Parameters
    ----------
    ranks : Ranks
    n_entries : int array
        Entries of the rows that this rank has now. Nodes are numbered rank by rank.

    Returns
    -------
    array of shape (size + 1,)
        Each rank has at least one node as long as there are enough.
    """
    counts = ranks.gathered(np.int64(len(n_entries)))
    first = np.cumsum(counts) - counts
    costs = n_entries + ROW_COST
    totals = ranks.gathered(np.int64(costs.sum()))
    before = int(totals[: ranks.rank].sum())
    reached = before + np.cumsum(costs)
    n_nodes, total, size = int(counts.sum()), int(totals.sum()), ranks.size
    wanted = total * np.arange(1, size) / size
    # The cuts that lie among the nodes of this rank.
    own = (wanted > before) & (wanted <= before + int(totals[ranks.rank]))
    cuts = np.zeros(size - 1, dtype=np.int64)
    cuts[own] = first[ranks.rank] + np.searchsorted(reached - costs / 2, wanted[own])
    cuts = ranks.sums(cuts)
    bounds = np.concatenate([[0], np.minimum(cuts, n_nodes), [n_nodes]])
    if n_nodes >= size:  # hubs may fill ranks; none is left without a row
        floor = np.arange(size + 1)
        bounds = np.minimum(np.maximum(bounds, floor), n_nodes - floor[::-1])
        bounds = np.maximum.accumulate(bounds)
    return bounds.astype(np.int64)


def owner_of(nodes: NDArray[np.int64], bounds: NDArray[np.int64]) -> NDArray[np.intp]:
    """The rank that has each node."""
    return np.searchsorted(bounds, nodes, side="right") - 1


def share_of(
    ranks: Ranks,
    bounds: NDArray[np.int64],
    row: Growing[np.int32],
    column: Growing[np.int64],
    weights: Growing[np.float64] | None,
) -> Share:
    """The share of a rank from the entries of its rows.

    Parameters
    ----------
    ranks : Ranks
    bounds : int array of shape (size + 1,)
        See `Share`.
    row : Growing of int32
        The place of each entry's row among own rows.
    column : Growing of int64
        The number of the node that it leads to. There is no need for it afterwards: it is emptied.
    weights : Growing of float64, or None
        Entries of the same row and column add up; without weights they are one.
    """
    first, last = bounds[ranks.rank], bounds[ranks.rank + 1]
    n_own, numbers = int(last - first), column.array()
    # Some at a time: a copy of all would be the most that is ever needed.
    piece = max(PIECE, len(numbers) // MOST_PIECES)
    pieces = [slice(k, k + piece) for k in range(0, len(numbers), piece)]
    ghosts = np.empty(0, dtype=np.int64)
    for some in pieces:
        away = numbers[some][(numbers[some] < first) | (numbers[some] >= last)]
        ghosts = _merged(ghosts, away)
    n_all = n_own + len(ghosts)
    ends = np.empty(len(numbers), np.int32 if n_all < 2**31 else np.int64)
    for some in pieces:
        own = (numbers[some] >= first) & (numbers[some] < last)
        place = n_own + np.searchsorted(ghosts, numbers[some])
        ends[some] = np.where(own, numbers[some] - first, place)
    del numbers
    column.empty()
    given = None if weights is None else weights.array()
    rows = _rows(n_own, n_all, row.array(), ends, given)
    if weights is not None:
        rows = _in_range(ranks, rows)
    return Share(ranks, bounds, rows, Halo(ranks, bounds, ghosts))


def _merged(some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """All different numbers, sorted."""
    whole = np.concatenate([some, others])
    whole.sort()
    return different(whole)


def _in_range(ranks: Ranks, rows: Rows) -> Rows:
    """Weights in other units, a power of 2, where they come close to the limits of float64.

    As `isotherm.dirichlet.boundary.in_range` does; no digit may get lost.
    """
    weights = np.ones(1) if rows.weights is None else rows.weights
    greatest = float(ranks.gathered(np.float64(weights.max(initial=0.0))).max())
    exponent = -int(np.frexp(greatest)[1])
    scaled = np.ldexp(weights, exponent)
    lossy = not np.array_equal(np.ldexp(scaled, -exponent), weights)
    if abs(exponent) < USUAL or ranks.any(lossy):
        return rows
    return Rows(rows.start, rows.ends, np.resize(scaled, len(rows.ends)))


def _rows(
    n_own: int, n_all: int, row: NDArray[Any], ends: NDArray[Any], weights: NDArray[Any] | None
) -> Rows:
    if core is not None and n_all <= MOST_NODES and ends.dtype == np.int32:
        begin, found, sums = core.from_entries(0, n_own, n_all, row, ends, weights, n_threads())
        start = np.full(n_all + 1, begin[-1], dtype=np.int64)  # ghosts have no entries
        start[: n_own + 1] = begin
        return Rows(start, found, None if sums is None or (sums == 1).all() else sums)
    return _rows_by_scipy(n_own, n_all, row, ends, weights)


def _rows_by_scipy(
    n_own: int, n_all: int, row: NDArray[Any], ends: NDArray[Any], weights: NDArray[Any] | None
) -> Rows:
    if weights is not None and len(weights):
        # Duplicates add up in the order of their weights, so that both ranks that have an edge
        # find the same sum.
        order = np.argsort(weights, kind="stable")
        row, ends, weights = row[order], ends[order], weights[order]
        del order
    data = np.ones(len(row), np.int8) if weights is None else weights
    matrix = scipy.sparse.coo_array((data, (row, ends)), shape=(n_own, n_all)).tocsr()
    matrix.sum_duplicates()
    start = np.full(n_all + 1, matrix.indptr[-1], dtype=np.int64)
    start[: n_own + 1] = matrix.indptr
    given = None if weights is None or (matrix.data == 1).all() else matrix.data
    return Rows(start, matrix.indices.astype(np.int32, copy=False), given)
