"""What it buys to leave doubtful nodes without a label: fewer labels, more of them right."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.errors import ParameterError
from isotherm.trust.scoring import Interval, proportion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from isotherm.trust.scoring import LeaveOneOut

LEAST = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)  # probabilities worth a look


class Coverage(NamedTuple):
    """What is labelled, and how often right, where labels need a least probability.

    Attributes
    ----------
    min_probability : float
    n_labelled : int
        Free nodes whose label is at least as probable.
    labelled : float
        Their share of all free nodes.
    n_judged : int
        Seeds that, left out, get a label at least as probable.
    right : Interval
        How many of these get their own.
    """

    min_probability: float
    n_labelled: int
    labelled: float
    n_judged: int
    right: Interval


def check_probability(value: object, name: str = "min_probability") -> float:
    """A number from 0 to 1.

    Raises
    ------
    ParameterError
        If it is none.

    Examples
    --------
    >>> check_probability(80)
    Traceback (most recent call last):
    ...
    isotherm.errors.ParameterError: min_probability must be a number from 0 to 1, got 80
    """
    if (
        not isinstance(value, int | float | np.integer | np.floating)
        or isinstance(value, bool)
        or not 0 <= value <= 1
    ):
        raise ParameterError(f"{name} must be a number from 0 to 1, got {value!r}")
    return float(value)


def covered(
    certainties: Iterable[NDArray[np.float64]], check: LeaveOneOut, least: Sequence[float]
) -> list[Coverage]:
    """What is labelled at each least probability, and how often seeds left out are right there.

    Parameters
    ----------
    certainties : iterable of arrays
        Probabilities of the labels of all free nodes, some at a time; NaN without a label.
    check : LeaveOneOut
    least : sequence of float
    """
    counts, n_free = np.zeros(len(least), dtype=np.int64), 0
    for some in certainties:
        counts += np.count_nonzero(np.greater_equal.outer(some, least), axis=0)
        n_free += len(some)
    is_right = check.labels == check.truth
    found = []
    for p, count in zip(least, counts.tolist(), strict=True):
        judged = check.certainty >= p
        right = proportion(int(np.count_nonzero(is_right & judged)), int(judged.sum()))
        found.append(Coverage(p, count, count / max(n_free, 1), int(judged.sum()), right))
    return found
