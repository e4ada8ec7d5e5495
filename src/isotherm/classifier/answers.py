"""What is said of nodes: labels, status, probabilities; and how many there are of each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.classifier.estimator import SEED, STATUS, UNSURE
from isotherm.labels import UNKNOWN
from isotherm.rounding import LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


class Answers(NamedTuple):
    """What is said of m nodes.

    Attributes
    ----------
    codes : int array of shape (m,)
        Class numbers; −1 without a label.
    status : int array of shape (m,)
        Numbers in `STATUS`.
    probability : array of shape (m,)
        Of the label; NaN without one.
    likelier : int array of shape (m,)
        The most probable class where it is another than that of the label, or where there is no
        label for want of probability; −1 elsewhere.
    its_probability : array of shape (m,)
        Of that class; NaN without one.
    """

    codes: NDArray[np.intp]
    status: NDArray[np.intp]
    probability: NDArray[np.float64]
    likelier: NDArray[np.intp]
    its_probability: NDArray[np.float64]

    @classmethod
    def of(
        cls, codes: NDArray[np.intp], status: NDArray[np.intp], P: NDArray[np.float64], least: float
    ) -> Answers:
        """Of nodes of these classes and probabilities; what is less probable is no label."""
        best, every = P.argmax(axis=1), np.arange(len(P))
        probability = np.where(codes == UNKNOWN, np.nan, P[every, codes])
        likelier = np.where(P[every, best] > probability + LEVEL, best, UNKNOWN)
        unsure = (probability < least - LEVEL) & (status != STATUS.index(SEED))
        likelier = np.where(unsure, best, likelier)
        return cls(
            np.where(unsure, UNKNOWN, codes),
            np.where(unsure, STATUS.index(UNSURE), status),
            np.where(unsure, np.nan, probability),
            likelier,
            np.where(likelier == UNKNOWN, np.nan, P[every, best]),
        )

    @classmethod
    def joined(cls, parts: Iterable[Answers]) -> Answers:
        """What is said of all nodes, given what is said of some at a time."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def tally(self) -> Tally:
        """How many nodes there are of each kind."""
        labelled = (self.codes != UNKNOWN) & (self.status != STATUS.index(SEED))
        return Tally(
            np.bincount(self.status, minlength=len(STATUS)),
            int(np.count_nonzero(labelled)),
            int(np.count_nonzero(labelled & (self.likelier != UNKNOWN))),
        )


class Tally(NamedTuple):
    """How many nodes there are of each kind.

    Attributes
    ----------
    counts : int array
        Nodes of each status, in the order of `STATUS`.
    n_labelled : int
        Nodes other than seeds that have a label.
    n_outdone : int
        Those of them of which another class is more probable than the label.
    """

    counts: NDArray[np.intp]
    n_labelled: int
    n_outdone: int

    @property
    def of(self) -> dict[str, int]:
        """Nodes of each status, by its name."""
        return dict(zip(STATUS, self.counts.tolist(), strict=True))

    @property
    def outdone(self) -> float:
        """The share of the labels than which another class is more probable."""
        return self.n_outdone / max(self.n_labelled, 1)

    @classmethod
    def sum(cls, parts: Iterable[Tally]) -> Tally:
        """That of all parts together."""
        counts, n_labelled, n_outdone = zip(*parts, strict=True)
        return cls(np.sum(counts, axis=0), sum(n_labelled), sum(n_outdone))
