"""HostSession: a session whose arrays are in the memory of this process.

Which algorithm runs is chosen here; the arithmetic is the operator's. Engines that have an operator
of their own (`isotherm.solvers.operator.Operator`) need no other session.
"""

from __future__ import annotations

import logging
import math
import time
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from isotherm.arithmetic import in_standard_arithmetic
from isotherm.compiled import on_threads
from isotherm.engines.changes import Changes
from isotherm.engines.engine import Session
from isotherm.errors import LabelError, SessionError
from isotherm.locks import by_one_thread, lock_of
from isotherm.memory import check_room
from isotherm.solvers.attempt import Attempt, attempt, iterated
from isotherm.solvers.certificate import COVERED, nothing_to_prove, prove
from isotherm.solvers.choice import ELIMINATION, choose_solvers, may_copy
from isotherm.solvers.elimination import Elimination
from isotherm.solvers.solution import Solution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import ArrayLike, NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.method import Method, Solver, Warm
    from isotherm.solvers.operator import Operator
    from isotherm.solvers.options import Progress, SolveOptions, Stop

logger = logging.getLogger(__name__)

Found = TypeVar("Found")


class HostSession(Session):
    """See `isotherm.engines.engine.Session`.

    Parameters
    ----------
    engine : str
        Its name.
    problem : DirichletProblem
    options : SolveOptions
    operator_of : callable
        Makes the operator of a problem that is to be solved to a tolerance.
    """

    def __init__(
        self,
        engine: str,
        problem: DirichletProblem,
        options: SolveOptions,
        operator_of: Callable[[DirichletProblem, float], Operator],
    ) -> None:
        self.engine = engine
        self.options = options
        self._operator_of = operator_of
        self._changes: Changes | None = None
        self._changed: Solution | None = None  # of the problem as it is, after changes
        self._closed = False
        self._is_whole = True  # nothing that was begun has not ended
        on_threads(options.threads, self._prepare, problem)

    @in_standard_arithmetic
    def _prepare(self, problem: DirichletProblem) -> None:
        self.problem = problem
        self.operator = self._operator_of(problem, self.options.tol)
        self._solvers: list[Solver] = []  # as they are tried
        self._methods: dict[int, Method] = {}  # these bound to this matrix, by their identity
        self._candidates = choose_solvers(
            self.options.solver,
            problem,
            eliminates=self.operator.eliminates,
            copies=may_copy(problem, self.options.memory),
        )

    @property
    def is_busy(self) -> bool:
        """See `isotherm.engines.engine.Session`."""
        return lock_of(self, Lock).locked()

    @property
    def is_solved(self) -> bool:
        """See `isotherm.engines.engine.Session`."""
        return self._is_whole and self._changes is not None

    @by_one_thread
    def solve(
        self,
        values: ArrayLike | None = None,
        *,
        tol: float | None = None,
        start: Warm | None = None,
        stop: Stop | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """See `isotherm.engines.engine.Session`."""
        self._catch_up()
        if values is not None:
            other = self.problem.with_values(np.asanyarray(values))
            return self._solve(other, tol, start, stop, progress)
        solution = self._solve(self.problem, tol, start, stop, progress)
        self._changes = Changes(self, self.problem, solution)
        return solution

    def _catch_up(self) -> None:
        """Make the problem as it is ready, if that has changed; further changes go on from it."""
        if self.operator.problem is not self.problem:
            self._prepare(self.problem)
            if self._changes is not None and self._changed is not None:
                self._changes = Changes(self, self.problem, self._changed)

    def _solve(
        self,
        problem: DirichletProblem,
        tol: float | None,
        start: Warm | None,
        stop: Stop | None,
        progress: Progress | None,
    ) -> Solution:
        check_room(
            problem.graph.n_nodes, problem.n_columns, what="columns", memory=self.options.memory
        )
        started = time.perf_counter()
        warm = start and start.shaped(problem)
        if problem.n_free == 0 or problem.n_columns == 0:
            done = Attempt(problem.start(), nothing_to_prove(problem), 0, True, False)
            return self._solution(problem, done, next(self._chosen()), started, "")
        tol, tried = self.options.tol if tol is None else tol, []
        for solver in self._chosen():
            one = attempt(
                problem, self._method(solver), tol, stop=stop, warm=warm, progress=progress
            )
            tried.append((one, solver))
            if one.met:
                break
            logger.debug("%s missed tol = %.1e by %.1e", solver.name, tol, one.certificate.bound)
            if one.out_of_digits and problem.n_free > ELIMINATION:
                break
        best, solver = tried[-1]
        if not best.met:
            # Of equals the last, which says best why it failed.
            best, solver = min(reversed(tried), key=lambda one: one[0].certificate.bound)
        missed = "" if best.met else shortfall(best, solver, tol)
        return self._solution(problem, best, solver, started, missed)

    def _solution(
        self,
        problem: DirichletProblem,
        found: Attempt,
        solver: Solver,
        started: float,
        missed: str,
    ) -> Solution:
        return Solution(
            found.temperatures,
            found.certificate,
            problem.is_unreached,
            n_iter=found.steps,
            solver=solver.name,
            engine=self.engine,
            seconds=time.perf_counter() - started,
            converged=found.met,
            shortfall=missed,
        )

    def _chosen(self) -> Iterator[Solver]:
        """The solvers to try, in turn; chosen once for a matrix, and no sooner than needed."""
        return chain(self._solvers, self._chosen_now())

    def _chosen_now(self) -> Iterator[Solver]:
        for solver in self._candidates:
            self._solvers.append(solver)
            yield solver

    def _method(self, solver: Solver) -> Method:
        if id(solver) not in self._methods:
            self._methods[id(solver)] = self.operator.method(solver)
        return self._methods[id(solver)]

    @by_one_thread
    def respond(self, nodes: NDArray[np.intp], tol: float) -> NDArray[np.float64]:
        """See `isotherm.engines.engine.Session`."""
        self._catch_up()
        problem = self.problem
        order = np.argsort(nodes)
        heat = np.zeros((len(nodes), len(nodes)))
        heat[np.arange(len(nodes)), order] = problem.capacities[nodes[order]]
        found, _ = self.columns(problem.with_heat(nodes[order], heat), tol)
        return found.astype(np.float64, copy=False)

    def columns(
        self, asked: DirichletProblem, tol: float, progress: Progress | None = None
    ) -> tuple[NDArray[np.floating], int]:
        """Temperatures without a proof, of another problem with the same matrix; and steps."""
        tried = []
        for solver in self._chosen():
            tried.append(iterated(asked, self._method(solver), tol, progress))
            if tried[-1].likely <= tol:
                break
        best = min(tried, key=lambda one: one.likely)
        return best.temperatures, best.steps

    # --- changes ------------------------------------------------------------------------------

    @by_one_thread
    def change(
        self,
        changes: Mapping[int, NDArray[np.float64] | None],
        columns: Sequence[int] | None = None,
        *,
        stop: Stop | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """See `isotherm.engines.engine.Session`."""
        if self._changes is None:
            raise SessionError("there is no solution to change yet: solve the problem first")
        self.problem, self._changed = self._changes.apply(
            changes, columns, stop=stop, progress=progress
        )
        return self._changed

    def begin_again(
        self,
        problem: DirichletProblem,
        start: Warm | None,
        stop: Stop | None,
        progress: Progress | None,
    ) -> Solution:
        """Prepare and solve another problem instead, if that succeeds."""
        before = dict(self.__dict__)
        try:
            self._prepare(problem)
            solution = self._solve(problem, None, start, stop, progress)
        except BaseException:
            self.__dict__.update(before)
            raise
        self._changes = Changes(self, problem, solution)
        return solution

    # --- life ---------------------------------------------------------------------------------

    @in_standard_arithmetic
    def at_work(self, work: Callable[..., Found], *args: Any, **kwargs: Any) -> Found:
        """What a method finds; what it leaves behind when it is interrupted is made anew."""
        if self._closed:
            raise SessionError("the session is closed: prepare the problem again")
        try:
            with self._steady():
                if not self._is_whole:
                    self._changes = None
                    self._prepare(self.problem)
                self._is_whole = False
                found = on_threads(self.options.threads, work, self, *args, **kwargs)
        except (LabelError, SessionError):  # before anything was begun
            self._is_whole = True
            raise
        finally:
            for method in self._methods.values():
                method.rest()
        self._is_whole = True
        return found

    def _steady(self) -> AbstractContextManager[None]:
        return self.problem.graph.rows.steady()

    @in_standard_arithmetic
    def prove(
        self, problem: DirichletProblem, X: NDArray[np.floating], exits: NDArray[np.float64]
    ) -> Certificate:
        """See `isotherm.engines.engine.Session`."""
        if problem.n_free == 0:
            return nothing_to_prove(problem)
        h = np.where(problem.is_free, exits, 0.0)
        with self._steady():
            return prove(problem, X, h, self.operator.imbalance(problem, X, h))

    def prepare(
        self, problem: DirichletProblem, options: SolveOptions | None = None
    ) -> HostSession:
        """See `isotherm.engines.engine.Session`."""
        return HostSession(self.engine, problem, options or self.options, self._operator_of)

    def close(self) -> None:
        """Give back what is held."""
        self._closed = True
        self._methods.clear()
        self._changes = None


def shortfall(found: Attempt, solver: Solver, tol: float) -> str:
    """What a solve that did not converge has reached, and what could be done about it."""
    if math.isinf(found.certificate.bound):
        least, greatest = COVERED
        return (
            f"nothing is proven about these temperatures ({solver.name}): the proof covers degrees "
            f"and values from {least:.0e} to {greatest:.0e} only; scale the weights or the values"
        )
    if found.out_of_steps:
        advice = "raise the solver's max_iter, choose another solver or loosen tol"
    elif solver.name == Elimination.name:
        advice = "float64 can prove no more: loosen tol"
    else:
        advice = (
            "float64 can prove no more: loosen tol, or choose solver='elimination' if the "
            "weights differ very widely"
        )
    return (
        f"{solver.name} stopped at step {found.steps}: temperatures are proven to "
        f"{found.certificate.bound:.1e} only, not to tol = {tol:.1e}; {advice}"
    )
