"""Conjugate gradients on the native engine: temperatures and their proof in one go.

The core (`native/descent.hpp`) makes the steps, in float32; here is what steers them. Three things
differ from the plain algorithm in `isotherm.solvers.cg`:

- the exit times h of the certificate, unless known from an earlier solve, are one more column, next
  to those of the temperatures;
- of classes, whose temperatures add up to 1, one column is left out where that makes rows of
  numbers half as wide;
- where the steps taken so far promise many more, an approximate factorisation takes over as the
  preconditioner.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.compiled import core
from isotherm.engines.native.blocks import Block, blocks_of
from isotherm.engines.native.pace import Pace
from isotherm.solvers.certificate import guessed, prove
from isotherm.solvers.method import settle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.native.engine import NativeOperator
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.method import Warm

logger = logging.getLogger(__name__)

FLOAT32_TOL = 1e-5  # the tightest tolerance that temperatures of float32 may be expected to hold
AIM = 0.8  # likely error aimed at, of the tolerance: the recurrence drifts from the truth
DRIFT = 1.5  # and is not taken at its word
FLOAT32_REACH = 1e-6  # how far a level falls before rounding in float32 is all that is left
FACTOR_REACH = 1e-3  # the same with a factor, before rounding spoils its directions
ROUNDING = 2**-50  # of residuals in float64, in units of the temperatures
GOOD_ETA = 0.5  # of the exit times, with which temperatures are worth proving
FINAL_ETA = 0.1  # and with which they need not get better
STALLED = 300  # steps without progress, with a factor, after which there will be none
FACTOR_COST = (20, 5)  # of a factor and its use, in steps: so many, and so many per neighbour


@dataclass
class ExitTimes:
    """h of the certificate: an approximate solution of ``M h = w``, and how good it is.

    Attributes
    ----------
    h : array of shape (n,)
    lack : float
        η, the greatest ``|w − M h| / w``.
    longest : float
        The greatest entry of h.
    done : bool
        Whether it need not get any better.
    """

    h: NDArray[np.float64]
    lack: float = 1.0
    longest: float = 0.0
    done: bool = False


class FusedConjugateGradient:
    """See `isotherm.solvers.method.Method`.

    What it keeps between solves: the matrix as the core has it, the exit times, a factor if one
    was made.
    """

    def __init__(self, operator: NativeOperator, max_iter: int, preconditioner: str) -> None:
        self.operator = operator
        self.max_iter = max_iter
        self.preconditioner = preconditioner
        self.core = operator.prepared()
        graph = operator.problem.graph
        self.too_many = FACTOR_COST[0] + FACTOR_COST[1] * len(graph.rows.ends) / graph.n_nodes
        self.factor: core.Factor | None = None
        self.exits = ExitTimes(np.zeros(graph.n_nodes))

    def start(
        self, problem: DirichletProblem, tol: float, warm: Warm | None
    ) -> NDArray[np.floating]:
        exits = self.exits
        if warm is not None and warm.exits is not None and exits.lack >= 1:
            np.copyto(exits.h, np.nan_to_num(warm.exits), where=problem.is_free)
            self.cold_exits = False
        else:
            self.cold_exits = exits.lack >= 1 and not exits.h.any()
        self.problem = problem
        self.low, self.high = problem.bounds
        span = self.high - self.low
        # Columns are iterated in units of their span.
        self.scale = np.where(np.isfinite(span) & (span > 0), span, max(1.0, exits.longest))
        self.blocks = blocks_of(problem.n_columns, one_hot=problem.one_hot, exits=not exits.done)
        self.steps_left = dict.fromkeys(self.blocks, self.max_iter)
        self.descents: dict[Block, core.Descent] = {}
        self.sources: core.Sources | None = None
        if problem.pull is not None:
            nodes, rows = problem.pull
            rows = np.ascontiguousarray(rows, dtype=np.float64)
            self.sources = core.sources(self.core, nodes.astype(np.int32), rows)
        self.levels = np.full(problem.n_columns, np.inf)
        # Of fresh residuals, whatever the temperatures: rounding is all that is left.
        self.least = ROUNDING * float(np.abs([self.low, self.scale]).max(initial=0))
        self.fresh: set[Block] = set()  # those whose residuals are of X as it is
        self.cold = warm is None  # X is 0 at free nodes to begin with

        # In float32 even where that will not do in the end: the first steps need no more. But the
        # boundary must be as given, and no digits of temperatures found before get lost.
        exact = (problem.values.astype(np.float32) == problem.values).all()
        short = exact and (warm is None or tol >= FLOAT32_TOL)
        X = problem.start(np.float32 if short else np.float64, warm and warm.temperatures)
        if self.cold and ((self.low > 0) | (self.high < 0)).any():  # 0 is no temperature here
            X[problem.is_free] = (self.low + self.high) / 2
            self.cold = False
        return X

    # --- iterating ----------------------------------------------------------------------------

    def iterate(self, X: NDArray[np.floating], tol: float) -> Iterator[float]:
        if self.preconditioner == "factor":
            self._factorise()
        for block in self.blocks:
            # Only the boundary is warm: that is quicker found than weighed.
            cold = self.cold and block not in self.descents
            cold = cold and (self.cold_exits or not block.exits)
            descent = self._descent(block)
            if cold:
                descent.begin(X, block.first, self.scale[self._columns(block)])
            elif block not in self.fresh:
                self._weigh(X, block)
            yield self._likely()
            pace, reach = Pace(), self._reach(X, block)
            while self.steps_left[block] > 0 and not self._likely(block) <= AIM * tol:
                self.steps_left[block] -= 1
                self.fresh.discard(block)
                self._read(block, descent.step(X, block.first, self._exits(block)))
                yield self._likely()
                level = self.levels[self._columns(block)].max()
                if not math.isfinite(level):
                    return  # weights beyond the range of float32
                if pace.since_progress(level, self.exits.lack) > self._patience():
                    return  # weights so far apart that rounding undoes each step
                more_digits = level <= reach and X.dtype == np.float32
                hard = self.factor is None and self.preconditioner == "auto"
                if hard and pace.steps_left(level, partial(self._target, tol)) > self.too_many:
                    self._factorise()
                    more_digits = X.dtype == np.float32 and self._target(tol) < reach
                elif level > reach:
                    continue
                self._weigh(X, block)
                if more_digits or self.levels[self._columns(block)].max() <= self.least:
                    break
                reach = self._reach(X, block)

    def _patience(self) -> int:
        """Steps without progress after which there will be none.

        But for rounding, there are no more steps than free nodes; and few with a factor.
        """
        return STALLED if self.factor is not None else STALLED + 2 * self.problem.n_free

    def _descent(self, block: Block) -> core.Descent:
        if block not in self.descents:
            descent = core.Descent(
                self.core, block.columns, block.exits, block.hidden, self.sources, block.first
            )
            if self.factor is not None:
                descent.precondition(self.factor)
            self.descents[block] = descent
        return self.descents[block]

    def _factorise(self) -> None:
        if self.factor is None:
            self.factor = core.factorise(self.core)
            logger.debug("preconditioned by a factor of %d entries", self.factor.n_entries)
        for descent in self.descents.values():
            descent.precondition(self.factor)

    def _reach(self, X: NDArray[np.floating], block: Block) -> float:
        """The level below which float32 gets no farther without a fresh residual.

        Or without an X of more digits: residuals are rounded in units of where they began,
        temperatures in those of the boundary.
        """
        levels = self.levels[self._columns(block)]
        if X.dtype == np.float32 or not np.isfinite(levels).all():
            return FLOAT32_REACH * float(self.scale.max())
        reach = FLOAT32_REACH if self.factor is None else FACTOR_REACH
        return reach * float(levels.max())

    def _exits(self, block: Block) -> NDArray[np.float64] | None:
        """The exit times, where they are still to be improved."""
        return self.exits.h if block.exits and not self.exits.done else None

    def _columns(self, block: Block) -> slice:
        return slice(block.first, block.first + block.width)

    def _read(self, block: Block, step: list[float]) -> None:
        """Take over what a step says: levels of the columns, of h, and of the hidden column."""
        columns = slice(block.first, block.first + block.columns)
        self.levels[columns] = step[: block.columns]
        self.levels[columns] *= self.scale[columns]
        if block.hidden:
            self.levels[block.first + block.columns] = step[-1]
        if self._exits(block) is not None:
            self.exits.lack = step[block.columns]
            if self.exits.lack < GOOD_ETA:
                self.exits.longest = float(self.exits.h.max())

    def _weigh(self, X: NDArray[np.floating], block: Block) -> None:
        """Residuals of a block, once it is settled; the next step starts afresh from them."""
        self._settle(X, block)
        columns, h = self._columns(block), self._exits(block)
        levels, lack = self._descent(block).weigh(X, block.first, self.scale[columns], h)
        self.levels[columns] = levels
        if np.isfinite(levels).all():  # else X will be put elsewhere
            self.fresh.add(block)
        if h is not None:
            self.exits.lack = lack
            self.exits.longest = float(h.max())
            self.exits.done = lack < FINAL_ETA

    def _likely(self, block: Block | None = None) -> float:
        """The likely error, of one block or of all."""
        if not self.exits.lack < GOOD_ETA:
            return math.inf
        levels = self.levels if block is None else self.levels[self._columns(block)]
        return float(levels.max()) * self.exits.longest / (1 - self.exits.lack)

    def _target(self, tol: float) -> float:
        """The level at which the error is likely to be small enough."""
        longest = self.exits.longest or float(self.exits.h.max())  # as far as it is known
        return AIM * tol / max(longest, 1.0) * (1 - min(self.exits.lack, GOOD_ETA))

    # --- proving ------------------------------------------------------------------------------

    def guess(self, X: NDArray[np.floating]) -> Certificate:
        begun = len(self.descents) == len(self.blocks)
        nodes = self.exits.h if begun and self.exits.lack < 1 else None
        for block in self.blocks:
            self._settle(X, block, self.core.hang)
        return guessed(self.problem, nodes, DRIFT / (1 - self.exits.lack) * self.levels)

    def certify(self, X: NDArray[np.floating]) -> Certificate:
        problem, h = self.problem, self.exits.h
        self.fresh.clear()
        for descent in self.descents.values():
            descent.rest()  # others may need the room
        self.settle(X)
        found = self.operator.imbalance(problem, X, h)
        if not np.isfinite(found.level).all():
            settle(X, problem)
            found = self.operator.imbalance(problem, X, h)
        return prove(problem, X, h, found)

    def settle(self, X: NDArray[np.floating]) -> None:
        for block in self.blocks:
            self._settle(X, block)

    def _settle(self, X: NDArray[np.floating], block: Block, move: Any = None) -> None:
        """Move a block within its bounds, peeled nodes to what their parents imply.

        By `core.hang` only the latter, as long as further steps build on the others.
        """
        move = move or self.core.settle
        at = slice(block.first, block.first + block.columns)
        move(X, block.first, self.low[at], self.high[at], self._exits(block), self.sources)
        if block.hidden:  # the column that follows from the others
            np.sum(X[:, :-1], axis=1, out=X[:, -1])
            np.subtract(1, X[:, -1], out=X[:, -1])
            np.clip(X[:, -1], self.low[-1], self.high[-1], out=X[:, -1])

    def rest(self) -> None:
        """Give back all that belongs to one solve."""
        self.descents, self.sources = {}, None
        self.fresh.clear()
