"""One seed as if it were free: what follows from its response, and how far off that may be.

See `isotherm.trust.leave_one_out` for the formulas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.rounding import UNIT_ROUNDOFF, rounding_of_sums
from isotherm.solvers.certificate import COVERED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers import Solution


class Freed(NamedTuple):
    """A seed as if it were free.

    Attributes
    ----------
    temperatures : array of shape (K,)
    error : float
        Bound on the error of each of them.
    change : array of shape (K,)
        By which the temperatures of all nodes change, summed up.
    change_error : float
        Bound on the error of each of these.
    """

    temperatures: NDArray[np.float64]
    error: float
    change: NDArray[np.float64]
    change_error: float

    @classmethod
    def unreached(cls, n_classes: int) -> Freed:
        """Where no heat reaches it."""
        return cls(np.full(n_classes, np.nan), 0.0, np.zeros(n_classes), 0.0)

    @classmethod
    def anew(
        cls,
        solution: Solution,
        node: int,
        total: NDArray[np.float64],
        total_error: float,
    ) -> Freed:
        """From the solution without it; `total` is the sum of temperatures with it."""
        T, E = solution.temperatures, np.nan_to_num(solution.error_bound, posinf=np.inf)
        change = np.nansum(T, axis=0, dtype=np.float64) - total
        return cls(T[node].astype(np.float64), float(E[node]), change, float(E.sum() - total_error))


class Responses:
    """What all nodes get when some seeds alone are hot, one after the other.

    Parameters
    ----------
    solution : Solution
        A column for each of these seeds.
    """

    def __init__(self, solution: Solution) -> None:
        self._X, self._bound = solution.temperatures, solution.certificate
        self._totals = np.asarray(np.nansum(self._X, axis=0, dtype=np.float64))
        self._errors = np.nansum(self._bound.nodes) * self._bound.columns

    def at(self, nodes: Any, column: int) -> tuple[Any, Any]:
        """Temperatures of some nodes in a column, and bounds on their errors."""
        errors = self._bound.nodes[nodes] * self._bound.columns[column]
        x = self._X[nodes, column].astype(np.float64)
        return x, np.minimum(errors, self._bound.spans[column])

    def total(self, column: int) -> tuple[float, float]:
        """The sum of a column, and a bound on its error."""
        total, n = float(self._totals[column]), len(self._X)
        return total, float(self._errors[column]) + total * n * UNIT_ROUNDOFF


def free_one(
    problem: DirichletProblem,
    place: int,
    T: NDArray[np.floating],
    E: NDArray[np.float64],
    responses: Responses,
    column: int,
) -> Freed:
    """From the response of a seed.

    Parameters
    ----------
    problem : DirichletProblem
    place : int
        Of the seed, among all.
    T : array of shape (n, K)
        The temperatures.
    E : array of shape (n,)
        Bounds on their errors.
    responses : Responses
    column : int
        That of this seed.
    """
    rows, leak = problem.graph.rows, problem.leak
    node, is_tied = int(problem.seeds[place]), place >= len(problem.boundary)
    own = T[node].astype(np.float64) if is_tied else problem.values[place]
    own_error = E[node] if is_tied else 0.0

    entries = np.arange(rows.start[node], rows.start[node + 1])  # without a tie
    ends = rows.ends[entries]
    weights = np.ones(len(entries)) if rows.weights is None else rows.weights[entries]
    degree = weights.sum()
    (x, x_errors), (x_node, x_error) = responses.at(ends, column), responses.at(node, column)

    with np.errstate(all="ignore"):
        # The response to the node itself, which is that to the seed unless it is tied.
        unit = x_node - x_error
        g = x / x_node
        g_errors = (x_errors + g * x_error) / unit
        flows, lost = weights[:, np.newaxis] * (T[ends].astype(np.float64) - own), leak * degree
        escaping = weights * (1 - g)
        r, escape = flows.sum(axis=0) - lost * own, escaping.sum() + lost
        rounding, tiny = rounding_of_sums(np.array(len(ends)))
        r_error = weights @ (E[ends] + own_error) + lost * own_error
        r_error += rounding * (np.abs(flows).sum(axis=0).max(initial=0.0) + lost) + 4 * tiny
        escape_error = weights @ g_errors + rounding * (np.abs(escaping).sum() + lost) + 4 * tiny
        delta = r / escape
        error = (r_error + np.abs(delta).max() * escape_error) / (escape - escape_error)
        total, total_error = responses.total(column)
        total, total_error = total / x_node, (total_error + total / x_node * x_error) / unit
        change_error = np.abs(delta).max() * total_error + error * (total + total_error)
        error = (own_error + error) * (1 + 1e-12) + 4 * UNIT_ROUNDOFF
    sound = COVERED[0] <= degree <= COVERED[1] and unit > 0 and escape > escape_error
    return Freed(own + delta, float(error) if sound else np.inf, delta * total, float(change_error))


def heated_without(
    problem: DirichletProblem, places: NDArray[np.intp], *, together: bool = False
) -> NDArray[np.bool_]:
    """Classes with heat at free nodes when seeds are left out, each alone or all together.

    Returns
    -------
    array of shape (m, K), or (K,) if together
    """
    boundary, warm = problem.boundary, problem.seed_values > 0
    place_of = np.full(problem.graph.n_nodes, -1)
    place_of[boundary] = np.arange(len(boundary))
    entries, counts = problem.graph.rows.entries(boundary)
    owner = np.repeat(np.arange(len(boundary)), counts)
    ends = problem.graph.rows.ends[entries]
    touching = problem.is_touching.copy()
    if together:
        gone = np.zeros(problem.n_seeds, dtype=bool)
        gone[places] = True
        neighbour = place_of[ends]
        touching[owner[(neighbour >= 0) & gone[neighbour]]] = True
        return np.asarray(warm[touching & ~gone].any(axis=0))
    n_warm = warm[touching].sum(axis=0)
    first = np.cumsum(counts) - counts
    heated = np.empty((len(places), problem.n_columns), dtype=bool)
    for row, place in enumerate(places.tolist()):
        heated[row] = n_warm > (warm[place] & touching[place])
        if place < len(boundary):  # freed, it is heated by those that were shut in by it
            neighbours = place_of[ends[first[place] : first[place] + counts[place]]]
            shut_in = neighbours[(neighbours >= 0) & (neighbours != place)]
            heated[row] |= warm[shut_in[~touching[shut_in]]].any(axis=0)
    return heated
