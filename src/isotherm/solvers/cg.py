"""Conjugate gradients: all classes at once, preconditioned by the diagonal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from isotherm.solvers.method import certifier_by, check_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.engines.operator import Operator
    from isotherm.solvers.method import Certifier


@dataclass(frozen=True)
class ConjugateGradient:
    """Jacobi-preconditioned conjugate gradients for large graphs.

    Parameters
    ----------
    max_iter : int
        Steps after which it gives up.
    """

    max_iter: int = 10_000
    name: ClassVar[str] = "cg"

    def __post_init__(self) -> None:
        check_count(self.max_iter, "max_iter")

    def bind(self, operator: Operator) -> BoundConjugateGradient:
        """Prepare for one operator."""
        return BoundConjugateGradient(operator, self.max_iter)


@dataclass(frozen=True)
class BoundConjugateGradient:
    """See `isotherm.solvers.method.Method`."""

    operator: Operator
    max_iter: int

    def iterate(
        self, rhs: NDArray[np.float64], X: NDArray[np.float64], target: float
    ) -> Iterator[NDArray[np.float64]]:
        # The steps are numbered as in Saad, Iterative Methods for Sparse Linear Systems (2nd
        # ed.), Algorithm 9.1, with one α and one β per column. A column at its target (an empty
        # one is there from the start) is frozen by α = β = 0: it no longer moves, and its
        # vanishing inner products divide nothing.
        problem = self.operator.problem
        diagonal = problem.diagonal[:, np.newaxis]
        R = rhs - self.operator.apply(X)  # 1
        Z = R / diagonal
        P = Z.copy()
        rz = np.einsum("ik,ik->k", R, Z)
        for _ in range(self.max_iter):  # 2
            level = (1 + problem.leak) * np.abs(Z).max(axis=0)  # that of R, as Z = R / (1 + τ) d
            yield level
            moving = level > target
            if not moving.any():
                return
            MP = self.operator.apply(P)
            alpha = _ratio(rz, np.einsum("ik,ik->k", P, MP), moving)  # 3
            X += alpha * P  # 4
            R -= alpha * MP  # 5
            np.divide(R, diagonal, out=Z)  # 6
            rz, previous = np.einsum("ik,ik->k", R, Z), rz
            P *= _ratio(rz, previous, moving)  # 7
            P += Z  # 8
        yield self.operator.level(R)

    def certifier(self) -> Certifier:
        # Not by `self`: a bound is most wanted where this solve was cut short.
        return certifier_by(ConjugateGradient().bind(self.operator), self.operator)


def _ratio(
    above: NDArray[np.float64], below: NDArray[np.float64], where: NDArray[np.bool_]
) -> NDArray[np.float64]:
    return np.divide(above, below, out=np.zeros_like(above), where=where & (below > 0))
