"""Solution: temperatures, their proof, how they were found; NotConverged, if not well enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isotherm.errors import IsothermError
from isotherm.read_only import Sealed, cached_array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isotherm.solvers.certificate import Certificate


@dataclass(frozen=True, eq=False)
class Solution(Sealed):
    """Temperatures at equilibrium with a proof of their error.

    Attributes
    ----------
    temperatures : array of shape (n, k)
        NaN at unreached nodes, which have no temperature. float64, or float32 where that holds
        the tolerance asked for.
    error_bound : array of shape (n,)
        ``|T − T*| ≤ error_bound`` at each node, for all its columns, T* being the exact
        equilibrium. 0 at seeds, NaN at unreached nodes.
    residual : float
        Greatest imbalance of heat at a free node, relative to its degree.
    n_iter : int
        Steps taken by the solver.
    solver, engine : str
        Names of those that did the work.
    seconds : float
    converged : bool
        Whether every temperature is proven to the tolerance asked for, or as far as the purpose
        needed it.
    shortfall : str
        If not: what was reached, and what to do about it.
    unreached : bool array of shape (n,)
        Free nodes in components without seeds.
    certificate : Certificate
        The same bound for each column separately.

    Examples
    --------
    >>> from isotherm import Graph, solve_dirichlet
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> solution = solve_dirichlet(path, [0, 3], [0.0, 3.0], tol=1e-9)
    >>> solution.temperatures.round(6).ravel().tolist(), solution.converged
    ([0.0, 1.0, 2.0, 3.0], True)
    >>> bool(solution.error_bound.max() <= 1e-9)
    True
    """

    temperatures: NDArray[np.floating]
    certificate: Certificate
    unreached: NDArray[np.bool_]
    n_iter: int
    solver: str
    engine: str
    seconds: float
    converged: bool = True
    shortfall: str = ""

    @cached_array
    def error_bound(self) -> NDArray[np.float64]:
        """The bound at each node, over all its columns."""
        return self.certificate.error_bound

    @property
    def residual(self) -> float:
        """Greatest imbalance of heat at a free node, relative to its degree."""
        return self.certificate.residual

    def __repr__(self) -> str:
        n, k = self.temperatures.shape
        return (
            f"Solution({n} × {k} temperatures, error ≤ {self.certificate.bound:.1e}, "
            f"solver={self.solver!r}, engine={self.engine!r}, n_iter={self.n_iter})"
        )


class NotConverged(IsothermError, RuntimeError):
    """The solver stopped before the certificate met the tolerance.

    Attributes
    ----------
    solution : Solution
        The temperatures reached, with their error bound, which is proven but larger than `tol`.

    Examples
    --------
    >>> from isotherm import ConjugateGradient, NotConverged, load_dataset, solve_dirichlet
    >>> club = load_dataset("karate").graph
    >>> try:
    ...     solve_dirichlet(club, [0, 33], [0, 1], solver=ConjugateGradient(1), engine="scipy")
    ... except NotConverged as error:
    ...     print(error.solution.n_iter, bool(error.solution.error_bound.max() > 1e-6))
    1 True
    """

    def __init__(self, message: str, solution: Solution) -> None:
        super().__init__(message)
        self.solution = solution

    def __reduce__(self) -> tuple[type[NotConverged], tuple[str, Solution]]:
        return type(self), (str(self), self.solution)
