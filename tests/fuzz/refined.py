"""Temperatures of graphs too large for fractions: sparse LU, refined in extended precision.

The error of the reference itself is bounded as in docs/certificate.md, with residuals in extended
precision; where the platform has none, or weights are too far apart, the bound says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isotherm import Graph

ROUNDS = 6  # of refinement
EPS = np.finfo(np.longdouble).eps


@dataclass(frozen=True)
class Refined:
    """Temperatures in extended precision and a bound on their own error.

    Attributes
    ----------
    T : array of shape (n, k)
        NaN at nodes that no heat reaches.
    slack : array of shape (n, k)
        Bound on the error of T; infinite where nothing is known.
    """

    T: np.ndarray
    slack: np.ndarray

    @property
    def reached(self) -> np.ndarray:
        """Which nodes have a temperature."""
        return ~np.isnan(self.T[:, 0])

    def nearest(self) -> np.ndarray:
        """The same in float64."""
        return self.T.astype(np.float64)

    def outside(self, T: np.ndarray, bounds: np.ndarray) -> Iterator[tuple[int, int, float]]:
        """Entries (node, column, error) of T that are farther off than their bound."""
        error = np.abs(T.astype(np.longdouble) - self.T)
        beyond = ~(error <= bounds + self.slack) & self.reached[:, np.newaxis]
        for i, k in np.argwhere(beyond).tolist():
            yield i, k, float(error[i, k])

    def left_out(self, bounds: np.ndarray) -> int:
        """How many entries cannot be judged: the reference is no better than their bound."""
        return int(np.count_nonzero(self.slack[self.reached] > bounds[self.reached] / 4))

    def with_zeros(self) -> Refined:
        """The same with temperature 0 where there is none."""
        return Refined(np.nan_to_num(self.T, nan=0.0), np.nan_to_num(self.slack, nan=0.0))


def refined(
    graph: Graph,
    seeds: Sequence[int],
    values: Sequence[Sequence[float]],
    *,
    leak: float = 0.0,
    confidence: Sequence[float] | None = None,
) -> Refined:
    """Solve in float64, refine and bound the error; arguments as in `exact.exact_shares`."""
    with np.errstate(all="ignore"):
        A, ends = _tied(graph, seeds, confidence)
        n, Y = graph.n_nodes, np.array(values, dtype=np.longdouble)
        pattern = sparse.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
        _, part = connected_components(pattern, directed=False)
        reached = np.isin(part, part[ends])
        is_free = reached.copy()
        is_free[ends] = False
        T = np.full((A.shape[0], Y.shape[1]), np.nan, dtype=np.longdouble)
        slack = T.copy()
        T[ends], slack[ends] = Y, 0
        if is_free.any():
            rows = A[is_free]
            lost = np.longdouble(leak) * _sums(rows[:, :n])  # not along a tie
            T[is_free], slack[is_free] = _solved(rows[:, is_free], rows[:, ends], Y, lost)
        return Refined(T[:n], slack[:n])


def _tied(
    graph: Graph, seeds: Sequence[int], confidence: Sequence[float] | None
) -> tuple[sparse.csr_array, np.ndarray]:
    """The adjacency in extended precision with a node for each tie, and what is held."""
    A = graph.adjacency.astype(np.longdouble)
    ends = np.array(seeds, dtype=np.intp)
    sure = np.array(confidence or [1.0] * len(ends), dtype=np.longdouble)
    tied = np.flatnonzero(sure < 1)
    if len(tied) == 0:
        return A, ends
    degree = _sums(A)
    at = ends[tied]
    weight = np.where(degree[at] > 0, degree[at], 1) * sure[tied] / (1 - sure[tied])
    ties = sparse.csr_array((weight, (at, np.arange(len(at)))), shape=(A.shape[0], len(at)))
    ends[tied] = A.shape[0] + np.arange(len(at))
    return sparse.block_array([[A, ties], [ties.T, None]], format="csr"), ends


def _solved(
    inner: sparse.csr_array, outer: sparse.csr_array, Y: np.ndarray, lost: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Temperatures of the free nodes, and bounds on their errors.

    The proof of `isotherm.solvers.certificate`, with degrees d for the gauge: if ``|r| ≤ ρ d`` and
    ``M h ≥ (1 − η) d`` then errors are at most ``ρ h / (1 − η)``.
    """
    degree = _sums(inner) + _sums(outer)
    M = (sparse.diags_array(degree + lost) - inner).tocsr()
    terms = np.diff(inner.indptr) + np.diff(outer.indptr) + 8
    try:
        factors = splu(M.astype(np.float64).tocsc())
    except RuntimeError:  # singular in float64
        return _nothing(len(degree), Y.shape[1])
    B = np.column_stack([outer @ Y, degree])
    sizes = np.column_stack([outer @ np.abs(Y), degree])
    X = np.zeros_like(B)
    for _ in range(ROUNDS):
        R = B - M @ X
        unit = np.maximum(np.abs(R).max(axis=0), np.finfo(np.float64).tiny)
        X = X + unit * factors.solve((R / unit).astype(np.float64))
    R = np.abs(B - M @ X)
    # The diagonal is rounded, too: beside a self loop little may be left of a degree.
    diagonal = (degree + lost)[:, np.newaxis] * np.abs(X)
    R = R + (EPS * terms)[:, np.newaxis] * (sizes + diagonal + abs(M) @ np.abs(X))
    R = np.nan_to_num(R / degree[:, np.newaxis], nan=np.inf).max(axis=0)
    h, eta = X[:, -1], R[-1]
    slack = np.outer(h, R[:-1]) / (1 - eta)
    if not (eta < 0.5 and (h >= 0).all() and np.isfinite(slack).all()):
        return _nothing(len(degree), Y.shape[1])
    return X[:, :-1], slack


def _nothing(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Temperatures of which nothing is known."""
    return np.zeros((n, k), np.longdouble), np.full((n, k), np.inf, dtype=np.longdouble)


def _sums(matrix: sparse.csr_array) -> np.ndarray:
    """The sum of each row."""
    return matrix @ np.ones(matrix.shape[1], dtype=np.longdouble)
