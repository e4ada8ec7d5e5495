"""The engine of many machines: each rank has some rows of the matrix."""

from isotherm.engines.mpi.engine import MpiEngine

__all__ = ["MpiEngine"]
