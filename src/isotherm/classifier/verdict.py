"""Verdict: a certified solution → labels, margins, and which of them are proven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isotherm.decision import Means, score_errors, scores
from isotherm.rounding import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.solvers import Certificate


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a decision makes of temperatures, at every node.

    Attributes
    ----------
    means : Means
    scores : array of shape (n, K)
    codes : int array of shape (n,)
        Class number; −1 at nodes without a temperature. Tied nodes get the first of the classes
        that may be the warmest, whatever the rounding.
    margins : array of shape (n,)
        Score of the warmest class minus that of the runner-up; infinite if there is but one
        class, NaN at nodes without a temperature.
    certified : bool array of shape (n,)
        Whether the label at equilibrium is proven to be this one.
    tied : bool array of shape (n,)
        Not certified although the temperatures are as accurate as asked: no more solving was
        promised, and the two warmest classes are too close to tell apart.
    excess : float
        How many times too large the errors are for every node to be certified or tied; at most
        1 if further solving could change no label.
    """

    means: Means
    scores: NDArray[np.float64]
    codes: NDArray[np.intp]
    margins: NDArray[np.float64]
    certified: NDArray[np.bool_]
    tied: NDArray[np.bool_]
    excess: float


def judge(
    temperatures: NDArray[np.float64],
    certificate: Certificate,
    seed_codes: NDArray[np.intp],
    *,
    decision: str,
    tol: float,
) -> Verdict:
    """Apply a decision (lines 9 and 12 of Algorithm 1) and find what it proves.

    Parameters
    ----------
    temperatures : array of shape (n, K)
        NaN where a node has none; such nodes are left out of all means.
    certificate : Certificate
        Bounds the error of each temperature.
    seed_codes : int array of shape (n,)
        Class number of each seed, −1 at the others.
    decision : str
    tol : float
        The accuracy asked of temperatures.
    """
    has = ~np.isnan(temperatures[:, 0])
    is_seed = seed_codes >= 0
    free = has & ~is_seed
    errors = np.nan_to_num(certificate.errors, nan=0.0)  # an unreached node taken as 0 is exact

    n_classes = temperatures.shape[1]
    share = np.bincount(seed_codes[is_seed], minlength=n_classes) / is_seed.sum()
    means = Means(_mean(temperatures[has]), _mean(temperatures[free]), share)
    rounding = len(temperatures) * UNIT_ROUNDOFF
    mean_errors = Means(
        _mean(errors[has]) * (1 + 2 * rounding) + rounding * means.all,
        _mean(errors[free]) * (1 + 2 * rounding) + rounding * means.free,
        np.zeros(n_classes),
    )

    S = scores(temperatures, means, decision)
    E = score_errors(temperatures, errors, means, mean_errors, decision)
    nodes = np.arange(len(S))
    best = np.where(has, np.nan_to_num(S).argmax(axis=1), 0)
    least = S[nodes, best] - E[nodes, best]
    rival, rival_most = S.copy(), S + E
    rival[nodes, best] = rival_most[nodes, best] = -np.inf
    margins = S[nodes, best] - rival.max(axis=1)
    with np.errstate(invalid="ignore"):  # ∞ − ∞ where nothing is known or there is no rival
        lead = least - rival_most.max(axis=1)  # what is left of the margin at the worst

    certified = is_seed | ~has | (lead > 0) | (n_classes == 1)
    mean_error = max(mean_errors.all.max(), mean_errors.free.max())
    inaccuracy = np.maximum(errors.max(axis=1), mean_error) / tol
    tied = ~certified & (inaccuracy <= 1) & np.isfinite(lead)
    first_possible = (S[tied] + E[tied] >= least[tied, np.newaxis]).argmax(axis=1)

    codes = np.where(has, best, -1)
    codes[tied] = first_possible
    codes[is_seed] = seed_codes[is_seed]

    # Errors must shrink until they fit into the margin, or to the accuracy at which it is a tie.
    open_ = ~certified & ~tied
    with np.errstate(divide="ignore"):
        to_certify = (margins[open_] - lead[open_]) / margins[open_]
    excess = np.minimum(to_certify, inaccuracy[open_]).max(initial=0.0)
    if open_.any():
        excess = max(excess, 1 + 1e-9)
    return Verdict(means, S, codes, margins, certified, tied, float(excess))


def _mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over rows; zero if there are none."""
    return np.asarray(rows.sum(axis=0) / max(len(rows), 1))
