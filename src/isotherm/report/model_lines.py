"""Which model was used, and how it fares beside the paper's: lines for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.trust.drawn import in_words

if TYPE_CHECKING:
    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.trust.interval import Interval


def model_lines(model: HeatClassifier) -> list[str]:
    """The model and what chose it, if there was a choice."""
    if model.views_:
        return _stacked_lines(model)
    if model.fallback_:
        return [f"paper's model, because {model.fallback_}"]
    found = model.selection_
    if not found.candidates:
        return []
    words = f"decision {found.decision}, leak {found.leak:g}"
    if found.n_judged == 0 or np.isnan(found.candidates[0].macro_f1):
        return [f"{words}: too few seeds to choose another"]
    by = f"chosen from {len(found.candidates)} candidates by leaving out {found.n_judged:,} seeds"
    return [f"{words}: {by}"]


def _stacked_lines(model: HeatClassifier) -> list[str]:
    ours, *others = model.compare_decisions()
    paper = next(one for one in others if one.decision == "centered")
    n_drawn = model.spot_check().n_drawn
    if np.isnan(ours.accuracy.value):
        line = f"stacked model: accuracy {in_words(ours.accuracy, n_drawn)}"
    else:
        judged = len(model.left_out_.codes) if n_drawn is None else n_drawn
        scores = (
            f"{_scores(ours.accuracy, ours.macro_f1)}; paper's model: "
            f"{_scores(paper.accuracy, paper.macro_f1)}"
        )
        by = f"scored by leaving out {judged:,} seeds"
        line = f"stacked model, {by}: {in_words(scores, n_drawn)}"
    balance = getattr(model, "balance", 0.0)
    return [
        line,
        *([f"labels are balanced towards rare classes by {balance:g}"] if balance else []),
    ]


def _scores(accuracy: Interval, macro_f1: Interval) -> str:
    return f"accuracy {accuracy.value:.3f}, macro-F1 {macro_f1.value:.3f}"
