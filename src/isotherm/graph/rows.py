"""Rows: the adjacency matrix as its three arrays, and how edges and matrices become one."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy

from isotherm.arithmetic import in_standard_arithmetic
from isotherm.compiled import MOST_NODES, core, n_threads
from isotherm.graph.weights import canonical, check_structure, check_weights, damaged, symmetric
from isotherm.read_only import Sealed, cached_property

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

INT32_MAX = np.iinfo(np.int32).max
NOWHERE = 2**63 - 1  # behind all nodes
BLOCK = 1 << 22  # entries that are looked at at once
FEW = 1 << 12  # entries whose product NumPy makes as quickly as SciPy
PANEL = 16  # columns that the core multiplies at once
A_PART = 1 << 14  # rows whose lengths are looked at at once: they stay in the cache


@dataclass(frozen=True, eq=False)
class Rows(Sealed):
    """A symmetric CSR matrix: sorted, without duplicates, zeros or, for 0/1 graphs, weights.

    Attributes
    ----------
    start : int64 array of shape (n + 1,)
        Row i has the entries from ``start[i]`` to ``start[i + 1]``.
    ends : int32 array of shape (nnz,)
        The column of each entry (int64 beyond two billion nodes).
    weights : float64 array of shape (nnz,) or None
        None: all weights are 1.
    """

    start: NDArray[np.int64]
    ends: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    is_mapped: ClassVar[bool] = False  # whether the arrays are in a file

    @property
    def n_nodes(self) -> int:
        """Number of rows."""
        return len(self.start) - 1

    @property
    def n_entries(self) -> int:
        """Number of entries."""
        return len(self.ends)

    @property
    def has_weights(self) -> bool:
        """Whether entries have weights other than 1."""
        return self.weights is not None

    @property
    def compiled(self) -> bool:
        """Whether the core is there and can work on these rows."""
        return core is not None and self.n_nodes <= MOST_NODES

    def look(self) -> None:
        """See that arrays in a file are as they were: GraphError if it was written over since."""

    def steady(self) -> AbstractContextManager[None]:
        """While something is found in the arrays: GraphError if their file is changed meanwhile."""
        return nullcontext()

    def lengths(self) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """Entries of each row, a part of the rows at a time: nothing as large as them is made."""
        for first in range(0, self.n_nodes, A_PART):
            start = self.start[first : first + A_PART + 1]
            yield slice(first, first + A_PART), start[1:] - start[:-1]

    @cached_property
    def longest(self) -> int:
        """Entries of the longest row."""
        return max((int(lengths.max()) for _, lengths in self.lengths()), default=0)

    def knowing(self, longest: int) -> Rows:
        """The same, which need not look for the longest row any more."""
        self.__dict__["longest"] = longest
        return self

    @cached_property
    def n_thin(self) -> int:
        """Rows of at most two entries: nodes within paths, or at the ends of them."""
        return sum(int(np.count_nonzero(lengths <= 2)) for _, lengths in self.lengths())

    @in_standard_arithmetic
    def sums(self) -> NDArray[np.float64]:
        """Sum of each row: the degrees."""
        if self.weights is None:
            return np.subtract(self.start[1:], self.start[:-1], dtype=np.float64)
        if not self.compiled:
            with np.errstate(over="ignore"):
                return np.asarray(self.matrix() @ np.ones(self.n_nodes))
        sums = np.empty(self.n_nodes)
        core.row_sums(self.start, self.ends, self.weights, sums, n_threads())
        return sums

    def entries(self, nodes: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the entries of some rows are, one row after the other, and how many each has."""
        first, counts = self.start[nodes], self.start[nodes + 1] - self.start[nodes]
        before = counts.cumsum() - counts
        return (first - before).repeat(counts) + np.arange(counts.sum()), counts

    def near(self, nodes: NDArray[np.intp]) -> Rows:  # noqa: ARG002
        """Rows of which those of these nodes are as they are here; others may be empty.

        Of a saved graph, no other row is looked at for it.
        """
        return self

    def among(self, nodes: NDArray[np.intp]) -> Rows:
        """The entries between some nodes, all different, numbered in their order."""
        place = np.full(self.n_nodes, -1, dtype=np.int32)
        place[nodes] = np.arange(len(nodes))
        entries, counts = self.entries(nodes)
        row, ends = np.repeat(np.arange(len(nodes)), counts), place[self.ends[entries]]
        order = np.lexsort((ends, row))
        order = order[ends[order] >= 0]
        start = np.searchsorted(row[order], np.arange(len(nodes) + 1))
        weights = None if self.weights is None else self.weights[entries][order]
        return Rows(start.astype(np.int64), ends[order], weights)

    def products(self, nodes: Iterable[int], X: NDArray[np.generic]) -> NDArray[np.float64]:
        """Some rows of ``A X``, in float64; X has shape (n, k), or fewer rows: the others are 0."""
        found = []
        for i in nodes:
            entries = np.arange(self.start[i], self.start[i + 1])
            entries = entries[self.ends[entries] < len(X)]
            heat = X[self.ends[entries]].astype(np.float64)
            weights = None if self.weights is None else self.weights[entries]
            found.append(heat.sum(axis=0) if weights is None else weights @ heat)
        return np.array(found, dtype=np.float64).reshape(-1, X.shape[1])

    @property
    def are_few(self) -> bool:
        """Whether there are so few entries that `product` is as quick as SciPy's."""
        return self.n_entries <= FEW

    def product(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """``A X``, X of shape (n, k), without SciPy, which takes long to load."""
        terms = X[self.ends].astype(np.float64, copy=False)
        if self.weights is not None:
            terms *= self.weights[:, np.newaxis]
        return row_sums(self.start[1:] - self.start[:-1])(terms)

    def multiply(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        """``A X`` in single precision, X of shape (n, k); best 16 columns at a time."""
        if not self.compiled:
            return np.asarray(self.matrix().astype(np.float32) @ X)
        found = np.empty_like(X)
        if X.shape[1] == PANEL:
            core.multiply(self.start, self.ends, self.weights, X, found, n_threads())
            return found
        for first in range(0, X.shape[1], PANEL):
            some = X[:, first : first + PANEL]
            panel = np.zeros((self.n_nodes, PANEL), dtype=np.float32)
            panel[:, : some.shape[1]] = some
            found[:, first : first + PANEL] = self.multiply(panel)[:, : some.shape[1]]
        return found

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Ranges of rows, from the first to the last, with about as many entries each."""
        cuts = np.searchsorted(self.start, np.arange(0, self.n_entries, BLOCK), side="right") - 1
        cuts = np.unique([0, *cuts, self.n_nodes])
        yield from zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)

    def n_loops(self, first_node: int = 0) -> int:
        """Number of nodes with a self loop; of some rows, that of the first is `first_node`."""
        count = 0
        for first, last in self.blocks():
            start = self.start[first : last + 1]
            nodes = np.arange(first_node + first, first_node + last, dtype=self.ends.dtype)
            own = np.repeat(nodes, np.diff(start))
            count += int(np.count_nonzero(own == self.ends[start[0] : start[-1]]))
        return count

    def components(self, first_ghost: int = NOWHERE) -> NDArray[np.int32]:
        """The connected component of each node, numbered from 0.

        Nodes from `first_ghost` on have no rows of their own, though others lead to them.
        """
        if not self.compiled:
            from scipy.sparse.csgraph import connected_components

            _, found = connected_components(self.matrix(), directed=False)
            return np.asarray(found)
        component = np.empty(self.n_nodes, dtype=np.int32)
        core.components(self.start, self.ends, component, n_threads(), first_ghost)
        return component

    def matrix(self) -> scipy.sparse.csr_array:
        """The same as a SciPy matrix of float64, which has room for weights."""
        fits = max(len(self.ends), self.n_nodes) <= INT32_MAX
        dtype = np.int32 if fits else np.int64
        data = np.ones(len(self.ends)) if self.weights is None else self.weights
        parts = (data, self.ends.astype(dtype, copy=False), self.start.astype(dtype, copy=False))
        return scipy.sparse.csr_array(parts, shape=(self.n_nodes,) * 2)

    @classmethod
    def of(cls, matrix: scipy.sparse.csr_array) -> Rows:
        """Rows of a canonical symmetric matrix of float64, sharing what arrays it can."""
        ends = matrix.indices
        if matrix.shape[0] <= MOST_NODES:
            ends = ends.astype(np.int32, copy=False)
        weights = None if (matrix.data == 1).all() else matrix.data
        return cls(matrix.indptr.astype(np.int64, copy=False), ends, weights)


def clean(
    data: NDArray[np.generic],
    indices: NDArray[np.generic],
    indptr: NDArray[np.generic],
    shape: tuple[int, int] | None = None,
) -> scipy.sparse.csr_array:
    """A matrix of these arrays, which are sorted and without duplicates; by default square."""
    shape = shape or (len(indptr) - 1, len(indptr) - 1)
    found = scipy.sparse.csr_array((data, indices, indptr), shape=shape)
    found.has_canonical_format = True
    return found


def row_sums(counts: NDArray[np.int64]) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Sums over rows of so many entries each, some of them empty."""
    begin = counts.cumsum() - counts
    some = counts > 0

    def sums(terms: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.zeros((len(counts), terms.shape[1]))
        found[some] = np.add.reduceat(terms, begin[some])
        return found

    return sums


def rows_from_edges(
    n_nodes: int,
    source: NDArray[np.generic],
    target: NDArray[np.generic],
    weights: NDArray[np.float64] | None,
) -> Rows:
    """Rows of the graph with these edges, each both ways; duplicates merge or add up.

    Parameters
    ----------
    n_nodes : int
    source, target : int arrays of shape (m,)
        Positions, all in 0 … n − 1.
    weights : float64 array of shape (m,) or None
        All > 0.
    """
    if core is not None and n_nodes <= MOST_NODES:
        both = np.int32 if source.dtype == target.dtype == np.int32 else np.int64
        first: NDArray[np.int64] = np.ascontiguousarray(source, dtype=both)
        second: NDArray[np.int64] = np.ascontiguousarray(target, dtype=both)
        given = None if weights is None else np.ascontiguousarray(weights)
        start, found, sums = core.from_edges(n_nodes, first, second, given, n_threads())
        return Rows(start, found, None if sums is None or (sums == 1).all() else sums)
    # Duplicates are added up in one triangle and then mirrored, so that rounding cannot make
    # the two halves differ.
    data = np.ones(len(source)) if weights is None else weights
    triangle = (np.minimum(source, target), np.maximum(source, target))
    upper = scipy.sparse.coo_array((data, triangle), shape=(n_nodes, n_nodes)).tocsr()
    if weights is None:
        upper.data[:] = 1.0
    return Rows.of((upper + scipy.sparse.triu(upper, k=1).T).tocsr())


def rows_from_matrix(csr: scipy.sparse.csr_array) -> Rows:
    """Rows of a square matrix where it is symmetric, else of A + Aᵀ (0/1: the union).

    They are copies: what becomes of the matrix afterwards changes nothing.

    Parameters
    ----------
    csr : scipy.sparse.csr_array of shape (n, n)
        As `as_csr` makes it.

    Raises
    ------
    GraphError
        Entries that are not finite non-negative real numbers.
    """
    if core is not None and csr.shape[0] <= MOST_NODES:
        if csr.indices.dtype != np.int32:  # of which more may point outside than 32 bits show
            check_structure(csr)
        start, ends = csr.indptr.astype(np.int64), csr.indices.astype(np.int32)
        weights = None if csr.dtype != np.float64 and (csr.data == 1).all() else csr.data
        weights = None if weights is None else weights.astype(np.float64, copy=False)
        try:
            found = core.inspect(start, ends, weights, n_threads())
        except (IndexError, ValueError) as error:
            check_structure(csr)  # says what is wrong
            raise damaged(error) from None
        if found["faulty"]:
            check_weights(csr.data)
        if found["sorted"] and found["symmetric"] and not found["zeros"]:
            weights = None if weights is None or found["ones"] else weights.copy()
            return Rows(start, ends, weights).knowing(found["longest"])
    return Rows.of(symmetric(canonical(csr)))
