"""The native engine: the C++ core in `native/`, on all processors.

Its operator iterates in float32 and proves in float64. What it does not need to do fast (solvers
for small graphs use it) it inherits from the SciPy engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.engines.imbalance import native_imbalance
from isotherm.engines.operator import root_measures
from isotherm.engines.scipy import ScipyOperator
from isotherm.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.imbalance import Imbalance

LANES = 16  # columns that the core works on at once


@dataclass(frozen=True)
class NativeEngine:
    """Products and conjugate gradients in C++, on several threads.

    Parameters
    ----------
    threads : int or None
        By default ``OMP_NUM_THREADS`` if set, else one per processor. The answer does not depend
        on it.
    simd : {"avx512", "avx2", "plain"} or None
        The instruction set; by default the best that this machine has. ``"plain"`` is what every
        machine of its kind has: SSE2 on x86-64, NEON on arm64.
    """

    threads: int | None = None
    simd: str | None = None
    name: ClassVar[str] = "native"

    def __post_init__(self) -> None:
        n_threads(self.threads)
        if core is None:
            raise ParameterError(
                "the native engine is not there: isotherm was installed without a C++ compiler. "
                "Install one and isotherm again, or use engine='scipy'"
            )
        known = core.instruction_sets()
        if self.simd is not None and self.simd not in known:
            raise ParameterError.unknown("simd", self.simd, known)

    def operator(self, problem: DirichletProblem, tol: float) -> NativeOperator:
        """Prepare the operator of a problem that is to be solved to `tol`."""
        if not problem.graph.rows.compiled:
            raise ParameterError("the graph has too many nodes for the native engine")
        return NativeOperator(problem, tol, self)


class NativeOperator(ScipyOperator):
    """See `isotherm.engines.operator.Operator`."""

    def __init__(self, problem: DirichletProblem, tol: float, engine: NativeEngine) -> None:
        super().__init__(problem, tol)
        self.root = root_measures(problem, tol)
        self.engine = engine

    def prepared(self, *, peeling: bool = True) -> Any:
        """The problem as the core sees it; `peeling` takes hanging trees off."""
        rows, problem = self.problem.graph.rows, self.problem
        return core.Problem(
            rows.start,
            rows.ends,
            rows.weights,
            problem.is_free.view(np.uint8),
            problem.graph.degrees,
            problem.leak,
            self.root,
            peeling,
            n_threads(self.engine.threads),
            self.engine.simd or core.instruction_sets()[0],
        )

    def imbalance(self, X: NDArray[Any], h: NDArray[np.float64]) -> Imbalance:
        engine = self.engine
        return native_imbalance(self.problem, X, h, threads=engine.threads, simd=engine.simd)
