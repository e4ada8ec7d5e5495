"""Which model was used, and how it fares beside the paper's: lines for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.trust.drawn import in_words
from isotherm.trust.scoring import macro_f1s

if TYPE_CHECKING:
    from isotherm.classifier.algorithm import HeatClassifier


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
    check = model.spot_check()
    if check.basis.worth:
        judged = len(model.left_out_.codes) if check.n_drawn is None else check.n_drawn
        scores = f"{_scores(model, model.decision_)}; paper's model: {_scores(model, 'centered')}"
        by = f"scored by leaving out {judged:,} seeds"
        line = f"stacked model, {by}: {in_words(scores, check.n_drawn)}"
    else:
        line = f"stacked model: {check.words}"
    balance = getattr(model, "balance", 0.0)
    balanced = f"labels are balanced towards rare classes by {balance:g}"
    return [line, balanced] if balance else [line]


def _scores(model: HeatClassifier, decision: str) -> str:
    """How a decision fares with seeds left out that are not the only ones of their class."""
    drawn = model.seeds_.drawn
    left = model.left_out_.among(drawn)
    some = ~left.is_last if drawn is None else left.reached & ~left.is_last
    truth, labels = left.codes[some], left.labels(decision)[some]
    accuracy = np.count_nonzero(labels == truth) / max(len(truth), 1)
    (f1,) = macro_f1s(truth, labels, np.ones((1, len(truth))), len(model.classes_))
    return f"accuracy {accuracy:.3f}, macro-F1 {f1:.3f}"
