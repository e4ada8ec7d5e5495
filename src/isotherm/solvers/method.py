"""What a solver must offer, and the exit times that prove the work of most of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from isotherm.errors import ParameterError
from isotherm.rounding import UNIT_ROUNDOFF
from isotherm.solvers.certificate import guessed, prove

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.operator import Operator, Sources
    from isotherm.solvers.solution import Solution

EXIT_TIME_LEVEL = 0.1  # η aimed at for h: the bound is then at most 1.11 times the best


class Warm(NamedTuple):
    """Where to start from, if not from nothing.

    Attributes
    ----------
    temperatures : array of shape (n, k)
    exits : array of shape (n,) or None
        The `nodes` of a certificate of theirs.
    """

    temperatures: NDArray[np.floating]
    exits: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, solution: Solution, columns: Sequence[int] | None = None) -> Warm:
        """From where another solve ended; its exit times only if they proved something.

        `columns`: some of them, see `picked`.
        """
        T, exits = solution.temperatures, solution.certificate.nodes
        is_proven = np.isfinite(np.nansum(exits))  # NaN only at unreached nodes, see Certificate
        return cls(T if columns is None else picked(T, columns), exits if is_proven else None)

    def shaped(self, problem: DirichletProblem) -> Warm:
        """The same in the shapes of a problem; ParameterError if they cannot be had."""
        T, shape = self.temperatures, (problem.graph.n_nodes, problem.n_columns)
        if T.dtype.kind not in "biuf" or T.size != math.prod(shape) or len(T) != shape[0]:
            raise ParameterError(
                f"temperatures to start from must be numbers of shape {shape}, got {T.dtype} of "
                f"shape {T.shape}"
            )
        return self._replace(temperatures=T.reshape(shape))


def picked(rows: NDArray[np.floating], columns: Sequence[int]) -> NDArray[np.floating]:
    """Some columns, in this order; −1 is one of zeros."""
    wider = np.hstack([rows, np.zeros((len(rows), 1), rows.dtype)])
    return np.ascontiguousarray(wider[:, columns])


class Reached(NamedTuple):
    """How far a solver has come: steps, and the error that is still likely."""

    steps: int
    likely: float


@dataclass
class Watch:
    """When whoever watches a solve wants to look at it again.

    Attributes
    ----------
    look_at : float
        Likely error; it may be changed at every look.
    proves : bool
        Whether what is found will be proven: then it must not be farther off than it seems.
    often : bool
        Whether somebody is told how far it is, every few milliseconds; else only so often that
        Ctrl-C is heeded.
    """

    look_at: float = 0.0
    proves: bool = True
    often: bool = True


class Method(Protocol):
    """A solver bound to one matrix, with whatever it prepared for it and keeps between solves.

    Temperatures X have shape (n, k): given at nodes that are not free, to be found at the others.
    """

    def start(
        self, problem: DirichletProblem, tol: float, warm: Warm | None
    ) -> NDArray[np.floating]:
        """Turn to a problem with this matrix: the X to begin with, of a type that suits `tol`."""
        ...

    def iterate(self, X: NDArray[np.floating], tol: float, watch: Watch) -> Iterator[Reached]:
        """Improve X in place until its error is likely to be at most `tol`.

        Yields at least once, every few milliseconds and when a look is due, until it is small
        enough or the solver gives up. Starting again from where it ended is iterative refinement.
        """
        ...

    def guess(self, X: NDArray[np.floating]) -> Certificate:
        """What `certify` would be likely to say after the last step; proves nothing."""
        ...

    def certify(self, X: NDArray[np.floating]) -> Certificate:
        """Settle X and prove it."""
        ...

    def settle(self, X: NDArray[np.floating]) -> None:
        """Move X within the problem's bounds, which brings it only closer."""
        ...

    def rest(self) -> None:
        """Give back all that belongs to one solve."""
        ...


class Solver(Protocol):
    """A way to solve ``M X = B``: parameters only, nothing of a problem."""

    @property
    def name(self) -> str:
        """The name by which users choose it."""
        ...

    def bind(self, operator: Operator) -> Method:
        """Prepare for one operator."""
        ...


def check_count(value: object, name: str, *, least: int = 1) -> None:
    """Raise ParameterError unless a number of steps is a whole number, at least `least`."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{name} must be a whole number ≥ {least}, got {value!r}")


class Relaxation(ABC):
    """A method that makes residuals smaller, in float64, and is proven by exit times."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.problem = operator.problem
        self._exits = np.empty(0)  # h of the certificate, once it is found
        self._longest = 0.0  # of these, with what h lacks
        self._levels = np.empty(0)

    @abstractmethod
    def relax(
        self, X: NDArray[np.floating], target: float, sources: Sources | None
    ) -> Iterator[NDArray[np.float64]]:
        """Make the residual of X with that heat put in (see `Operator.residual`) smaller, in place.

        Yields the residual level of each column for X as given and then after each step, until
        all are at most `target` or the solver gives up.
        """

    def exit_method(self) -> Relaxation:
        """The method by which exit times are found."""
        return self

    def start(
        self,
        problem: DirichletProblem,
        tol: float,  # noqa: ARG002
        warm: Warm | None,
    ) -> NDArray[np.floating]:
        self.problem = problem
        X = problem.start(warm=warm and warm.temperatures)
        if warm is not None:
            np.clip(X, *problem.bounds, out=X)  # which brings it only closer
        return X

    def iterate(
        self,
        X: NDArray[np.floating],
        tol: float,
        watch: Watch,  # noqa: ARG002
    ) -> Iterator[Reached]:
        self._prepare()
        target = max(tol / (2 * max(self._longest, 1.0)), 4 * UNIT_ROUNDOFF)
        for step, levels in enumerate(self.relax(X, target, self.problem.pull)):
            self._levels = levels
            yield Reached(step, float(levels.max()) / target * tol / 2)

    def _prepare(self) -> None:
        """Find the exit times, ``M h = w``."""
        if len(self._exits):
            return
        free = self.problem.free
        h = np.zeros((self.problem.graph.n_nodes, 1))
        everywhere = free, self.operator.gauge[free, np.newaxis]
        for _ in self.exit_method().relax(h, EXIT_TIME_LEVEL, everywhere):
            pass
        lack = self.operator.level(self.operator.residual(h, everywhere)).max()
        self._exits = h[:, 0]
        self._longest = float(self._exits.max() / (1 - lack)) if lack < 1 else 1.0

    def guess(self, X: NDArray[np.floating]) -> Certificate:  # noqa: ARG002
        return guessed(self.problem, self._exits, self._levels)

    def certify(self, X: NDArray[np.floating]) -> Certificate:
        self._prepare()
        self.settle(X)
        found = self.operator.imbalance(self.problem, X, self._exits)
        return prove(self.problem, X, self._exits, found)

    def settle(self, X: NDArray[np.floating]) -> None:
        settle(X, self.problem)

    def rest(self) -> None:
        self.problem = self.operator.problem


def settle(X: NDArray[np.floating], problem: DirichletProblem) -> None:
    """Move X within the problem's bounds; where it did not come to numbers, into their middle.

    The boundary is put back to where it is held.
    """
    low, high = problem.bounds
    unknown = problem.is_free & ~np.isfinite(X).all(axis=1)
    np.clip(X, low, high, out=X)
    X[unknown] = low + (high - low) / 2
    X[problem.boundary] = problem.values
