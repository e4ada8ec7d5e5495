"""isotherm on many processes: an engine that stands on PETSc.

The first rank runs isotherm as it is; the others serve it. All of them have some rows of a saved
graph, solve together, and prove what they found. See docs/many-machines.md.
"""

from __future__ import annotations

from isotherm_petsc.engine import PetscEngine
from isotherm_petsc.worker import serve

__all__ = ["PetscEngine", "serve"]
