"""Verdict: certified temperatures → labels, margins, and which of them are proven."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.arithmetic import in_standard_arithmetic
from isotherm.classifier.estimator import NO_HEAT, PREDICTED, SEED, STATUS, TIE
from isotherm.compiled import core, n_threads
from isotherm.decision import (
    Means,
    ScoreErrors,
    choose_decision,
    score_errors,
    scores,
    shift_and_scale,
    sum_up,
    winners,
)
from isotherm.rounding import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.solvers import Certificate

    Total = Callable[[Any], Any]
    # Codes, margins, certified, status: see `Verdict`.
    _Arrays = tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.bool_], NDArray[np.int8]]

ROWS = 1 << 14  # nodes judged at once without the core: their arrays stay in the cache
_SEED, _PREDICTED, _TIE, _NO_HEAT = map(STATUS.index, (SEED, PREDICTED, TIE, NO_HEAT))


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
    status : int8 array of shape (n,)
        What became of each node: numbers in `STATUS`. A tie is not certified although the
        temperatures are as accurate as asked: no more solving was promised, and the best classes
        are too close to tell apart.
    """

    means: Means
    codes: NDArray[np.intp]
    margins: NDArray[np.float64]
    certified: NDArray[np.bool_]
    status: NDArray[np.int8]


@in_standard_arithmetic
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
    n = len(temperatures)
    codes, margins = np.empty(n, dtype=np.intp), np.empty(n)
    certified, status = np.empty(n, dtype=bool), np.empty(n, dtype=np.int8)
    arrays = codes, margins, certified, status
    case = _Case(temperatures, certificate, seed_codes, decision, tol, shares, total)
    return Verdict(_judge_all(case, arrays), *arrays)


def judge_new(
    temperatures: NDArray[np.float64],
    errors: NDArray[np.float64],
    means: Means,
    *,
    decision: str,
    tol: float,
) -> NDArray[np.intp]:
    """The class of each new node, −1 without a temperature; of tied classes as in `judge`.

    Parameters
    ----------
    temperatures, errors : arrays of shape (m, K)
        New nodes do not change the means; bounds on the errors.
    means : Means
        With bounds on their errors.
    decision : str
    tol : float
        No tie is broken where errors are larger.
    """
    S, off = scores(temperatures, means, decision), means.errors
    codes = winners(S)
    if off is None:
        return codes
    wrong = score_errors(means, off, decision)
    # A class that is not scaled because its scale may be 0 is farther off by its shift alone.
    mean_error = np.maximum(off.all, off.free)
    offset = np.where(np.isinf(wrong.offset), mean_error, wrong.offset)
    E = replace(wrong, offset=offset)(np.nan_to_num(S), errors)
    rows = np.arange(len(S))
    possible = (S - E)[rows, codes][:, np.newaxis] <= S + E
    accurate = np.maximum(errors.max(axis=1), mean_error.max()) <= tol
    tied = accurate & (codes >= 0) & (np.count_nonzero(possible, axis=1) > 1)
    codes[tied] = _first_of_the_warmest(temperatures[tied], errors[tied], possible[tied])
    return codes


class _Case(NamedTuple):
    """What is judged, and by what; see `judge`."""

    temperatures: NDArray[np.floating]
    certificate: Certificate
    seed_codes: NDArray[np.intp]
    decision: str
    tol: float
    shares: NDArray[np.float64] | None
    total: Total = as_it_is


def _judge_all(case: _Case, arrays: _Arrays) -> Means:
    """Fill in codes, margins, certified and status; return the means."""
    T, certificate, seed_codes, decision, tol, shares, total = case
    choose_decision(decision)
    n_classes = T.shape[1]
    if shares is None:
        counted = np.bincount(seed_codes[seed_codes >= 0], minlength=n_classes)
        shares = counted / counted.sum()
    if core is None or decision not in core.decisions:
        means, rule = _rule(case, shares)
        for i in range(0, len(T), ROWS):
            _judge_rows(case, slice(i, i + ROWS), rule, arrays)
        return means
    codes, margins, certified, status = arrays
    into = core.Verdict(
        codes=codes,
        margins=margins,
        certified=certified.view(np.uint8),
        status=status.view(np.uint8),
    )
    found = np.empty((4, n_classes))
    core.judge(
        np.ascontiguousarray(T),
        seeds=seed_codes,
        node=certificate.nodes,
        column=certificate.columns,
        span=certificate.spans,
        decision=core.decisions.index(decision),
        shares=shares,
        tol=tol,
        sums=None if total is as_it_is else _sums(case),
        means=found,
        into=into,
        threads=n_threads(),
    )
    found.setflags(write=False)
    off = Means(found[2], found[3], len(T) * UNIT_ROUNDOFF * shares)
    return Means(found[0], found[1], shares, errors=off)


# --- the same without the core ------------------------------------------------------------------


class _Rule(NamedTuple):
    """What all nodes are judged by."""

    shift: NDArray[Any]
    scale: NDArray[Any]
    errors: ScoreErrors
    mean_error: float


def _rule(case: _Case, shares: NDArray[np.float64]) -> tuple[Means, _Rule]:
    """The means, and what a decision makes of them."""
    means, off = _mean_temperatures(case, shares)
    shift, scale = shift_and_scale(means, case.decision)
    errors = score_errors(means, off, case.decision)
    mean_error = float(np.maximum(off.all, off.free).max())
    return means, _Rule(shift, scale, errors, mean_error)


def _sums(case: _Case) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]:
    """What `isotherm.decision.sum_up` gives, of all nodes; and how many these are."""
    some = sum_up(case.temperatures, case.certificate.nodes, case.seed_codes)
    sums, errors, counts = map(case.total, some)
    return sums, errors, counts, int(case.total(np.int64(len(case.temperatures))))


def _mean_temperatures(case: _Case, shares: NDArray[np.float64]) -> tuple[Means, Means]:
    """The means that decisions look at, and bounds on their errors."""
    sums, errors, counts, n = _sums(case)
    divisors = np.maximum(counts, 1)[:, np.newaxis]
    means, nodes = sums / divisors, errors[:, np.newaxis] / divisors
    rounding = n * UNIT_ROUNDOFF
    exact = np.minimum(nodes * case.certificate.columns, case.certificate.spans)
    mean_errors = exact * (1 + 2 * rounding) + rounding * means
    off = Means(mean_errors[0], mean_errors[1], rounding * shares)
    return Means(means[0], means[1], shares, errors=off), off


def _judge_rows(case: _Case, some: slice, rule: _Rule, arrays: _Arrays) -> None:
    """Fill in some nodes."""
    T, own = case.temperatures[some], case.seed_codes[some]
    # An unreached node taken as 0 is exact.
    E_T = np.nan_to_num(case.certificate.errors(some), nan=0.0)
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
    inaccuracy = np.maximum(E_T.max(axis=1), rule.mean_error) / case.tol
    tied = ~certified & (inaccuracy <= 1) & np.isfinite(lead)

    codes = np.where(has, best, -1)
    possible = S[tied] + E[tied] >= least[tied, np.newaxis]
    codes[tied] = _first_of_the_warmest(T[tied], E_T[tied], possible)
    codes[is_seed] = own[is_seed]
    status = np.select([is_seed, ~has, tied], [_SEED, _NO_HEAT, _TIE], _PREDICTED)
    arrays[0][some], arrays[1][some] = codes, margins
    arrays[2][some], arrays[3][some] = certified, status


def _first_of_the_warmest(
    T: NDArray[np.float64], errors: NDArray[np.float64], among: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """The first class, of those given, than which no other is surely warmer."""
    warmest = np.where(among, T - errors, -np.inf).max(axis=1, keepdims=True)
    return np.asarray((among & (T + errors >= warmest)).argmax(axis=1))
