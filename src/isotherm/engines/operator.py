"""What an engine must offer: the operator of a Dirichlet problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem


class Operator(Protocol):
    """The matrix ``M = (1 + τ) D_F − A_FF`` of one problem."""

    problem: DirichletProblem

    def apply(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Product M X; X has shape (n_F, k)."""
        ...

    def level(self, R: NDArray[np.float64]) -> NDArray[np.float64]:
        """Size of a residual, ``max_i |R_ik| / d_i`` for each column k."""
        ...

    def residual(
        self,
        rhs: NDArray[np.float64],
        X: NDArray[np.float64],
        sizes: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``rhs − M X`` in float64, and a bound on the rounding of each of its entries.

        `sizes` bounds the sum of the absolute values of the terms that `rhs` is made of.
        """
        ...


class Engine(Protocol):
    """Makes operators."""

    name: str

    def operator(self, problem: DirichletProblem) -> Operator:
        """Prepare the operator of a problem."""
        ...
