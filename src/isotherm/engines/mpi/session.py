"""SharedSession: a problem shared out over ranks, solved and proven like any other."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from isotherm.engines.blocks import blocks_of
from isotherm.engines.mpi.descent import Descent
from isotherm.engines.mpi.vectors import zeros
from isotherm.errors import ParameterError
from isotherm.memory import release_unused
from isotherm.rounding import UNIT_ROUNDOFF
from isotherm.solvers.certificate import nothing_to_prove, prove
from isotherm.solvers.imbalance import Imbalance
from isotherm.solvers.method import EXIT_TIME_LEVEL
from isotherm.solvers.operator import roots_measure_well
from isotherm.solvers.solution import Solution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.mpi.arithmetic import Arithmetic
    from isotherm.engines.mpi.share import SharedProblem
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.method import Warm
    from isotherm.solvers.options import Progress, SolveOptions, Stop

    ArithmeticOf = Callable[[SharedProblem, NDArray[np.float64], int | None], Arithmetic]
    # Told after each step, on all ranks: temperatures of own nodes and their exit times, made
    # when asked for.
    Keep = Callable[[Callable[[], tuple[NDArray[np.float64], NDArray[np.float64]]]], None]

MOST_STEPS = 10_000
DRIFT = 1.1  # of the recurrence from the truth, in float32
TIGHTER = 0.25  # of the goal, if a proof shows that it was too loose


class SharedSession:
    """See `isotherm.engines.engine.Session`; all ranks call the same methods.

    What it takes and gives is of own nodes.

    Parameters
    ----------
    engine : str
        Its name.
    problem : SharedProblem
    options : SolveOptions
    arithmetic_of : callable
        Makes the arithmetic of a problem, given its gauge.
    beside : int
        Columns of own nodes, in float64, that are kept elsewhere meanwhile: less room is left.
    """

    def __init__(
        self,
        engine: str,
        problem: SharedProblem,
        options: SolveOptions,
        arithmetic_of: ArithmeticOf,
        *,
        beside: int = 0,
    ) -> None:
        if options.solver not in ("auto", "cg"):
            problem.graph.ranks.refuse(
                ParameterError(
                    f"solver={options.solver!r} works on one machine only: use 'cg' on many"
                )
            )
        self.engine, self.problem, self.options = engine, problem, options
        self._arithmetic_of, self.beside = arithmetic_of, beside
        self._arithmetic: Arithmetic | None = None
        self._made_ready()
        self._exits: NDArray[np.float64] | None = None  # of all nodes, once they are found
        self._longest = math.inf

    def _made_ready(self) -> Arithmetic:
        """What steps are made by."""
        if self._arithmetic is None:
            self._arithmetic = self._arithmetic_of(
                self.problem, self._gauge(), self.options.threads
            )
        return self._arithmetic

    def _gauge(self) -> NDArray[np.float64]:
        """The unit of residuals at each own node."""
        problem, share = self.problem, self.problem.graph
        rooted = roots_measure_well(problem.degree_range, share.longest, self.options.tol)
        units = np.sqrt(share.degrees) if rooted else share.degrees
        return np.where(problem.is_free[: share.n_own], units, 1.0)

    def rest(self) -> None:
        """Give back what only a further solve needs, which would make it again."""
        self._arithmetic = None

    def solve(
        self,
        values: NDArray[np.float64] | None = None,
        *,
        tol: float | None = None,
        start: Warm | None = None,
        stop: Stop | None = None,
        progress: Progress | None = None,
        keep: Keep | None = None,
    ) -> Solution:
        """See `isotherm.engines.engine.Session`.

        Parameters
        ----------
        values : array of shape (s, k), optional
            Of own seeds.
        tol, progress
            See there.
        start : Warm, optional
            Of own nodes.
        stop
            There is none: all temperatures are proven to `tol`.
        keep : callable, optional
            Told after each step what there is to keep.
        """
        if stop is not None:
            raise ParameterError("stop='labels' works on one machine only: use stop='tolerance'")
        began = time.perf_counter()
        problem = self.problem if values is None else self.problem.with_values(values)
        if problem.n_free == 0 or problem.n_columns == 0:
            T = _with_boundary(problem, np.zeros((problem.graph.n_own, problem.n_columns)))
            proof = nothing_to_prove(cast("DirichletProblem", problem))
            return self._solution(problem, T, proof, 0, began, missed="")
        release_unused()  # by what was done before: vectors come next
        solve = _Solve(self, problem, self.options.tol if tol is None else tol, start)
        solve.run(progress, keep)
        proof = solve.certificate()
        bound = self._bound(proof)
        missed = "" if bound <= solve.tol else _shortfall(solve.steps, bound, solve.tol)
        return self._solution(problem, solve.T, proof, solve.steps, began, missed=missed)

    def _bound(self, proof: Certificate) -> float:
        """The bound over all nodes of all ranks."""
        return float(self.problem.graph.ranks.gathered(np.float64(proof.bound)).max())

    def _solution(
        self,
        problem: SharedProblem,
        T: NDArray[np.float64],
        proof: Certificate,
        steps: int,
        began: float,
        *,
        missed: str,
    ) -> Solution:
        unreached = problem.is_unreached
        T[unreached] = np.nan
        seconds = time.perf_counter() - began
        return Solution(T, proof, unreached, steps, "cg", self.engine, seconds, not missed, missed)

    def prepare(
        self, problem: SharedProblem, options: SolveOptions | None = None, *, beside: int = 0
    ) -> SharedSession:
        """Make another problem ready."""
        asked = options or self.options
        return SharedSession(self.engine, problem, asked, self._arithmetic_of, beside=beside)

    def lanes(self, n_columns: int) -> int:
        """How many of so many columns are solved at once; the same on all ranks."""
        found = self._made_ready().lanes(n_columns, self.beside)
        return int(self.problem.graph.ranks.gathered(np.int64(found)).min())

    def close(self) -> None:
        """Give back what is held."""
        self._exits = None
        self.rest()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Solve:
    """One solve: block after block of columns, each until it is proven."""

    def __init__(
        self, session: SharedSession, problem: SharedProblem, tol: float, start: Warm | None
    ) -> None:
        self.session, self.problem, self.tol = session, problem, tol
        n_own = problem.graph.n_own
        T = zeros((n_own, problem.n_columns))  # takes no memory until it is written to
        h = np.zeros(n_own)
        if start is not None:
            T[:] = start.temperatures
            if start.exits is not None:
                h[:] = np.where(problem.is_free[:n_own], np.nan_to_num(start.exits), 0.0)
        self.T, self.h, self.started = T, h, start is not None
        self.steps = 0
        self.found: list[Imbalance] = []

    def run(self, progress: Progress | None, keep: Keep | None) -> None:
        known, n_columns = self.session._exits is not None, self.problem.n_columns
        lanes = self.session.lanes(n_columns)
        for block in blocks_of(n_columns, one_hot=False, exits=not known, lanes=lanes):
            columns = slice(block.first, block.first + block.columns)
            self._solve_block(columns, progress, keep, with_exits=block.exits)

    def _solve_block(
        self, columns: slice, progress: Progress | None, keep: Keep | None, *, with_exits: bool
    ) -> None:
        session, problem = self.session, self.problem
        some = problem.with_values(problem.values[:, columns])
        T, h = self.T[:, columns], self.h if with_exits else None
        descent = Descent(some, session._made_ready(), T, h, started=self.started)
        before = self.steps

        def each_step(descent: Descent) -> None:
            self.steps = before + descent.steps
            if progress is not None:
                levels = descent.levels[: descent.columns]
                progress(self.steps, float(levels.max()) * min(session._longest, 1e300))
            if keep is not None:
                keep(lambda: self._so_far(descent, columns))

        if with_exits and session._exits is None:
            goals = np.append(np.zeros(descent.columns), EXIT_TIME_LEVEL)
            self._find_exits(descent, goals, each_step)
        looser, previous = 1.0, math.inf
        while True:
            goal = max(self.tol / (2 * session._longest), 4 * UNIT_ROUNDOFF) * looser
            goals = np.full(descent.lanes, goal)
            goals[descent.columns :] = EXIT_TIME_LEVEL
            descent.run(goals, MOST_STEPS, each_step)
            descent.settle(*some.bounds)
            found = self._weighed(some, T, descent)
            bound = session._bound(self._proven(some, T, found))
            if bound <= self.tol or descent.steps >= MOST_STEPS or not bound < previous / 2:
                break
            looser, previous = looser * TIGHTER, bound
            descent.refresh()
        self.steps = before + descent.steps
        self.found.append(found)

    def _find_exits(self, descent: Descent, goals: NDArray[np.float64], each_step: Any) -> None:
        """Steps until the exit times are good enough to prove something, temperatures along."""
        session, ranks = self.session, self.problem.graph.ranks
        descent.run(goals, MOST_STEPS, each_step, leader=descent.columns)
        lack = float(descent.levels[-1]) * DRIFT
        h = np.zeros(self.problem.graph.n_all)
        h[: len(self.h)] = descent.exits()
        h[~self.problem.is_free] = 0.0
        session._exits = self.problem.graph.halo.fill(h)
        longest = float(ranks.gathered(np.float64(h.max(initial=0.0))).max())
        session._longest = max(longest / (1 - lack) if lack < 1 else longest, 1.0)

    def _so_far(
        self, descent: Descent, columns: slice
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        T, found = self.T.copy(), self.session._exits
        T[:, columns] = descent.temperatures()
        return T, descent.exits() if found is None else found[: len(T)]

    def _h(self) -> NDArray[np.float64]:
        exits = self.session._exits
        return np.zeros(self.problem.graph.n_all) if exits is None else exits

    def _weighed(self, some: SharedProblem, T: NDArray[np.float64], descent: Descent) -> Imbalance:
        """What proves some columns, of all ranks."""
        own, k, h = self.problem.graph.n_own, some.n_columns, self._h()
        held = bool((T[some.boundary] == some.values).all())
        stray = bool(h[:own][~some.is_free[:own]].any()) or not held
        ranks, arithmetic = self.problem.graph.ranks, self.session._made_ready()
        most, ends, n_nodes = np.zeros((5, k)), np.array([np.inf, np.inf, 0.0, 0.0]), 0
        most[3:] = -np.inf
        for lot, X in descent.lots_of_temperatures():
            if some.n_own_free == 0:  # a rank may have none, but others want its rows
                continue
            one = arithmetic.imbalance(some, X, h)
            numbers = np.array([one.level, one.rounding, one.relative, one.high, -one.low])
            most[:, lot] = numbers
            ends = np.array([one.degrees[0], one.exits[0], -one.degrees[1], -one.exits[1]])
            n_nodes = one.n_nodes
        most = ranks.gathered(most).max(axis=0)  # NaN stays one
        ends = ranks.gathered(ends).min(axis=0)
        return Imbalance(
            level=most[0],
            rounding=most[1],
            relative=most[2],
            low=-most[4],
            high=most[3],
            degrees=(float(ends[0]), -float(ends[2])),
            exits=(float(ends[1]), -float(ends[3])),
            n_nodes=ranks.total(n_nodes),
            stray=ranks.any(stray),
        )

    def _proven(self, some: SharedProblem, T: NDArray[np.float64], found: Imbalance) -> Certificate:
        """The proof of some columns at own nodes."""
        return prove(cast("DirichletProblem", some), T, self._h()[: len(T)], found)

    def certificate(self) -> Certificate:
        """The proof of all columns."""
        first = self.found[0]
        whole: dict[str, Any] = {
            name: np.concatenate([getattr(one, name) for one in self.found])
            for name in ("level", "rounding", "relative", "low", "high")
        }
        found = replace(first, **whole, stray=any(one.stray for one in self.found))
        return self._proven(self.problem, self.T, found)


def _with_boundary(problem: SharedProblem, T: NDArray[np.float64]) -> NDArray[np.float64]:
    T[problem.boundary] = problem.values
    return T


def _shortfall(steps: int, bound: float, tol: float) -> str:
    return (
        f"cg stopped at step {steps}: temperatures are proven to {bound:.1e} only, not to "
        f"tol = {tol:.1e}; loosen tol, or label more nodes"
    )
