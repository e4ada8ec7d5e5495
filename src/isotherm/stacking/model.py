"""The model that combines views of a graph, fitted to seeds left out.

See `isotherm.stacking`. Weights have normal priors around equal ones, the scale a is log-normal,
the influence r of the shares and the offsets b_k are around 0: with few seeds all views count
alike, and only many seeds can make one count for much more. Views that few seeds cannot judge have
weights around 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.read_only import Sealed
from isotherm.rounding import UNIT_ROUNDOFF
from isotherm.trust.calibrate import log_sum
from isotherm.trust.minimum import minimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.trust.minimum import Inverse

SCALE, SCALE_DEVIATION = 2.0, 0.5  # of a, the latter of its logarithm
WEIGHT_DEVIATION = 0.6  # of w, over the square root of the number of views
SHARE_DEVIATION = 0.1  # of r
OFFSET_DEVIATION = 0.3  # of b
CLOSE, ENOUGH = 1e-4, 1e-12  # relative change that ends the search, at first and at last


@dataclass(frozen=True, eq=False)
class Stack(Sealed):
    """The model, fitted.

    Attributes
    ----------
    weights : array of shape (E,)
        a w, what each view counts.
    offsets : array of shape (K,)
        ``r log π + b``, less what balances the classes.
    n_judged : int
        Seeds left out that it was fitted to.
    parameters : array of shape (E + 2 + K,), optional
        log a, w, r and b, close to those of a fit to almost the same seeds.
    """

    weights: NDArray[np.float64]
    offsets: NDArray[np.float64]
    n_judged: int
    parameters: NDArray[np.float64] | None = None

    def logits(self, views: NDArray[np.float64]) -> NDArray[np.float64]:
        """What decides between the classes, shape (m, K), of views of shape (E, m, K)."""
        return np.asarray(np.tensordot(self.weights, views, 1) + self.offsets)

    def bounds(
        self,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        shift: NDArray[np.float64] | float = 0.0,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Between which the logits less a shift are, if the views are between these.

        ±∞ on a side where a view that counts is unbounded.

        Examples
        --------
        >>> stack = Stack(np.array([1.0, 0.0, -2.0]), np.zeros(1), 0)
        >>> low, high = np.array([[-1.0], [0.0], [3.0]]), np.array([[1.0], [np.inf], [4.0]])
        >>> [end.round(9).item() for end in stack.bounds(low, high)]
        [-9.0, -5.0]
        """
        return self._end(low, high, shift, -1.0), self._end(high, low, shift, 1.0)

    def _end(
        self,
        views: NDArray[np.float64],
        others: NDArray[np.float64],
        shift: NDArray[np.float64] | float,
        side: float,
    ) -> NDArray[np.float64]:
        """One end: of `views` where a weight is positive, of `others` where it is negative.

        A weight of 0 is not multiplied: 0 · ∞ is NaN, and so is every sum it goes into.
        """
        total = np.broadcast_to(self.offsets - shift, views.shape[1:])
        size = np.broadcast_to(np.abs(self.offsets) + np.abs(shift), views.shape[1:])
        for weight, view, other in zip(self.weights, views, others, strict=True):
            if weight != 0:
                term = weight * (view if weight > 0 else other)
                total, size = total + term, size + np.abs(term)
        return np.asarray(total + side * (2 * len(views) + 8) * UNIT_ROUNDOFF * size)


def fit_stack(
    views: NDArray[np.float64],
    Y: NDArray[np.float64],
    shares: NDArray[np.float64],
    counts: NDArray[np.bool_],
    close: Stack | None = None,
) -> Stack:
    """The most likely model.

    Parameters
    ----------
    views : array of shape (E, m, K)
        Of seeds left out.
    Y : array of shape (m, K)
        What they are: rows of shares of the classes, times how much each row counts.
    shares : array of shape (K,)
        Of the classes among all seeds, all above 0.
    counts : bool array of shape (E,)
        Views that count from the start; the others must earn it.
    close : Stack, optional
        That of almost the same seeds.

    Examples
    --------
    One view that is always right, and one that knows nothing.

    >>> Y = np.eye(2)[np.arange(60) % 2]
    >>> views = np.array([Y - 0.5, Y[::-1] - 0.5 + (np.arange(120) % 7 / 3 - 1).reshape(60, 2)])
    >>> found = fit_stack(views, Y, np.array([0.5, 0.5]), np.array([True, True]))
    >>> bool(found.weights[0] > 1 > abs(found.weights[1]))
    True
    """
    (E, m, K), flat = views.shape, views.reshape(len(views), -1)
    log_share = np.log(shares) - np.log(shares).mean()
    rows = Y.sum(axis=1, keepdims=True)
    centre = np.concatenate([[np.log(SCALE)], counts / counts.sum(), np.zeros(1 + K)])
    deviation = np.concatenate(
        [
            [SCALE_DEVIATION],
            np.full(E, WEIGHT_DEVIATION / np.sqrt(counts.sum())),
            [SHARE_DEVIATION],
            np.full(K, OFFSET_DEVIATION),
        ]
    )

    def forward(theta: NDArray[np.float64]) -> tuple[float, NDArray[Any], NDArray[Any]]:
        """Scale a, weighted views X, and logarithms of probabilities."""
        a, w, r, b = np.exp(theta[0]), theta[1 : E + 1], theta[E + 1], theta[E + 2 :]
        X = (w @ flat).reshape(m, K)
        Z = a * X + r * log_share + b
        return a, X, Z - log_sum(Z)

    def inverse_hessian(theta: NDArray[np.float64]) -> Inverse:
        """By Gauss and Newton, as if b had nothing to do with the others."""
        a, X, log_P = forward(theta)
        P = np.exp(log_P)
        J = np.stack([a * X, *(a * views), np.broadcast_to(log_share, X.shape)])
        J -= np.einsum("imk,mk->im", J, P)[:, :, np.newaxis]
        H = np.array([J.reshape(E + 2, -1) @ (rows * P * one).ravel() for one in J])
        inverse = np.linalg.inv(H + np.diag(deviation[: E + 2] ** -2.0))
        own = 1 / ((rows * P * (1 - P)).sum(axis=0) + deviation[E + 2 :] ** -2.0)
        return lambda v: np.concatenate([inverse @ v[: E + 2], own * v[E + 2 :]])

    def loss(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Minus the logarithm of the posterior, and its gradient."""
        a, X, log_P = forward(theta)
        G = rows * np.exp(log_P) - Y
        by_class = G.sum(axis=0)
        gradient = np.concatenate(
            [[a * (G * X).sum()], a * (flat @ G.ravel()), [by_class @ log_share], by_class]
        )
        off = (theta - centre) / deviation
        return float(off @ off / 2 - (Y * log_P).sum()), gradient + off / deviation

    known = None if close is None else close.parameters
    theta = centre if known is None else known
    for enough in (CLOSE, ENOUGH) if known is None else (ENOUGH,):
        theta = minimum(loss, theta, enough=enough, inverse=inverse_hessian(theta))
    offsets = theta[E + 1] * log_share + theta[E + 2 :]
    return Stack(np.exp(theta[0]) * theta[1 : E + 1], offsets, m, theta)
