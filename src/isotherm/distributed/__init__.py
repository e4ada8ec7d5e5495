"""Many machines: one program, started on all of them by mpiexec; see docs/many-machines.md.

Each rank reads its own part files, owns some of the nodes, and writes a part of the results. No
rank has all names, all edges or all temperatures.
"""

from isotherm.distributed.classification import Outcome, classify
from isotherm.distributed.model import DistributedModel
from isotherm.engines.mpi.ranks import Ranks

__all__ = ["DistributedModel", "Outcome", "Ranks", "classify"]
