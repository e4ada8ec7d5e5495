"""How fast a solve gets on, and how many steps are still to come."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST_REVIEW = 16  # step at which the pace is first looked at; then at twice that, and so on


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
