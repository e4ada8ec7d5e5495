"""Certificates: a proof of how far temperatures can be from equilibrium.

Off its diagonal ``M = (1 + τ) D_F + diag(a) − A_FF`` has no positive entry. Let h be any positive
vector that drains heat from every node, ``M h > 0``. Then M is an M-matrix, and ``M⁻¹ ≥ 0`` (Berman
and Plemmons, Nonnegative Matrices, chapter 6, condition I27). Temperatures X with the residual
``r = B − M X`` satisfy ``|r| ≤ ρ M h`` with ρ the greatest of ``|r_i| / (M h)_i``, hence::

    |X − X*| = |M⁻¹ r| ≤ M⁻¹ |r| ≤ ρ M⁻¹ M h = ρ h      at every node

That is all of the proof. It needs neither the solver that found X nor the one that found h: they
are mere arrays, and r and M h are computed afresh from the graph, in float64, with a bound on all
rounding and underflow (`isotherm.solvers.imbalance`). h approximates the solution of ``M h = w``
for some positive w, one column of further work that proves all the others: with the degrees for w
it is the mean time a random walk takes to reach the boundary, with their roots the bound is tighter
(see `isotherm.solvers.operator.roots_measure_well`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isotherm.arithmetic import is_standard
from isotherm.read_only import Sealed, cached_property
from isotherm.rounding import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.imbalance import Imbalance


SLACK = 1 + 16 * UNIT_ROUNDOFF  # for the rounding of the few operations that make a bound

# The range that the bounds on rounding cover: numbers so far from the ends of float64 (2^±1022)
# that neither a product of two of them nor a sum of products leaves it. Outside nothing is proven.
COVERED = (2.0**-500, 2.0**500)
LEAST_COLUMN = 2.0**-400  # a factor of a certificate, unless it is exactly 0: times an exit time it
# still has all its digits


@dataclass(frozen=True, eq=False)
class Certificate(Sealed):
    """Bound ``min(nodes_i · columns_k, spans_k)`` on the error of temperature (i, k).

    Attributes
    ----------
    nodes : array, one entry per node
        0 on the boundary, NaN at unreached nodes.
    columns : array of shape (k,)
    spans : array of shape (k,)
        Distance of the extreme temperatures: no error is larger, by the maximum principle.
    residual : float
        Greatest residual relative to the degree.
    rounding : float
        The part of the greatest of `columns` that is rounding, which no step takes away.
    drains : array or None
        What `nodes`, if they are exit times, drain from each free node at least, where that was
        found for further proofs by them.

    Examples
    --------
    >>> from isotherm import Graph, solve_dirichlet
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> solution = solve_dirichlet(path, [0, 3], [0.0, 1.0], tol=1e-9)
    >>> certificate = solution.certificate
    >>> bool(certificate.bound <= 1e-9), certificate.nodes.shape
    (True, (4,))
    """

    nodes: NDArray[np.float64]
    columns: NDArray[np.float64]
    spans: NDArray[np.float64]
    residual: float
    rounding: float = 0.0
    drains: NDArray[np.float64] | None = None

    def errors(self, nodes: NDArray[np.intp] | slice = slice(None)) -> NDArray[np.float64]:
        """The bound at the given nodes (by default all), for each column."""
        bound: NDArray[np.float64] = np.outer(self.nodes[nodes], self.columns)
        return np.minimum(bound, self.spans, out=bound)

    @property
    def error_bound(self) -> NDArray[np.float64]:
        """The bound at each node, over all its columns."""
        # Of columns with the same span, as all classes have, the one that is farthest off counts.
        worst: dict[float, float] = {}
        for column, span in zip(self.columns.tolist(), self.spans.tolist(), strict=True):
            worst[span] = max(column, worst.get(span, 0.0))
        bound = np.zeros(len(self.nodes))
        for span, column in worst.items():
            np.maximum(bound, np.minimum(self.nodes * column, span), out=bound)
        return bound

    @property
    def error_or_0(self) -> NDArray[np.float64]:
        """The same, and 0 at nodes without a temperature."""
        bound = self.error_bound
        return np.where(np.isnan(bound), 0.0, bound)

    @cached_property
    def longest(self) -> float:
        """The greatest factor of a node: the longest exit time."""
        return float(np.fmax.reduce(self.nodes, initial=0.0))

    def knowing(self, longest: float, bound: float | None = None) -> Certificate:
        """The same, which need not look for these any more."""
        self.__dict__["longest"] = longest
        if bound is not None:
            self.__dict__["bound"] = bound
        return self

    @cached_property
    def bound(self) -> float:
        """The bound over all nodes and columns."""
        return float(np.maximum.reduce(np.minimum(self.longest * self.columns, self.spans)))


def prove(
    problem: DirichletProblem, X: NDArray[np.floating], h: NDArray[np.float64], found: Imbalance
) -> Certificate:
    """The proof above, or the weakest one where it does not apply.

    Parameters
    ----------
    problem : DirichletProblem
    X : array of shape (n, k)
        As it will be returned: nothing may change it after this.
    h : array of shape (n,)
        As it is; the certificate keeps its own copy.
    found : Imbalance
        Of X and h.
    """
    residual = greatest_residual(found)
    least, greatest = found.degrees
    usual = COVERED[0] <= least and (1 + problem.leak) * greatest <= COVERED[1]
    if not (usual and is_covered(problem) and is_as_given(problem, X, found)):
        return unproven(problem, residual)
    columns, exits = found.level * SLACK, found.exits
    # NaN compares as false: it is no proof.
    if not (is_finite(columns) and COVERED[0] <= exits[0] <= exits[1] <= COVERED[1]):
        return by_maximum_principle(problem, found)
    np.maximum(columns, LEAST_COLUMN, out=columns)
    if not found.high.all():
        columns[is_cold(problem, found)] = 0.0
    nodes = np.where(problem.is_unreached, np.nan, h)
    rounding = float(np.maximum.reduce(found.rounding, initial=0.0))
    proven = Certificate(nodes, columns, spans(problem, found), residual, rounding)
    return proven.knowing(exits[1])


def is_covered(problem: DirichletProblem) -> bool:
    """Whether values and arithmetic are such that the bounds on rounding hold."""
    low, high = problem.bounds
    least, greatest = np.minimum.reduce(low, initial=0.0), np.maximum.reduce(high, initial=0.0)
    return bool(-COVERED[1] <= least and greatest <= COVERED[1] and is_standard())


def is_as_given(problem: DirichletProblem, X: NDArray[np.floating], found: Imbalance) -> bool:
    """Whether the boundary is held at its values, h is 0 off the free nodes, and all were seen."""
    # `take` is the quicker, but copies all of an array that lies in pieces.
    rows = X.take(problem.boundary, axis=0) if X.flags.c_contiguous else X[problem.boundary]
    held = bool((rows == problem.values).all())
    return held and not found.stray and found.n_nodes == problem.n_free


def is_finite(levels: NDArray[np.float64]) -> bool:
    """Whether the levels of all columns are numbers; none is negative."""
    return bool(np.maximum.reduce(levels, initial=0.0) < np.inf)


def is_cold(problem: DirichletProblem, found: Imbalance) -> NDArray[np.bool_]:
    """Columns without any heat at free nodes: all 0 there, and no warm seed touches one."""
    cold = (found.low == 0) & (found.high == 0)
    return np.asarray(cold & ~problem.is_heated if cold.any() else cold)


def by_maximum_principle(problem: DirichletProblem, found: Imbalance) -> Certificate:
    """The weakest certificate: temperatures, and X, lie between those of the boundary."""
    span, residual = spans(problem, found), greatest_residual(found)
    if not np.isfinite(span).all():
        return unproven(problem, residual)
    return Certificate(problem.over_nodes(1.0), span, span, residual)


def nothing_to_prove(problem: DirichletProblem) -> Certificate:
    """Of a problem without free nodes, or without columns."""
    none = np.zeros(problem.n_columns)
    return Certificate(problem.over_nodes(0.0), none, none, residual=0.0)


def unproven(problem: DirichletProblem, residual: float = np.inf) -> Certificate:
    """No bound at all."""
    k = problem.n_columns
    return Certificate(problem.over_nodes(np.inf), np.ones(k), np.full(k, np.inf), residual)


def guessed(
    problem: DirichletProblem, nodes: NDArray[np.float64] | None, levels: NDArray[np.float64]
) -> Certificate:
    """What `prove` would say if residuals were of these levels; proves nothing."""
    if nodes is None:
        return unproven(problem)
    return Certificate(nodes, levels, spans(problem), residual=np.nan)


def spans(problem: DirichletProblem, found: Imbalance | None = None) -> NDArray[np.float64]:
    """Greatest distance of two temperatures, for each column; ∞ where X is not among them."""
    low, high = problem.bounds
    distance: NDArray[np.float64] = (high - low) * (1 + 4 * UNIT_ROUNDOFF)
    if found is None:
        return distance
    return np.where((low <= found.low) & (found.high <= high), distance, np.inf)


def greatest_residual(found: Imbalance) -> float:
    """The greatest residual of any column, relative to the degree."""
    return float(np.maximum.reduce(found.relative, initial=0.0))
