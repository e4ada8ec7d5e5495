"""A number with its interval, and that of a share."""

from __future__ import annotations

import math
from typing import NamedTuple

Z = 1.96  # of the normal distribution: 95 % lie within


class Interval(NamedTuple):
    """A number and where it lies with a confidence of 95 %."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def proportion(count: float, total: float) -> Interval:
    """A share with Wilson's interval.

    Examples
    --------
    >>> print(proportion(9, 10))
    0.900 (0.596 to 0.982)
    """
    if total == 0:
        return Interval(math.nan, 0.0, 1.0)
    p, n = count / total, total
    centre = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
    low, high = max(centre - half, 0.0), min(centre + half, 1.0)
    return Interval(p, min(low, p), max(high, p))  # whatever the rounding
