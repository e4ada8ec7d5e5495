"""How a block of columns is solved on the device: steps, fresh residuals, and when to stop.

The same rules as in ``native/steering.cpp``, without a factor. All goes by what the recurrence
says; what is proven is found elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.cuda.device import Device
    from isotherm.engines.cuda.rows import DeviceRows
    from isotherm.engines.cuda.vectors import Heat, Nodes, Vectors

AIM_AT = 0.8  # of the tolerance: the recurrence drifts from the truth
DRIFT_OF_FLOATS = 2.0**-20  # of the recurrence, from the largest level since a fresh one
FLOAT_REACH = 1e-6  # how far a level falls before rounding is all that is left
ROUNDING = 2.0**-50  # of residuals in float64, in units of the temperatures
GOOD_ETA = 0.5  # of exit times with which temperatures are worth proving
FINAL_ETA = 0.1  # and with which they need not get better
STALLED = 300  # steps without progress, more on small graphs
NEARLY = 4.0  # so near the end the longest exit time is looked for


class State(Enum):
    """Why steps have ended, or not."""

    GOING = auto()  # a look is due
    REACHED = auto()  # the error is likely to be small enough, or the steps are used up
    SHORT_OF_DIGITS = auto()  # floats hold no more, or residuals are all rounding
    HOPELESS = auto()  # there will be no progress


@dataclass
class ExitTimes:
    """h of the certificate and how good it is; all blocks of a problem share it.

    Attributes
    ----------
    h : float64 array on the device, or None
        Once it is known.
    lack : float
        η, the greatest of ``|gauge − M h| / gauge``.
    longest : float
        The greatest entry of h.
    done : bool
        Whether it need not get any better.
    """

    h: Any = None
    lack: float = 1.0
    longest: float = 0.0
    done: bool = False

    def likely_error(self, level: float) -> float:
        """The error of temperatures whose residuals are of that level; ∞ before h is worth much."""
        if not self.lack < GOOD_ETA:
            return math.inf
        return level * self.longest / (1 - self.lack)


class Steering:
    """One block of columns.

    Parameters
    ----------
    device, rows, nodes, heat, vectors
        What it works with.
    exits : ExitTimes
    max_steps : int
    cold : bool
        T is 0 at moving nodes, to begin with.
    """

    def __init__(
        self,
        device: Device,
        rows: DeviceRows,
        nodes: Nodes,
        heat: Heat | None,
        vectors: Vectors,
        exits: ExitTimes,
        max_steps: int,
        *,
        cold: bool,
    ) -> None:
        self.device, self.rows, self.nodes, self.heat = device, rows, nodes, heat
        self.vectors = vectors
        self.exits = exits
        self.max_steps = max_steps
        self.steps = 0
        width = vectors.block.width
        self.scale = np.ones(width)
        self.scale[: vectors.columns] = vectors.scale[: vectors.columns]
        self.levels = np.full(width, np.inf)
        self.least = ROUNDING * float(np.maximum(np.abs(vectors.low), self.scale).max())
        self._cold = cold
        self._fresh = False  # residuals are of T as it is
        self._paused = False  # between two steps
        self._reach = self._drift = 0.0
        self._weighed = math.inf  # the level when residuals were last fresh
        self._best, self._best_eta, self._idle = math.inf, math.inf, 0

    @property
    def iterates_exits(self) -> bool:
        """Whether the exit times are among the lanes and still wanted."""
        return self.vectors.block.exits and not self.exits.done

    @property
    def level(self) -> float:
        """The greatest of all columns, NaN included."""
        return float(self.levels.max())

    @property
    def likely(self) -> float:
        """The error of temperatures that is likely."""
        return self.exits.likely_error(self.level)

    def run(self, tol: float, look_at: float) -> State:
        """Improve T until there is reason to return."""
        state = self._go(tol, look_at)
        if state is not State.GOING and self.iterates_exits and self.exits.lack < FINAL_ETA / 2:
            self._look_for_longest()
            self._keep_exits()  # good enough: later solves need not carry them along
        return state

    def _go(self, tol: float, look_at: float) -> State:
        floats = self.vectors.dtype == np.float32
        if not self._paused:
            if not self._fresh:
                self._weigh()
            self._reach = self._reach_of(floats=floats)
            self._drift, self._weighed = 0.0, math.inf
            self._best, self._best_eta, self._idle = math.inf, math.inf, 0
        self._paused = False
        while self.steps < self.max_steps:
            if self._is_near(tol):
                # Is it so near that the recurrence cannot be believed? Better to know than to
                # fail to prove it.
                unsure = self._drift * self.exits.longest / (1 - self.exits.lack)
                if self._fresh or unsure <= (1 - AIM_AT) * tol:
                    return State.REACHED
                if not self._weigh_again():
                    return State.SHORT_OF_DIGITS
                continue
            self._step()
            now = self.level
            if not math.isfinite(now):
                return State.HOPELESS  # weights beyond the range of float32
            self._drift = max(self._drift, DRIFT_OF_FLOATS * now)
            if self._stalls(now):
                return State.HOPELESS
            if now > self._reach:
                if self.likely > look_at or self._is_near(tol):
                    continue
                self._paused = True
                return State.GOING
            if not self._weigh_again() or floats or self.level <= self.least:
                return State.SHORT_OF_DIGITS
            self._reach = self._reach_of(floats=floats)
        return State.REACHED

    def _reach_of(self, *, floats: bool) -> float:
        """The level below which float32 gets no farther without a fresh residual.

        Or without a T of more digits: residuals are rounded in units of where they began,
        temperatures in those of the boundary.
        """
        if floats or not math.isfinite(self.level):
            return FLOAT_REACH * float(self.scale.max())
        return FLOAT_REACH * self.level

    def _weigh(self) -> None:
        kernels = self.device.kernels
        cold, self._cold = self._cold, False
        self._read(kernels.begin(self.rows, self.nodes, self.vectors, self.heat, cold=cold))
        self._fresh = math.isfinite(self.level)
        if self.iterates_exits and not cold:
            self._look_for_longest()
            if self.exits.lack < FINAL_ETA:
                self._keep_exits()

    def _weigh_again(self) -> bool:
        """Fresh residuals amid steps: whether these have led anywhere, or all is rounding."""
        self._weigh()
        self._drift = 0.0
        fell = not self.level > self._weighed / 2
        self._weighed = self.level
        return fell

    def _step(self) -> None:
        kernels, most = self.device.kernels, self.max_steps - self.steps
        count, levels = kernels.steps(self.rows, self.nodes, self.vectors, most=most)
        self.steps += count
        self._fresh = False
        self._read(levels)

    def _read(self, levels: NDArray[np.float32]) -> None:
        block = self.vectors.block
        self.levels[: block.columns] = levels[: block.columns] * self.scale[: block.columns]
        if block.hidden:
            self.levels[block.columns] = levels[self.vectors.width]
        if self.iterates_exits:
            self.exits.lack = float(levels[block.columns])

    def _is_near(self, tol: float) -> bool:
        exits = self.exits
        if (
            self.iterates_exits
            and exits.lack < GOOD_ETA
            and not self.likely > NEARLY * AIM_AT * tol
        ):
            self._look_for_longest()  # only where it matters
        return self.likely <= AIM_AT * tol

    def _look_for_longest(self) -> None:
        lane = self.device.xp.ascontiguousarray(self.vectors.exits())  # much faster than as it is
        self.exits.longest = float(lane.max())

    def _keep_exits(self) -> None:
        self.exits.h = self.vectors.exits().astype(np.float64)
        self.exits.done = True

    def _stalls(self, level: float) -> bool:
        """Whether neither the level nor η has been halved for long."""
        self._idle += 1
        if level <= self._best / 2 or self.exits.lack <= self._best_eta / 2:
            self._best = min(level, self._best)
            self._best_eta = min(self.exits.lack, self._best_eta)
            self._idle = 0
        return self._idle > STALLED + 2 * self.nodes.n

    def forget(self) -> None:
        """Residuals are no longer those of T: others have changed it."""
        self._fresh = self._paused = False
