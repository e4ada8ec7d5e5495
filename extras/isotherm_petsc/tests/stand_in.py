"""Conjugate gradients in NumPy in the place of PETSc: for tests where there is no petsc4py."""

from importlib.util import find_spec

import numpy as np

import isotherm_petsc.part
import isotherm_petsc.worker

HAS_PETSC = find_spec("petsc4py") is not None


class LinearSystem:
    """See `isotherm_petsc.petsc.LinearSystem`."""

    def __init__(self, graph, matrix):
        self.graph, self.ranks, self.matrix = graph, graph.ranks, matrix
        self.diagonal = matrix.diagonal(graph.own.start)

    def sum(self, own):
        return np.sum(self.ranks.gathered(own))

    def solve(self, b, x, unit, goal, watch, steps):
        r = b - self.matrix @ self.graph.around(x)
        p, rz = np.zeros_like(b), np.inf
        while True:
            own = np.abs(r / unit).max(initial=0.0)
            level = np.max(self.ranks.gathered(own))
            if level <= goal or (watch is not None and watch(steps, level / goal)):
                break
            z = r / self.diagonal
            before, rz = rz, self.sum(r @ z)
            p = z + rz / before * p
            v = self.matrix @ self.graph.around(p)
            alpha = rz / self.sum(p @ v)
            x += alpha * p
            r -= alpha * v
            steps += 1
        return steps

    def close(self):
        pass


def take_its_place():
    """From here on, unless petsc4py is there."""
    if not HAS_PETSC:
        isotherm_petsc.part.LinearSystem = LinearSystem
        isotherm_petsc.worker.petsc = lambda: None
