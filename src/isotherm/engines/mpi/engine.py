"""MpiEngine: many machines, by mpi4py, with the arithmetic of the core or of SciPy on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from isotherm.engines.mpi.arithmetic import arithmetic_of
from isotherm.engines.mpi.session import SharedSession

if TYPE_CHECKING:
    from isotherm.engines.mpi.share import SharedProblem
    from isotherm.solvers.options import SolveOptions


@dataclass(frozen=True)
class MpiEngine:
    """Solves what is shared out over ranks; see `isotherm.distributed`."""

    name: ClassVar[str] = "mpi"

    def prepare(self, problem: SharedProblem, options: SolveOptions) -> SharedSession:
        """Make the matrix of a problem ready."""
        return SharedSession(self.name, problem, options, arithmetic_of)
