"""The minimum of a smooth function of a few parameters, by L-BFGS.

Nocedal and Wright, Numerical Optimization, Algorithms 7.4 and 7.5. SciPy has it too, but takes
longer to load than most jobs take, and hands even such small vectors out to the threads of its
BLAS: that may be a hundred times slower.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Function = Callable[[Vector], tuple[float, Vector]]
    Inverse = Callable[[Vector], Vector]

KEPT = 10  # steps that tell the curvature
DECREASE, CURVATURE = 1e-4, 0.9  # of Wolfe's conditions
MOST_TRIALS = 40  # along a line; rounding is all that is left after as many
MOST_STEPS = 10_000


class Point(NamedTuple):
    """Parameters, the value of the function there, and its gradient."""

    at: Vector
    value: float
    gradient: Vector


def minimum(
    function: Function,
    start: Vector,
    *,
    enough: float,
    inverse: Inverse | None = None,
) -> Vector:
    """Where a function is least, as far as one can see from `start`.

    Parameters
    ----------
    function : callable
        Of a vector: its value and its gradient.
    start : array of shape (p,)
    enough : float
        A decrease of the value, relative to it or to 1, that is not worth a further step.
    inverse : callable, optional
        A vector times about the inverse of the Hessian at `start`, a positive definite matrix:
        with it far fewer steps lead to the minimum.

    Examples
    --------
    >>> def bowl(x):
    ...     return float((x - 3) @ (x - 3)), 2 * (x - 3)
    >>> minimum(bowl, np.zeros(2), enough=1e-12).round(6).tolist()
    [3.0, 3.0]
    """
    steps: deque[tuple[Vector, Vector]] = deque(maxlen=KEPT)
    here = Point(start, *function(start))
    for _ in range(MOST_STEPS):
        direction = -_by_inverse_hessian(here.gradient, steps, inverse)
        there = _along(function, here, direction)
        if there is None:
            return here.at
        step, change = there.at - here.at, there.gradient - here.gradient
        if step @ change > 0:
            steps.append((step, change))
        gained, here, before = here.value - there.value, there, here.value
        if gained <= enough * max(abs(before), abs(here.value), 1.0):
            break
    return here.at


def _by_inverse_hessian(
    gradient: Vector,
    steps: Iterable[tuple[Vector, Vector]],
    inverse: Inverse | None,
) -> Vector:
    """Algorithm 7.4: the gradient times the inverse of the Hessian, as far as steps tell it."""
    product, known = gradient.copy(), []
    for step, change in reversed(list(steps)):
        share = (step @ product) / (step @ change)
        product -= share * change
        known.append((step, change, share))
    if not known:
        return inverse(product) if inverse else product / max(1.0, float(np.linalg.norm(gradient)))
    step, change, _ = known[0]
    if inverse:
        product *= (step @ change) / (change @ inverse(change))
        product = inverse(product)
    else:
        product *= (step @ change) / (change @ change)
    for step, change, share in reversed(known):
        product += (share - (change @ product) / (step @ change)) * step
    return product


def _along(function: Function, here: Point, direction: Vector) -> Point | None:
    """A point on a line that meets Wolfe's conditions; None if the line leads no further down.

    Found by bisection, and by doubling as long as there is no end of it.
    """
    slope = float(here.gradient @ direction)
    if not slope < 0:
        return None
    least, most, length = 0.0, np.inf, 1.0
    lower = None
    with np.errstate(over="ignore", invalid="ignore"):  # too far: no number is no decrease
        for _ in range(MOST_TRIALS):
            at = here.at + length * direction
            there = Point(at, *function(at))
            if not there.value <= here.value + DECREASE * length * slope:
                most = length
            elif there.gradient @ direction < CURVATURE * slope:
                least, lower = length, there
            else:
                return there
            length = 2 * least if np.isinf(most) else (least + most) / 2
    return lower
