"""How uncertain nodes are, and what labels of some would do to all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.engine import Session


class Doubts(NamedTuple):
    """How uncertain nodes are, arrays of shape (n,); 0 at seeds.

    Attributes
    ----------
    doubt : 1 minus the lead of the most probable class
    variance : 1 minus the sum of the squares of the probabilities
    """

    doubt: NDArray[np.float64]
    variance: NDArray[np.float64]

    @classmethod
    def of(cls, P: NDArray[np.float64], is_seed: NDArray[np.bool_]) -> Doubts:
        """From probabilities of shape (n, K); a node that has none (NaN) is in full doubt."""
        if P.shape[1] == 1:
            return cls(*np.zeros((2, len(P))))
        best = np.partition(P, -2, axis=1)
        doubt = np.nan_to_num(1 - (best[:, -1] - best[:, -2]), nan=1.0)
        variance = np.nan_to_num(1 - (P**2).sum(axis=1), nan=1.0)
        doubt[is_seed] = variance[is_seed] = 0.0
        return cls(doubt, variance)


class Responses:
    """What each of some free nodes would do to all others if it were held.

    Parameters
    ----------
    session : Session
    candidates : int array of shape (c,)
        Free nodes that heat reaches.
    nodes : int array of shape (m,)
        Where it matters.
    tol : float
    """

    def __init__(
        self,
        session: Session,
        candidates: NDArray[np.intp],
        nodes: NDArray[np.intp],
        tol: float,
    ) -> None:
        V = session.respond(candidates, tol)
        put_in = session.problem.capacities[candidates]
        G = V[candidates] / put_in
        self._G = (G + G.T) / 2
        self._H = np.nan_to_num(V[nodes]) / put_in
        self._sums = np.nansum(V, axis=0) / put_in  # of what is not proven: they only choose

    def shares(self) -> NDArray[np.float64]:
        """The g of each candidate at the nodes that matter, shape (m, c)."""
        return np.asarray(self._H / self._diagonal())

    def reach(self) -> NDArray[np.float64]:
        """Sum of g over all nodes, shape (c,)."""
        return np.asarray(self._sums / self._diagonal())

    def hold(self, k: int) -> None:
        """From now on candidate k is a seed: the responses of others are 0 there."""
        row = self._G[k] / self._G[k, k]
        self._H -= np.outer(self._H[:, k], row)
        self._sums -= self._sums[k] * row
        self._G -= np.outer(self._G[:, k], row)

    def _diagonal(self) -> NDArray[np.float64]:
        d: NDArray[np.float64] = np.array(self._G.diagonal(), dtype=np.float64)
        d[d <= 0] = np.inf  # held: no response any more
        return d
