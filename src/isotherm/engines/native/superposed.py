"""Temperatures with others added to them, by the core; see `isotherm.solvers.superposition`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.compiled import core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.solvers.superposition import Superposition


def native_superpose(
    sum_of: Superposition, threads: int
) -> tuple[NDArray[np.floating], NDArray[np.float64]]:
    """The fast counterpart of `isotherm.solvers.superposition.superpose`."""
    T, V, shares, exits, bounds = sum_of
    X = np.empty_like(T)
    return X, np.array(core.superpose(T, V, shares, exits, *bounds, X, threads))
