"""Honest scores: what leave-one-out says of the labels of seeds, with confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.labels import UNKNOWN, decode_labels
from isotherm.rounding import LEVEL
from isotherm.trust.drawn import NOT_KNOWN, Basis, in_words
from isotherm.trust.interval import Interval
from isotherm.trust.rank import best_first

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from numpy.typing import NDArray

    from isotherm.trust.leave_one_out import LeftOut

RESAMPLES = 500


class ClassScore(NamedTuple):
    """How well one class is found among the seeds left out.

    Attributes
    ----------
    label : object
    n_seeds : int
        That were left out, of this class.
    precision, recall, f1 : float
        NaN where no seed counts.
    recall_interval : Interval
    """

    label: Any
    n_seeds: int
    precision: float
    recall: float
    f1: float
    recall_interval: Interval


class Suspect(NamedTuple):
    """A seed for which another label is more probable than its own, judging by all other seeds.

    Attributes
    ----------
    node : hashable
    label : object
        Its own.
    suggested : object
        The most probable one.
    own_probability, suggested_probability : float
        Probabilities of these two labels; the second is the greater.

    Examples
    --------
    >>> from isotherm import DirichletClassifier, load_dataset
    >>> club = load_dataset("karate")
    >>> known = {node: str(club.labels[node]) for node in (0, 1, 2, 3, 30, 31, 32, 33)}
    >>> known[3] = "Officer"                                        # wrong
    >>> model = DirichletClassifier().fit(club.graph, known)
    >>> first = model.leave_one_out().suspects()[0]
    >>> first.node, first.label, first.suggested
    (3, 'Officer', 'Mr. Hi')
    """

    node: Hashable
    label: Any
    suggested: Any
    own_probability: float
    suggested_probability: float


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """What each seed would get if it were free; see `isotherm.trust.leave_one_out`.

    Attributes
    ----------
    nodes : array of shape (m,)
        Ids of the seeds left out.
    codes : int array of shape (m,)
        The numbers of their own classes.
    truth, labels : arrays of shape (m,)
        Their own labels, and those they would get; none where no heat would reach them.
    temperatures, scores : arrays of shape (m, K)
    error_bound : array of shape (m,)
        Proven bound: no temperature is farther than this from that of a fit without the seed.
    certified : bool array of shape (m,)
        Whether the label is proven to be that of fitting again without the seed.
    probabilities : array of shape (m, K)
        Calibrated on these very seeds; NaN where no heat would reach a seed.
    certainty : array of shape (m,)
        Probability of the label that a seed would get; NaN where it would get none.
    margins : array of shape (m,)
        Score of a seed's own class minus the best of the others: negative where it loses.
    n_seeds : int
        All seeds, of which those left out may be a sample.
    together : bool
        Whether several were left out at a time, each without the others.
    n_lost : int
        Seeds that count as wrong in any case: the only ones of their class, and those that no heat
        would reach.
    accuracy, macro_f1 : Interval
        Over the seeds left out; the macro-F1 over the classes of these.
    classes : list of ClassScore
    drawn : bool array of shape (m,) or None
        Whether a seed was drawn at random, and would get a label; None if that is not known. If it
        is, only these count in `accuracy`, `macro_f1` and `classes`: nothing, if fewer than 20.
    n_free : int
        Free nodes that get a label.

    Examples
    --------
    >>> from isotherm import DirichletClassifier, load_dataset
    >>> club = load_dataset("karate")
    >>> known = {node: str(club.labels[node]) for node in (0, 1, 2, 3, 30, 31, 32, 33)}
    >>> model = DirichletClassifier().fit(club.graph, known)
    >>> left = model.leave_one_out()
    >>> int((left.labels == left.truth).sum()), len(left.nodes), bool(left.certified.all())
    (8, 8, True)
    """

    nodes: NDArray[np.generic]
    codes: NDArray[np.intp]
    truth: NDArray[np.generic]
    labels: NDArray[np.generic]
    temperatures: NDArray[np.float64]
    scores: NDArray[np.float64]
    error_bound: NDArray[np.float64]
    certified: NDArray[np.bool_]
    probabilities: NDArray[np.float64]
    certainty: NDArray[np.float64]
    margins: NDArray[np.float64]
    n_seeds: int
    together: bool
    n_lost: int
    accuracy: Interval
    macro_f1: Interval
    classes: list[ClassScore]
    drawn: NDArray[np.bool_] | None = None
    n_free: int = 0

    @property
    def basis(self) -> Basis:
        """What the scores rest on."""
        return Basis(self.n_drawn, self.n_free)

    @property
    def n_drawn(self) -> int | None:
        """How many of these were drawn at random, and would get a label; None if not known."""
        return None if self.drawn is None else int(np.count_nonzero(self.drawn))

    @property
    def words(self) -> str:
        """The accuracy, and what it rests on."""
        return f"accuracy {in_words(self.accuracy, self.n_drawn)}"

    def suspects(self) -> list[Suspect]:
        """Seeds for which another label is more probable, the least probable label first.

        Equals are in the order of their names. A seed is not a suspect if it is the only one of its
        class, or if no heat reaches it.
        """
        findable = np.flatnonzero(np.isfinite(self.margins))
        P = self.probabilities[findable]
        own, best = P[np.arange(len(P)), self.codes[findable]], P.max(axis=1, initial=0.0)
        order, _ = best_first(-own, self.nodes[findable])
        order = order[own[order] < best[order] - LEVEL]
        some, suggested = findable[order], [self.classes[k].label for k in P[order].argmax(axis=1)]
        columns = (self.nodes[some], self.truth[some], own[order], best[order])
        nodes, labels, *probabilities = (column.tolist() for column in columns)
        rows = zip(nodes, labels, suggested, *probabilities, strict=True)
        return [Suspect(*row) for row in rows]

    def __str__(self) -> str:
        whole = "" if len(self.nodes) == self.n_seeds else f" (a sample of {self.n_seeds})"
        way = "several at a time" if self.together else "one at a time"
        seeds = "1 seed" if len(self.nodes) == 1 else f"{len(self.nodes)} seeds"
        is_known = self.basis.worth > 0
        scores = f"{self.words}; macro-F1 {self.macro_f1}" if is_known else self.words
        lines = [f"{seeds} left out, {way}{whole}", scores]
        if self.n_lost:
            lines.append(
                f"{self.n_lost} of them could not get their label back: no other seed has it, or "
                "no heat reaches them"
            )
        if not is_known:
            return "\n".join(lines)
        width = max(len(str(c.label)) for c in self.classes)
        lines += [
            f"{c.label!s:<{width}}  {c.n_seeds:>6}  precision {c.precision:.2f}  "
            f"recall {c.recall:.2f}  F1 {c.f1:.2f}"
            for c in self.classes
        ]
        return "\n".join(lines)


def judged(
    left: LeftOut,
    decision: str,
    *,
    nodes: NDArray[np.generic],
    classes: NDArray[np.generic],
    n_seeds: int,
    calibration: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    drawn: NDArray[np.bool_] | None = None,
    n_free: int = 0,
) -> LeaveOneOut:
    """Score what a decision makes of the seeds left out.

    Parameters
    ----------
    left : LeftOut
    decision : str
    nodes, classes : arrays
        Ids of the seeds left out, and the labels of the classes.
    n_seeds : int
        All seeds.
    calibration : Calibration
        What scores are worth.
    drawn : bool array of shape (m,), optional
        Which of them were drawn at random.
    n_free : int
        Free nodes, of which these tell.
    """
    found, S = left.labels(decision), left.scores(decision)
    rows = np.arange(len(found))
    others = S.copy()
    others[rows, left.codes] = -np.inf
    with np.errstate(invalid="ignore"):
        own = np.where(left.is_last, -np.inf, S[rows, left.codes])
        margins = own - others.max(axis=1, initial=-np.inf)
    drawn = None if drawn is None else drawn & left.reached
    basis = Basis(None if drawn is None else int(np.count_nonzero(drawn)), n_free)
    counted = np.full(len(found), True) if drawn is None else drawn & (basis.worth > 0)
    confusion = confusion_of(left.codes[counted], found[counted], len(classes))
    P = calibration(S)
    return LeaveOneOut(
        nodes,
        left.codes,
        decode_labels(left.codes, classes),
        decode_labels(found, classes),
        left.temperatures,
        S,
        left.errors,
        left.certified(decision),
        P,
        np.where(found == UNKNOWN, np.nan, P[rows, found]),
        margins,
        n_seeds,
        left.together,
        int(np.count_nonzero(left.is_last | ~left.reached)),
        basis.share(int(np.trace(confusion)), int(np.count_nonzero(counted))),
        macro_f1(left.codes[counted], found[counted], len(classes), basis),
        _per_class(confusion, classes, basis),
        drawn,
        n_free,
    )


def confusion_of(
    truth: NDArray[np.intp], found: NDArray[np.intp], n_classes: int
) -> NDArray[np.int64]:
    """Seeds by their class and the class they would get; the last column: none."""
    table = np.zeros((n_classes, n_classes + 1), dtype=np.int64)
    np.add.at(table, (truth, np.where(found == UNKNOWN, n_classes, found)), 1)
    return table


def macro_f1s(
    truth: NDArray[np.intp],
    labels: NDArray[np.intp],
    weights: NDArray[np.float64],
    n_classes: int,
) -> NDArray[np.float64]:
    """Macro-F1 for each row of weights, over the classes that it has."""
    is_class = np.equal.outer(truth, np.arange(n_classes)).astype(np.float64)
    given = np.equal.outer(labels, np.arange(n_classes)).astype(np.float64)
    right = is_class * (labels == truth)[:, np.newaxis]
    asked = weights @ is_class
    f1 = 2 * (weights @ right) / np.maximum(asked + weights @ given, 1e-300)
    there = asked > 0
    return np.asarray((f1 * there).sum(axis=1) / np.maximum(there.sum(axis=1), 1))


def macro_f1(
    truth: NDArray[np.intp], found: NDArray[np.intp], n_classes: int, basis: Basis = NOT_KNOWN
) -> Interval:
    """Macro-F1 with an interval by resampling the seeds, as many as they are worth."""
    n_worth = round(len(truth) * basis.worth)
    if n_worth == 0:
        return Interval(math.nan, 0.0, 1.0)
    # Seeds of the same class that would get the same label are alike: draw how many, not which.
    table = confusion_of(truth, found, n_classes)
    asked, given = np.nonzero(table)
    counts = table[asked, given]
    value = float(
        macro_f1s(asked, _known(given, n_classes), np.array([counts], float), n_classes)[0]
    )
    # One more of each class, half right and half wrong: that all were right so far proves little.
    there = np.unique(truth)
    smooth = table.astype(np.float64)
    smooth[there, there] += 0.5
    smooth[there, n_classes] += 0.5
    asked, given = np.nonzero(smooth)
    chances = smooth[asked, given] / smooth.sum()
    draws = np.random.default_rng(0).multinomial(n_worth, chances, RESAMPLES)
    drawn = macro_f1s(asked, _known(given, n_classes), draws.astype(np.float64), n_classes)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(value, min(float(low), value), max(float(high), value))


def _known(given: NDArray[np.intp], n_classes: int) -> NDArray[np.intp]:
    return np.where(given == n_classes, UNKNOWN, given)


def _per_class(
    confusion: NDArray[np.int64], classes: NDArray[np.generic], basis: Basis
) -> list[ClassScore]:
    found = []
    given = confusion.sum(axis=0)
    for k, label in enumerate(classes.tolist()):
        asked, right = int(confusion[k].sum()), int(confusion[k, k])
        found.append(
            ClassScore(
                label,
                asked,
                right / given[k] if given[k] else 0.0 if asked else math.nan,
                right / asked if asked else math.nan,
                2 * right / (asked + given[k]) if asked + given[k] else math.nan,
                basis.share(right, asked),
            )
        )
    return found
