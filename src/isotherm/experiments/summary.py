"""Rows of Table 2 → means beside the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.experiments.paper import TABLE2

if TYPE_CHECKING:
    from collections.abc import Iterable

CLOSE = 0.03  # of the paper's mean


class Score(NamedTuple):
    """Macro-F1 over the repeats."""

    mean: float
    std: float


Key = tuple[str, float, str, str]  # data set, share of seeds, decision, rule for unreached nodes


def summarise(rows: Iterable[dict[str, Any]]) -> dict[Key, Score]:
    """Mean and standard deviation of each data set, share of seeds, decision and rule."""
    values: dict[Key, list[float]] = {}
    for row in rows:
        key = (row["dataset"], row["seed_fraction"], row["decision"], row["unreached"])
        values.setdefault(key, []).append(row["macro_f1"])
    return {key: Score(float(np.mean(f1)), float(np.std(f1))) for key, f1 in values.items()}


def paper_mean(dataset: str, fraction: float, decision: str) -> float | None:
    """The paper's mean, if it has one."""
    scores = TABLE2.get(fraction, {}).get(dataset)
    return None if scores is None else getattr(scores, decision, None)


def is_close(dataset: str, fraction: float, decision: str, mean: float) -> bool | None:
    """Whether a mean is within 0.03 of the paper's; None if the paper has none."""
    theirs = paper_mean(dataset, fraction, decision)
    return None if theirs is None else abs(mean - theirs) <= CLOSE + 1e-9
