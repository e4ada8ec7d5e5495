"""One solver's attempt at one problem: iterate, certify, refine."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.solvers.certificate import by_maximum_principle
from isotherm.solvers.solution import Solution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.operator import Engine
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.method import Solver

    Excess = Callable[[Solution], float]

FIRST_LOOK = 0.02  # likely error at which a solve that may end early is first looked at
LONGEST_LEAP = 16  # the residual shrinks by no more than this between two looks


class Attempt(NamedTuple):
    """The best a solver could do."""

    solution: Solution
    met: bool  # the tolerance, or the purpose of `excess`
    out_of_steps: bool  # if not met: for want of steps, not of digits


def attempt(
    problem: DirichletProblem,
    solver: Solver,
    engine: Engine,
    tol: float,
    excess: Excess | None = None,
) -> Attempt:
    """Let a solver iterate until its result is proven or nothing helps any more.

    Parameters
    ----------
    problem, solver, engine
    tol : float
        Bound wanted on the error of every temperature.
    excess : callable, optional
        See `isotherm.solvers.solve`.
    """
    started = time.perf_counter()

    def record(X: NDArray[np.float64], certificate: Certificate, n_iter: int) -> Solution:
        return Solution.of(
            problem,
            X,
            certificate,
            n_iter=n_iter,
            solver=solver.name,
            engine=engine.name,
            seconds=time.perf_counter() - started,
        )

    X = np.zeros((len(problem.free), problem.n_columns))
    if X.size == 0:
        exact = by_maximum_principle(problem, residual=0.0)
        return Attempt(record(X, exact, 0), met=True, out_of_steps=False)

    with np.errstate(all="ignore"):  # what overflows fails to be certified
        method = solver.bind(engine.operator(problem))
        certify = method.certifier()
        target = certify.target(tol)
        steps, previous = 0, math.inf

        def proven(X: NDArray[np.float64], n_iter: int) -> Solution:
            low, high = problem.bounds
            if not np.isfinite(X).all():  # it broke down: any temperature is as good as another
                X = np.full_like(X, (low + high) / 2)
                return record(X, by_maximum_principle(problem), n_iter)
            X = np.clip(X, low, high)  # by the maximum principle, only closer to equilibrium
            return record(X, certify(X), n_iter)

        while True:
            look_at = FIRST_LOOK * target / tol
            for step, level in enumerate(method.iterate(problem.sources, X, target)):
                worst = level.max()
                if excess is not None and worst <= look_at:
                    solution = proven(X, steps + step)
                    too_large = excess(solution)
                    if too_large <= 1:
                        return Attempt(solution, met=True, out_of_steps=False)
                    # Errors shrink as the residual does: look again when that may be enough.
                    look_at = worst / min(max(too_large, 2), LONGEST_LEAP)
            steps += step
            solution = proven(X, steps)
            bound = solution.certificate.bound
            met = bound <= tol or (excess is not None and excess(solution) <= 1)
            # A solver's own residual drifts from the true one: it may be at its target where
            # the certificate is not. Starting again from there is iterative refinement, worth
            # it while it helps.
            if met or not worst <= target or not bound < previous / 2:
                return Attempt(
                    solution, met, bool(worst > target) and not _all_rounding(solution, tol)
                )
            previous, X = bound, solution.temperatures[problem.free]


def _all_rounding(solution: Solution, tol: float) -> bool:
    """Whether rounding alone stands between the certificate and the tolerance."""
    certificate = solution.certificate
    return bool(certificate.rounding * np.nanmax(certificate.nodes) > tol / 4)
