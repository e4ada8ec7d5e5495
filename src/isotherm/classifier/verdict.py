"""Verdict: a certified solution → labels, margins, and which of them are proven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isotherm.decision import Means, score_errors, scores, winners
from isotherm.rounding import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.solvers import Certificate, Solution


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a decision makes of temperatures, at each of m nodes.

    Attributes
    ----------
    means : Means
        Over all nodes.
    scores : array of shape (m, K)
    codes : int array of shape (m,)
        Class number; −1 at nodes without a temperature. Tied nodes get the first of the classes
        that may be the best (the warmest of them, where that is clear), whatever the rounding.
    margins : array of shape (m,)
        Score of the best class minus that of the runner-up; infinite if there is but one class,
        NaN at nodes without a temperature.
    certified : bool array of shape (m,)
        Whether the label at equilibrium is proven to be this one.
    tied : bool array of shape (m,)
        Not certified although the temperatures are as accurate as asked: no more solving was
        promised, and the best classes are too close to tell apart.
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
    nodes: NDArray[np.intp] | None = None,
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
    nodes : int array of shape (m,), optional
        The nodes to judge; all by default.
    """
    means, mean_errors = mean_temperatures(temperatures, certificate, seed_codes)
    at = np.arange(len(temperatures)) if nodes is None else nodes
    T, own = temperatures[at], seed_codes[at]
    E_T = np.nan_to_num(certificate.errors(at), nan=0.0)  # an unreached node taken as 0 is exact
    has, is_seed = ~np.isnan(T[:, 0]), own >= 0

    S = scores(T, means, decision)
    E = score_errors(T, E_T, means, mean_errors, decision)
    rows = np.arange(len(S))
    codes = winners(S)
    best = np.maximum(codes, 0)
    least = S[rows, best] - E[rows, best]
    rival, rival_most = S.copy(), S + E
    rival[rows, best] = rival_most[rows, best] = -np.inf
    margins = S[rows, best] - rival.max(axis=1)
    with np.errstate(invalid="ignore"):  # ∞ − ∞ where nothing is known or there is no rival
        lead = least - rival_most.max(axis=1)  # what is left of the margin at the worst

    certified = is_seed | ~has | (lead > 0) | (T.shape[1] == 1)
    mean_error = max(mean_errors.all.max(), mean_errors.free.max())
    inaccuracy = np.maximum(E_T.max(axis=1), mean_error) / tol
    tied = ~certified & (inaccuracy <= 1) & np.isfinite(lead)

    possible = S[tied] + E[tied] >= least[tied, np.newaxis]
    codes[tied] = _first_of_the_warmest(T[tied], E_T[tied], possible)
    codes[is_seed] = own[is_seed]

    # Errors must shrink until they fit into the margin, or to the accuracy at which it is a tie.
    unsettled = ~certified & ~tied
    excess = 0.0
    if unsettled.any():
        with np.errstate(divide="ignore"):
            to_certify = (margins[unsettled] - lead[unsettled]) / margins[unsettled]
        excess = max(np.minimum(to_certify, inaccuracy[unsettled]).max(), 1 + 1e-9)
    return Verdict(means, S, codes, margins, certified, tied, float(excess))


def mean_temperatures(
    temperatures: NDArray[np.float64],
    certificate: Certificate,
    seed_codes: NDArray[np.intp],
) -> tuple[Means, Means]:
    """The means that decisions look at, and bounds on their errors; arguments as in `judge`."""
    n, n_classes = temperatures.shape
    is_seed = seed_codes >= 0
    has = ~np.isnan(temperatures[:, 0])
    free = has & ~is_seed
    share = np.bincount(seed_codes[is_seed], minlength=n_classes) / is_seed.sum()
    means = Means(_mean(temperatures[has]), _mean(temperatures[free]), share)

    nodes = np.nan_to_num(certificate.nodes, nan=0.0)
    rounding = n * UNIT_ROUNDOFF

    def error(which: NDArray[np.bool_], mean: NDArray[np.float64]) -> NDArray[np.float64]:
        exact = np.minimum(_mean(nodes[which]) * certificate.columns, certificate.spans)
        return np.asarray(exact * (1 + 2 * rounding) + rounding * mean)

    return means, Means(error(has, means.all), error(free, means.free), np.zeros(n_classes))


def _mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over rows; zero if there are none."""
    return np.asarray(rows.sum(axis=0) / max(len(rows), 1))


def _first_of_the_warmest(
    T: NDArray[np.float64], errors: NDArray[np.float64], among: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """The first class, of those given, than which no other is surely warmer."""
    warmest = np.where(among, T - errors, -np.inf).max(axis=1, keepdims=True)
    return np.asarray((among & (T + errors >= warmest)).argmax(axis=1))


class Settling:
    """How far from settled the labels of successive solutions are.

    A label once proven is proven for good, so only the others are looked at again; when these
    are settled too, a last look at all nodes confirms it.

    Parameters
    ----------
    verdict : callable
        Judges a solution at the given nodes (None: at all).
    """

    def __init__(self, verdict: Callable[[Solution, NDArray[np.intp] | None], Verdict]) -> None:
        self._verdict = verdict
        self._unproven: NDArray[np.intp] | None = None

    def __call__(self, solution: Solution) -> float:
        """See `excess` in `isotherm.solvers.solve`."""
        verdict = self._verdict(solution, self._unproven)
        if verdict.excess <= 1 and self._unproven is not None:
            self._unproven = None
            verdict = self._verdict(solution, None)
        unproven = np.flatnonzero(~verdict.certified)
        self._unproven = unproven if self._unproven is None else self._unproven[unproven]
        return verdict.excess
