"""Verdict: certified temperatures → labels, margins, and which of them are proven."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.decision import Means, ScoreErrors, score_errors, shift_and_scale, sum_up
from isotherm.rounding import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.solvers import Certificate

    Total = Callable[[Any], Any]
    # Codes, margins, certified, tied: see `Verdict`.
    _Arrays = tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]

ROWS = 1 << 14  # nodes judged at once without the core: their arrays stay in the cache
SAMPLE = 16  # of so many nodes one is looked at first


def as_it_is(numbers: Any) -> Any:
    """Sums over some nodes, where these are all."""
    return numbers


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a decision makes of temperatures, at each of n nodes.

    Attributes
    ----------
    means : Means
        Over all nodes.
    codes : int array of shape (n,)
        Class number; −1 at nodes without a temperature. Tied nodes get the first of the classes
        that may be the best (the warmest of them, where that is clear), whatever the rounding.
    margins : array of shape (n,)
        Score of the best class minus that of the runner-up; infinite if there is but one class,
        NaN at nodes without a temperature.
    certified : bool array of shape (n,)
        Whether the label at equilibrium is proven to be this one.
    tied : bool array of shape (n,)
        Not certified although the temperatures are as accurate as asked: no more solving was
        promised, and the best classes are too close to tell apart.
    excess : float
        How many times too large the errors are for every node to be certified or tied; at most
        1 if further solving could change no label.
    """

    means: Means
    codes: NDArray[np.intp]
    margins: NDArray[np.float64]
    certified: NDArray[np.bool_]
    tied: NDArray[np.bool_]
    excess: float


def judge(
    temperatures: NDArray[np.floating],
    certificate: Certificate,
    seed_codes: NDArray[np.intp],
    *,
    decision: str,
    tol: float,
    shares: NDArray[np.float64] | None = None,
    total: Total = as_it_is,
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
    shares : array of shape (K,), optional
        Of the classes among the seeds; by default as `seed_codes` has them.
    total : callable, optional
        Where these are some of the nodes only: makes sums over all of those over these.
    """
    means, rule = _rule(temperatures, certificate, seed_codes, decision, tol, shares, total)
    n = len(temperatures)
    codes, margins = np.empty(n, dtype=np.intp), np.empty(n)
    certified, tied = np.empty(n, dtype=bool), np.empty(n, dtype=bool)
    arrays = codes, margins, certified, tied
    excess = _judge_all(temperatures, seed_codes, rule, arrays)
    return Verdict(means, *arrays, excess)


def excess(
    temperatures: NDArray[np.floating],
    certificate: Certificate,
    seed_codes: NDArray[np.intp],
    *,
    decision: str,
    tol: float,
    shares: NDArray[np.float64] | None = None,
) -> float:
    """The `excess` of a verdict alone; arguments as in `judge`.

    If some nodes of a sample are not settled there is no need to look at the others.
    """
    samples = (
        [slice(None, None, SAMPLE), slice(None)] if len(temperatures) > ROWS else [slice(None)]
    )
    found = math.inf
    for some in samples:
        T, codes = np.ascontiguousarray(temperatures[some]), np.ascontiguousarray(seed_codes[some])
        part = replace(certificate, nodes=np.ascontiguousarray(certificate.nodes[some]))
        if shares is None and not (codes >= 0).any():
            continue
        _, rule = _rule(T, part, codes, decision, tol, shares)
        found = _judge_all(T, codes, rule, None)
        if found > 1:
            break
    return found


def _rule(
    T: NDArray[np.floating],
    certificate: Certificate,
    seed_codes: NDArray[np.intp],
    decision: str,
    tol: float,
    shares: NDArray[np.float64] | None,
    total: Total = as_it_is,
) -> tuple[Means, _Rule]:
    means, mean_errors = mean_temperatures(T, certificate, seed_codes, shares, total)
    shift, scale = shift_and_scale(means, decision)
    errors = score_errors(means, mean_errors, decision)
    mean_error = float(np.maximum(mean_errors.all, mean_errors.free).max())
    return means, _Rule(certificate, shift, scale, errors, mean_error, tol)


@dataclass(frozen=True, eq=False)
class _Rule:
    """What all nodes are judged by."""

    certificate: Certificate
    shift: NDArray[Any]
    scale: NDArray[Any]
    errors: ScoreErrors
    mean_error: float
    tol: float


def _judge_all(
    T: NDArray[np.floating], seed_codes: NDArray[np.intp], rule: _Rule, arrays: _Arrays | None
) -> float:
    """Fill in codes, margins, certified and tied, if given; return the excess."""
    if core is None:
        return max(
            _judge_rows(T, seed_codes, slice(first, first + ROWS), rule, arrays)
            for first in range(0, len(T), ROWS)
        )
    bound, errors, into = rule.certificate, rule.errors, None
    if arrays is not None:
        codes, margins, certified, tied = arrays
        into = core.Verdict(
            codes=codes,
            margins=margins,
            certified=certified.view(np.uint8),
            tied=tied.view(np.uint8),
        )
    return core.judge(
        np.ascontiguousarray(T),
        seeds=seed_codes,
        node=bound.nodes,
        column=bound.columns,
        span=bound.spans,
        shift=rule.shift,
        scale=rule.scale,
        slope=errors.slope,
        growth=errors.growth,
        offset=errors.offset,
        mean_error=rule.mean_error,
        tol=rule.tol,
        into=into,
        threads=n_threads(),
    )


def _judge_rows(
    all_T: NDArray[np.floating],
    seed_codes: NDArray[np.intp],
    some: slice,
    rule: _Rule,
    arrays: _Arrays | None,
) -> float:
    T, own = all_T[some], seed_codes[some]
    # An unreached node taken as 0 is exact.
    E_T = np.nan_to_num(rule.certificate.errors(some), nan=0.0)
    has, is_seed = ~np.isnan(T[:, 0]), own >= 0
    S = (T - rule.shift) / rule.scale
    E = rule.errors(S, E_T)
    rows = np.arange(len(S))
    best = np.nan_to_num(S).argmax(axis=1)
    least = S[rows, best] - E[rows, best]
    rival, rival_most = S.copy(), S + E
    rival[rows, best] = rival_most[rows, best] = -np.inf
    margins = S[rows, best] - rival.max(axis=1)
    with np.errstate(invalid="ignore"):  # ∞ − ∞ where nothing is known or there is no rival
        lead = least - rival_most.max(axis=1)  # what is left of the margin at the worst

    certified = is_seed | ~has | (lead > 0) | (T.shape[1] == 1)
    inaccuracy = np.maximum(E_T.max(axis=1), rule.mean_error) / rule.tol
    tied = ~certified & (inaccuracy <= 1) & np.isfinite(lead)

    if arrays is not None:
        codes = np.where(has, best, -1)
        possible = S[tied] + E[tied] >= least[tied, np.newaxis]
        codes[tied] = _first_of_the_warmest(T[tied], E_T[tied], possible)
        codes[is_seed] = own[is_seed]
        for array, found in zip(arrays, (codes, margins, certified, tied), strict=True):
            array[some] = found

    # Errors must shrink until they fit into the margin, or to the accuracy at which it is a tie.
    unsettled = ~certified & ~tied
    if not unsettled.any():
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        to_certify = (margins[unsettled] - lead[unsettled]) / margins[unsettled]
    needed = np.fmin(to_certify, inaccuracy[unsettled])
    return max(float(needed.max()), 1 + 1e-9)


def mean_temperatures(
    temperatures: NDArray[np.floating],
    certificate: Certificate,
    seed_codes: NDArray[np.intp],
    shares: NDArray[np.float64] | None = None,
    total: Total = as_it_is,
) -> tuple[Means, Means]:
    """The means that decisions look at, and bounds on their errors; arguments as in `judge`."""
    n_classes = temperatures.shape[1]
    n = int(total(np.int64(len(temperatures))))
    sums, errors, counts = map(total, sum_up(temperatures, certificate.nodes, seed_codes))
    if shares is None:
        counted = np.bincount(seed_codes[seed_codes >= 0], minlength=n_classes)
        shares = counted / counted.sum()
    divisors = np.maximum(counts, 1)[:, np.newaxis]
    means, nodes = sums / divisors, errors[:, np.newaxis] / divisors
    rounding = n * UNIT_ROUNDOFF
    exact = np.minimum(nodes * certificate.columns, certificate.spans)
    mean_errors = exact * (1 + 2 * rounding) + rounding * means
    return (
        Means(means[0], means[1], shares),
        Means(mean_errors[0], mean_errors[1], rounding * shares),
    )


def _first_of_the_warmest(
    T: NDArray[np.float64], errors: NDArray[np.float64], among: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """The first class, of those given, than which no other is surely warmer."""
    warmest = np.where(among, T - errors, -np.inf).max(axis=1, keepdims=True)
    return np.asarray((among & (T + errors >= warmest)).argmax(axis=1))
