"""An embedding of the nodes that knows no labels: alike are nodes whose surroundings are.

Eigenvectors U of ``S = D^-½ A D^-½`` with their eigenvalues λ, as random walks of up to five steps
see them: rows of ``U √|f(λ)|`` with ``f(λ) = (λ + … + λ⁵) / 5``, of unit length, then averaged with
those one and two steps away and of unit length again.

The eigenvectors are found in a subspace: some random vectors, filtered by polynomials of S that
are large where its largest eigenvalues are (Chebyshev's, as in Zhou, Saad, Tiago and Chelikowsky,
2006). They need not be exact: what they are worth is judged by seeds left out. But they must be the
same whatever the order of nodes, which changes how sums are rounded. So vectors are made
orthonormal before some are so much larger than others that rounding drowns these, and of
eigenvectors that are worth as much all are taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from isotherm.graph.keys import node_keys, salted, streams
from isotherm.graph.rows import PANEL
from isotherm.stacking.flows import damped

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.graph.nodes import NodeIndex
    from isotherm.graph.rows import Rows

    Vectors = NDArray[np.float32]

DIMENSIONS = 96
SPARE = 16  # vectors beyond these, which make the others converge
POWER = 3  # of S that random vectors are multiplied by at first
DEGREES = (8, 8)  # of the filters
MOST_APART = 100.0  # times as large as others may vectors become before they are orthonormal again
LEVEL = 1e-4  # relative difference of the worth of eigenvectors up to which it is the same
FEW_NODES = 256  # of which all eigenvectors are found
WALK = 5  # steps
AROUND = 2  # steps over which rows are averaged
PANELS = (DIMENSIONS + SPARE) // PANEL
PRODUCTS = POWER + sum(DEGREES) + len(DEGREES) + 1 + AROUND  # of each panel
MOST_NUMBERS = 1 << 26  # of the vectors: 256 MiB
MOST_ENTRIES = 40_000_000  # of the adjacency matrix
ROWS = 1 << 13  # of the vectors, that are drawn at once

_found: WeakKeyDictionary[Graph, Vectors] = WeakKeyDictionary()


def fits(n_nodes: int, n_entries: int) -> bool:
    """Whether a graph is small enough to be embedded in bounded time and memory."""
    return n_nodes * (DIMENSIONS + SPARE) <= MOST_NUMBERS and n_entries <= MOST_ENTRIES


def memory_of_embedding(n_nodes: int) -> int:
    """Bytes that it takes while it is found."""
    return 4 * 4 * (DIMENSIONS + SPARE) * n_nodes


def embed(graph: Graph, progress: Callable[[], None] | None = None) -> Vectors:
    """Rows of unit length, shape (n, p); 0 at isolated nodes. Found once for a graph.

    Parameters
    ----------
    graph : Graph
    progress : callable, optional
        Called now and then; what it raises ends the work.

    Examples
    --------
    Two triangles joined by an edge: nodes of the same one are closer.

    >>> from isotherm import Graph
    >>> X = embed(Graph.from_edges("abcxyzc", "bcayzxx"))
    >>> bool(X[0] @ X[1] > X[0] @ X[4])
    True
    """
    if graph not in _found:
        _found[graph] = _embed(graph, progress or (lambda: None))
    return _found[graph]


def _embed(graph: Graph, progress: Callable[[], None]) -> Vectors:
    smoothed, n = damped(graph, 0.5).rows, graph.n_nodes  # S
    if n <= FEW_NODES:
        values, V = np.linalg.eigh(smoothed.matrix().toarray())
        Q = np.eye(n, dtype=np.float32)
    else:
        values, Q, V = _subspace(smoothed, _starts(graph.nodes), progress)
    worth = np.abs(np.power.outer(values, np.arange(1, WALK + 1)).mean(axis=1))
    least = np.sort(worth)[-max(1, min(DIMENSIONS, n // 2))]
    (kept,) = (worth >= (1 - LEVEL) * least).nonzero()
    X = of_unit_length(Q @ (V[:, kept] * np.sqrt(worth[kept])).astype(np.float32))
    return averaged(graph, X, progress)


def _starts(nodes: NodeIndex) -> Vectors:
    """Random vectors, of numbers between −1 and 1 that follow from the ids of nodes."""
    keys = salted(node_keys(nodes), "embedding")
    X = np.empty((len(keys), DIMENSIONS + SPARE), dtype=np.float32)
    for first in range(0, len(keys), ROWS):
        some = slice(first, first + ROWS)
        X[some] = streams(keys[some], X.shape[1] // 4).astype("<u8", copy=False).view("<i2")
    X *= np.float32(2.0**-15)
    return X


def _subspace(
    S: Rows, X: Vectors, progress: Callable[[], None]
) -> tuple[NDArray[np.float64], Vectors, NDArray[np.float64]]:
    """Where the largest eigenvalues of S are: see `_eigen`."""
    for step in range(POWER):
        X = _by_panels(_orthonormal(X, passes=1) if step else X, progress, S.multiply)
    values, Q, V = _eigen(S, X, progress)
    for left in DEGREES:
        cut = float(np.clip(values[0], -0.2, 0.9))  # what is below is not wanted
        most = _highest_degree(cut)
        for done in range(0, left, most):
            degree = min(most, left - done)

            def filtered(panel: Vectors, degree: int = degree, cut: float = cut) -> Vectors:
                return _chebyshev(S, panel, degree, cut)

            Q = _by_panels(_orthonormal(Q, passes=1) if done else Q, progress, filtered)
        values, Q, V = _eigen(S, Q, progress)
    return values, Q, V


def averaged(graph: Graph, X: Vectors, progress: Callable[[], None]) -> Vectors:
    """Rows averaged with those around them, of unit length."""
    degrees = np.where(graph.degrees > 0, graph.degrees, 1.0)[:, np.newaxis].astype(np.float32)

    def around(panel: Vectors) -> Vectors:
        total = panel.copy()
        for _ in range(AROUND):
            panel = graph.rows.multiply(panel) / degrees
            total += panel
        return total

    return of_unit_length(_by_panels(X, progress, around))


def of_unit_length(X: Vectors) -> Vectors:
    """Rows divided by their lengths; those of zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X))[:, np.newaxis]
    return np.asarray(X / np.where(lengths > 0, lengths, 1.0))


def _by_panels(
    X: Vectors, progress: Callable[[], None], function: Callable[[Vectors], Vectors]
) -> Vectors:
    """A function of some columns at a time, which stay in the cache."""
    found = np.empty_like(X)
    for first in range(0, X.shape[1], PANEL):
        progress()
        some = slice(first, first + PANEL)
        found[:, some] = function(np.ascontiguousarray(X[:, some]))
    return found


def _highest_degree(cut: float) -> int:
    """Of a polynomial that is no more than `MOST_APART` at 1, the greatest eigenvalue of S."""
    centre, half = (cut - 1) / 2, (cut + 1) / 2
    return max(1, int(np.arccosh(MOST_APART) / np.arccosh((1 - centre) / half)))


def _chebyshev(S: Rows, X: Vectors, degree: int, cut: float) -> Vectors:
    """A polynomial of S that is at most 1 in size from −1 to `cut`, and large from there to 1."""
    centre, half = (cut - 1) / 2, (cut + 1) / 2

    def scaled(Y: Vectors, by: float) -> Vectors:
        return np.asarray(np.float32(by) * (S.multiply(Y) - np.float32(centre) * Y))

    before, now = X, scaled(X, 1 / half)
    for _ in range(degree - 1):
        before, now = now, scaled(now, 2 / half) - before
    return now


def _eigen(
    S: Rows, X: Vectors, progress: Callable[[], None]
) -> tuple[NDArray[np.float64], Vectors, NDArray[np.float64]]:
    """Rayleigh and Ritz: an orthonormal basis Q of the space of X, and S in it as V values Vᵀ."""
    Q = _orthonormal(X)
    B = (Q.T @ _by_panels(Q, progress, S.multiply)).astype(np.float64)
    values, V = np.linalg.eigh((B + B.T) / 2)
    return values, Q, V


def _orthonormal(X: Vectors, passes: int = 2) -> Vectors:
    """A basis of the space of X by the eigenvectors of its Gram matrix; twice to be accurate.

    Directions that rounding cannot tell from nothing are zeros.
    """
    for _ in range(passes):
        lengths = np.sqrt(np.einsum("ij,ij->j", X, X, dtype=np.float64))
        X = np.asarray(X / np.where(lengths > 0, lengths, 1.0).astype(np.float32))
        values, V = np.linalg.eigh((X.T @ X).astype(np.float64))
        kept = values > 1e-6 * values[-1]
        scale = np.where(kept, 1 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
        X = np.asarray(X @ (V * scale).astype(np.float32))
    return X
