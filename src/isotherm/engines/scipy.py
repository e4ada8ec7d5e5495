"""The SciPy engine: runs everywhere, and is the reference for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.rounding import UNDERFLOW, UNIT_ROUNDOFF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem


class ScipyEngine:
    """Products by `scipy.sparse`, in float64."""

    name = "scipy"

    def operator(self, problem: DirichletProblem) -> ScipyOperator:
        """Prepare the operator of a problem."""
        return ScipyOperator(problem)


class ScipyOperator:
    """See `isotherm.engines.operator.Operator`."""

    def __init__(self, problem: DirichletProblem) -> None:
        self.problem = problem

    def apply(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        product = self.problem.diagonal[:, np.newaxis] * X
        product -= self.problem.inner @ X
        return product

    def level(self, R: NDArray[np.float64]) -> NDArray[np.float64]:
        relative = np.abs(R) / self.problem.degrees[:, np.newaxis]
        return np.asarray(relative.max(axis=0, initial=0.0))

    def residual(
        self,
        rhs: NDArray[np.float64],
        X: NDArray[np.float64],
        sizes: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # Every entry is a sum over the node's edges: with N terms, whatever their order, the
        # computed sum is off by at most N u times the sum of their absolute values. The degree
        # in the diagonal is such a sum too; 8 covers the products and the last additions.
        held, flow = self.problem.diagonal[:, np.newaxis] * X, self.problem.inner @ X
        R = rhs - held
        R += flow
        if (X < 0).any():
            held, flow = np.abs(held), self.problem.inner @ np.abs(X)
        held += flow
        held += sizes
        rounding = 1.01 * UNIT_ROUNDOFF * held
        rounding += UNDERFLOW * held.any(axis=0)  # a column of zeros is exact
        terms = np.diff(self.problem.graph.adjacency.indptr)[self.problem.free] + 8
        return R, terms[:, np.newaxis] * rounding
