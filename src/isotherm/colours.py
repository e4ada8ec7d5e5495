"""The colours of classes: the same in every page, picture and graph file of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

# Told apart on paper; pages have them from `report/templates/style.css`, with others for the dark.
COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#b1438f", "#c98a00", "#3fa3dc"),
    *("#7b4fb3", "#8a5a3c", "#7d9a1f", "#e0719c", "#2b8a8a", "#5a6b8c"),
)
OTHER = "#8b929a"  # of classes without a colour, and of nodes without a class
LEAST, MOST = "#3fa3dc", "#d55e00"  # ends of a scale


def colour_numbers(classes: Sequence[Hashable], n_seeds: Sequence[float]) -> dict[Hashable, int]:
    """The number of each class's colour; classes beyond the twelve with the most seeds have none.

    Numbers are in the order of the classes. They depend on the labels that were given, and not on
    what was made of them.

    Examples
    --------
    >>> colour_numbers(["ant", "bee"], [3, 8])
    {'ant': 0, 'bee': 1}
    """
    largest = sorted(range(len(classes)), key=lambda k: (-n_seeds[k], k))[: len(COLOURS)]
    return {classes[k]: number for number, k in enumerate(sorted(largest))}


def class_colours(classes: Sequence[Hashable], n_seeds: Sequence[float]) -> list[str]:
    """The colour of each class, in their order.

    Examples
    --------
    >>> class_colours(["ant", "bee"], [3, 8])
    ['#0072b2', '#d55e00']
    """
    numbers = colour_numbers(classes, n_seeds)
    return [COLOURS[numbers[label]] if label in numbers else OTHER for label in classes]


def scale_colours(values: NDArray[np.floating], low: float, high: float) -> list[str]:
    """Colours of numbers on a scale, from blue, the least, to orange; NaN is grey.

    Examples
    --------
    >>> scale_colours(np.array([0.0, 5.0, 10.0, np.nan]), 0.0, 10.0)
    ['#3fa3dc', '#8a806e', '#d55e00', '#8b929a']
    """
    span = high - low
    share = (values - low) / span if 0 < span < np.inf else np.where(np.isnan(values), np.nan, 0.0)
    known = np.isfinite(share)
    ends = np.array([[int(end[k : k + 2], 16) for k in (1, 3, 5)] for end in (LEAST, MOST)])
    mixed = ends[0] + np.outer(np.where(known, share, 0.0), ends[1] - ends[0])
    rows = zip(known.tolist(), np.round(mixed).astype(int).tolist(), strict=True)
    return [f"#{r:02x}{g:02x}{b:02x}" if one else OTHER for one, (r, g, b) in rows]
