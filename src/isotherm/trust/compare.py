"""Decisions side by side: the same temperatures, the same seeds left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.decision import DECISIONS, Means, scores, winners
from isotherm.trust.drawn import NOT_KNOWN, Basis
from isotherm.trust.scoring import macro_f1

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.trust.interval import Interval
    from isotherm.trust.leave_one_out import LeftOut


class Decided(NamedTuple):
    """What one decision makes of temperatures.

    Attributes
    ----------
    decision : str
    accuracy, macro_f1 : Interval
        Over seeds left out that are not the only ones of their class. If it is known which were
        drawn at random, only these count, and both are NaN if there are fewer than 20.
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


def compared(
    left: LeftOut,
    T: NDArray[np.floating],
    means: Means,
    first: str,
    own: NDArray[np.intp] | None = None,
    basis: Basis = NOT_KNOWN,
) -> list[Decided]:
    """All decisions.

    Parameters
    ----------
    left : LeftOut
        Seeds left out.
    T : array of shape (m, K)
        Temperatures of free nodes.
    means : Means
    first : str
        The one to begin with.
    own : int array of shape (m,), optional
        The classes these nodes have; by default those of the first decision.
    basis : Basis, optional
        What the scores of these seeds rest on.
    """
    found = {
        decision: winners(scores(T, means, decision))
        for decision in [first, *(name for name in DECISIONS if name != first)]
    }
    own = found[first] if own is None else own
    return [decided(left, name, given, own, T.shape[1], basis) for name, given in found.items()]


def decided(
    left: LeftOut,
    decision: str,
    given: NDArray[np.intp],
    own: NDArray[np.intp],
    n_classes: int,
    basis: Basis = NOT_KNOWN,
) -> Decided:
    """One decision, which gives these classes to free nodes that have others; see `compared`."""
    some = ~left.is_last
    truth, labels = left.codes[some], left.labels(decision)[some]
    counts = np.bincount(given, minlength=n_classes)
    return Decided(
        decision,
        basis.share(int(np.count_nonzero(labels == truth)), len(truth)),
        macro_f1(truth, labels, n_classes, basis),
        int(counts.argmax()),
        float(counts.max() / max(len(given), 1)),
        float(np.mean(given != own)) if len(given) else 0.0,
    )
