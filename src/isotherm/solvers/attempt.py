"""One solver's attempt at one problem: iterate, certify, refine."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.solvers.method import Watch, settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.method import Method, Warm
    from isotherm.solvers.options import Progress, Stop

logger = logging.getLogger(__name__)

# Likely error at which a solve that may end early is first looked at, if that is less than one over
# the free nodes. The least of all margins decides, and so many of them are about so far apart.
FIRST_LOOK = 0.02
LONGEST_LEAP = 64  # the error shrinks by no more than this between two looks
NEAR = 12  # of the tolerance: so close to the end no look pays any more


class Attempt(NamedTuple):
    """The best a solver could do."""

    temperatures: NDArray[np.floating]
    certificate: Certificate
    steps: int
    met: bool  # the tolerance, or the purpose of `stop`
    out_of_steps: bool  # if not met: for want of steps, not of digits
    out_of_digits: bool = False  # no other solver that goes by residuals could prove it either


def attempt(
    problem: DirichletProblem,
    method: Method,
    tol: float,
    *,
    stop: Stop | None = None,
    warm: Warm | None = None,
    progress: Progress | None = None,
) -> Attempt:
    """Let a solver iterate until its result is proven or nothing helps any more.

    Parameters
    ----------
    problem : DirichletProblem
        With at least one free node and one column.
    method : Method
        A solver bound to its matrix.
    tol : float
        Bound wanted on the error of every temperature.
    stop, progress : optional
        See `isotherm.solvers.options`.
    warm : Warm, optional
        Where to start from.
    """
    with np.errstate(all="ignore"):  # what overflows fails to be certified
        X = method.start(problem, tol, warm)
        steps, previous = 0, math.inf
        look_at = 0.0 if stop is None else _look_at(min(FIRST_LOOK, 1 / problem.n_free), tol)
        told = progress is not None or logger.isEnabledFor(logging.DEBUG)
        watch = Watch(look_at, often=told)
        while True:
            early = False
            for step, likely in method.iterate(X, tol, watch):  # the last counts
                if told:
                    logger.debug("step %d: temperatures likely within %.1e", steps + step, likely)
                if progress is not None:
                    progress(steps + step, likely)
                if stop is not None and NEAR * tol < likely <= watch.look_at:
                    too_large = stop(X, method.guess(X))
                    # Errors shrink as residuals do: look again when that may be enough.
                    next_look = likely / min(max(too_large, 2), LONGEST_LEAP)
                    watch.look_at = _look_at(next_look, tol)
                    early = too_large <= 1
                if early:
                    break  # worth a proof
            steps += step
            if X.dtype == np.float32 and likely > tol and not early:
                X = _with_more_digits(X, problem, likely)
                continue
            certificate = method.certify(X)
            bound = certificate.bound
            met = bound <= tol or (stop is not None and stop(X, certificate) <= 1)
            # A solver's own residual drifts from the true one: it may be at its target where the
            # certificate is not. Starting again from there is worth it while it helps.
            # With η < ½, without which nothing is likely, exit times are at most 3/2 of the exact
            # ones: is rounding too much even with these?
            hopeless = math.isfinite(likely) and _all_rounding(certificate, 6 * tol)
            worth_it = early or (likely <= tol and bound < previous / 2 and not hopeless)
            if not met and not worth_it and X.dtype == np.float32:
                X, worth_it = X.astype(np.float64), True  # which holds more digits
            if met or not worth_it:
                used_up = likely > tol and not _all_rounding(certificate, tol)
                return Attempt(X, certificate, steps, met, used_up, hopeless and not met)
            previous = math.inf if early else bound
            del certificate  # room for what follows


def _look_at(likely: float, tol: float) -> float:
    """The likely error at which to look next; 0 for never, so that no step returns for it."""
    return likely if likely > NEAR * tol else 0.0


class Iterated(NamedTuple):
    """What a solver has reached, without a proof."""

    temperatures: NDArray[np.floating]
    likely: float  # error
    steps: int


def iterated(
    problem: DirichletProblem, method: Method, tol: float, progress: Progress | None = None
) -> Iterated:
    """Let a solver iterate to a likely error of `tol`."""
    with np.errstate(all="ignore"):
        X = method.start(problem, tol, None)
        watch = Watch(proves=False, often=progress is not None)
        steps = 0
        while True:
            for step, likely in method.iterate(X, tol, watch):
                if progress is not None:
                    progress(steps + step, likely)
            steps += step
            if X.dtype != np.float32 or likely <= tol:
                method.settle(X)
                return Iterated(X, likely, steps)
            X = _with_more_digits(X, problem, likely)


def _with_more_digits(
    X: NDArray[np.floating], problem: DirichletProblem, likely: float
) -> NDArray[np.floating]:
    X = X.astype(np.float64)
    if not math.isfinite(likely):  # weights so far apart left it at no numbers
        settle(X, problem)
    return X


def _all_rounding(certificate: Certificate, tol: float) -> bool:
    """Whether rounding alone stands between the certificate and the tolerance."""
    return bool(certificate.rounding * certificate.longest > tol / 4)
