"""Probabilities that mean something: scores → how often such a label is right.

A seed left out is a free node whose class is known: the scores of such seeds tell what scores are
worth. With the scores s of a node, measured in units of their spread over the graph::

    P(k) ∝ exp(a_k asinh(c s_k) + b_k)

Scores are heavy-tailed: a node next to a seed is much warmer than all others but not as much more
likely to be of its class. ``asinh(c s)`` grows like s where s is small and like log s where it is
large; c says where that begins. With π_k the share of the class among those judged::

    a_k = a exp(α_k)        b_k = r log π_k + β_k

c, the scale a and the weight r of the shares are found for all classes alike. What is a class's
own, α_k and β_k, must pay for being different: it has a normal prior around 0 that only many seeds
outweigh. No parameter is set by hand; the deviations of the priors say in which range to look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.read_only import Sealed
from isotherm.trust.minimum import minimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.trust.leave_one_out import LeftOut

COMMON = 1.0  # standard deviation of the prior of log a, log c and r
OWN = 0.3  # and of what is a class's own
BINS = 15
ENOUGH = 1e-12  # relative change of the posterior that ends the search


@dataclass(frozen=True, eq=False)
class Calibration(Sealed):
    """The map from scores to probabilities.

    Attributes
    ----------
    unit : float
        In which scores are measured.
    bend : float
        c above.
    scales, offsets : arrays of shape (K,)
    n_judged : int
        Seeds it was learnt from.
    """

    unit: float
    bend: float
    scales: NDArray[np.float64]
    offsets: NDArray[np.float64]
    n_judged: int

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of the classes, rows that sum to 1; NaN where no class has a score."""
        Z = self.scales * np.arcsinh(self.bend * scores / self.unit) + self.offsets
        Z[~np.isfinite(Z).any(axis=1)] = np.nan
        return np.asarray(np.exp(Z - log_sum(Z)))


def calibrate(scores: NDArray[np.float64], codes: NDArray[np.intp], unit: float) -> Calibration:
    """Find the map under which what was seen is the most likely.

    Parameters
    ----------
    scores : array of shape (m, K)
        Of nodes whose class is known, as if it were not.
    codes : int array of shape (m,)
        Their classes.
    unit : float
        The spread of scores over the graph.

    Examples
    --------
    Scores that are right in three of four cases, and scores that always are.

    >>> scores = np.tile([1.0, 0.0], (400, 1))
    >>> often = np.arange(400) % 4 == 0
    >>> calibrate(scores, often.astype(int), 1.0)(scores[:1]).round(2).tolist()
    [[0.75, 0.25]]
    >>> calibrate(scores, np.zeros(400, dtype=int), 1.0)(scores[:1]).round(2).tolist()
    [[1.0, 0.0]]
    """
    m, K = scores.shape
    rows, S = np.arange(m), scores / unit
    deviations = np.repeat([COMMON, OWN], [3, 2 * K])
    log_share = np.log(np.bincount(codes, minlength=K) + 0.5)
    log_share -= log_share.mean()

    def loss(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Minus the logarithm of the posterior, and its gradient."""
        c, a, b = _parameters(theta, log_share)
        U = c * S
        X = np.arcsinh(U)
        Z = a * X + b
        log_P = Z - log_sum(Z)
        G = np.exp(log_P)
        G[rows, codes] -= 1
        by_a = (G * X).sum(axis=0) * a
        by_c = (G * a * U / np.hypot(1, U)).sum()
        by_b = G.sum(axis=0)
        gradient = np.concatenate([[by_c, by_a.sum(), by_b @ log_share], by_a, by_b])
        off = theta / deviations
        return float(off @ off / 2 - log_P[rows, codes].sum()), gradient + off / deviations

    start = np.zeros(3 + 2 * K)
    theta = start if m == 0 else minimum(loss, start, enough=ENOUGH)
    return Calibration(unit, *_parameters(theta, log_share), n_judged=m)


def _parameters(
    theta: NDArray[np.float64], log_share: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """c, the scales and the offsets."""
    own, offsets = np.split(theta[3:], 2)
    return float(np.exp(theta[0])), np.exp(theta[1] + own), theta[2] * log_share + offsets


def log_sum(Z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of the sum of the exponentials of each row."""
    top = Z.max(axis=1, keepdims=True)
    return np.asarray(top + np.log(np.exp(Z - top).sum(axis=1, keepdims=True)))


class Bin(NamedTuple):
    """Labels of about the same probability.

    Attributes
    ----------
    n_labels : int
    probability, right : float
        The mean of what was said, and the share of those that are right.
    """

    n_labels: int
    probability: float
    right: float


def reliability(
    probability: NDArray[np.float64], right: NDArray[np.bool_], bins: int = BINS
) -> list[Bin]:
    """What was said beside what is so, for labels sorted by their probability.

    Parameters
    ----------
    probability : array of shape (m,)
        Of the label that each node got.
    right : bool array of shape (m,)
        Whether it is the true one.
    bins : int
        Intervals of equal length; those without a label are left out.
    """
    place = np.minimum((probability * bins).astype(np.intp), bins - 1)
    return [
        Bin(int(here.sum()), float(probability[here].mean()), float(right[here].mean()))
        for here in (place == k for k in range(bins))
        if here.any()
    ]


def calibration_error(
    probability: NDArray[np.float64], right: NDArray[np.bool_], bins: int = BINS
) -> float:
    """Expected calibration error: how far off probabilities are on average; see `reliability`."""
    found = reliability(probability, right, bins)
    off = sum(each.n_labels * abs(each.probability - each.right) for each in found)
    return float(off / max(len(probability), 1))


def calibrated(left: LeftOut, decision: str, unit: float) -> Calibration:
    """What the scores of seeds left out are worth, by those that can be found again."""
    S = left.scores(decision)
    some = np.isfinite(S).all(axis=1)
    return calibrate(S[some], left.codes[some], unit)
