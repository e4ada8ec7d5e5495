"""The SciPy engine: runs everywhere, and is the reference for the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from isotherm.engines.session import HostSession
from isotherm.solvers.operator import ReferenceOperator

if TYPE_CHECKING:
    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.options import SolveOptions


@dataclass(frozen=True)
class ScipyEngine:
    """Products by `scipy.sparse`, in float64."""

    name: ClassVar[str] = "scipy"

    def prepare(self, problem: DirichletProblem, options: SolveOptions) -> HostSession:
        """Make the matrix of a problem ready."""
        return HostSession(self.name, problem, options, ReferenceOperator)
