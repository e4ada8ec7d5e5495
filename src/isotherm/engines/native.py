"""The native engine: the C++ core in `native/`, on all processors.

Its operator iterates in float32 and proves in float64. What it does not need to do fast (solvers
for small graphs use it) it inherits from the SciPy engine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.engines.operator import Imbalance, root_measures
from isotherm.engines.scipy import ScipyOperator
from isotherm.errors import ParameterError
from isotherm.rounding import UNDERFLOW

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem

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

    def prepared(self, *, peeling: bool) -> Any:
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

    @cached_property
    def _plain(self) -> Any:
        return self.prepared(peeling=False)

    def sizes(self) -> NDArray[np.float64]:
        """Greatest size of a temperature in each column, by the maximum principle."""
        low, high = self.problem.bounds
        return np.asarray(np.maximum(np.abs(low), np.abs(high)))

    @cached_property
    def one_sign(self) -> bool:
        """Whether no temperature is negative."""
        return bool((self.problem.bounds[0] >= 0).all())

    def _underflow(self) -> float:
        """What underflow may have done to a residual that is not exactly zero."""
        terms = self.problem.graph.rows.longest + 8
        least, _ = self.problem.degree_range
        unit = min(least, math.sqrt(least)) / 16  # peeled nodes have a finer one
        return float(terms * (UNDERFLOW / unit))

    def imbalance(self, X: NDArray[np.float64], heat: float = 0.0) -> Imbalance:
        if heat or X.shape[1] != self.problem.n_columns:
            return super().imbalance(X, heat)
        sizes = self.sizes()
        found = [
            self._plain.imbalance(X, first, sizes[first : first + LANES], self.one_sign)
            for first in range(0, X.shape[1], LANES)
        ]
        return self.joined(found)

    def joined(self, found: list[Any]) -> Imbalance:
        """One imbalance from those of successive columns, as the core reports them."""
        over, under, rounding = (np.concatenate([part[i] for part in found]) for i in range(3))
        lost = np.where(rounding > 0, self._underflow(), 0.0)  # a column of zeros is exact
        relative = max(part[3] for part in found)
        return Imbalance(over + lost, under + lost, rounding + lost, relative)
