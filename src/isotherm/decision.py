"""Decisions: temperatures → scores. The warmest class by score wins.

Each decision moves and scales every class by two numbers that depend only on the mean
temperatures: ``score_ik = (T_ik − shift_k) / scale_k``. That is all a decision is, which makes
it cheap to compare several and possible to bound the error of each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.errors import ParameterError
from isotherm.labels import UNKNOWN
from isotherm.read_only import Sealed
from isotherm.rounding import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Rule = Callable[["Means"], tuple[NDArray[np.floating], NDArray[np.floating]]]


@dataclass(frozen=True, eq=False)
class Means(Sealed):
    """What decisions look at, one number per class, arrays of shape (K,).

    Attributes
    ----------
    all : mean temperature of all nodes, equation (5)
    free : mean temperature of the free nodes
    seed_share : share of the class among the seeds
    errors : Means or None
        Bounds on the errors of these, where they are not exact.
    """

    all: NDArray[np.floating]
    free: NDArray[np.floating]
    seed_share: NDArray[np.floating]
    errors: Means | None = field(default=None, kw_only=True)


def sum_up(
    temperatures: NDArray[np.floating], nodes: NDArray[np.float64], seed_codes: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Sums over all nodes and over the free ones, of those that have a temperature.

    Returns
    -------
    sums : array of shape (2, K), of temperatures
    errors : array of shape (2,), of the certificate's factors `nodes`
    counts : int array of shape (2,)
    """
    if core is not None:
        found = core.sum_up(np.ascontiguousarray(temperatures), seed_codes, nodes, n_threads())
        sums, errors, counts = map(np.array, found)
        return sums.reshape(2, -1), errors, counts
    has = ~np.isnan(temperatures[:, 0])
    masks = has, has & (seed_codes < 0)
    # A certificate has NaN at unreached nodes alone: one that counts as 0 is exact.
    return (
        np.array([temperatures[mask].sum(axis=0, dtype=np.float64) for mask in masks]),
        np.array([np.nansum(nodes[mask]) for mask in masks]),
        np.array([np.count_nonzero(mask) for mask in masks]),
    )


def plain(means: Means) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Temperatures as they are (Zhu, Ghahramani and Lafferty 2003)."""
    return 0 * means.all, 0 * means.all + 1


def centered(means: Means) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """The paper's: minus the mean over all nodes (line 9 of Algorithm 1)."""
    return means.all, 0 * means.all + 1


def partial(means: Means) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Minus the mean over free nodes only; not consistent for three classes or more."""
    return means.free, 0 * means.all + 1


def mass(means: Means) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Class mass normalisation (Zhu et al.): free mass scaled to the class's seed share."""
    share = means.seed_share
    return 0 * means.all, means.free / np.where(share == 0, 1, share)


def standard(means: Means) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Centred, then divided by √(m (1 − m)), m the mean temperature."""
    m = np.asarray(means.all, dtype=np.float64)
    return m, np.sqrt(np.clip(m * (1 - m), 0.0, None))


def ratio(means: Means) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Divided by the mean temperature."""
    return 0 * means.all, means.all


DECISIONS: dict[str, Rule] = {
    rule.__name__: rule for rule in (centered, plain, partial, mass, standard, ratio)
}


def choose_decision(decision: str) -> Rule:
    """The decision of that name.

    Raises
    ------
    ParameterError
        If there is none of that name.
    """
    if not isinstance(decision, str) or decision not in DECISIONS:
        raise ParameterError.unknown("decision", decision, DECISIONS)
    return DECISIONS[decision]


def scores(
    temperatures: NDArray[np.floating], means: Means, decision: str = "centered"
) -> NDArray[np.floating]:
    """Scores of the classes at each node.

    Parameters
    ----------
    temperatures : array of shape (n, K)
    means : Means
    decision : str
        One of `DECISIONS`.

    Returns
    -------
    array of shape (n, K)
        A class is not scaled where its scale is not proven to be above 0, as that of a class
        without any heat on free nodes.

    Examples
    --------
    Two classes, 0.7 and 0.3 on average: a node at (0.6, 0.4) is colder than most in class 0.

    >>> mean = np.array([0.7, 0.3])
    >>> means = Means(all=mean, free=mean, seed_share=np.array([0.5, 0.5]))
    >>> T = np.array([[0.6, 0.4]])
    >>> scores(T, means, "plain").argmax(axis=1).tolist()
    [0]
    >>> scores(T, means, "centered").argmax(axis=1).tolist()
    [1]
    """
    shift, scale = shift_and_scale(means, decision)
    return np.asarray((temperatures - shift) / scale)


def shift_and_scale(
    means: Means, decision: str
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """What a decision does to each class; the scale is 1 where it may be 0 as far as is known."""
    rule = choose_decision(decision)
    shift, scale = rule(means)
    least = scale if means.errors is None else rule(_ends(means, means.errors))[1].min(axis=0)
    return shift, np.where(least > 0, scale, 1)


def winners(scores: NDArray[np.floating]) -> NDArray[np.intp]:
    """The class with the highest score at each node (line 12 of Algorithm 1); −1 if it has none."""
    has = ~np.isnan(scores[:, 0])
    return np.where(has, np.nan_to_num(scores).argmax(axis=1), UNKNOWN)


@dataclass(frozen=True, eq=False)
class ScoreErrors:
    """Bound ``slope · E + growth · |score| + offset`` on the error of a score, E that of T.

    Arrays of shape (K,); infinite offsets where the scale of a class may be zero as far as is
    known.
    """

    slope: NDArray[np.float64]
    growth: NDArray[np.float64]
    offset: NDArray[np.float64]

    def __call__(
        self, scores: NDArray[np.float64], errors: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The bound for scores of temperatures with these errors, all of shape (n, K)."""
        return np.asarray(self.slope * errors + self.growth * np.abs(scores) + self.offset)


def score_errors(means: Means, mean_errors: Means, decision: str) -> ScoreErrors:
    """How errors of temperatures and means become errors of scores.

    Parameters
    ----------
    means, mean_errors : Means
        ``mean_errors`` bounds the error of each of the ``means``.
    decision : str
    """
    # Shift and scale are farthest off at the ends of what the means may be. They are monotone
    # but for √(m (1 − m)), whose top at 1/2 is no farther off than the end beyond it.
    rule = choose_decision(decision)
    (shift, scale), (shifts, scales) = rule(means), rule(_ends(means, mean_errors))
    shift_error = np.abs(shifts - shift).max(axis=0)
    scale_error = np.abs(scales - scale).max(axis=0)
    least = scales.min(axis=0)

    # s − s* = [(T − T*) − (shift − shift*) + s (scale* − scale)] / scale*
    unscaled = (scale == 0) & (scale_error == 0)
    divisor = np.where(least > 0, least, 1.0)
    offset = np.where(unscaled | (least > 0), shift_error / divisor, np.inf)
    rounding = 16 * UNIT_ROUNDOFF
    return ScoreErrors(
        (1 + rounding) / divisor,
        scale_error / divisor * (1 + rounding) + rounding,
        offset * (1 + rounding) + rounding * np.abs(shift) / np.where(scale > 0, scale, 1),
    )


def _ends(means: Means, errors: Means) -> Means:
    """Both ends of what the means may be, shape (2, K); the share that divides one at the other."""

    def ends(mean: NDArray[np.floating], error: NDArray[np.floating]) -> NDArray[np.floating]:
        return np.array([np.maximum(mean - error, 0.0), np.minimum(mean + error, 1.0)])

    share, error = means.seed_share, errors.seed_share
    return Means(
        ends(means.all, errors.all),
        ends(means.free, errors.free),
        np.array([share + error, share - error]),
    )
