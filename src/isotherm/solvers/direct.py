"""Equation (4), ``X = (I − Q)⁻¹ R Y``, by sparse factorisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from scipy import sparse
from scipy.sparse.linalg import splu

from isotherm.solvers.method import Relaxation, check_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from isotherm.engines.operator import Operator


@dataclass(frozen=True)
class Direct:
    """Sparse LU of the symmetric form ``M = D_F (I − Q)``, then refinement.

    Best for small or tree-like graphs; on large well-connected ones the factors fill up.

    Parameters
    ----------
    max_iter : int
        Solves with the factors after which it gives up: the first, then refinements.
    """

    max_iter: int = 4
    name: ClassVar[str] = "direct"

    def __post_init__(self) -> None:
        check_count(self.max_iter, "max_iter")

    def bind(self, operator: Operator) -> BoundDirect:
        """Factorise the matrix of one operator."""
        problem = operator.problem
        matrix = sparse.diags_array(problem.diagonal) - problem.inner
        try:
            # M is diagonally dominant: its diagonal entries are safe pivots.
            factors = splu(
                matrix.tocsc(),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError:  # singular in float64: the weights are too far apart
            factors = None
        return BoundDirect(operator, factors, self.max_iter)


class BoundDirect(Relaxation):
    """See `isotherm.solvers.method.Method`."""

    def __init__(self, operator: Operator, factors: Any, max_iter: int) -> None:
        super().__init__(operator)
        self.factors = factors
        self.max_iter = max_iter

    def relax(
        self, X: NDArray[np.float64], target: float, heat: float = 0.0
    ) -> Iterator[NDArray[np.float64]]:
        free = self.operator.problem.free
        R = self.operator.residual(X, heat)
        for _ in range(self.max_iter):
            level = self.operator.level(R)
            yield level
            if (level <= target).all() or self.factors is None:
                return
            X[free] += self.factors.solve(R[free])
            R = self.operator.residual(X, heat)
        yield self.operator.level(R)
