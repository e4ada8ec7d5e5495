"""Solve as far as it goes: what is judged by it needs no proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isotherm.errors import NotConverged
from isotherm.solvers import solve

if TYPE_CHECKING:
    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers import Solution


def solve_nearly(problem: DirichletProblem, **how: Any) -> Solution:
    """Solve; where the tolerance cannot be met, by any solver or as nearly as it goes.

    Parameters
    ----------
    problem : DirichletProblem
    **how
        See `isotherm.solvers.solve`.
    """
    try:
        return solve(problem, **how)
    except NotConverged as failure:
        best = failure.solution
    if how.get("solver", "auto") != "auto":
        other = solve_nearly(problem, **(how | {"solver": "auto"}))
        best = min(best, other, key=lambda solution: solution.certificate.bound)
    return best
