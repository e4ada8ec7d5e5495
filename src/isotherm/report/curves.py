"""Scores of several models against the share of seeds → a chart."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from isotherm.report.palette import colour
from isotherm.report.svg import Frame, element, picture, together
from isotherm.report.words import share_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from markupsafe import Markup

    from isotherm.report.evaluation import Mean

    Curve = Sequence[tuple[float, Mean]]  # share of seeds, score

CURVES = Frame(34.0, 300.0, 24.0, 264.0)
BESIDE = 2.4  # between the bars of two models
LINE = 13.0  # of text
WIDTH = 400.0


def curves(models: Mapping[str, Curve], axis: str, description: str) -> Markup:
    """A line for each model with bars of one standard deviation, named where it ends.

    Parameters
    ----------
    models : mapping
        Name → its scores, shares of seeds ascending.
    axis : str
        What the scores are.
    description : str
    """
    shares = sorted({share for curve in models.values() for share, _ in curve})
    levels = _levels([mean for curve in models.values() for _, mean in curve])
    height = partial(_height, low=levels[0], high=levels[-1])
    inset = 6 + BESIDE * len(models) / 2  # of the first and the last share: room for all bars
    across = {share: _across(share, shares, inset) for share in shares}
    parts = [element("text", axis, x=0, y=11)]
    parts += [CURVES.level(height(level), f"{level:.4g}") for level in levels]
    parts += _shares(across)
    ends = _apart([height(curve[-1][1].mean) for curve in models.values()])
    for place, (name, curve) in enumerate(models.items()):
        aside, shade = BESIDE * (place - (len(models) - 1) / 2), colour(place)
        places = {share: x + aside for share, x in across.items()}
        parts += [
            element(
                "g", *_line(name, curve, places, height), class_="curve", stroke=shade, fill=shade
            ),
            element("circle", cx=CURVES.right + 12, cy=ends[place] - 4, r=3.5, fill=shade),
            element("text", name, x=CURVES.right + 20, y=ends[place]),
        ]
    lower = max(CURVES.lower + 34, max(ends) + 8)
    return picture(together(*parts), (WIDTH, lower), description)


def _height(score: float, low: float, high: float) -> float:
    above = min(max(score, low), high) - low
    return CURVES.lower - (CURVES.lower - CURVES.upper) * above / (high - low)


def _line(
    name: str, curve: Curve, across: Mapping[float, float], height: Callable[[float], float]
) -> list[Markup]:
    """A model: a line, and at each share a bar and a dot that tells its numbers."""
    corners = (f"{across[share]:.1f},{height(mean.mean):.1f}" for share, mean in curve)
    parts = [element("polyline", points=" ".join(corners))]
    for share, mean in curve:
        x, told = across[share], f"{name}, {share_text(share)} seeds: {mean}"
        top, bottom = height(mean.mean + mean.spread), height(mean.mean - mean.spread)
        parts += [
            element("line", x1=x, x2=x, y1=top, y2=bottom),
            element("circle", element("title", told), cx=x, cy=height(mean.mean), r=2.6),
        ]
    return parts


def _levels(means: Sequence[Mean]) -> list[float]:
    """Round numbers around all bars, from the lowest to the highest; a score is from 0 to 1.

    Examples
    --------
    >>> from isotherm.report.evaluation import Mean
    >>> _levels([Mean(0.62, 0.01), Mean(0.78, 0.03)])
    [0.6, 0.65, 0.7, 0.75, 0.8, 0.85]
    >>> _levels([Mean(1.0, 0.0)])
    [0.98, 0.99, 1.0]
    """
    low = max(min((mean - spread for mean, spread in means), default=0.0), 0.0)
    high = min(max((mean + spread for mean, spread in means), default=1.0), 1.0)
    step = next((s for s in (0.01, 0.02, 0.05, 0.1) if high - low <= 8 * s), 0.2)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    first = min(first, last - 2) if last >= 2 else 0
    return [round(k * step, 2) for k in range(first, max(last, first + 2) + 1)]


def _across(share: float, shares: Sequence[float], inset: float) -> float:
    """Where a share is, on a logarithmic scale: 1 and 5 % are as far apart as 4 and 20 %."""
    if shares[0] == shares[-1]:
        return (CURVES.left + CURVES.right) / 2
    along = math.log(share / shares[0]) / math.log(shares[-1] / shares[0])
    return CURVES.left + inset + (CURVES.right - CURVES.left - 2 * inset) * along


def _shares(across: Mapping[float, float]) -> list[Markup]:
    """The shares below the chart, as far as there is room, and what they are."""
    parts, taken = [], 0.0
    for share, x in across.items():
        told = share_text(share)
        half = 3.2 * len(told)
        if x - half >= taken:
            parts.append(CURVES.below(x, told))
            taken = x + half
    return [*parts, CURVES.below(CURVES.right, "share of seeds", 29, "end")]


def _apart(heights: Sequence[float]) -> list[float]:
    """The same heights with room for a line of text between them, moved as little as may be.

    Examples
    --------
    >>> _apart([100.0, 200.0, 201.0])
    [104.0, 198.0, 211.0]
    """
    order = sorted(range(len(heights)), key=lambda k: heights[k])
    # Groups of lines that touch: their middle stays where the middle of their curves is.
    groups: list[list[int]] = []
    for k in order:
        groups.append([k])
        while len(groups) > 1 and _start(groups[-1], heights) < _end(groups[-2], heights):
            last = groups.pop()
            groups[-1] += last
    placed = [0.0] * len(heights)
    for group in groups:
        start = _start(group, heights)
        for row, k in enumerate(group):
            placed[k] = start + LINE * row + LINE / 2 + 4
    return placed


def _start(group: list[int], heights: Sequence[float]) -> float:
    middle = sum(heights[k] for k in group) / len(group)
    return max(middle - LINE * len(group) / 2, CURVES.upper - LINE)


def _end(group: list[int], heights: Sequence[float]) -> float:
    return _start(group, heights) + LINE * len(group)
