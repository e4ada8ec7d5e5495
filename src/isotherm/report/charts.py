"""Numbers → small charts: SVG that is part of the page and takes its colours.

Why not by a library: see docs/dependencies.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from isotherm.report.palette import colour
from isotherm.report.svg import Frame, element, picture, together
from isotherm.report.words import compact, counted, share_text
from isotherm.trust.drawn import NOT_KNOWN, Basis

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from markupsafe import Markup
    from numpy.typing import NDArray

    from isotherm.report.evaluation import Mean
    from isotherm.trust.abstain import Coverage
    from isotherm.trust.calibrate import Bin
    from isotherm.trust.interval import Interval

    Curve = Sequence[tuple[float, Mean]]  # share of seeds, score

BINS = 40
UNEVEN = 50  # the tallest bar over the middle one, from where on counts need a log scale


def bin_counts(values: NDArray[np.floating], high: float, bins: int = BINS) -> NDArray[np.int64]:
    """How many values lie in each of `bins` equal parts of 0 … `high`; none may be NaN.

    Examples
    --------
    >>> bin_counts(np.array([0.0, 0.1, 0.6, 1.0]), 1.0, bins=2).tolist()
    [2, 2]
    """
    place = np.clip(values * (bins / high), 0, bins - 1).astype(np.intp)
    return np.bincount(place, minlength=bins)


def is_uneven(counts: NDArray[np.int64]) -> bool:
    """Whether bars of these heights would hide all but the tallest."""
    filled = counts[counts > 0]
    return bool(len(filled)) and float(filled.max()) > UNEVEN * float(np.median(filled))


def round_up(value: float) -> float:
    """The next round number: a digit or two, times a power of ten.

    Examples
    --------
    >>> round_up(0.37), round_up(1.03), round_up(700.0), round_up(0.0)
    (0.4, 1.2, 800.0, 1.0)
    """
    if not value > 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    steps = (step * power for step in (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10))
    return float(f"{next((step for step in steps if step >= value), 10 * power):.6g}")


@dataclass(frozen=True)
class Histogram:
    """Bars over equal parts of `low` … `high`; charts to be compared share all of this."""

    high: float
    most: int  # the count that reaches the top
    log: bool = False  # whether heights are logarithms of the counts
    width: float = 360.0  # in units of which letters have eleven
    low: float = 0.0

    def draw(
        self,
        counts: NDArray[np.int64],
        description: str,
        shade: str = "var(--accent)",
        mean: float | None = None,
    ) -> Markup:
        """The chart of these counts, with a dashed line at the mean, if there is one."""
        frame = Frame(44.0, self.width - 12, 10.0, 120.0)
        lower, tallest = frame.lower, frame.lower - frame.upper
        parts = []
        for tick in _ticks(self.ceiling, self.log):
            _, y = frame.at(0.0, self._height(tick))
            parts.append(frame.level(y, compact(tick)))
        step = (frame.right - frame.left) / len(counts)
        for place in np.flatnonzero(counts).tolist():
            x, tall = frame.left + step * place, tallest * self._height(int(counts[place]))
            tall, wide = max(tall, 0.7), step * 0.9
            parts.append(element("rect", x=x, y=lower - tall, width=wide, height=tall, fill=shade))
        for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
            x, _ = frame.at(share, 0.0)
            value = f"{self.low + (self.high - self.low) * share:.4g}"
            parts.append(frame.below(x, value, anchor=anchor))
        if mean is not None and math.isfinite(mean):
            share = (mean - self.low) / (self.high - self.low)
            x, _ = frame.at(min(max(share, 0.0), 1.0), 0.0)
            parts.append(element("line", class_="mean", x1=x, x2=x, y1=frame.upper - 6, y2=lower))
        return picture(together(*parts), (self.width, lower + 22), description)

    @property
    def ceiling(self) -> float:
        """The round number at the top."""
        most = max(self.most, 1)
        return 10.0 ** math.ceil(math.log10(most)) if self.log and most > 1 else round_up(most)

    def _height(self, count: float) -> float:
        if self.log and count:
            return math.log(2 * count) / math.log(2 * self.ceiling)
        return count / self.ceiling


def _ticks(ceiling: float, log: bool) -> list[float]:
    """Counts that the axis names."""
    if not log:
        return [0.0, ceiling / 2, ceiling] if ceiling % 2 == 0 else [0.0, ceiling]
    decades = round(math.log10(ceiling))
    return [10.0**power for power in range(decades % 2 if decades > 4 else 0, decades + 1)][
        :: 2 if decades > 4 else 1
    ]


SQUARE = Frame(36.0, 346.0, 24.0, 264.0)  # in which shares are drawn
SIZE = (360.0, SQUARE.lower + 36)


def reliability(bins: Sequence[Bin], description: str, basis: Basis = NOT_KNOWN) -> Markup:
    """Predicted probability against the share that is right; good ones lie on the diagonal.

    Points are larger where there are more labels, and have bars of 95 % confidence.
    """
    diagonal = f"M{SQUARE.left:g} {SQUARE.lower:g}L{SQUARE.right:g} {SQUARE.upper:g}"
    parts = [*_axes("predicted probability"), element("path", class_="mean", d=diagonal)]
    most = max((each.n_labels for each in bins), default=1)
    for each in bins:
        share = basis.share(round(each.right * each.n_labels), each.n_labels)
        told = (
            f"predicted {each.probability:.2f}, right {each.right:.2f}: "
            f"{counted(each.n_labels, 'label')}"
        )
        size = 2.5 + 5.5 * math.sqrt(each.n_labels / most)
        parts.append(_point((each.probability, each.right), share, told, size))
    return picture(together(*parts), SIZE, description)


def trade(rows: Sequence[Coverage], description: str) -> Markup:
    """What is right against what is labelled, with bars of 95 % confidence."""
    parts = _axes("share of free nodes labelled")
    corners = (SQUARE.at(each.labelled, each.right.value) for each in rows)
    line = element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in corners))
    parts.append(element("g", line, class_="curve"))
    for each in rows:
        told = (
            f"at least {each.min_probability:g}: {each.labelled:.0%} labelled, right "
            f"{each.right.value:.2f} of {counted(each.n_judged, 'seed')}"
        )
        parts.append(_point((each.labelled, each.right.value), each.right, told, 4))
    return picture(together(*parts), SIZE, description)


def _axes(across: str) -> list[Markup]:
    """The square that shares are drawn in, those that are right upwards."""
    parts = [element("text", "share that is right", x=0, y=11)]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        (x, y), told = SQUARE.at(tick, tick), f"{tick:g}"
        grid = f"M{SQUARE.left:g} {y:g}H{SQUARE.right:g}M{x:g} {SQUARE.upper:g}V{SQUARE.lower:g}"
        parts.append(element("path", class_="grid", d=grid))
        parts += [SQUARE.beside(y, told), SQUARE.below(x, told, 14)]
    return [*parts, SQUARE.below(SQUARE.right, across, 29, "end")]


def _point(place: tuple[float, float], share: Interval, told: str, size: float) -> Markup:
    """A dot that tells its numbers, with a bar from the low end of an interval to the high one."""
    (x, y), (_, low), (_, high) = (
        SQUARE.at(place[0], up) for up in (place[1], share.low, share.high)
    )
    bar = element("line", x1=x, x2=x, y1=low, y2=high)
    dot = element("ellipse", element("title", told), cx=x, cy=y, rx=size, ry=size)
    return element("g", bar, dot, class_="point")


CURVES = Frame(34.0, 300.0, 24.0, 264.0)
BESIDE = 2.4  # between the bars of two models
LINE = 13.0  # of text
WIDTH = 400.0


def curves(models: Mapping[str, Curve], axis: str, description: str) -> Markup:
    """A line for each model with bars of one standard deviation, named where it ends.

    The shares of seeds of each model ascend; `axis` says what the scores are.
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
