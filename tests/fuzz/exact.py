"""Temperatures at equilibrium as exact fractions, by elimination without fractions.

Every float64 is a whole number times a power of 2, so that ``M X = B`` becomes a system of whole
numbers. Its solution has one denominator, the determinant (Bareiss 1968).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isotherm import Graph

    Row = list[int]


@dataclass(frozen=True)
class Temperatures:
    """Exact temperatures ``numerators[i][k] / denominator``; None at nodes without any."""

    numerators: list[Row | None]
    denominator: int

    @property
    def reached(self) -> np.ndarray:
        """Which nodes have a temperature."""
        return np.array([row is not None for row in self.numerators])

    def nearest(self) -> np.ndarray:
        """The nearest float64 of each; NaN where there is none."""
        width = next(len(row) for row in self.numerators if row is not None)
        rows = [row or [math.nan] * width for row in self.numerators]
        return np.array(
            [[x if x != x else x / self.denominator for x in row] for row in rows], dtype=float
        )

    def outside(self, T: np.ndarray, bounds: np.ndarray) -> Iterator[tuple[int, int, float]]:
        """Entries (node, column, error) of T that are farther off than their bound."""
        D = self.denominator
        found, allowed = T.tolist(), np.asarray(bounds, dtype=np.float64).tolist()
        for i, exact in enumerate(self.numerators):
            if exact is None:
                continue
            for k, numerator in enumerate(exact):
                t, bound = found[i][k], allowed[i][k]
                if bound == math.inf and t == t:
                    continue
                if not (math.isfinite(t) and math.isfinite(bound)):
                    yield i, k, math.nan
                    continue
                (a, b), (c, d) = t.as_integer_ratio(), bound.as_integer_ratio()
                off = abs(a * D - numerator * b)
                if off * d > c * b * D:
                    yield i, k, quotient(off, b * D)

    def with_zeros(self) -> Temperatures:
        """The same with temperature 0 where there is none."""
        width = next(len(row) for row in self.numerators if row is not None)
        rows = [[0] * width if row is None else row for row in self.numerators]
        return Temperatures(rows, self.denominator)


@dataclass(frozen=True)
class Shares:
    """How far each seed makes up the temperature of each node: ``shares[i][s] / denominator``."""

    shares: list[Row | None]
    denominator: int

    def temperatures(self, values: Sequence[Sequence[float]]) -> Temperatures:
        """Of all nodes, when the seeds are at these values (a row each)."""
        whole, scale = whole_numbers([list(map(float, row)) for row in values])
        columns = list(zip(*whole, strict=True))
        rows = [
            share and [sum(map(int.__mul__, share, column)) for column in columns]
            for share in self.shares
        ]
        return Temperatures(rows, self.denominator * scale)


def exact_shares(
    graph: Graph,
    seeds: Sequence[int],
    *,
    leak: float = 0.0,
    confidence: Sequence[float] | None = None,
) -> Shares:
    """Solve for all seeds at once.

    Parameters
    ----------
    graph : Graph
    seeds : sequence of int
        Positions.
    leak : float
    confidence : sequence of float, optional
        Below 1 for a seed that is tied, not held: see `isotherm.classifier.seeds`.
    """
    weights, one = _whole_weights(graph)
    sure = list(confidence or [1.0] * len(seeds))
    held = {i: s for s, i in enumerate(seeds) if sure[s] == 1}
    tied = {i: s for s, i in enumerate(seeds) if sure[s] < 1}
    free = [i for i in sorted(_reached(weights, seeds)) if i not in held]
    place = {i: row for row, i in enumerate(free)}
    extra, unit = float(leak).as_integer_ratio()  # 1 + leak = (unit + extra) / unit
    rows = []
    for i in free:
        row, factor, tie = [0] * (len(free) + len(seeds)), 1, 0
        degree = sum(weights[i].values())
        if i in tied:  # of weight d c / (1 − c); d = 1 for a node without edges
            u, v = sure[tied[i]].as_integer_ratio()
            factor, tie = v - u, (degree or one) * u
            row[len(free) + tied[i]] = unit * tie
        for j, weight in weights[i].items():
            if j in held:
                row[len(free) + held[j]] += unit * factor * weight
            else:
                row[place[j]] -= unit * factor * weight
        row[place[i]] += (unit + extra) * factor * degree + unit * tie
        common = math.gcd(*row)
        rows.append([x // common for x in row])
    determinant = _eliminate(rows)
    shares: list[Row | None] = [None] * len(weights)
    for i, row in zip(free, rows, strict=True):
        shares[i] = row
    for i, s in held.items():
        shares[i] = [determinant * (s == t) for t in range(len(seeds))]
    return Shares(shares, determinant)


def _eliminate(rows: list[Row]) -> int:
    """Turn rows [M, B] into those of ``det(M) M⁻¹ B``, in place; return the determinant.

    All leading minors of M are positive: it is an M-matrix, its rows scaled by positive numbers.
    """
    before = 1
    for k in range(len(rows)):
        pivot, *rest = rows[k]
        for i, row in enumerate(rows):
            if i == k:
                continue
            first, *others = row
            if first:
                pairs = zip(others, rest, strict=True)
                rows[i] = [(pivot * a - first * b) // before for a, b in pairs]
            else:
                rows[i] = [pivot * a // before for a in others]
        rows[k], before = rest, pivot
    return before


def whole_numbers(rows: list[list[float]]) -> tuple[list[list[int]], int]:
    """Whole numbers and what to divide them by to have these floats."""
    ratios = [[x.as_integer_ratio() for x in row] for row in rows]
    scale = max((b for row in ratios for _, b in row), default=1)
    return [[a * (scale // b) for a, b in row] for row in ratios], scale


def quotient(a: int, b: int) -> float:
    """a / b as a float, infinite where it is too large."""
    try:
        return a / b
    except OverflowError:
        return math.inf


def _whole_weights(graph: Graph) -> tuple[list[dict[int, int]], int]:
    """Neighbours and weights of each node, in a common unit; and 1 in that unit."""
    A = graph.adjacency
    (data,), scale = whole_numbers([A.data.tolist()])
    ends, start = A.indices.tolist(), A.indptr.tolist()
    rows = [
        dict(zip(ends[first:last], data[first:last], strict=True))
        for first, last in pairwise(start)
    ]
    return rows, scale


def _reached(weights: list[dict[int, int]], seeds: Sequence[int]) -> set[int]:
    """Nodes with a path to a seed, and the seeds."""
    found, waiting = set(seeds), list(seeds)
    while waiting:
        new = [j for j in weights[waiting.pop()] if j not in found]
        found.update(new)
        waiting += new
    return found
