"""Values of seeds left out: what each would be, from all the others.

With values scaled to 0 … 1 in one column and all the heat in another, freeing a seed is what
`isotherm.trust.leave_one_out` does for classes; the value is then low · heat + span · T. Without
leak all the heat is 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.trust.best_effort import solve_best_effort
from isotherm.trust.sample import leave_sample_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.engine import Session

TOL = 1e-4  # of values scaled to 0 … 1


class ValuesLeftOut(NamedTuple):
    """Seeds that were left out, each alone or, on a large graph, some together.

    Attributes
    ----------
    nodes : array of shape (m,)
        Their ids.
    values : array of shape (m,)
        Their own.
    found : array of shape (m,)
        What they would get from the others.

    Examples
    --------
    >>> from isotherm import DirichletRegressor, Graph
    >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> left = DirichletRegressor().fit(path, {0: 0.0, 2: 1.0, 4: 4.0}).spot_check()
    >>> dict(zip(left.nodes.tolist(), left.found.round(3).tolist(), strict=True))
    {0: 1.0, 2: 2.0, 4: 1.0}
    """

    nodes: NDArray[np.generic]
    values: NDArray[np.float64]
    found: NDArray[np.float64]

    @property
    def errors(self) -> NDArray[np.float64]:
        """How far from their own values they would be, shape (m,)."""
        return np.abs(self.found - self.values)


def leave_values_out(
    problem: DirichletProblem, prepare: Callable[[DirichletProblem], Session]
) -> ValuesLeftOut:
    """Some seeds, or all if they are few; those that no heat would reach are left aside.

    Parameters
    ----------
    problem : DirichletProblem
        Of one column, the values.
    prepare : callable
        Makes a problem ready to be solved.
    """
    values = problem.values[:, 0]
    low, span = float(values.min()), float(np.ptp(values)) or 1.0
    scaled = np.column_stack([(values - low) / span, np.ones(len(values))])
    with prepare(problem.with_values(scaled)) as session:
        solution = solve_best_effort(session, tol=TOL)
        codes = np.zeros(len(values), dtype=np.intp)
        left = leave_sample_out(session, solution, codes, tol=TOL, abstain=True)
    judged = np.flatnonzero(left.reached)
    T, places = left.temperatures[judged], left.places[judged]
    names = problem.graph.names[problem.boundary[places]]
    return ValuesLeftOut(names, values[places], low * T[:, 1] + span * T[:, 0])
