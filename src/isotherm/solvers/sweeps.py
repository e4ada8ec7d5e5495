"""Equation (3), ``X = Q X + R Y``, iterated: the paper's fixed point."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, ClassVar

from isotherm.solvers.cg import PlainConjugateGradient
from isotherm.solvers.method import Relaxation, check_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from isotherm.solvers.operator import Operator, Sources


@dataclass(frozen=True)
class Sweeps:
    """Every free node takes the mean temperature of its neighbours, again and again from 0.

    Parameters
    ----------
    n : int or None
        Exactly this many sweeps, as other libraries do; the certificate says how far from
        equilibrium they end, and `NotConverged` is raised if that is farther than `tol`.
        None: until the tolerance is met.
    max_iter : int
        With ``n=None``, sweeps after which it gives up.

    Examples
    --------
    >>> from isotherm import Graph, NotConverged, Sweeps, solve_dirichlet
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> try:
    ...     solve_dirichlet(path, [0, 3], [0.0, 1.0], solver=Sweeps(2))
    ... except NotConverged as error:
    ...     print(error.solution.temperatures.ravel().tolist())
    [0.0, 0.25, 0.5, 1.0]
    """

    n: int | None = None
    max_iter: int = 100_000
    name: ClassVar[str] = "sweeps"

    def __post_init__(self) -> None:
        check_count(self.max_iter, "max_iter")
        if self.n is not None:
            check_count(self.n, "n", least=0)

    def bind(self, operator: Operator) -> BoundSweeps:
        """Prepare for one matrix."""
        return BoundSweeps(operator, self.n, self.max_iter)


class BoundSweeps(Relaxation):
    """See `isotherm.solvers.method.Method`."""

    def __init__(self, operator: Operator, n: int | None, max_iter: int) -> None:
        super().__init__(operator)
        self.n = n
        self.max_iter = max_iter

    def relax(
        self, X: NDArray[np.floating], target: float, sources: Sources | None
    ) -> Iterator[NDArray[np.float64]]:
        last = self.max_iter if self.n is None else self.n
        for sweep in count():
            R = self.operator.residual(X, sources)
            level = self.operator.level(R)
            yield level
            if sweep == last or (self.n is None and (level <= target).all()):
                return
            X += R / self.operator.diagonal  # X ← Q X + R Y

    def exit_method(self) -> Relaxation:
        # A few sweeps would leave the exit times, too, far from their limit.
        return PlainConjugateGradient(self.operator)
