"""NativeEngine: iterates in float32, proves in float64, on several threads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from isotherm.compiled import core, n_threads, on_threads
from isotherm.engines.native.fused import FusedConjugateGradient
from isotherm.engines.native.proof import imbalance_of, native_drains, native_evidence
from isotherm.engines.native.superposed import native_superpose
from isotherm.engines.session import HostSession
from isotherm.errors import NotEnoughMemory, ParameterError
from isotherm.memory import COPY
from isotherm.solvers.cg import ConjugateGradient
from isotherm.solvers.choice import may_copy
from isotherm.solvers.operator import ReferenceOperator, root_measures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.imbalance import Imbalance
    from isotherm.solvers.method import Method, Solver
    from isotherm.solvers.options import SolveOptions
    from isotherm.solvers.superposition import Superposition


@dataclass(frozen=True)
class NativeEngine:
    """Products and conjugate gradients in C++, on several threads.

    Parameters
    ----------
    threads : int or None
        Where `SolveOptions` do not say; see there.

    Examples
    --------
    >>> from isotherm import Graph, NativeEngine, solve_dirichlet
    >>> from isotherm.engines import ENGINES
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> engine = NativeEngine(threads=2) if "native" in ENGINES else "scipy"
    >>> solution = solve_dirichlet(path, [0, 3], [0.0, 3.0], engine=engine)
    >>> solution.temperatures.round(6).ravel().tolist()
    [0.0, 1.0, 2.0, 3.0]
    """

    threads: int | None = None
    _simd: str | None = None  # the instruction set; by default the best that this machine has
    name: ClassVar[str] = "native"

    def __post_init__(self) -> None:
        if self.threads is not None:
            n_threads(self.threads)  # says what is wrong with it
        if core is None:
            raise ParameterError(
                "the native engine is not available: isotherm was installed without the core. "
                "Install a C++ compiler, then isotherm again; or use engine='scipy'"
            )
        known = core.instruction_sets()
        if self._simd is not None and self._simd not in known:
            raise ParameterError.unknown("instruction set", self._simd, known)

    def prepare(self, problem: DirichletProblem, options: SolveOptions) -> HostSession:
        """Make the matrix of a problem ready."""
        if not problem.graph.rows.compiled:
            raise ParameterError(
                f"{problem.graph.n_nodes:,} nodes are too many for the native engine: use "
                "engine='scipy'"
            )
        simd = self._simd or core.instruction_sets()[0]
        threads = n_threads(self.threads if options.threads is None else options.threads)
        limit = options.memory
        operator_of = partial(NativeOperator, threads=threads, simd=simd, memory=limit)
        return on_threads(threads, HostSession, self.name, problem, options, operator_of)


class NativeOperator(ReferenceOperator):
    """See `isotherm.solvers.operator.Operator`.

    What need not be fast, since solvers for small graphs use it, is inherited.
    """

    def __init__(
        self,
        problem: DirichletProblem,
        tol: float,
        *,
        threads: int,
        simd: str,
        memory: int | None = None,
    ) -> None:
        super().__init__(problem, tol)
        rows = problem.graph.rows
        self.copies = may_copy(problem, memory)
        if memory is not None and self.copies:
            memory -= COPY * rows.n_entries
        self.memory = memory  # for vectors
        self.root = root_measures(problem, tol)
        self.threads = threads
        self.simd = simd

    @property
    def eliminates(self) -> bool:
        return self.copies and bool(core.is_reduced(self.problem.graph.rows.n_entries))

    def prepared(self, *, peeling: bool = True) -> core.Problem:
        """The matrix as the core sees it; `peeling` takes hanging trees off."""
        rows, problem = self.problem.graph.rows, self.problem
        return core.Problem(
            rows.start,
            rows.ends,
            rows.weights,
            problem.is_free.view(np.uint8),
            problem.capacities,
            None if problem.ties is None else problem.tie_weights,
            problem.leak,
            self.root,
            peeling,
            self.threads,
            self.simd,
            self.eliminates,
        )

    def imbalance(
        self,
        problem: DirichletProblem,
        X: NDArray[np.floating],
        h: NDArray[np.float64],
        drains: NDArray[np.float64] | None = None,
    ) -> Imbalance:
        return imbalance_of(self.evidence(problem, X, h, drains))

    def evidence(
        self,
        problem: DirichletProblem,
        X: NDArray[np.floating],
        h: NDArray[np.float64],
        drains: NDArray[np.float64] | None = None,
    ) -> core.Evidence:
        """What proves X, as the core has it."""
        return native_evidence(problem, X, h, drains, threads=self.threads, simd=self.simd)

    def drains(self, problem: DirichletProblem, h: NDArray[np.float64]) -> NDArray[np.float64]:
        return native_drains(problem, h, threads=self.threads, simd=self.simd)

    def superpose(self, sum_of: Superposition) -> tuple[NDArray[np.floating], NDArray[np.float64]]:
        return native_superpose(sum_of, threads=self.threads, simd=self.simd)

    def method(self, solver: Solver) -> Method:
        if isinstance(solver, ConjugateGradient):
            preconditioner = solver.preconditioner
            if not self.copies:  # a factor has more entries than the graph
                if preconditioner == "factor":
                    raise NotEnoughMemory(
                        "there is not enough memory for a factor of the matrix, which is larger "
                        "than the graph: use preconditioner='diagonal', which needs none"
                    )
                preconditioner = "diagonal"
            return FusedConjugateGradient(self, solver.max_iter, preconditioner)
        return solver.bind(self)
