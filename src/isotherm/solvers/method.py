"""What a solver must offer, and the exit times that prove the work of most of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from isotherm.errors import ParameterError
from isotherm.solvers.certificate import ResidualCertifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.engines.operator import Operator
    from isotherm.solvers.certificate import Certificate

EXIT_TIME_LEVEL = 0.1  # η aimed at for h: the bound is then at most 1.11 times the best


class Certifier(Protocol):
    """Proves temperatures of the free nodes."""

    def target(self, tol: float) -> float:
        """Residual level that is likely to give the bound `tol`."""
        ...

    def __call__(self, X: NDArray[np.float64]) -> Certificate:
        """Certificate of temperatures X, shape (n_F, k), within the problem's bounds."""
        ...


class Method(Protocol):
    """A solver bound to one operator, with whatever it prepared for it."""

    def iterate(
        self, rhs: NDArray[np.float64], X: NDArray[np.float64], target: float
    ) -> Iterator[NDArray[np.float64]]:
        """Improve X in place towards ``M X = rhs``.

        Yields the residual level of each column (see `Operator.level`) for X as given and then
        after each step, until all are at most `target` or the solver gives up.
        """
        ...

    def certifier(self) -> Certifier:
        """What proves the temperatures this method finds."""
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


def certifier_by(method: Method, operator: Operator) -> ResidualCertifier:
    """Certifier whose exit times, ``M h = d_F``, are found by the given method."""
    degrees = operator.problem.degrees[:, np.newaxis]
    h = np.zeros_like(degrees)
    for _ in method.iterate(degrees, h, EXIT_TIME_LEVEL):
        pass
    return ResidualCertifier(operator, h)
