"""Elimination without subtraction: exact to the last digits whatever the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from isotherm.rounding import UNDERFLOW, UNIT_ROUNDOFF
from isotherm.solvers.certificate import Certificate, by_maximum_principle, spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.engines.operator import Operator
    from isotherm.solvers.method import Certifier

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
        self.done = False
        # Weights are divided by a power of two so that no node's add up to more than 1: then
        # nothing overflows, and no product is larger than its factors.
        self.exponent = int(np.frexp(operator.problem.diagonal.max(initial=0.0))[1])

    def scaled(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights in the unit of the elimination."""
        return np.asarray(np.ldexp(weights, -self.exponent))

    def iterate(
        self,
        rhs: NDArray[np.float64],
        X: NDArray[np.float64],
        target: float,  # noqa: ARG002  # one pass reaches what there is to reach
    ) -> Iterator[NDArray[np.float64]]:
        yield self.operator.level(rhs - self.operator.apply(X))
        problem = self.operator.problem
        weights, exits = self.scaled(problem.inner.toarray()), self.scaled(problem.exits)
        sources = self.scaled(np.hstack([np.maximum(rhs, 0.0), np.maximum(-rhs, 0.0)]))
        warm, cold = np.hsplit(eliminate(weights, exits, sources), 2)
        X[:] = warm - cold
        self.done = True
        yield self.operator.level(rhs - self.operator.apply(X))

    def certifier(self) -> Certifier:
        return AprioriCertifier(self)


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


class AprioriCertifier:
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

    def __init__(self, method: BoundElimination) -> None:
        self._method = method
        problem = method.operator.problem
        n = len(problem.free)
        terms = int(np.diff(problem.graph.adjacency.indptr).max(initial=0)) + 8
        steps = 2 * n**3 / 3 + 4 * n**2 + 3 * n + (2 * n + 1) * terms
        self._relative = steps * UNIT_ROUNDOFF
        least = problem.graph.adjacency.data.min(initial=np.inf)
        if problem.leak > 0:
            least = min(least, (problem.leak * problem.degrees).min(initial=np.inf))
        least = float(method.scaled(np.asarray(least)))
        sound = LEAST_WEIGHT <= least <= 1 and np.isfinite(problem.diagonal).all()
        self._absolute = 4 * n**4 * UNDERFLOW / least if sound else np.inf

    def target(self, tol: float) -> float:
        return tol

    def __call__(self, X: NDArray[np.float64]) -> Certificate:
        operator = self._method.operator
        problem = operator.problem
        residual = float(operator.level(problem.sources - operator.apply(X)).max(initial=0.0))
        most = np.abs(problem.values).max(axis=0)
        columns = 1.1 * (self._relative * most + self._absolute * np.maximum(most, 1.0))
        # Beyond 0.01 the terms of second order count.
        if not self._method.done or not self._relative + self._absolute <= 0.01:
            return by_maximum_principle(problem, residual)
        columns[~problem.sources.any(axis=0)] = 0.0  # no heat at all: exactly zero
        return Certificate(
            np.ones(len(problem.free)), columns, spans(problem), residual, float(columns.max())
        )
