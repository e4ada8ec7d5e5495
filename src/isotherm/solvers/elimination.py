"""Elimination without subtraction: exact to the last digits whatever the weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from isotherm.rounding import UNDERFLOW, UNIT_ROUNDOFF
from isotherm.solvers.certificate import Certificate, by_maximum_principle, spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.engines.operator import Operator
    from isotherm.solvers.method import Warm

LEAST_WEIGHT = float(np.finfo(np.float64).tiny)  # the least that has all its digits


@dataclass(frozen=True)
class Elimination:
    """Free nodes are removed one by one, their neighbours joined by equivalent weights.

    With weights that span 60 orders of magnitude the matrix M is singular in float64: its
    diagonal no longer remembers the small weights. This solver never forms it. It keeps the
    weights among nodes and the weights to the boundary apart and only adds, multiplies and
    divides positive numbers (Grassmann, Taksar and Heyman, Operations Research 33, 1985), so
    every temperature has a small *relative* error, known beforehand. Work grows as n_F³ and
    memory as n_F²: for small graphs.
    """

    name: ClassVar[str] = "elimination"

    def bind(self, operator: Operator) -> BoundElimination:
        """Prepare for one operator."""
        return BoundElimination(operator)


class BoundElimination:
    """See `isotherm.solvers.method.Method`."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.proof: Certificate | None = None
        # Weights are divided by a power of two so that no node's add up to more than 1: then
        # nothing overflows, and no product is larger than its factors.
        self.exponent = int(np.frexp(operator.problem.diagonal.max(initial=0.0))[1])

    def scaled(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights in the unit of the elimination."""
        return np.asarray(np.ldexp(weights, -self.exponent))

    def start(self, tol: float, warm: Warm | None) -> NDArray[Any]:  # noqa: ARG002
        return self.operator.problem.start()

    def iterate(self, X: NDArray[np.float64], tol: float) -> Iterator[float]:  # noqa: ARG002
        problem = self.operator.problem
        yield float(spans(problem).max())
        weights, exits = self.scaled(problem.inner.toarray()), self.scaled(problem.exits)
        warm, cold = np.maximum(problem.values, 0.0), np.maximum(-problem.values, 0.0)
        sources = self.scaled(np.hstack([problem.outer @ warm, problem.outer @ cold]))
        found = np.hsplit(eliminate(weights, exits, sources), 2)
        X[problem.free] = found[0] - found[1]
        self.proof = a_priori(self)
        yield self.proof.bound

    def guess(self, X: NDArray[np.float64]) -> Certificate:
        return self.certify(X)

    def certify(self, X: NDArray[np.float64]) -> Certificate:
        problem = self.operator.problem
        np.clip(X, *problem.bounds, out=X)
        residual = self.operator.imbalance(X).relative
        if not np.isfinite(X[problem.free]).all():  # it broke down: the middle is as good as any
            X[problem.free] = sum(problem.bounds) / 2
            return by_maximum_principle(problem)
        if self.proof is None:
            return by_maximum_principle(problem, residual)
        return replace(self.proof, residual=residual)


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


def a_priori(method: BoundElimination) -> Certificate:
    """The proof of `eliminate`: a bound on the relative error that needs no residual.

    By the matrix-tree theorem a temperature is a ratio of two sums of products of n weights,
    all of one sign. Changing every weight by a factor 1 ± ε therefore changes it by at most
    ((1 + ε) / (1 − ε))ⁿ, about 2nε (O'Cinneide, Numerische Mathematik 65, 1993). Removing a
    node with m nodes left rounds each of the remaining weights by (m + 3) u, and finding its
    temperature adds (2m + 3) u; the sum over m is the bound. The weights to the boundary are
    sums rounded once before, and sources of both signs cancel by a further N u.

    A product too small for float64 is an absolute change δ of a weight instead. It moves no
    temperature by more than δ times the resistance between two nodes, at most n / w with w the
    least weight; there are n² weights in each of n steps. Where w itself, measured in the
    greatest degree, lacks digits nothing is proven.
    """
    problem = method.operator.problem
    rows, n = problem.graph.rows, problem.n_free
    terms = rows.longest + 8
    steps = 2 * n**3 / 3 + 4 * n**2 + 3 * n + (2 * n + 1) * terms
    relative = steps * UNIT_ROUNDOFF
    least = 1.0 if rows.weights is None else rows.weights.min(initial=np.inf)
    if problem.leak > 0:
        least = min(least, (problem.leak * problem.degrees).min(initial=np.inf))
    least = float(method.scaled(np.asarray(least)))
    sound = LEAST_WEIGHT <= least <= 1 and np.isfinite(problem.diagonal).all()
    absolute = 4 * n**4 * UNDERFLOW / least if sound else np.inf
    # Beyond 0.01 the terms of second order count.
    if not relative + absolute <= 0.01:
        return by_maximum_principle(problem)
    most = np.abs(problem.values).max(axis=0)
    columns = 1.1 * (relative * most + absolute * np.maximum(most, 1.0))
    columns[~(problem.outer @ np.abs(problem.values)).any(axis=0)] = 0.0  # no heat: exactly zero
    rounding = float(columns.max())
    return Certificate(problem.over_nodes(1.0), columns, spans(problem), np.nan, rounding)
