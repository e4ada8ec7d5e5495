"""Solution: temperatures, their proof, and how they were found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.certificate import Certificate


@dataclass(frozen=True, eq=False)
class Solution:
    """Temperatures at equilibrium with a proof of their error.

    Attributes
    ----------
    temperatures : array of shape (n, k)
        NaN at unreached nodes, which have no temperature.
    error_bound : array of shape (n,)
        ``|T − T*| ≤ error_bound`` at each node, for all its columns, T* being the exact
        equilibrium. 0 at seeds, NaN at unreached nodes.
    residual : float
        Greatest imbalance of heat at a free node, relative to its degree.
    n_iter : int
        Steps taken by the solver for the temperatures; the certificate's own column, found
        beforehand, is not counted.
    solver, engine : str
        Names of those that did the work.
    seconds : float
    unreached : bool array of shape (n,)
        Free nodes in components without seeds.
    certificate : Certificate
        The same bound for each column apart.
    """

    temperatures: NDArray[np.float64]
    error_bound: NDArray[np.float64]
    residual: float
    n_iter: int
    solver: str
    engine: str
    seconds: float
    unreached: NDArray[np.bool_]
    certificate: Certificate

    @classmethod
    def of(
        cls,
        problem: DirichletProblem,
        X: NDArray[np.float64],
        certificate: Certificate,
        *,
        n_iter: int,
        solver: str,
        engine: str,
        seconds: float,
    ) -> Solution:
        """Solution over all nodes from temperatures X of the free ones and their certificate."""
        unreached = np.zeros(problem.graph.n_nodes, dtype=bool)
        unreached[problem.unreached] = True
        whole = replace(certificate, nodes=problem.assemble(certificate.nodes, 0.0))
        return cls(
            temperatures=problem.assemble(X, problem.values),
            error_bound=whole.error_bound,
            residual=certificate.residual,
            n_iter=n_iter,
            solver=solver,
            engine=engine,
            seconds=seconds,
            unreached=unreached,
            certificate=whole,
        )

    def __repr__(self) -> str:
        n, k = self.temperatures.shape
        return (
            f"Solution({n} × {k} temperatures, error ≤ {self.certificate.bound:.1e}, "
            f"solver={self.solver!r}, engine={self.engine!r}, n_iter={self.n_iter})"
        )
