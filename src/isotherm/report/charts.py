"""Numbers → small charts: SVG that is part of the page and takes its colours."""

from __future__ import annotations

import html
import math
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.report.page import counted, short
from isotherm.trust.scoring import proportion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from isotherm.trust.calibrate import Bin

BINS = 40
UNEVEN = 50  # the tallest bar over the middle one, from where on counts need a log scale
LONGEST_NAME = 18
LETTER = 11.0  # the size of letters, in the units of a chart

N_COLOURS = 12

# Colours of the classes, the largest first; told apart on paper and on black.
STYLE = """
:root { --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b1438f; --c4: #c98a00; --c5: #3fa3dc;
  --c6: #7b4fb3; --c7: #8a5a3c; --c8: #7d9a1f; --c9: #e0719c; --c10: #2b8a8a; --c11: #5a6b8c;
  --other: #8b929a; }
@media (prefers-color-scheme: dark) {
  :root { --c0: #4ea3e0; --c1: #ff8a4c; --c2: #2fcf9f; --c3: #e07fc4; --c4: #f0b93a; --c5: #8fd0ff;
    --c6: #b08cf0; --c7: #c79a7a; --c8: #b4cf4f; --c9: #ff9fc0; --c10: #5fd0d0; --c11: #9fb0d0;
    --other: #7d858e; }
}
svg.chart { display: block; width: 100%; max-width: 32rem; height: auto; }
svg.chart text { font-size: 11px; fill: currentColor; }
.grid { stroke: var(--line); stroke-width: 1; }
.before { fill: none; stroke: currentColor; stroke-width: 1; opacity: .7; }
.mean { stroke: currentColor; stroke-width: 1.5; stroke-dasharray: 4 3; }
.said { stroke: var(--c0); stroke-width: 1.5; } .said ellipse { fill: var(--c0); stroke: none; }
.rival { fill: none; stroke: var(--other); stroke-width: 1; }
.rival ellipse { fill: var(--paper); }
.pair { display: flex; flex-wrap: wrap; align-items: start; gap: 0 3rem; }
.pair > * { min-width: 0; max-width: 100%; } .pair > :first-child { flex: 1 1 20rem; }
.many { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr));
  gap: 0 1.5rem; }
.many figure { margin: .7rem 0; min-width: 0; }
.many figcaption { font-size: .9rem; overflow-wrap: anywhere; }
"""


def colour(number: int) -> str:
    """The colour of a class by its place among the largest; grey beyond the last.

    Examples
    --------
    >>> colour(0), colour(-1), colour(99)
    ('var(--c0)', 'var(--other)', 'var(--other)')
    """
    return f"var(--c{number})" if 0 <= number < N_COLOURS else "var(--other)"


def svg(body: str, size: tuple[float, float], description: str, kind: str = "chart") -> str:
    """A picture with a description for those who do not see it."""
    return (
        f'<svg class="{kind}" viewBox="0 0 {size[0]:g} {size[1]:g}" role="img" '
        f'aria-label="{html.escape(description)}">{body}</svg>\n'
    )


def bars(
    names: Sequence[str],
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    description: str,
) -> str:
    """Two bars for each name: an outlined one, and a full one in the colour of its place.

    Parameters
    ----------
    names : sequence of k str
    before, after : arrays of shape (k,)
        Shares, from 0 to 1.
    description : str
        What the chart shows, in words.
    """
    left, right, line = 128.0, 302.0, 24
    scale = (right - left) / max(before.max(initial=0.0), after.max(initial=0.0), 1e-9)
    parts = []
    for row, name in enumerate(names):
        y, told = line * row + 4, short(name, LONGEST_NAME)
        parts.append(
            f'<text x="{left - 6:g}" y="{y + 13}" text-anchor="end"{_squeezed(told, left - 6)}>'
            f"{html.escape(told)}</text>"
            f'<rect class="before" x="{left:g}" y="{y + 1}" '
            f'width="{before[row] * scale:.1f}" height="6"/>'
            f'<rect x="{left:g}" y="{y + 9}" width="{after[row] * scale:.1f}" height="9" '
            f'fill="{colour(row)}"/>'
            f'<text x="{left + max(before[row], after[row]) * scale + 5:.1f}" y="{y + 13}">'
            f"{percent(after[row])}</text>"
        )
    return svg("".join(parts), (360, line * len(names) + 8), description)


def _squeezed(text: str, room: float) -> str:
    """What makes letters narrower where they would not fit."""
    widths = (
        1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.75 if letter.isupper() else 0.6
        for letter in text
    )
    return f' textLength="{room:g}" lengthAdjust="spacingAndGlyphs"' * (LETTER * sum(widths) > room)


def bin_counts(values: NDArray[Any], high: float, bins: int = BINS) -> NDArray[np.int64]:
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


def histogram(
    counts: NDArray[np.int64],
    high: float,
    description: str,
    *,
    number: int = 0,
    log: bool = False,
    top: int | None = None,
    mean: float | None = None,
    width: float = 360.0,
) -> str:
    """Bars over equal parts of 0 … `high`.

    Parameters
    ----------
    counts : int array
    high : float
    description : str
    number : int
        Of the colour.
    log : bool
        Whether heights are logarithms of the counts.
    top : int, optional
        The count that reaches the top; by default the largest. Charts to be compared share it.
    mean : float, optional
        Where to draw a dashed line.
    width : float
        In units of which letters have eleven.
    """
    left, right, upper, lower = 44.0, width - 12, 10.0, 120.0
    most = max(int(counts.max(initial=0)) if top is None else top, 1)
    ceiling = 10.0 ** math.ceil(math.log10(most)) if log and most > 1 else round_up(most)

    def height(count: float) -> float:
        share = math.log(2 * count) / math.log(2 * ceiling) if log and count else count / ceiling
        return (lower - upper) * share

    parts = []
    for tick in _ticks(ceiling, log):
        y = lower - height(tick)
        parts.append(
            f'<line class="grid" x1="{left:g}" x2="{right:g}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{left - 5:g}" y="{y + 4:.1f}" text-anchor="end">{compact(tick)}</text>'
        )
    step = (right - left) / len(counts)
    for place in np.flatnonzero(counts).tolist():
        tall = max(height(int(counts[place])), 0.7)
        parts.append(
            f'<rect x="{left + step * place:.1f}" y="{lower - tall:.1f}" width="{step * 0.9:.1f}" '
            f'height="{tall:.1f}" fill="{colour(number)}"/>'
        )
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        x = left + (right - left) * share
        parts.append(
            f'<text x="{x:.1f}" y="{lower + 15:g}" text-anchor="{anchor}">{high * share:.4g}</text>'
        )
    if mean is not None and math.isfinite(mean):
        x = left + (right - left) * min(max(mean / high, 0.0), 1.0)
        parts.append(
            f'<line class="mean" x1="{x:.1f}" x2="{x:.1f}" y1="{upper - 6:g}" y2="{lower:g}"/>'
        )
    return svg("".join(parts), (width, lower + 22), description)


def reliability(
    ours: Sequence[Bin], rival: Sequence[Bin], description: str, names: tuple[str, str]
) -> str:
    """What was said against what is so; what is said well lies on the diagonal.

    Parameters
    ----------
    ours : sequence of Bin
        Full points, larger where there are more labels, with bars of 95 % confidence.
    rival : sequence of Bin
        Hollow points on a thin line.
    description : str
    names : pair of str
        Of the two.
    """
    left, right, upper, lower = 36.0, 346.0, 24.0, 264.0
    most = max((each.n_labels for each in ours), default=1)

    def at(said: float, right_share: float) -> tuple[float, float]:
        return left + (right - left) * said, lower - (lower - upper) * right_share

    def point(each: Bin, r: float) -> str:
        x, y = at(each.probability, each.right)
        told = f"said {each.probability:.2f}, right {each.right:.2f}: "
        told += counted(each.n_labels, "label")
        return (
            f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{r:.1f}" ry="{r:.1f}">'
            f"<title>{told}</title></ellipse>"
        )

    parts = ['<text x="0" y="11">share that is right</text>']
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = at(tick, tick)
        parts.append(
            f'<path class="grid" d="M{left:g} {y:g}H{right:g}M{x:g} {upper:g}V{lower:g}"/>'
            f'<text x="{left - 5:g}" y="{y + 4:g}" text-anchor="end">{tick:g}</text>'
            f'<text x="{x:g}" y="{lower + 14:g}" text-anchor="middle">{tick:g}</text>'
        )
    parts.append(
        f'<path class="mean" d="M{left:g} {lower:g}L{right:g} {upper:g}"/>'
        f'<text x="{right:g}" y="{lower + 29:g}" text-anchor="end">probability said</text>'
    )
    corners = [at(each.probability, each.right) for each in rival]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    dots = "".join(point(each, 2.2) for each in rival)
    parts.append(f'<g class="rival"><polyline points="{line}"/>{dots}</g>')
    for each in ours:
        share = proportion(round(each.right * each.n_labels), each.n_labels)
        (x, low), (_, high) = at(each.probability, share.low), at(each.probability, share.high)
        parts.append(
            f'<g class="said"><line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
            f"{point(each, 2.5 + 5.5 * math.sqrt(each.n_labels / most))}</g>"
        )
    for row, kind in enumerate(("said", "rival")):
        y = lower + 48 + 17 * row
        parts.append(
            f'<g class="{kind}"><line x1="{left:g}" x2="{left + 22:g}" y1="{y:g}" y2="{y:g}"/>'
            f'<ellipse cx="{left + 11:g}" cy="{y:g}" rx="{4 - row}" ry="{4 - row}"/></g>'
            f'<text x="{left + 29:g}" y="{y + 4:g}">{html.escape(names[row])}</text>'
        )
    return svg("".join(parts), (360, lower + 72), description)


def _ticks(ceiling: float, log: bool) -> list[float]:
    """Counts that the axis names."""
    if not log:
        return [0.0, ceiling / 2, ceiling] if ceiling % 2 == 0 else [0.0, ceiling]
    decades = round(math.log10(ceiling))
    return [10.0**power for power in range(decades % 2 if decades > 4 else 0, decades + 1)][
        :: 2 if decades > 4 else 1
    ]


def compact(number: float) -> str:
    """A count in few letters.

    Examples
    --------
    >>> compact(950), compact(12_500), compact(2e6), compact(2.5)
    ('950', '12.5 k', '2 M', '2.5')
    """
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= unit:
            return f"{number / unit:.3g}{name}"
    return f"{number:.3g}"


def percent(share: float) -> str:
    """A share in per cent.

    Examples
    --------
    >>> percent(0.5), percent(0.0123), percent(0.00001)
    ('50.0 %', '1.2 %', '<0.1 %')
    """
    if 0 < share < 0.001:
        return "<0.1 %"
    return f"{100 * share:.1f} %"
