"""The engine of many machines that have PETSc: its distributed matrix and preconditioners."""

from isotherm.engines.petsc.engine import PetscEngine

__all__ = ["PetscEngine"]
