"""What is computed across ranks, by which engine, on how many threads of each."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isotherm.classifier.estimator import UNREACHED
from isotherm.decision import DECISIONS
from isotherm.errors import ParameterError

if TYPE_CHECKING:
    from isotherm.engines.mpi.ranks import Ranks

ENGINES = ("mpi", "petsc")


@dataclass(frozen=True)
class DistributedModel:
    """What is computed, and how; as the parameters of `isotherm.DirichletClassifier`.

    Attributes
    ----------
    decision, leak, tol, unreached, threads
        See there. Decision and leak are not chosen here: ``"auto"`` works on one machine only.
    engine : {"mpi", "petsc"}
    preconditioner : {"diagonal", "gamg"}
        The second with engine ``"petsc"``; see `isotherm.engines.petsc.PetscEngine`.
    """

    decision: str = "centered"
    leak: float = 0.0
    tol: float = 1e-6
    unreached: str = "abstain"
    engine: str = "mpi"
    threads: int | None = None
    preconditioner: str = "diagonal"

    def __post_init__(self) -> None:
        if self.decision not in DECISIONS:
            raise ParameterError.unknown("decision on many machines", self.decision, DECISIONS)
        if isinstance(self.leak, str):
            raise ParameterError(f"leak={self.leak!r} works on one machine only: give a number")
        if self.engine not in ENGINES:
            raise ParameterError.unknown("engine on many machines", self.engine, ENGINES)
        if self.preconditioner != "diagonal" and self.engine != "petsc":
            raise ParameterError(
                f"preconditioner={self.preconditioner!r} needs engine='petsc', got "
                f"engine={self.engine!r}"
            )
        if self.unreached not in UNREACHED:
            raise ParameterError.unknown("rule for unreached nodes", self.unreached, UNREACHED)


def threads_of(ranks: Ranks, threads: int | None) -> int | None:
    """How many threads a rank may use: as asked, else its part of the machine's processors."""
    beside = ranks.objects(socket.gethostname()).count(socket.gethostname())
    if threads is not None or "OMP_NUM_THREADS" in os.environ:
        return threads
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if usable < (os.cpu_count() or 1):
        return usable  # mpiexec has given it these
    return max(1, usable // beside)


def engine_of(model: DistributedModel) -> Any:
    """The engine that a model asks for, loaded when it is needed."""
    if model.engine == "petsc":
        from isotherm.engines.petsc import PetscEngine

        return PetscEngine(model.preconditioner)
    from isotherm.engines.mpi import MpiEngine

    return MpiEngine()
