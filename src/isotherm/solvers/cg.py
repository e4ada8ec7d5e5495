"""Conjugate gradients: all classes at once, preconditioned by the diagonal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from isotherm.errors import ParameterError
from isotherm.solvers.method import Relaxation, check_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.solvers.operator import Operator, Sources

PRECONDITIONERS = ("auto", "diagonal", "factor")


@dataclass(frozen=True)
class ConjugateGradient:
    """Preconditioned conjugate gradients for large graphs.

    Parameters
    ----------
    max_iter : int
        Steps after which it gives up.
    preconditioner : {"auto", "diagonal", "factor"}
        ``"factor"`` is an approximate factorisation (native engine only) for graphs on which the
        diagonal alone takes hundreds of steps: grids, roads, nearest neighbours with few seeds.
        ``"auto"`` starts with the diagonal and switches when the steps so far show that many more
        would follow.

    Examples
    --------
    >>> from isotherm import ConjugateGradient, Graph, solve_dirichlet
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> solver = ConjugateGradient(max_iter=100)
    >>> solution = solve_dirichlet(path, [0, 3], [0.0, 3.0], solver=solver)
    >>> solution.temperatures.round(6).ravel().tolist()
    [0.0, 1.0, 2.0, 3.0]
    """

    max_iter: int = 10_000
    preconditioner: str = "auto"
    name: ClassVar[str] = "cg"

    def __post_init__(self) -> None:
        check_count(self.max_iter, "max_iter")
        if self.preconditioner not in PRECONDITIONERS:
            raise ParameterError.unknown("preconditioner", self.preconditioner, PRECONDITIONERS)

    def bind(self, operator: Operator) -> PlainConjugateGradient:
        """Prepare for one matrix."""
        if self.preconditioner == "factor":
            raise ParameterError(
                "preconditioner='factor' needs engine='native': use it, or "
                "preconditioner='diagonal'"
            )
        return PlainConjugateGradient(operator, self.max_iter)


class PlainConjugateGradient(Relaxation):
    """The algorithm step by step, on any engine; see `isotherm.solvers.method.Method`."""

    def __init__(self, operator: Operator, max_iter: int = ConjugateGradient.max_iter) -> None:
        super().__init__(operator)
        self.max_iter = max_iter

    def relax(
        self, X: NDArray[np.floating], target: float, sources: Sources | None
    ) -> Iterator[NDArray[np.float64]]:
        # The steps are numbered as in Saad, Iterative Methods for Sparse Linear Systems (2nd
        # ed.), Algorithm 9.1, with one α and one β per column. A column at its target (an empty
        # one is there from the start) is frozen by α = β = 0: it no longer moves, and its
        # vanishing inner products divide nothing.
        diagonal = self.operator.diagonal
        R = self.operator.residual(X, sources)  # 1
        Z = R / diagonal
        P = Z.copy()
        rz = np.einsum("ik,ik->k", R, Z)
        for _ in range(self.max_iter):  # 2
            level = self.operator.level(R)
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

    def exit_method(self) -> Relaxation:
        # Not by `self`: a bound is most wanted where this solve was cut short.
        return PlainConjugateGradient(self.operator)


def _ratio(
    above: NDArray[np.float64], below: NDArray[np.float64], where: NDArray[np.bool_]
) -> NDArray[np.float64]:
    return np.divide(above, below, out=np.zeros_like(above), where=where & (below > 0))
