"""The SciPy engine: runs everywhere, and is the reference for the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from isotherm.engines.operator import Imbalance, gauge
from isotherm.rounding import UNDERFLOW, UNIT_ROUNDOFF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem


@dataclass(frozen=True)
class ScipyEngine:
    """Products by `scipy.sparse`, in float64."""

    name: ClassVar[str] = "scipy"

    def operator(self, problem: DirichletProblem, tol: float) -> ScipyOperator:
        """Prepare the operator of a problem that is to be solved to `tol`."""
        return ScipyOperator(problem, tol)


class ScipyOperator:
    """See `isotherm.engines.operator.Operator`."""

    def __init__(self, problem: DirichletProblem, tol: float) -> None:
        self.problem = problem
        self._tol = tol

    @cached_property
    def gauge(self) -> NDArray[np.float64]:
        return gauge(self.problem, self._tol)

    @cached_property
    def _held(self) -> NDArray[np.bool_]:
        return ~self.problem.is_free

    @cached_property
    def _diagonal(self) -> NDArray[np.float64]:
        return ((1.0 + self.problem.leak) * self.problem.graph.degrees)[:, np.newaxis]

    def apply(self, P: NDArray[np.float64]) -> NDArray[np.float64]:
        product: NDArray[np.float64] = self._diagonal * P
        product -= self.problem.graph.adjacency @ P
        product[self._held] = 0.0
        return product

    def residual(self, X: NDArray[np.float64], heat: float = 0.0) -> NDArray[np.float64]:
        R = -self.apply(X)
        if heat:
            R += heat * np.where(self._held, 0.0, self.gauge)[:, np.newaxis]
        return R

    def level(self, R: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((np.abs(R) / self.gauge[:, np.newaxis]).max(axis=0, initial=0.0))

    def imbalance(self, X: NDArray[np.float64], heat: float = 0.0) -> Imbalance:
        # Every entry is a sum over the node's edges: with N terms, whatever their order, the
        # computed sum is off by at most N u times the sum of their absolute values. The degree
        # in the diagonal is such a sum too; 8 covers the products and the last additions.
        rows, problem = self.problem.graph.rows, self.problem
        R = self.residual(X, heat)
        sizes = problem.graph.adjacency @ np.abs(X) + self._diagonal * np.abs(X)
        sizes += heat * self.gauge[:, np.newaxis]
        sizes[self._held] = 0.0
        terms = (np.diff(rows.start) + 8)[:, np.newaxis]
        rounding = terms * (1.01 * UNIT_ROUNDOFF * sizes)
        rounding += terms * UNDERFLOW * sizes.any(axis=0)  # a column of zeros is exact
        w = self.gauge[:, np.newaxis]
        degrees = np.where(self._held, 1.0, problem.graph.degrees)[:, np.newaxis]
        return Imbalance(
            over=((R + rounding) / w).max(axis=0, initial=0.0),
            under=((rounding - R) / w).max(axis=0, initial=0.0),
            rounding=(rounding / w).max(axis=0, initial=0.0),
            relative=float((np.abs(R) / degrees).max(initial=0.0)),
        )
