"""Conjugate gradients on the native engine: temperatures and their proof in one go.

The core (`native/descent.hpp`) makes the steps, in float32; here is what steers them. Three things
differ from the plain algorithm in `isotherm.solvers.cg`:

- the exit times h of the certificate are one more column, next to those of the temperatures;
- of classes, whose temperatures add up to 1, one column is left out where that makes rows of
  numbers half as wide;
- where the steps taken so far promise many more, an approximate factorisation takes over as the
  preconditioner.
"""

from __future__ import annotations

import logging
import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.compiled import core
from isotherm.engines.native import LANES
from isotherm.solvers.certificate import guessed, prove
from isotherm.solvers.method import settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from isotherm.engines.native import NativeOperator
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
FIRST_REVIEW = 16  # step at which the pace is first looked at; then at twice that, and so on
STALLED = 300  # steps without progress, with a factor, after which there will be none
FACTOR_COST = (20, 5)  # of a factor and its use, in steps: so many, and so many per neighbour


class Block(NamedTuple):
    """Columns that are solved together.

    Attributes
    ----------
    first, columns : int
        The first column and how many are iterated.
    exits : bool
        Whether the exit times are solved along with them.
    hidden : bool
        Whether one further column follows from the others.
    """

    first: int
    columns: int
    exits: bool
    hidden: bool

    @property
    def width(self) -> int:
        """Columns of the block, iterated or not."""
        return self.columns + self.hidden


def blocks_of(n_columns: int, *, one_hot: bool) -> list[Block]:
    """How columns are solved: with the exit times in one go if they fit, else 16 at a time.

    Examples
    --------
    >>> blocks_of(10, one_hot=True)
    [Block(first=0, columns=10, exits=True, hidden=False)]
    >>> blocks_of(8, one_hot=True)
    [Block(first=0, columns=7, exits=True, hidden=True)]
    >>> [block.columns for block in blocks_of(40, one_hot=True)]
    [15, 16, 9]
    """
    if one_hot and n_columns in (2, 4, 8, LANES):  # one more would need rows twice as wide
        return [Block(0, n_columns - 1, exits=True, hidden=True)]
    blocks = [Block(0, min(n_columns, LANES - 1), exits=True, hidden=False)]
    more = range(LANES - 1, n_columns, LANES)
    return blocks + [Block(k, min(LANES, n_columns - k), exits=False, hidden=False) for k in more]


class FusedConjugateGradient:
    """See `isotherm.solvers.method.Method`."""

    def __init__(self, operator: NativeOperator, max_iter: int, preconditioner: str) -> None:
        problem = operator.problem
        self.operator = operator
        self.preconditioner = preconditioner
        self.low, self.high = problem.bounds
        span = self.high - self.low
        self.scale = np.where(span > 0, span, 1.0)  # columns are iterated in units of their span
        self.core = operator.prepared()
        self.blocks = blocks_of(problem.n_columns, one_hot=problem.one_hot)
        self.steps_left = dict.fromkeys(self.blocks, max_iter)
        neighbours = len(problem.graph.rows.ends) / problem.graph.n_nodes
        self.too_many = FACTOR_COST[0] + FACTOR_COST[1] * neighbours
        self.descents: dict[Block, Any] = {}
        self.factor: Any = None
        self.h = np.zeros(problem.graph.n_nodes)
        self.eta, self.longest, self.exits_done = 1.0, 0.0, False
        self.levels = np.full(problem.n_columns, np.inf)
        # Of fresh residuals, whatever the temperatures: rounding is all that is left.
        self.least = ROUNDING * float(np.abs([self.low, self.high]).max(initial=0))
        self.cold = False  # X and h were 0 at free nodes to begin with
        self.fresh: set[Block] = set()  # those whose residuals are of X as it is

    def start(self, tol: float, warm: Warm | None) -> NDArray[Any]:
        problem = self.operator.problem
        # In float32 even where that will not do in the end: the first steps need no more. But the
        # boundary must be as given, and no digits of temperatures found before get lost.
        exact = (problem.values.astype(np.float32) == problem.values).all()
        short = exact and (warm is None or tol >= FLOAT32_TOL)
        self.cold = warm is None
        if warm is not None and warm.exits is not None:
            np.copyto(self.h, np.nan_to_num(warm.exits), where=problem.is_free)
        X = problem.start(np.float32 if short else np.float64, warm and warm.temperatures)
        if self.cold and ((self.low > 0) | (self.high < 0)).any():  # 0 is no temperature here
            X[problem.is_free] = (self.low + self.high) / 2
            self.cold = False
        return X

    # --- iterating ----------------------------------------------------------------------------

    def iterate(self, X: NDArray[Any], tol: float) -> Iterator[float]:
        if self.preconditioner == "factor":
            self._factorise()
        for block in self.blocks:
            cold = self.cold and block not in self.descents
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
                if pace.since_progress(level, self.eta) > self._patience():
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
        return STALLED if self.factor is not None else STALLED + 2 * self.operator.problem.n_free

    def _descent(self, block: Block) -> Any:
        if block not in self.descents:
            descent = core.Descent(self.core, block.columns, block.exits, block.hidden)
            if self.factor is not None:
                descent.precondition(self.factor)
            self.descents[block] = descent
        return self.descents[block]

    def _factorise(self) -> None:
        if self.factor is None:
            self.factor = core.factorise(self.core)
            logger.info("preconditioned by a factor of %d entries", self.factor.n_entries)
        for descent in self.descents.values():
            descent.precondition(self.factor)

    def _reach(self, X: NDArray[Any], block: Block) -> float:
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
        return self.h if block.exits and not self.exits_done else None

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
            self.eta = step[block.columns]
            if self.eta < GOOD_ETA:
                self.longest = float(self.h.max())

    def _weigh(self, X: NDArray[Any], block: Block) -> None:
        """Residuals of a block, once it is settled; the next step starts afresh from them."""
        self._settle(X, block)
        columns, h = self._columns(block), self._exits(block)
        levels, exits = self._descent(block).weigh(X, block.first, self.scale[columns], h)
        self.levels[columns] = levels
        if np.isfinite(levels).all():  # else X will be put elsewhere
            self.fresh.add(block)
        if h is not None:
            self.eta = exits
            self.longest = float(h.max())
            self.exits_done = self.eta < FINAL_ETA

    def _likely(self, block: Block | None = None) -> float:
        """The likely error, of one block or of all."""
        if not self.eta < GOOD_ETA:
            return math.inf
        levels = self.levels if block is None else self.levels[self._columns(block)]
        return float(levels.max()) * self.longest / (1 - self.eta)

    def _target(self, tol: float) -> float:
        """The level at which the error is likely to be small enough."""
        longest = self.longest or float(self.h.max())  # as far as it is known: it still grows
        return AIM * tol / max(longest, 1.0) * (1 - min(self.eta, GOOD_ETA))

    # --- proving ------------------------------------------------------------------------------

    def guess(self, X: NDArray[Any]) -> Certificate:
        begun = len(self.descents) == len(self.blocks)
        nodes = self.h if begun and self.eta < 1 else None
        for block in self.blocks:
            self._settle(X, block, self.core.hang)
        return guessed(self.operator.problem, nodes, DRIFT / (1 - self.eta) * self.levels)

    def certify(self, X: NDArray[Any]) -> Certificate:
        problem = self.operator.problem
        self.fresh.clear()
        for descent in self.descents.values():
            descent.rest()  # others may need the room
        for block in self.blocks:
            self._settle(X, block)
        found = self.operator.imbalance(X, self.h)
        if not np.isfinite(found.level).all():
            settle(X, problem)
            found = self.operator.imbalance(X, self.h)
        return prove(problem, X, self.h, found)

    def _settle(self, X: NDArray[Any], block: Block, move: Any = None) -> None:
        """Move a block within its bounds, peeled nodes to what their parents imply.

        By `core.hang` only the latter, as long as further steps build on the others.
        """
        move = move or self.core.settle
        at = slice(block.first, block.first + block.columns)
        move(X, block.first, self.low[at], self.high[at], self._exits(block))
        if block.hidden:  # the column that follows from the others
            np.sum(X[:, :-1], axis=1, out=X[:, -1])
            np.subtract(1, X[:, -1], out=X[:, -1])
            np.clip(X[:, -1], self.low[-1], self.high[-1], out=X[:, -1])


class Pace:
    """How fast levels fall, from the best seen so far."""

    def __init__(self) -> None:
        self._best = [math.inf]
        self._review = FIRST_REVIEW
        self._least = (math.inf, math.inf)  # level and η at the last progress
        self._idle = 0  # steps since then

    def since_progress(self, level: float, eta: float) -> int:
        """Steps since the level or η has last been halved."""
        self._idle += 1
        if level <= self._least[0] / 2 or eta <= self._least[1] / 2:
            self._least, self._idle = (min(level, self._least[0]), min(eta, self._least[1])), 0
        return self._idle

    def steps_left(self, level: float, target_of: Callable[[], float]) -> float:
        """Steps still to come, by the pace of the later half; 0 unless it is time to ask."""
        self._best.append(min(self._best[-1], level))
        taken = len(self._best) - 1
        if taken < self._review:
            return 0.0
        self._review *= 2
        target, best = target_of(), self._best[taken]
        if not 0 < target < best:
            return 0.0
        gained = math.log(self._best[taken // 2] / best)
        to_gain = math.log(best / target)
        return to_gain / max(gained, 1e-9) * (taken - taken // 2)
