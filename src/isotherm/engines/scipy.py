"""The SciPy engine: runs everywhere, and is the reference for the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from isotherm.engines.imbalance import imbalance
from isotherm.engines.operator import gauge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.imbalance import Imbalance


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

    def imbalance(self, X: NDArray[Any], h: NDArray[np.float64]) -> Imbalance:
        return imbalance(self.problem, X, h)
