"""Solve as far as it goes: what is judged by it needs no proof."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isotherm.engines.engine import Session
    from isotherm.solvers import Solution, Warm
    from isotherm.solvers.options import Progress


def solve_best_effort(
    session: Session,
    values: NDArray[np.float64] | None = None,
    *,
    tol: float | None = None,
    start: Warm | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Solve; where the tolerance cannot be met, by any solver or as nearly as it goes.

    Parameters
    ----------
    session, values, tol, start, progress
        See `isotherm.engines.engine.Session.solve`.
    """
    best = session.solve(values, tol=tol, start=start, progress=progress)
    if best.converged or session.options.solver == "auto":
        return best
    with session.prepare(session.problem, replace(session.options, solver="auto")) as other:
        found = other.solve(values, tol=tol, start=start, progress=progress)
    return min(best, found, key=lambda solution: solution.certificate.bound)
