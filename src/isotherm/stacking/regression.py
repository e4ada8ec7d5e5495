"""Logistic regression with a ridge: vectors → log probabilities of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isotherm.read_only import Sealed
from isotherm.trust.calibrate import log_sum
from isotherm.trust.minimum import minimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.trust.minimum import Inverse

RIDGE = 1 / 16  # for rows of unit length
RIDGE_OF_OFFSETS = 0.01
CLOSE, ENOUGH = 1e-4, 1e-10  # relative change that ends the search, at first and at last


@dataclass(frozen=True, eq=False)
class Regression(Sealed):
    """A fitted one.

    Attributes
    ----------
    weights : array of shape (p, K)
    offsets : array of shape (K,)
    """

    weights: NDArray[np.float64]
    offsets: NDArray[np.float64]

    def __call__(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Log probabilities of the classes, shape (m, K)."""
        Z = X @ self.weights + self.offsets
        return np.asarray(Z - log_sum(Z))


def regress(
    X: NDArray[np.floating], Y: NDArray[np.float64], start: Regression | None = None
) -> Regression:
    """Fit one.

    Parameters
    ----------
    X : array of shape (m, p)
        Rows of about unit length.
    Y : array of shape (m, K)
        What is known: rows of shares, times how much each row counts.
    start : Regression, optional
        One that may be close.

    Examples
    --------
    >>> X, Y = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), np.eye(2)[[0, 0, 1]]
    >>> regress(X, Y)(X).argmax(axis=1).tolist()
    [0, 0, 1]
    """
    (m, p), K = X.shape, Y.shape[1]
    X1 = np.column_stack([X, np.ones(m)]).astype(np.float64)
    ridge = np.append(np.full(p, RIDGE), RIDGE_OF_OFFSETS)[:, np.newaxis]
    counts = Y.sum(axis=1, keepdims=True)

    def log_probabilities(W: NDArray[np.float64]) -> NDArray[np.float64]:
        Z = X1 @ W
        return np.asarray(Z - log_sum(Z))

    def loss(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        W = theta.reshape(p + 1, K)
        log_P = log_probabilities(W)
        gradient = X1.T @ (counts * np.exp(log_P) - Y) + ridge * W
        return float((ridge * W * W).sum() / 2 - (Y * log_P).sum()), gradient.ravel()

    def inverse_hessian(W: NDArray[np.float64]) -> Inverse:
        """As if all classes had the same, and nothing to do with each other."""
        P = np.exp(log_probabilities(W))
        spread = counts * (P * (1 - P)).mean(axis=1, keepdims=True)
        inverse = np.linalg.inv((X1 * spread).T @ X1 + np.diag(ridge[:, 0]))
        return lambda vector: np.asarray(inverse @ vector.reshape(p + 1, K)).ravel()

    W = np.zeros((p + 1, K)) if start is None else np.vstack([start.weights, start.offsets])
    for enough in (CLOSE, ENOUGH) if start is None else (ENOUGH,):
        found = minimum(loss, W.ravel(), enough=enough, inverse=inverse_hessian(W))
        W = found.reshape(p + 1, K)
    return Regression(W[:p], W[p])
