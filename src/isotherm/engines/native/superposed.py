"""Temperatures with others added to them, by the core; see `isotherm.solvers.superposition`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.compiled import core, n_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.solvers.superposition import Superposition


def native_superpose(
    sum_of: Superposition, *, threads: int | None = None, simd: str | None = None
) -> tuple[NDArray[np.floating], NDArray[np.float64]]:
    """The fast counterpart of `isotherm.solvers.superposition.superpose`.

    By default with the best instruction set.
    """
    T, V, shares, exits, bounds = sum_of
    X = np.empty_like(T)
    simd = simd or core.instruction_sets()[0]
    off = core.superpose(T, V, shares, exits, *bounds, X, n_threads(threads), simd)
    return X, np.array(off)
