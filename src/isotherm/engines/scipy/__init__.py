"""The SciPy engine: runs everywhere, and is the reference for the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from isotherm.engines.session import HostSession
from isotherm.errors import NotEnoughMemory
from isotherm.solvers.choice import may_copy
from isotherm.solvers.operator import ReferenceOperator

if TYPE_CHECKING:
    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.options import SolveOptions


@dataclass(frozen=True)
class ScipyEngine:
    """Products by `scipy.sparse`, in float64."""

    name: ClassVar[str] = "scipy"

    def prepare(self, problem: DirichletProblem, options: SolveOptions) -> HostSession:
        """Make the matrix of a problem ready.

        Raises
        ------
        NotEnoughMemory
            If there is no room for a copy of the edges, which is what SciPy works on.
        """
        if not may_copy(problem, options.memory):
            raise NotEnoughMemory(
                "the scipy engine copies all edges, and there is not enough memory for that; use "
                "engine='native', which reads them from a saved graph"
            )
        return HostSession(self.name, problem, options, ReferenceOperator)
