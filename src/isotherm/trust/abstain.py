"""What it buys to leave doubtful nodes without a label: fewer labels, more of them right."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.errors import ParameterError
from isotherm.labels import UNKNOWN
from isotherm.rounding import LEVEL
from isotherm.trust.calibrate import calibrate
from isotherm.trust.drawn import NOT_KNOWN, Basis

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from isotherm.graph.keys import Keys
    from isotherm.trust.interval import Interval
    from isotherm.trust.leave_one_out import LeftOut

FOLDS = 5  # of the seeds left out
LEAST = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)  # probabilities worth a look


class Coverage(NamedTuple):
    """How many nodes are labelled, and how many rightly, if labels need a least probability.

    Attributes
    ----------
    min_probability : float
    n_labelled : int
        Free nodes whose label is at least as probable.
    labelled : float
        Their share of all free nodes.
    n_judged : int
        Seeds that, left out, get a label at least as probable.
    right : Interval
        The share of these that get their own label. If it is known which were drawn at random,
        only these are judged, and it is NaN if there are fewer than 20.

    Examples
    --------
    >>> from isotherm import DirichletClassifier, load_dataset
    >>> club = load_dataset("karate")
    >>> known = {node: str(club.labels[node]) for node in (0, 1, 2, 3, 30, 31, 32, 33)}
    >>> model = DirichletClassifier().fit(club.graph, known)
    >>> for one in model.coverage()[:2]:
    ...     print(one.min_probability, one.n_labelled, one.n_judged)
    0.0 26 8
    0.5 26 8
    """

    min_probability: float
    n_labelled: int
    labelled: float
    n_judged: int
    right: Interval


def check_probability(value: object, name: str = "min_probability") -> float:
    """A number from 0 to 1.

    Raises
    ------
    ParameterError
        If it is none.

    Examples
    --------
    >>> check_probability(80)
    Traceback (most recent call last):
    ...
    isotherm.errors.ParameterError: min_probability must be a number from 0 to 1, got 80
    """
    if (
        not isinstance(value, int | float | np.integer | np.floating)
        or isinstance(value, bool)
        or not 0 <= value <= 1
    ):
        raise ParameterError(f"{name} must be a number from 0 to 1, got {value!r}")
    return float(value)


def cross_fitted(left: LeftOut, decision: str, unit: float, keys: Keys) -> NDArray[np.float64]:
    """The probability of the label that each seed left out gets; NaN where it gets none.

    Learnt from other seeds, those of the other folds: by a map learnt from themselves too, seeds
    look better than other nodes, the more so the more classes there are.

    Parameters
    ----------
    left : LeftOut
    decision : str
    unit : float
        The spread of scores over the graph.
    keys : array of shape (m,)
        Of these seeds, by which they are dealt out to the folds.
    """
    S, labels = left.scores(decision), left.labels(decision)
    fold = np.empty(len(S), dtype=np.intp)
    fold[np.argsort(keys)] = np.arange(len(S)) % FOLDS
    usable, found = np.isfinite(S).all(axis=1), np.full(len(S), np.nan)
    for k in range(FOLDS):
        others, these = usable & (fold != k), np.flatnonzero((fold == k) & (labels != UNKNOWN))
        P = calibrate(S[others], left.codes[others], unit)(S[these])
        found[these] = P[np.arange(len(these)), labels[these]]
    return found


def covered(
    certainties: Iterable[NDArray[np.float64]],
    left_out: tuple[NDArray[np.float64], NDArray[np.bool_]],
    least: Sequence[float],
    basis: Basis = NOT_KNOWN,
) -> list[Coverage]:
    """What is labelled at each least probability, and how often seeds left out are right there.

    Parameters
    ----------
    certainties : iterable of arrays
        Probabilities of the labels of all free nodes, some at a time; NaN without a label.
    left_out : pair of arrays of shape (m,)
        Of seeds left out: the probability of the label they get, and whether it is their own.
    least : sequence of float
    basis : Basis, optional
        What the scores of these seeds rest on.
    """
    counts, n_free = np.zeros(len(least), dtype=np.int64), 0
    for some in certainties:
        counts += np.count_nonzero(np.greater_equal.outer(some + LEVEL, least), axis=0)
        n_free += len(some)
    said, is_right = left_out
    found = []
    for p, count in zip(least, counts.tolist(), strict=True):
        judged = said >= p - LEVEL
        n_judged, n_right = int(judged.sum()), int(np.count_nonzero(is_right & judged))
        right = basis.among(n_judged, count).share(n_right, n_judged)
        found.append(Coverage(p, count, count / max(n_free, 1), n_judged, right))
    return found
