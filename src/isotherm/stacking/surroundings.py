"""The seeds around a node: how many of each class are one step away, and two.

x is ``log(1 + c)`` for the weight c of the edges, or of the paths of two edges, that end at seeds
of a class, in units of the mean weight. A seed left out does not count for itself: of its paths of
two edges those that lead back are taken off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.read_only import Sealed, seal

if TYPE_CHECKING:
    import scipy
    from numpy.typing import NDArray

    from isotherm.graph import Graph

STEPS = ("seeds one step away", "seeds two steps away")


class Surroundings(Sealed):
    """What is around each node.

    Parameters
    ----------
    graph : Graph
    seeds : int array of shape (s,)
        Positions.
    values : array of shape (s, K)
        The classes of each, rows of shares.

    Examples
    --------
    >>> from isotherm import Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> around = Surroundings(path, np.array([0, 3]), np.eye(2))
    >>> np.expm1(around.at(np.array([1]))).round(6).tolist()  # one step, then two
    [[[1.0, 0.0]], [[0.0, 1.0]]]
    >>> np.expm1(around.left_out(np.array([0]))).round(6).tolist()
    [[[0.0, 0.0]], [[0.0, 0.0]]]
    """

    def __init__(self, graph: Graph, seeds: NDArray[np.intp], values: NDArray[np.floating]) -> None:
        self._seeds, self._values = seeds, values.astype(np.float64)
        self._unit = 1.0 if graph.rows.weights is None else float(graph.rows.weights.mean())
        A = graph.adjacency / self._unit
        self._one = np.asarray(A[:, seeds] @ self._values)
        self._two = np.asarray(A @ self._one)
        own = A[seeds]
        self._back = np.asarray(own.multiply(own).sum(axis=1)).ravel()
        self._loops = np.asarray(A.diagonal()[seeds])
        seal(self)

    def at(self, rows: slice | NDArray[np.intp]) -> NDArray[np.float64]:
        """X of some nodes, shape (2, m, K)."""
        return np.asarray(np.log1p([self._one[rows], self._two[rows]]))

    def left_out(self, places: NDArray[np.intp]) -> NDArray[np.float64]:
        """X of some seeds as if they were none, shape (2, m, K); by their place among all."""
        nodes, own = self._seeds[places], self._values[places]
        one = self._one[nodes] - self._loops[places, np.newaxis] * own
        two = self._two[nodes] - self._back[places, np.newaxis] * own
        return np.asarray(np.log1p(np.maximum([one, two], 0.0)))

    def extended(self, weights: scipy.sparse.csr_array) -> NDArray[np.float64]:
        """X of new nodes, given their weights to these."""
        Y = np.zeros_like(self._one)
        Y[self._seeds] = self._values
        W = weights / self._unit
        return np.asarray(np.log1p([W @ Y, W @ self._one]))
