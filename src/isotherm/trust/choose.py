"""Choose the decision and the leak by what leave-one-out says, and only where it says so clearly.

With few seeds leave-one-out is noisy, and the best of thirty candidates is often merely lucky. So a
candidate must beat the paper's choice (centred, no leak) by more than one standard error of the
difference between the two, over the same seeds; among those that do, the one with the most left
after that error wins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.trust.scoring import macro_f1s, resampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAKS = (0.0, 0.01, 0.03, 0.1, 0.3)
FEWEST_SEEDS = 10  # that can be judged, or the paper's choice stays
RESAMPLES = 200
ERRORS = 1.0  # standard errors by which a candidate must be better


class Candidate(NamedTuple):
    """A pair of decision and leak, as leave-one-out sees it.

    Attributes
    ----------
    decision : str
    leak : float
    macro_f1 : float
        Over the seeds that can be judged; NaN if there are too few.
    gain, error : float
        The difference to the paper's choice, and its standard error.
    """

    decision: str
    leak: float
    macro_f1: float
    gain: float
    error: float


class Selection(NamedTuple):
    """What was compared, and what was chosen.

    Attributes
    ----------
    decision : str
    leak : float
    candidates : list of Candidate
        The paper's choice, or what comes closest to it, is the first.
    n_judged, n_seeds : int
        Seeds that were left out and could be judged, of all seeds.
    """

    decision: str
    leak: float
    candidates: list[Candidate]
    n_judged: int
    n_seeds: int


def choose(
    found: dict[tuple[str, float], NDArray[np.intp]],
    truth: NDArray[np.intp],
    n_classes: int,
    n_seeds: int,
) -> Selection:
    """Choose one of several candidates, of which the first is preferred.

    Parameters
    ----------
    found : dict
        For each decision and leak the classes that seeds would get; −1 where they get none.
    truth : int array of shape (m,)
        The classes of these seeds, each of which has another seed of its class.
    n_classes, n_seeds : int
    """
    pairs = list(found)
    if len(truth) < FEWEST_SEEDS:
        nothing = [Candidate(*pair, np.nan, 0.0, np.nan) for pair in pairs]
        return Selection(*pairs[0], nothing, len(truth), n_seeds)
    weights = resampled(len(truth), RESAMPLES)
    F = np.array([macro_f1s(truth, labels, weights, n_classes) for labels in found.values()])
    gain = F[:, 0] - F[0, 0]
    error = (F[:, 1:] - F[0, 1:]).std(axis=1)
    left = gain - ERRORS * error
    best = int(left.argmax())
    chosen = best if left[best] > 0 else 0
    candidates = [
        Candidate(*pair, float(F[k, 0]), float(gain[k]), float(error[k]))
        for k, pair in enumerate(pairs)
    ]
    return Selection(*pairs[chosen], candidates, len(truth), n_seeds)
