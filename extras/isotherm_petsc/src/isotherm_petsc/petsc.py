"""The arithmetic: PETSc's distributed matrix, its conjugate gradients and its multigrid."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm import MissingLibrary, NotEnoughMemory

if TYPE_CHECKING:
    from collections.abc import Callable

    import scipy

    from isotherm_petsc.ranks import Array
    from isotherm_petsc.rows import OwnRows

    # Told after each step, on all ranks: which it is, and how far it is from the goal, as a
    # multiple of it; whether to stop.
    Watch = Callable[[int, float], bool]

FEW_STEPS = 60  # with the diagonal; where they do not suffice, to make the multigrid is worth it
MOST_STEPS = 10_000
# One vector for good: PETSc gives its communicator back with its last object, all ranks at once,
# but Python does not drop objects at the same moment on all of them.
_kept: list[Any] = []
CONVERGED, GOES_ON, DIVERGED = 3, 0, -3  # of PETSc's KSPConvergedReason
M_MMAP_MAX, M_TRIM_THRESHOLD = -4, -1  # of glibc's malloc.h
CLOSER = 0.8  # of the norm at which the residual is likely to be small enough
BOUNDED = {  # of the multigrid: aggregates that are not smoothed grow no denser from level to level
    "pc_gamg_type": "agg",
    "pc_gamg_agg_nsmooths": "0",
    "pc_gamg_coarse_eq_limit": "200",
    "mg_levels_ksp_type": "richardson",
    "mg_levels_pc_type": "jacobi",
    "mg_levels_ksp_max_it": "1",
}


def petsc() -> Any:
    """The library, loaded when it is first needed; MissingLibrary says how to install it."""
    try:
        import petsc4py

        petsc4py.init([])  # options come from PETSC_OPTIONS alone
        from petsc4py import PETSc
    except (ImportError, KeyError, RuntimeError) as error:
        raise MissingLibrary(
            f"engine='petsc' needs petsc4py ({type(error).__name__}: {error}): Debian and Ubuntu "
            "have python3-petsc4py (set PETSC_DIR, too), conda has petsc4py, and pip install "
            "petsc4py compiles it"
        ) from None
    if hasattr(libc := ctypes.CDLL(None), "mallopt"):  # SuperLU_DIST has free keep all memory
        libc.mallopt(M_MMAP_MAX, 1 << 16)
        libc.mallopt(M_TRIM_THRESHOLD, 1 << 17)
    return PETSc


class LinearSystem:
    """A symmetric matrix whose rows are shared out, and how systems with it are solved.

    With the diagonal for a preconditioner, or with PETSc's algebraic multigrid (GAMG) once a column
    needs more than `FEW_STEPS` steps: on grids and roads it takes hundreds. ``PETSC_OPTIONS`` can
    change them by the prefixes ``-isotherm_`` and ``-isotherm_multigrid_``.

    A rank gives the rows of its own nodes, with a column for each node of its own and each ghost.
    """

    def __init__(self, graph: OwnRows, matrix: scipy.sparse.csr_array) -> None:
        self.ranks, PETSc = graph.ranks, petsc()
        index, n, size = PETSc.IntType, graph.n_nodes, (graph.n_own, graph.n_nodes)
        most = np.iinfo(index).max

        def arrays() -> tuple[Array, ...]:
            if max(n, matrix.nnz) > most:
                raise NotEnoughMemory(
                    f"this PETSc counts to {most:,}: {n:,} nodes and {matrix.nnz:,} entries on a "
                    "rank are too many; use more ranks, or a PETSc with 64-bit indices"
                )
            ends = graph.numbers.astype(index)[matrix.indices]
            return matrix.indptr.astype(index), ends, matrix.data

        rows, ranks = self.ranks.agreed(arrays), self.ranks
        if not _kept:
            _kept.append(PETSc.Vec().createMPI((1, ranks.size), comm=ranks.comm))
        self._matrix = PETSc.Mat().createAIJ(size=(size, size), csr=rows, comm=ranks.comm)
        self._matrix.setOption(PETSc.Mat.Option.SPD, True)
        self._x, self._b = self._matrix.createVecs()
        self._room = self._b.duplicate()
        self._solvers: list[Any] = []  # with the diagonal, and the multigrid, once it is made
        self.ratio = np.inf  # of the norm to the greatest residual, when they were last looked at

    def solve(
        self, b: Array, x: Array, unit: Array, goal: float, watch: Watch | None, steps: int
    ) -> int:
        """Improve x until ``|b − M x| ≤ goal · unit`` is likely at all nodes; steps, counted on."""
        self._x.setArray(x)
        self._b.setArray(b)
        if not self._solvers:
            self._solvers.append(self._made("isotherm_", "jacobi", {}))
        look_at, before, most, wants_more = 0.0, steps, FEW_STEPS, False

        def test(solver: Any, step: int, norm: float) -> int:
            """Whether the greatest residual is small enough; PETSc knows a norm only.

            The norm at which the residual is looked at follows from the last look.
            """
            nonlocal look_at, steps, wants_more
            steps = before + step
            self.ranks.watchdog.moved()
            if not norm < np.inf:
                return DIVERGED
            if norm <= look_at:
                R = solver.buildResidual(self._room)  # which conjugate gradients keep
                own = (np.abs(R.getArray(readonly=True)) / unit).max(initial=0.0)
                level = float(np.max(self.ranks.gathered(own)))
                if level <= goal:
                    return CONVERGED
                self.ratio = norm / level
                look_at = CLOSER * goal * self.ratio
            if watch is not None and watch(steps, norm / self.ratio / goal):
                return DIVERGED
            wants_more = step >= most
            return DIVERGED if wants_more else GOES_ON

        while True:
            look_at, before, wants_more = goal * self.ratio, steps, False
            most = MOST_STEPS if len(self._solvers) > 1 else FEW_STEPS
            self._solvers[-1].setConvergenceTest(test)
            with self.ranks.watchdog.waiting("a step of the solve"):
                _call("KSPSolve", self._solvers[-1], self._b, self._x)
            if not wants_more or len(self._solvers) > 1:
                x[:] = self._x.getArray(readonly=True)
                return steps
            self._solvers.append(self._made("isotherm_multigrid_", "gamg", BOUNDED))

    def _made(self, prefix: str, preconditioner: str, defaults: dict[str, str]) -> Any:
        """Conjugate gradients that go on from where x is."""
        PETSc = petsc()
        options = PETSc.Options(prefix)
        for name, value in defaults.items():
            if not options.hasName(name):
                options[name] = value
        solver = PETSc.KSP().create(self.ranks.comm)
        solver.setOptionsPrefix(prefix)
        solver.setOperators(self._matrix)
        solver.setType("cg")
        solver.getPC().setType(preconditioner)
        solver.setNormType(PETSc.KSP.NormType.NATURAL)
        solver.setInitialGuessNonzero(True)
        solver.setFromOptions()
        with self.ranks.watchdog.waiting("the preconditioner"):
            _call("KSPSetUp", solver)
        return solver

    def close(self) -> None:
        """Give back what PETSc holds."""
        for thing in (*self._solvers, self._matrix, self._x, self._b, self._room):
            thing.destroy()
        self._solvers = []


def _call(name: str, *things: Any) -> None:
    """Call PETSc while other threads run, the watchdog's among them: petsc4py lets none run."""
    call = getattr(ctypes.CDLL(petsc().__file__), name)
    error = call(*(ctypes.c_void_p(thing.handle) for thing in things))
    if error:
        raise RuntimeError(f"PETSc's {name} failed with error {error}")
