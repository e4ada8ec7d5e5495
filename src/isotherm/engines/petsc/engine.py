"""PetscEngine: the products of PETSc, all columns at once, under the same steps and proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from isotherm.engines.mpi.session import SharedSession
from isotherm.engines.petsc.arithmetic import PetscArithmetic, petsc
from isotherm.errors import ParameterError

if TYPE_CHECKING:
    from isotherm.engines.mpi.share import SharedProblem
    from isotherm.solvers.options import SolveOptions

PRECONDITIONERS = ("diagonal", "gamg")


@dataclass(frozen=True)
class PetscEngine:
    """Solves what is shared out over ranks; see `isotherm.distributed`.

    Parameters
    ----------
    preconditioner : {"diagonal", "gamg"}
        ``"gamg"`` is PETSc's algebraic multigrid: for grids and roads, where the diagonal takes
        hundreds of steps. On social graphs it would take far more memory and time; its aggregates
        are therefore not smoothed, which bounds both.

    Raises
    ------
    MissingLibrary
        If petsc4py is not installed.
    """

    preconditioner: str = "diagonal"
    name: ClassVar[str] = "petsc"

    def __post_init__(self) -> None:
        if self.preconditioner not in PRECONDITIONERS:
            raise ParameterError.unknown("preconditioner", self.preconditioner, PRECONDITIONERS)
        petsc()

    def prepare(self, problem: SharedProblem, options: SolveOptions) -> SharedSession:
        """Make the matrix of a problem ready."""
        multigrid = self.preconditioner == "gamg"
        return SharedSession(
            self.name,
            problem,
            options,
            lambda some, gauge, threads: PetscArithmetic(some, gauge, threads, multigrid=multigrid),
        )
