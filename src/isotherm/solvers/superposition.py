"""Temperatures with others added to them: ``X = T + Σ_m V_m δ_m``, and how far rounding is off."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.rounding import ROOM, UNIT_ROUNDOFF

if TYPE_CHECKING:
    from numpy.typing import NDArray

AT_ONCE = 1 << 20  # numbers worked on


class Superposition(NamedTuple):
    """What is to be added up.

    Attributes
    ----------
    base : array of shape (n, k)
        T.
    terms : array of shape (m, n)
        V, of the same type.
    shares : array of shape (m, k)
        δ.
    exits : array of shape (n,)
        h, in which errors are measured; what happens where it is not positive does not count.
    bounds : two arrays of shape (k,)
        Within which the sum is moved.
    """

    base: NDArray[np.floating]
    terms: NDArray[np.floating]
    shares: NDArray[np.float64]
    exits: NDArray[np.float64]
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]]


def superpose(
    sum_of: Superposition,
) -> tuple[NDArray[np.floating], NDArray[np.float64]]:
    """The sum X, and the greatest ``|X − T − Σ_m V_m δ_m| / h`` of each column.

    The reference; `native/superpose.hpp` is the same in C++.

    Examples
    --------
    >>> T, V = np.array([[0.0], [0.25], [1.0]]), np.array([[0.0, 1.0, 0.5]])
    >>> within = np.array([0.0]), np.array([1.0])
    >>> one = Superposition(T, V, np.array([[0.5]]), np.array([0.0, 2.0, 2.0]), within)
    >>> X, off = superpose(one)
    >>> X.ravel().tolist(), off.round(3).tolist()
    ([0.0, 0.75, 1.0], [0.125])
    """
    T, V, shares, exits, (low, high) = sum_of
    X, level = np.empty_like(T), np.zeros(T.shape[1])
    unit = 2 * ROOM * (len(V) + 2) * UNIT_ROUNDOFF
    low, high = low.astype(T.dtype), high.astype(T.dtype)
    step = max(AT_ONCE // T.shape[1], 1)
    for first in range(0, len(T), step):
        rows = slice(first, first + step)
        own, some = T[rows].astype(np.float64), V[:, rows].T.astype(np.float64)
        exact = own + some @ shares
        np.clip(exact.astype(T.dtype), low, high, out=X[rows])
        off = np.abs(X[rows] - exact) + unit * (np.abs(own) + np.abs(some) @ np.abs(shares))
        counts = exits[rows] > 0
        found = off[counts] / exits[rows][counts, np.newaxis]
        level = np.maximum(level, found.max(axis=0, initial=0.0))
    return X, level * (1 + 8 * UNIT_ROUNDOFF)  # for its own rounding
