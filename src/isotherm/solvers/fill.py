"""How much work a sparse factorisation is, counted before it is done.

Eliminating a node joins its neighbours to each other. These edges are entries of the factor that
the matrix does not have, its *fill*, and how many there are depends on the order of elimination.
`elimination_order` finds an order that suits trees and paths, and finds it by eliminating: without
numbers, only where there are entries. So what it counts is what a factorisation in that order has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOOK = 8  # looking at an entry while counting takes as long as so many multiplications
SPREAD = 2_654_435_769  # 2³² / φ: neighbours in the numbering are far apart in the hash


class Order(NamedTuple):
    """An order of elimination and what factorising in it takes.

    Attributes
    ----------
    nodes : int array of shape (n,)
        The first to be eliminated first.
    entries : int
        Of the lower triangular factor, its diagonal included.
    work : int
        Multiplications, ``Σ c²`` where c is the number of neighbours that a node has when it is
        eliminated.
    """

    nodes: NDArray[np.intp]
    entries: int
    work: int


def elimination_order(matrix: scipy.sparse.csr_array, most_work: float = np.inf) -> Order | None:
    """An order of elimination for a symmetric matrix, those of few neighbours first.

    Nodes go in rounds: in each those that have fewer neighbours than every node around them, ties
    broken by a hash, and no more than the mean. Of a path that is about every third node, of a star
    all leaves; a tree of n nodes is gone after some log n rounds.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
        Only where it has entries counts; the diagonal does not.
    most_work : float
        Give up as soon as the factorisation and the counting are seen to take more together.

    Returns
    -------
    Order or None
        None if it takes more work than that.

    Examples
    --------
    A star of five nodes: its leaves first, and nothing is filled in. Its hub first would have
    joined them all.

    >>> hub, leaves = np.zeros(4, dtype=int), np.arange(1, 5)
    >>> star = scipy.sparse.coo_array((np.ones(4), (hub, leaves)), shape=(5, 5)).tocsr()
    >>> order = elimination_order(star + star.T)
    >>> int(order.nodes[-1]), order.entries, order.work
    (0, 9, 4)
    >>> elimination_order(star + star.T, most_work=100) is None
    True
    """
    left = _pattern(matrix)
    nodes = np.arange(left.shape[0])
    order: list[NDArray[np.intp]] = []
    entries = work = looks = 0
    while len(nodes):
        n = len(nodes)
        looks += n + left.nnz
        if left.nnz == n * (n - 1):  # all are neighbours: they go one by one, whichever first
            going, counts = np.ones(n, dtype=bool), np.arange(n)
        else:
            going = _going(left, nodes)
            counts = np.diff(left.indptr)[going].astype(np.int64)
            looks += int((counts**2).sum())  # to join the neighbours of each
        entries += len(counts) + int(counts.sum())
        work += int((counts**2).sum())
        if work + LOOK * looks > most_work:
            return None
        order.append(nodes[going])
        left, nodes = _without(left, going), nodes[~going]
    return Order(np.concatenate([*order, nodes]), entries, work)


def _pattern(matrix: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Where a matrix has entries off its diagonal."""
    n = matrix.shape[0]
    rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
    off = rows != matrix.indices
    return scipy.sparse.csr_array(
        (np.ones(np.count_nonzero(off), dtype=bool), (rows[off], matrix.indices[off])), shape=(n, n)
    )


def _going(left: scipy.sparse.csr_array, nodes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which nodes go in this round, as a mask: no two of them neighbours."""
    neighbours = np.diff(left.indptr)
    few = max(2, -(-left.nnz // len(nodes)))  # no more than the mean: hubs go last
    going: NDArray[np.bool_] = neighbours <= few
    rank = neighbours * np.int64(2**32) + nodes * SPREAD % 2**32
    some = np.flatnonzero(neighbours)  # the others have no one to ask
    lowest = np.minimum.reduceat(rank[left.indices], left.indptr[some])
    going[some] &= rank[some] < lowest
    return going


def _without(left: scipy.sparse.csr_array, going: NDArray[np.bool_]) -> scipy.sparse.csr_array:
    """What is left when these are eliminated: their neighbours are joined."""
    rest = left[~going]
    ways = rest[:, going]
    return _pattern((rest[:, ~going] + ways @ ways.T).tocsr())
