"""One solver's attempt at one problem: iterate, certify, refine."""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.solvers.certificate import nothing_to_prove
from isotherm.solvers.method import settle
from isotherm.solvers.solution import Solution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.operator import Engine
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.method import Solver, Warm

    Excess = Callable[[NDArray[Any], Certificate], float]

logger = logging.getLogger(__name__)

FIRST_LOOK = 0.02  # likely error at which a solve that may end early is first looked at
LONGEST_LEAP = 64  # the error shrinks by no more than this between two looks
NEAR = 4  # of the tolerance: so close to the end no look pays any more


class Attempt(NamedTuple):
    """The best a solver could do."""

    solution: Solution
    met: bool  # the tolerance, or the purpose of `excess`
    out_of_steps: bool  # if not met: for want of steps, not of digits
    out_of_digits: bool = False  # no other solver that goes by residuals could prove it either


def attempt(
    problem: DirichletProblem,
    solver: Solver,
    engine: Engine,
    tol: float,
    *,
    excess: Excess | None = None,
    warm: Warm | None = None,
) -> Attempt:
    """Let a solver iterate until its result is proven or nothing helps any more.

    Parameters
    ----------
    problem, solver, engine
    tol : float
        Bound wanted on the error of every temperature.
    excess, warm : optional
        See `isotherm.solvers.solve`.
    """
    started = time.perf_counter()

    def record(X: NDArray[Any], certificate: Certificate, n_iter: int) -> Solution:
        return Solution(
            X,
            certificate,
            problem.is_unreached,
            n_iter=n_iter,
            solver=solver.name,
            engine=engine.name,
            seconds=time.perf_counter() - started,
        )

    if problem.n_free == 0 or problem.n_columns == 0:
        exact = nothing_to_prove(problem)
        return Attempt(record(problem.start(), exact, 0), met=True, out_of_steps=False)

    with np.errstate(all="ignore"):  # what overflows fails to be certified
        method = solver.bind(engine.operator(problem, tol))
        X = method.start(tol, warm)
        steps, previous, look_at = 0, math.inf, FIRST_LOOK
        while True:
            early = False
            for step, likely in enumerate(method.iterate(X, tol)):  # the last counts
                logger.debug("step %d: temperatures likely within %.1e", steps + step, likely)
                if excess is not None and NEAR * tol < likely <= look_at:
                    too_large = excess(X, method.guess(X))
                    # Errors shrink as residuals do: look again when that may be enough.
                    look_at = likely / min(max(too_large, 2), LONGEST_LEAP)
                    early = too_large <= 1
                if early:
                    break  # worth a proof
            steps += step
            if X.dtype == np.float32 and likely > tol and not early:
                X = X.astype(np.float64)  # which holds more digits
                if not math.isfinite(likely):  # than weights so far apart left it
                    settle(X, problem)
                continue
            certificate = method.certify(X)
            bound = certificate.bound
            met = bound <= tol or (excess is not None and excess(X, certificate) <= 1)
            # A solver's own residual drifts from the true one: it may be at its target where the
            # certificate is not. Starting again from there is worth it while it helps.
            # With η < ½ its exit times are at most 3/2 of the exact ones: is rounding too much
            # even with these?
            hopeless = likely <= tol and _all_rounding(certificate, 6 * tol)
            worth_it = early or (likely <= tol and bound < previous / 2 and not hopeless)
            if not met and not worth_it and X.dtype == np.float32:
                X, worth_it = X.astype(np.float64), True  # which holds more digits
            if met or not worth_it:
                used_up = likely > tol and not _all_rounding(certificate, tol)
                return Attempt(record(X, certificate, steps), met, used_up, hopeless and not met)
            previous = math.inf if early else bound
            del certificate  # room for what follows


def _all_rounding(certificate: Certificate, tol: float) -> bool:
    """Whether rounding alone stands between the certificate and the tolerance."""
    return bool(certificate.rounding * np.nanmax(certificate.nodes) > tol / 4)
