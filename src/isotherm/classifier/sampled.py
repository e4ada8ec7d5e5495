"""Seeds left out while fitting: to choose, to calibrate, and to see whether they are too few."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.classifier.estimator import (
    PREDICTED,
    STATUS,
    DirichletEstimator,
    check_is_fitted,
    rows_at_once,
    slices,
)
from isotherm.classifier.verdict import as_it_is
from isotherm.decision import scores
from isotherm.trust import few_labels
from isotherm.trust.best_effort import solve_best_effort
from isotherm.trust.choose import COMPARED, FEWEST_SEEDS, LEAKS, Selection, choose
from isotherm.trust.sample import CHOOSING, JUDGING, leave_sample_out
from isotherm.trust.scoring import calibrated

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.classifier.seeds import Seeds
    from isotherm.decision import Means
    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.engine import Session
    from isotherm.solvers import Solution
    from isotherm.trust.calibrate import Calibration
    from isotherm.trust.leave_one_out import LeftOut
    from isotherm.trust.rank import Ranking
    from isotherm.trust.sample import Budget

AUTO = "auto"
SAMPLE_TOL = 1e-4  # of temperatures that only choose, or tell how sure labels are
GUARDED = (63, 10_000_000)  # seeds, and seeds × entries, up to which a fit leaves them out to look
LOOKED_AT = (64, 4096, None)  # free nodes, to see whether all are warmest in one class


@dataclass
class FoundLater:
    """What a fitted classifier finds when it is first asked for it.

    In an object of its own: to predict must not change the attributes of an estimator.

    Attributes
    ----------
    sample : LeftOut or None
        Seeds left out.
    calibration : Calibration or None
    ranking : Ranking or None
    labels : array of shape (n,) or None
    """

    sample: LeftOut | None = None
    calibration: Calibration | None = None
    ranking: Ranking | None = None
    labels: NDArray[np.generic] | None = None


class Sampled(DirichletEstimator):
    """A classifier that leaves seeds out, a sample that is found once and kept."""

    decision: str
    leak: Any
    classes_: NDArray[np.generic]
    seeds_: Seeds
    selection_: Selection
    _decision: str
    _later: FoundLater
    _means: Means
    _status: NDArray[np.int8]  # numbers in `STATUS`

    @property
    def decision_(self) -> str:
        """How labels are decided on: one of the decisions, or ``"stacked"``."""
        check_is_fitted(self)
        return self._decision

    @property
    def calibration_(self) -> Calibration:
        """How scores become probabilities."""
        check_is_fitted(self)
        if self._later.calibration is None:
            self._later.calibration = calibrated(self.left_out_, self._decision, self._spread())
        return self._later.calibration

    @property
    def left_out_(self) -> LeftOut:
        """Seeds left out, enough to judge by; see `isotherm.trust.sample`."""
        check_is_fitted(self)
        if self._later.sample is None:
            session = self.session()
            self._later.sample = self._sampled(session, self.solution_, self.seeds_.codes)
        return self._later.sample

    def some_scores(self, rows: slice | NDArray[np.intp]) -> NDArray[np.float64]:
        """For some nodes, the scores of the classes."""
        return np.asarray(scores(self.temperatures_[rows], self._means, self._decision))

    def _spread(self, over_all: Callable[[Any], Any] = as_it_is) -> float:
        """The spread of the scores of predicted nodes; `over_all` as in `judge`."""
        predicted = self._status == STATUS.index(PREDICTED)
        total, count = 0.0, 0
        for rows in slices(len(predicted), rows_at_once(len(self.classes_))):
            S = self.some_scores(rows)[predicted[rows]]
            total += float(((S - S.mean(axis=1, keepdims=True)) ** 2).sum())
            count += S.size
        total, count = over_all(np.array([total, count]))
        return math.sqrt(total / count) if total > 0 else 1.0

    def _select(
        self, problem: DirichletProblem, codes: NDArray[np.intp]
    ) -> tuple[Selection, LeftOut | None]:
        """The decision and the leak to use, those given or the best by leave-one-out.

        And, if it came to that, the seeds left out with that leak.
        """
        decisions = COMPARED if self.decision == AUTO else (self.decision,)
        leaks = LEAKS if self.leak == AUTO else (problem.leak,)
        if len(decisions) * len(leaks) == 1 or problem.n_columns == 1:
            return Selection(decisions[0], leaks[0], [], 0, len(codes)), None
        found: dict[tuple[str, float], NDArray[np.intp]] = {}
        left: dict[float, LeftOut] = {}
        for leak in leaks:
            with self._prepare(problem.with_leak(leak)) as session:
                solution = solve_best_effort(session, tol=max(self.tol, SAMPLE_TOL))
                left[leak] = self._sampled(session, solution, codes, budget=CHOOSING)
            some = ~left[leak].is_last
            found |= {(decision, leak): left[leak].labels(decision)[some] for decision in decisions}
            if np.count_nonzero(some) < FEWEST_SEEDS:
                break
        judgeable = left[leaks[0]].codes[~left[leaks[0]].is_last]
        chosen = choose(found, judgeable, problem.n_columns, len(codes))
        return chosen, left[chosen.leak]

    def _sampled(
        self,
        session: Session,
        solution: Solution,
        codes: NDArray[np.intp],
        *,
        budget: Budget = JUDGING,
    ) -> LeftOut:
        return leave_sample_out(
            session,
            solution,
            codes,
            tol=max(self.tol, SAMPLE_TOL),
            abstain=self.unreached == "abstain",
            budget=budget,
        )

    def _doubts(self, *, leaving_out: bool = True) -> list[str]:
        """Why there may be too few labels to go by."""
        codes, classes = self.seeds_.codes, self.classes_
        if len(classes) < 2:
            return []
        found = [
            few_labels.lonely(codes, classes),
            few_labels.collapsed(self._warmest(), classes, self._decision),
        ]
        work = len(codes) * self.problem_.graph.rows.n_entries
        few = leaving_out and len(codes) <= GUARDED[0] and work <= GUARDED[1]
        if self._later.sample is not None or (few and few_labels.can_be_told_from_chance(codes)):
            left = self.left_out_
            others = ~left.is_last
            labels = left.labels(self._decision)[others]
            found.append(
                few_labels.no_better_than_chance(left.codes[others], labels, together=left.together)
            )
        return [doubt for doubt in found if doubt is not None]

    def _warmest(self) -> NDArray[np.intp]:
        """The warmest class of some free nodes; of all of them if it seems to be one class."""
        free = np.flatnonzero(self.problem_.is_free)
        for most in LOOKED_AT:
            warmest: NDArray[np.intp] = self.temperatures_[free[:most]].argmax(axis=1)
            if (warmest != warmest[:1]).any():
                break
        return warmest
