"""What methods have in common that keep their vectors in a run: one solve, from start to rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.method import Reached, Warm, Watch

FLOAT32_TOL = 1e-5  # the tightest tolerance that temperatures of float32 may be expected to hold
DRIFT = 1.5  # of the recurrence from the truth: it is not taken at its word


class Run(Protocol):
    """One solve; see `isotherm.solvers.method.Method`."""

    def iterate(self, X: NDArray[np.floating], tol: float, watch: Watch) -> Iterator[Reached]:
        """Improve X."""
        ...

    def guess(self, X: NDArray[np.floating]) -> Certificate:
        """What a proof would be likely to say."""
        ...


R = TypeVar("R", bound=Run)


class Running(Generic[R]):
    """The part of a `isotherm.solvers.method.Method` that belongs to one solve, its run."""

    run: R | None = None

    def iterate(self, X: NDArray[np.floating], tol: float, watch: Watch) -> Iterator[Reached]:
        return self._current().iterate(X, tol, watch)

    def guess(self, X: NDArray[np.floating]) -> Certificate:
        return self._current().guess(X)

    def rest(self) -> None:
        """Give back all that belongs to one solve."""
        self.run = None

    def _current(self) -> R:
        if self.run is None:
            raise RuntimeError("a solve must be started first")
        return self.run


def type_to_start(
    problem: DirichletProblem, tol: float, warm: Warm | None
) -> type[np.float32 | np.float64]:
    """The type of temperatures to begin with.

    In float32 even where that will not do in the end: the first steps need no more. But the
    boundary must be as given, and no digits of temperatures found before get lost.
    """
    exact = problem.one_hot or (problem.values.astype(np.float32) == problem.values).all()
    return np.float32 if exact and (warm is None or tol >= FLOAT32_TOL) else np.float64


def starts_cold(problem: DirichletProblem, warm: Warm | None) -> bool:
    """Whether free nodes begin at 0: nothing is known of them, and 0 is a temperature here."""
    low, high = problem.bounds
    if warm is not None:
        return False
    return bool(np.maximum.reduce(low, initial=0.0) <= 0 <= np.minimum.reduce(high, initial=0.0))


def start_of(
    problem: DirichletProblem,
    dtype: type[np.float32 | np.float64],
    warm: Warm | None,
    *,
    cold: bool,
) -> NDArray[np.floating]:
    """Temperatures to begin with; `cold` as `starts_cold` says."""
    X = problem.start(dtype, warm and warm.temperatures)
    if warm is None and not cold:
        low, high = problem.bounds
        X[problem.is_free] = (low + high) / 2
    return X


def units_of(problem: DirichletProblem, longest: float) -> NDArray[np.float64]:
    """The units in which columns are iterated: their spans, where there are any."""
    low, high = problem.bounds
    span = high - low
    return np.where(np.isfinite(span) & (span > 0), span, max(1.0, longest))
