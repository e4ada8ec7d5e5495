"""Conjugate gradients in NumPy in the place of PETSc: for tests where there is no petsc4py."""

from importlib.util import find_spec

import numpy as np

import isotherm_petsc.part
import isotherm_petsc.worker

HAS_PETSC = find_spec("petsc4py") is not None


class LinearSystem:
    """See `isotherm_petsc.petsc.LinearSystem`."""

    def __init__(self, ranks, matrix, numbers, n_nodes):
        self.ranks, self.matrix, self.numbers = ranks, matrix, numbers
        self.n_nodes, self.diagonal = n_nodes, matrix.diagonal()

    def sum(self, own):
        return self.ranks.gathered(np.float64(own)).sum()

    def product(self, own):
        """M P, with P of all nodes: slow, and right."""
        whole = np.zeros((self.ranks.size, self.n_nodes))
        whole[0, self.numbers[: len(own)]] = own
        return self.matrix @ self.ranks.gathered(whole[0]).sum(axis=0)[self.numbers]

    def solve(self, b, x, unit, goal, watch, steps):
        r = b - self.product(x)
        p, rz = np.zeros_like(b), np.inf
        while True:
            own = np.abs(r / unit).max(initial=0.0)
            level = float(self.ranks.gathered(np.float64(own)).max())
            if level <= goal or (watch is not None and watch(steps, level / goal)):
                break
            z = r / self.diagonal
            before, rz = rz, self.sum(r @ z)
            p = z + rz / before * p
            v = self.product(p)
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
