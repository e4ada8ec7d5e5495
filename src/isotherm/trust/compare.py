"""Decisions side by side: the same temperatures, the same seeds left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.decision import DECISIONS, Means, scores, winners
from isotherm.trust.scoring import Interval, macro_f1, proportion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.trust.leave_one_out import LeftOut


class Decided(NamedTuple):
    """What one decision makes of temperatures.

    Attributes
    ----------
    decision : str
    accuracy, macro_f1 : Interval
        Over seeds left out that are not the only ones of their class.
    largest : int
        The number of the class that the most free nodes get.
    largest_share : float
        The share of the free nodes that get it.
    changed : float
        The share of the free nodes that get another label than by the decision in use.
    """

    decision: str
    accuracy: Interval
    macro_f1: Interval
    largest: int
    largest_share: float
    changed: float


def compared(left: LeftOut, T: NDArray[np.floating], means: Means, used: str) -> list[Decided]:
    """All decisions, the one in use first.

    Parameters
    ----------
    left : LeftOut
        Seeds left out.
    T : array of shape (m, K)
        Temperatures of free nodes.
    means : Means
    used : str
    """
    K, some = T.shape[1], ~left.is_last
    truth = left.codes[some]
    own = winners(scores(T, means, used))
    found = []
    for decision in [used, *(name for name in DECISIONS if name != used)]:
        labels = left.labels(decision)[some]
        given = winners(scores(T, means, decision))
        counts = np.bincount(given, minlength=K)
        found.append(
            Decided(
                decision,
                proportion(int(np.count_nonzero(labels == truth)), len(truth)),
                macro_f1(truth, labels, K),
                int(counts.argmax()),
                float(counts.max() / max(len(given), 1)),
                float(np.mean(given != own)) if len(given) else 0.0,
            )
        )
    return found
