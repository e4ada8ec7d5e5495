"""Conjugate gradients on the native engine: temperatures and their proof in one go.

The core (`native/steering.hpp`, `native/descent.hpp`) makes the steps, in float32, and decides how
they go on; here is what it is asked for. Four things differ from the plain algorithm in
`isotherm.solvers.cg`:

- the exit times h of the certificate, unless known from an earlier solve, are one more column, next
  to those of the temperatures;
- of classes, whose temperatures add up to 1, one column is left out where that makes rows of
  numbers half as wide;
- blocks of columns go beside each other, one on each thread, where a step is too short to be shared
  by threads, or where there are many of them and they are small;
- where the steps taken so far promise many more, an approximate factorisation takes over as the
  preconditioner.
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING

import numpy as np

from isotherm.compiled import core
from isotherm.engines.blocks import LANES, blocks_of
from isotherm.engines.native.proof import imbalance_of, native_certificate
from isotherm.engines.running import DRIFT, Running, start_of, starts_cold, type_to_start
from isotherm.memory import lanes_within
from isotherm.solvers.certificate import guessed, is_finite, prove
from isotherm.solvers.method import Reached, settle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.blocks import Block
    from isotherm.engines.native.engine import NativeOperator
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.method import Warm, Watch

logger = logging.getLogger(__name__)

SLICE = 0.005, 0.05  # seconds after which progress is shown, or Ctrl-C heeded if nobody looks
MANY = 4  # blocks that may go beside each other where rows of them have no more numbers than this,
SMALL = 1 << 19  # so that the vectors of several take little room


class FusedConjugateGradient(Running["Run"]):
    """See `isotherm.solvers.method.Method`.

    What it keeps between solves: the matrix as the core has it, with a factor if one was made, and
    the exit times.
    """

    def __init__(self, operator: NativeOperator, max_iter: int, preconditioner: str) -> None:
        self.operator = operator
        self.max_iter = max_iter
        self.preconditioner = preconditioner
        self.core = operator.prepared()
        self.h = np.zeros(operator.problem.graph.n_nodes)
        self.exits = core.ExitTimes(self.h)
        self.told: set[str] = set()  # of a factor, of another order
        self.plain_to = math.inf  # the tightest tolerance that was met without one

    def start(
        self, problem: DirichletProblem, tol: float, warm: Warm | None
    ) -> NDArray[np.floating]:
        known = self.exits.lack < 1
        if not known and warm is not None and warm.exits is not None:
            np.copyto(self.h, np.nan_to_num(warm.exits), where=problem.is_free)
            known = True
        cold = starts_cold(problem, warm)
        self.run = Run(self, problem, tol, cold=cold, known=known)
        return start_of(problem, type_to_start(problem, tol, warm), warm, cold=cold)

    def certify(self, X: NDArray[np.floating]) -> Certificate:
        run = self._current()
        run.pause()
        run.settle(X)
        problem, h = run.problem, self.h
        evidence = self.operator.evidence(problem, X, h)
        proven = native_certificate(problem, X, h, evidence)
        if proven is not None:
            return proven
        found = imbalance_of(evidence)
        if not is_finite(found.level):
            settle(X, problem)
            found = self.operator.imbalance(problem, X, h)
        return prove(problem, X, h, found)

    def settle(self, X: NDArray[np.floating]) -> None:
        self._current().settle(X)


class Run:
    """One solve: its columns in blocks, each steered by the core."""

    def __init__(
        self,
        method: FusedConjugateGradient,
        problem: DirichletProblem,
        tol: float,
        *,
        cold: bool,
        known: bool,
    ) -> None:
        self.method = method
        self.problem = problem
        self.cold = cold  # X is 0 at free nodes to begin with
        self.known = known  # something is known of the exit times
        exits, sources = method.exits, None
        if problem.pull is not None:
            nodes, rows = problem.pull
            rows = np.ascontiguousarray(rows, dtype=np.float64)
            sources = core.sources(method.core, nodes.astype(np.int32), rows)
        low, high = problem.bounds
        preconditioner = method.preconditioner
        if preconditioner == "auto" and not method.core.factor_entries and method.plain_to <= tol:
            preconditioner = "diagonal"

        def steering(block: Block) -> core.Steering:
            own = block.exits and block.first > 0
            return core.Steering(
                method.core,
                core.ExitTimes(np.zeros_like(method.h)) if own else exits,
                first=block.first,
                columns=block.columns,
                with_exits=block.exits,
                hidden=block.hidden,
                sources=sources,
                low=low,
                high=high,
                max_steps=method.max_iter,
                preconditioner=preconditioner,
            )

        lanes = lanes_within(method.operator.memory, len(method.h), problem.n_columns)
        blocks = blocks_of(
            problem.n_columns,
            one_hot=problem.one_hot,
            exits=not exits.done,
            apart=method.core.is_one_chunk and not known,
            lanes=lanes,
        )
        self.blocks = blocks
        self.steerings = [steering(block) for block in blocks]

    def iterate(self, X: NDArray[np.floating], tol: float, watch: Watch) -> Iterator[Reached]:
        before = self._steps()
        if watch.often:
            yield Reached(0, self._likely())
        if self._goes_beside(watch):
            yield from self._iterate_beside(X, tol, watch, before)
        else:
            yield from self._iterate_in_turn(X, tol, watch, before)
        if not self.method.core.factor_entries and self._likely() <= tol:
            self.method.plain_to = min(self.method.plain_to, tol)

    def _iterate_in_turn(
        self, X: NDArray[np.floating], tol: float, watch: Watch, before: int
    ) -> Iterator[Reached]:
        """One block after the other, each on all threads; `before`: steps made already."""
        for block, steering in zip(self.blocks, self.steerings, strict=True):
            cold = self.cold and not (block.exits and self.known)
            state = core.State.GOING
            while state == core.State.GOING:
                state = steering.run(
                    X,
                    cold=cold,
                    tol=tol,
                    look_at=watch.look_at,
                    seconds=SLICE[not watch.often],
                    proven=watch.proves,
                )
                self._tell_of_changes()
                yield Reached(self._steps() - before, self._likely())
            if state == core.State.HOPELESS:
                return
            if len(self.blocks) > 1:
                steering.rest()  # room for the next one

    def _goes_beside(self, watch: Watch) -> bool:
        """Whether blocks are small, none waits for what another finds, and nobody looks on.

        That must not depend on how many threads there are: beside each other, blocks share a factor
        only once all have ended.
        """
        if not self._are_small():
            return False
        apart = self.method.exits.done or all(block.exits for block in self.blocks)
        return bool(apart and (self.method.core.is_one_chunk or watch.look_at == 0))

    def _are_small(self) -> bool:
        """Whether there are several blocks, and one is best done by one thread."""
        matrix, limit = self.method.core, self.method.operator.memory
        if len(self.blocks) == 1 or matrix.is_one_chunk:
            return len(self.blocks) > 1
        return len(self.blocks) >= MANY and matrix.n_rows * LANES <= SMALL and limit is None

    def _iterate_beside(
        self, X: NDArray[np.floating], tol: float, watch: Watch, before: int
    ) -> Iterator[Reached]:
        """One block on each thread. A factor is made when all have ended, for those it helps."""
        going, slow = self.steerings, list[core.Steering]()
        while going:
            states = core.run_beside(
                going,
                X,
                cold=self.cold,
                tol=tol,
                seconds=SLICE[not watch.often],
                threads=self.method.operator.threads,
            )
            ended = list(zip(going, states, strict=True))
            slow += [one for one, state in ended if state == core.State.SLOW]
            going = [one for one, state in ended if state == core.State.GOING]
            if slow and not going:
                self.method.core.factorise()
                self._tell_of_changes()
                going, slow = slow, []
            yield Reached(self._steps() - before, math.inf if going else self._likely())

    def _tell_of_changes(self) -> None:
        matrix, told = self.method.core, self.method.told
        if matrix.factor_entries and "factor" not in told:
            logger.debug("preconditioned by a factor of %d entries", matrix.factor_entries)
            told.add("factor")
        if matrix.is_reordered and "order" not in told:
            logger.debug("rows put next to those of their neighbours")
            told.add("order")

    def _steps(self) -> int:
        return sum([steering.steps for steering in self.steerings])

    def _likely(self) -> float:
        return max([steering.likely for steering in self.steerings])

    def guess(self, X: NDArray[np.floating]) -> Certificate:
        for steering in self.steerings:
            steering.settle(X, clip=False)
        lack = self.method.exits.lack
        levels = np.concatenate([steering.levels for steering in self.steerings])
        begun = math.isfinite(levels.max()) and lack < 1
        nodes = self.method.h if begun else None
        return guessed(self.problem, nodes, DRIFT / (1 - lack) * levels)

    def pause(self) -> None:
        """Let others change X, and have the room that the next step will need again."""
        for steering in self.steerings:
            steering.rest()

    def settle(self, X: NDArray[np.floating]) -> None:
        """Move X within its bounds, peeled nodes to what their parents imply."""
        if self._are_small():
            core.settle_beside(self.steerings, X, self.method.operator.threads)
            return
        for steering in self.steerings:
            steering.settle(X, clip=True)
