"""Views of a graph and the model that combines them: logits and probabilities of nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from isotherm.read_only import Sealed
from isotherm.trust.calibrate import log_sum

if TYPE_CHECKING:
    import scipy
    from numpy.typing import NDArray

    from isotherm.stacking.model import Stack
    from isotherm.stacking.views import Views


@dataclass(frozen=True, eq=False)
class Softmax(Sealed):
    """Logits → probabilities.

    Attributes
    ----------
    shift : array of shape (K,)
        What was taken off the logits to balance the classes.
    n_judged : int
        Seeds left out that the model was fitted to.
    """

    shift: NDArray[np.float64]
    n_judged: int

    def __call__(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of the classes, rows that sum to 1; NaN where there are no logits."""
        Z = logits + self.shift
        return np.asarray(np.exp(Z - log_sum(Z)))


@dataclass(frozen=True, eq=False)
class Combination:
    """What all views together say.

    Attributes
    ----------
    views : Views
    stack : Stack
    softmax : Softmax
        Of the logits, which decide between the classes.
    """

    views: Views
    stack: Stack
    softmax: Softmax

    def logits(self, rows: slice | NDArray[np.intp]) -> NDArray[np.float64]:
        """Of some nodes, shape (m, K)."""
        return self.stack.logits(self.views.at(rows)) - self.softmax.shift

    def bounds(self, rows: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Between which those are, within the proven errors of all temperatures."""
        return self.stack.bounds(*self.views.bounds(rows), self.softmax.shift)

    def extended(
        self, weights: scipy.sparse.csr_array, degrees: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Those of new nodes, see `isotherm.stacking.flows.Flow.extended`."""
        return self.stack.logits(self.views.extended(weights, degrees)) - self.softmax.shift

    def balanced(self, sizes: NDArray[np.float64], balance: float) -> Combination:
        """The same with classes of these mean probabilities shifted towards equal ones."""
        shift = balance * np.log(sizes + 1e-12)
        return replace(self, softmax=replace(self.softmax, shift=shift))


def lead(
    Z: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """By how much the best class of each row is ahead of all others, at the worst.

    Parameters
    ----------
    Z, low, high : arrays of shape (m, K)
        Logits, and between which they are.

    Examples
    --------
    >>> Z = np.array([[2.0, 1.0], [2.0, 1.9]])
    >>> lead(Z, Z - 0.1, Z + 0.1).round(6).tolist()
    [0.8, -0.1]
    """
    rows, best = np.arange(len(Z)), Z.argmax(axis=1)
    rivals = high.copy()
    rivals[rows, best] = -np.inf
    with np.errstate(invalid="ignore"):  # ∞ − ∞: nothing is known
        return np.asarray(low[rows, best] - rivals.max(axis=1))
