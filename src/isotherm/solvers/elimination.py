"""Elimination without subtraction: exact to the last digits whatever the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from isotherm.rounding import UNDERFLOW, UNIT_ROUNDOFF
from isotherm.solvers.certificate import (
    Certificate,
    by_maximum_principle,
    greatest_residual,
    is_as_given,
    is_covered,
    spans,
    unproven,
)
from isotherm.solvers.method import Reached, settle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.method import Warm, Watch
    from isotherm.solvers.operator import Operator

LEAST_WEIGHT = 2.0**-1000  # which still has all its digits


@dataclass(frozen=True)
class Elimination:
    """Free nodes are removed one by one, their neighbours joined by equivalent weights.

    With weights that span 60 orders of magnitude the matrix M is singular in float64: its
    diagonal no longer remembers the small weights. This solver never forms it. It keeps the
    weights among nodes and the weights to the boundary apart and only adds, multiplies and
    divides positive numbers (Grassmann, Taksar and Heyman, Operations Research 33, 1985), so
    every temperature has a small *relative* error, known beforehand. Work grows as n_F³ and
    memory as n_F²: for small graphs.

    Examples
    --------
    >>> from isotherm import Elimination, Graph, solve_dirichlet
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], [1e30, 1e-30, 1e-30])
    >>> solution = solve_dirichlet(path, [0, 3], [0.0, 1.0], solver=Elimination())
    >>> [f"{temperature:.3g}" for temperature in solution.temperatures.ravel()]
    ['0', '5e-61', '0.5', '1']
    """

    name: ClassVar[str] = "elimination"

    def bind(self, operator: Operator) -> BoundElimination:
        """Prepare for one matrix."""
        return BoundElimination(operator)


class BoundElimination:
    """See `isotherm.solvers.method.Method`."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.problem = operator.problem
        self.found: NDArray[np.floating] | None = None  # what was eliminated, once it is
        # Weights are divided by a power of two so that no node's add up to more than 1: then
        # nothing overflows, and no product is larger than its factors.
        self.exponent = int(np.frexp(operator.problem.diagonal.max(initial=0.0))[1])

    def scaled(self, weights: Any) -> Any:
        """Weights in the unit of the elimination."""
        return np.ldexp(weights, -self.exponent)

    def start(
        self,
        problem: DirichletProblem,
        tol: float,  # noqa: ARG002
        warm: Warm | None,  # noqa: ARG002
    ) -> NDArray[np.floating]:
        self.problem, self.found = problem, None
        return problem.start()

    def iterate(
        self,
        X: NDArray[np.floating],
        tol: float,  # noqa: ARG002
        watch: Watch,  # noqa: ARG002
    ) -> Iterator[Reached]:
        problem = self.problem
        yield Reached(0, float(spans(problem).max()))
        inner, outer = self.scaled(problem.inner.toarray()), problem.outer.copy()
        outer.data = self.scaled(outer.data)
        exits = outer @ np.ones(len(problem.boundary)) + problem.leak * self.scaled(problem.degrees)
        exits += self.scaled(problem.tie_weights[problem.free])
        values = np.hstack([np.maximum(problem.values, 0.0), np.maximum(-problem.values, 0.0)])
        sources = outer @ values
        if problem.pull is not None:
            nodes, rows = problem.pull
            both = np.hstack([np.maximum(rows, 0.0), np.maximum(-rows, 0.0)])
            sources[np.searchsorted(problem.free, nodes)] += self.scaled(both)
        found = np.hsplit(eliminate(inner, exits, sources), 2)
        X[problem.free] = found[0] - found[1]
        settle(X, problem)
        self.found = X[problem.free]
        yield Reached(1, a_priori(self)[0].max(initial=0.0))

    def guess(self, X: NDArray[np.floating]) -> Certificate:
        return self.certify(X)

    def certify(self, X: NDArray[np.floating]) -> Certificate:
        problem = self.problem
        settle(X, problem)
        # A residual proves nothing where weights are far apart; what it is may be of interest.
        found = self.operator.imbalance(problem, X, problem.is_free.astype(np.float64))
        residual = greatest_residual(found)
        if not (is_covered(problem) and is_as_given(problem, X, found)):
            return unproven(problem, residual)
        columns, is_sound = a_priori(self)
        done = self.found is not None and np.array_equal(self.found, X[problem.free])
        if not (done and is_sound):
            return by_maximum_principle(problem, found)
        rounding = float(columns.max(initial=0.0))
        span = spans(problem, found)
        return Certificate(problem.over_nodes(1.0), columns, span, residual, rounding)

    def settle(self, X: NDArray[np.floating]) -> None:
        settle(X, self.problem)

    def rest(self) -> None:
        self.problem, self.found = self.operator.problem, None


def eliminate(
    weights: NDArray[np.float64], exits: NDArray[np.float64], sources: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Solve ``(exits_i + Σ_j w_ij) x_i − Σ_j w_ij x_j = sources_i``, all data ≥ 0.

    Parameters
    ----------
    weights : array of shape (n, n)
        Overwritten; its diagonal is not used.
    exits : array of shape (n,)
    sources : array of shape (n, k)

    Examples
    --------
    Two nodes, each held to a seed by 1e-30 and to each other by 1e30.

    >>> pair = np.array([[0, 1e30], [1e30, 0]])
    >>> eliminate(pair, np.array([1e-30, 1e-30]), np.array([[1e-30], [0]])).tolist()
    [[0.5], [0.5]]
    """
    n = len(exits)
    exits, x = exits.copy(), sources.copy()
    total = np.empty(n)
    for last in reversed(range(n)):
        row = weights[last, :last]
        total[last] = exits[last] + row.sum()
        share = weights[:last, last] / total[last]
        weights[:last, :last] += np.outer(share, row)
        exits[:last] += share * exits[last]
        x[:last] += np.outer(share, x[last])
    for node in range(n):
        x[node] = (x[node] + weights[node, :node] @ x[:node]) / total[node]
    return x


def a_priori(method: BoundElimination) -> tuple[NDArray[np.float64], bool]:
    """The proof of `eliminate`: bounds on its error that need no residual, and whether they hold.

    By the matrix-tree theorem a temperature is a ratio of two sums of products of n weights,
    all of one sign. Changing every weight by a factor 1 ± ε therefore changes it by at most
    ((1 + ε) / (1 − ε))ⁿ, about 2nε (O'Cinneide, Numerische Mathematik 65, 1993). Removing a
    node with m nodes left rounds each of the remaining weights by (m + 3) u, and finding its
    temperature adds (2m + 3) u; the sum over m is the bound. The weights to the boundary are
    sums of N terms rounded before, as other weights may be, and sources of both signs cancel
    by a further N u.

    A product too small for float64 is an absolute change δ of a weight or of a source instead. It
    moves no temperature by more than δ times the resistance between two nodes, at most n / w with w
    the least weight, times the greatest temperature; there are at most (n + N)² of them in each
    of n steps and before these. Where w itself, measured in the greatest degree, lacks digits
    nothing is proven.
    """
    problem = method.problem
    rows, n, ties = problem.graph.rows, problem.n_free, problem.ties
    terms = rows.longest + 9  # a tie is one
    roundings = 0.0 if ties is None else ties.roundings
    steps = 2 * n**3 / 3 + 4 * n**2 + 3 * n + (2 * n + 1) * (terms + roundings)
    relative = steps * UNIT_ROUNDOFF
    least = 1.0 if rows.weights is None else float(rows.weights.min(initial=np.inf))
    if ties is not None:
        least = min(least, float(ties.weights.min()))
    lost = problem.leak * problem.degrees
    lightest = min(least, float(lost.min(initial=np.inf))) if problem.leak > 0 else least
    scaled = float(method.scaled(lightest))
    absolute = 4 * float(n + terms) ** 4 * UNDERFLOW / scaled if scaled > 0 else np.inf
    # Beyond 0.01 the terms of second order count.
    is_sound = min(lightest, scaled) >= LEAST_WEIGHT and relative + absolute <= 0.01
    is_sound &= bool(np.isfinite(problem.diagonal).all())
    most = np.abs(problem.seed_values).max(axis=0)
    columns = 1.1 * (relative * most + absolute * np.maximum(most, 1.0))
    columns[~problem.is_heated] = 0.0  # exactly: only zeros were added up
    return columns, bool(is_sound)
