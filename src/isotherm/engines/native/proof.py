"""What proves temperatures, by the core: the fast counterpart of `isotherm.solvers.imbalance`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.solvers.imbalance import Imbalance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem


def native_imbalance(
    problem: DirichletProblem,
    X: NDArray[np.floating],
    h: NDArray[np.float64],
    *,
    threads: int | None = None,
    simd: str | None = None,
    packed: bool = True,
) -> Imbalance:
    """See `isotherm.solvers.imbalance.imbalance`, and `NativeEngine` for threads and simd.

    `packed`: whether a copy of a few columns may be made, which is quicker.
    """
    if problem.heat is not None:
        raise ValueError("nothing is proven of temperatures where heat is put in")
    ties = problem.ties
    tied = ties and (ties.nodes.astype(np.int32), ties.weights, ties.values, ties.roundings)
    rows = problem.graph.rows
    columns = np.empty((5, X.shape[1]))
    found = core.prove(
        rows.start,
        rows.ends,
        rows.weights,
        problem.is_free.view(np.uint8),
        problem.leak,
        X,
        h,
        tied,
        n_threads(threads),
        simd or core.instruction_sets()[0],
        packed=packed,
        columns=columns,
    )
    level, rounding, relative, low, high = columns
    return Imbalance(
        level,
        rounding,
        relative,
        low,
        high,
        degrees=(found.least_degree, found.greatest_degree),
        exits=(found.least_exit, found.greatest_exit),
        n_nodes=found.n_nodes,
        stray=found.stray,
    )
