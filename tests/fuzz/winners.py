"""Which classes win at each node, given the temperatures at equilibrium.

Scores as in docs/guide.md. In exact arithmetic only their order is needed: instead of
``x = (T − m) / √(m (1 − m))``, ``x |x|`` is compared, which has no root.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cmp_to_key
from typing import TYPE_CHECKING

import numpy as np

from .exact import Temperatures, quotient, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .refined import Refined

    Ratio = tuple[int, int]


@dataclass(frozen=True)
class Winners:
    """The classes that may win at a node, and by how much.

    Attributes
    ----------
    classes : set of int
        More than one if they are tied, or cannot be told apart by the reference.
    lead : float
        Of the best class over the next; NaN for decisions whose scale depends on the means.
    is_exact : bool
        Whether several `classes` are a proven tie.
    """

    classes: frozenset[int]
    lead: float
    is_exact: bool


def winners(
    reference: Temperatures | Refined,
    values: Sequence[Sequence[float]],
    held: Sequence[int],
    decision: str,
    *,
    among: Sequence[int] | None = None,
) -> list[Winners | None]:
    """Of each node; None where there is no temperature.

    Parameters
    ----------
    reference : Temperatures or Refined
        Nodes without a temperature are left out of the means.
    values : rows of the seeds
        Distributions over the classes.
    held : sequence of int
        Nodes that are not free.
    decision : str
    among : sequence of int, optional
        The classes that can win; by default all.
    """
    classes = range(len(values[0])) if among is None else among
    if isinstance(reference, Temperatures):
        return _exact_winners(reference, values, set(held), decision, classes)
    return _likely_winners(reference, values, set(held), decision, list(classes))


def _exact_winners(
    T: Temperatures,
    values: Sequence[Sequence[float]],
    held: set[int],
    decision: str,
    classes: Sequence[int],
) -> list[Winners | None]:
    D = T.denominator
    counted = [(i, row) for i, row in enumerate(T.numerators) if row is not None]
    n, n_free = len(counted), max(1, sum(i not in held for i, _ in counted))
    width = len(values[0])
    total = [sum(row[k] for _, row in counted) for k in range(width)]
    free = [sum(row[k] for i, row in counted if i not in held) for k in range(width)]
    given, _ = whole_numbers([list(map(float, row)) for row in values])
    known = [sum(row[k] for row in given) for k in range(width)]
    everything = sum(known)

    def score(row: list[int], k: int) -> Ratio:
        """Or what has the same order."""
        t = row[k]
        if decision == "centered":
            return t * n - total[k], n * D
        if decision == "partial":
            return t * n_free - free[k], n_free * D
        if decision == "mass" and free[k] > 0:
            return t * known[k] * n_free, free[k] * everything
        if decision == "ratio" and total[k] > 0:
            return t * n, total[k]
        if decision == "standard":
            x, square = t * n - total[k], total[k] * (n * D - total[k])
            return x * abs(x), square if square > 0 else (n * D) ** 2
        return t, D

    def judge(row: list[int]) -> Winners:
        found = {k: score(row, k) for k in classes}
        order = sorted(classes, key=cmp_to_key(lambda j, k: _compare(found[j], found[k])))
        best = found[order[-1]]
        tied = frozenset(k for k in classes if _compare(found[k], best) == 0)
        lead = 0.0 if len(tied) > 1 else np.nan
        if len(order) > 1 and decision in ("plain", "centered", "partial"):
            lead = quotient(best[0] - found[order[-2]][0], best[1])
        return Winners(tied, lead, is_exact=True)

    return [None if row is None else judge(row) for row in T.numerators]


def _compare(x: Ratio, y: Ratio) -> int:
    left, right = x[0] * y[1], y[0] * x[1]
    return (left > right) - (left < right)


def _likely_winners(
    reference: Refined,
    values: Sequence[Sequence[float]],
    held: set[int],
    decision: str,
    classes: list[int],
) -> list[Winners | None]:
    has = reference.reached
    is_free = has.copy()
    is_free[list(held)] = False
    T, slack = reference.T, reference.slack
    m, off = T[has].mean(axis=0), slack[has].mean(axis=0)
    m_free, off_free = m * 0, off * 0
    if is_free.any():
        m_free, off_free = T[is_free].mean(axis=0), slack[is_free].mean(axis=0)
    share = np.array(values).sum(axis=0) / len(values)
    nothing, one = m * 0, m * 0 + 1
    with np.errstate(all="ignore"):
        shift, scale, shift_off, scale_off = {
            "plain": (nothing, one, nothing, nothing),
            "centered": (m, one, off, nothing),
            "partial": (m_free, one, off_free, nothing),
            "mass": (nothing, m_free / share, nothing, off_free / share),
            "standard": (m, np.sqrt(m * (1 - m)), off, off / np.sqrt(m * (1 - m))),
            "ratio": (nothing, m, nothing, off),
        }[decision]
        scale = np.where(scale > 0, scale, 1)
        S = (T - shift) / scale
        growth = 4 * np.nan_to_num(scale_off / scale, nan=np.inf) + 1e-15
        E = 2 * (slack + shift_off) / scale + growth * np.abs(S) + 1e-15 / scale
    S, E = S[:, classes], E[:, classes]
    # A score that may be the best: not surely below another.
    possible = ~((S - E).max(axis=1, keepdims=True) > S + E)
    ordered = np.sort(S, axis=1)
    simple = decision in ("plain", "centered", "partial") and len(classes) > 1
    lead = ordered[:, -1] - ordered[:, -2] if simple else np.full(len(S), np.nan)
    return [
        Winners(frozenset(np.array(classes)[row].tolist()), float(by), is_exact=False)
        if ok
        else None
        for ok, row, by in zip(has.tolist(), possible, lead, strict=True)
    ]
