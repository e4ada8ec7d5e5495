"""Columns by PETSc's own conjugate gradients: ``python petsc_columns.py PROBLEM TOL``.

PROBLEM is an ``.npz`` file: the matrix of the free nodes in CSR (``start``, ``ends``,
``numbers``), right-hand sides (``sources``) and the answer (``expected``). One solve after the
other with the diagonal as preconditioner, each to a residual small enough that no number is off by
more than TOL. A program for `benchmarks.beside_petsc`, written as one would: no isotherm in it.
"""

import json
import sys
import time

import numpy as np
from petsc4py import PETSc


def main(path, tol):
    """Solve, and print the seconds and steps of the loosest residual that will do."""
    with np.load(path) as file:
        given = {name: file[name] for name in file.files}
    comm = PETSc.COMM_WORLD
    n = len(given["start"]) - 1
    x, b = PETSc.Vec().createMPI(n, comm=comm), PETSc.Vec().createMPI(n, comm=comm)
    first, last = x.getOwnershipRange()
    start = given["start"][first : last + 1]
    entries = slice(start[0], start[-1])
    rows = (
        (start - start[0]).astype(PETSc.IntType),
        given["ends"][entries].astype(PETSc.IntType),
        given["numbers"][entries],
    )
    size = (last - first, n)
    matrix = PETSc.Mat().createAIJ(size=(size, size), csr=rows, comm=comm)
    matrix.assemble()
    sources, expected = given["sources"][first:last], given["expected"][first:last]
    ksp = PETSc.KSP().create(comm)
    ksp.setType("cg")
    ksp.getPC().setType("jacobi")
    ksp.setOperators(matrix)
    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    ksp.setUp()
    for digits in range(4, 13):
        ksp.setTolerances(rtol=10.0**-digits, max_it=100_000)
        seconds, steps, error = 0.0, 0, 0.0
        for k in range(sources.shape[1]):
            b.getArray()[:] = sources[:, k]
            x.set(0.0)
            comm.barrier()
            began = time.perf_counter()
            ksp.solve(b, x)
            seconds += time.perf_counter() - began
            steps += ksp.getIterationNumber()
            error = max(error, float(np.abs(x.getArray() - expected[:, k]).max(initial=0.0)))
        error = comm.tompi4py().allreduce(error, op=_greatest())
        if error <= tol:
            break
    if comm.rank == 0:
        print(json.dumps({"seconds": seconds, "steps": steps, "error": error}))


def _greatest():
    from mpi4py import MPI

    return MPI.MAX


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
