"""How a fitted classifier scores nodes, and what it finds only when it is asked for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.classifier.estimator import PREDICTED, STATUS, rows_at_once, slices
from isotherm.classifier.new_nodes import extend
from isotherm.classifier.verdict import as_it_is, judge_new
from isotherm.decision import scores
from isotherm.read_only import Sealed
from isotherm.rounding import UNIT_ROUNDOFF
from isotherm.trust.abstain import cross_fitted
from isotherm.trust.calibrate import calibrate, calibrated
from isotherm.trust.leave_one_out import leave_one_out
from isotherm.trust.sample import drawn_seeds, seed_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    import scipy
    from numpy.typing import NDArray

    from isotherm.decision import Means
    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.engine import Session
    from isotherm.solvers import Solution
    from isotherm.stacking.combination import Softmax
    from isotherm.trust.calibrate import Calibration
    from isotherm.trust.leave_one_out import LeftOut
    from isotherm.trust.rank import Ranking

    Rows = slice | NDArray[np.intp]
    FlowShare = tuple[float, DirichletProblem, Solution]  # how much labels rest on it


@dataclass(frozen=True, eq=False)
class HeatModel:
    """Scores by one heat flow and a decision.

    `isotherm.classifier.stacked_model.StackedModel` answers the same questions.

    Attributes
    ----------
    decision : str
    means : Means
        Of the temperatures.
    temperatures : array of shape (n, K)
        With the rule for unreached nodes applied.
    problem : DirichletProblem
    solution : Solution
    status : int array of shape (n,)
        What became of each node: numbers in `STATUS`.
    seed_codes : int array of shape (s,)
        The class of each seed.
    abstain : bool
        Whether nodes that no heat reaches are left out of the means.
    """

    decision: str
    means: Means
    temperatures: NDArray[np.floating]
    problem: DirichletProblem
    solution: Solution
    status: NDArray[np.int8]
    seed_codes: NDArray[np.intp]
    abstain: bool

    @property
    def shares(self) -> NDArray[np.floating]:
        """Of the classes among the seeds, shape (K,)."""
        return self.means.seed_share

    @property
    def flows(self) -> list[FlowShare]:
        """The heat flows that labels rest on; weights sum to 1."""
        return [(1.0, self.problem, self.solution)]

    def scores(self, rows: Rows) -> NDArray[np.float64]:
        """Of some nodes, shape (m, K)."""
        return np.asarray(scores(self.temperatures[rows], self.means, self.decision))

    def extended(self, weights: scipy.sparse.csr_array) -> NDArray[np.float64]:
        """Of new nodes, given their weights to the fitted ones."""
        T = extend(weights, self.temperatures, self.problem.leak, abstain=self.abstain)
        return np.asarray(scores(T, self.means, self.decision))

    def new_codes(self, weights: scipy.sparse.csr_array, tol: float) -> NDArray[np.intp]:
        """The classes of new nodes; see `extended` and `isotherm.classifier.verdict.judge_new`."""
        T = extend(weights, self.temperatures, self.problem.leak, abstain=self.abstain)
        proof, rounding = self.solution.certificate, UNIT_ROUNDOFF * (np.diff(weights.indptr) + 8)
        nodes = proof.nodes
        if not self.abstain:  # exact, as they count
            nodes = np.where(self.solution.unreached, 0.0, nodes)
        off = extend(weights, nodes, self.problem.leak, abstain=self.abstain) * proof.columns
        E = np.minimum(off, proof.spans) + rounding[:, np.newaxis]
        return judge_new(T, E, self.means, decision=self.decision, tol=tol)

    def calibrated(self, left: LeftOut | None) -> Calibration:
        """How scores become probabilities: by seeds left out; without these, roughly."""
        if left is None:
            nothing = np.empty((0, self.temperatures.shape[1])), np.empty(0, np.intp)
            return calibrate(*nothing, self.spread())
        return calibrated(left, self.decision, self.spread())

    def certainties(self, left: LeftOut) -> NDArray[np.float64]:
        """The probability of the label that each seed left out gets, learnt from other seeds."""
        keys = seed_keys(self.problem, "folds")[left.places]
        return cross_fitted(left, self.decision, self.spread(), keys)

    def spread(self, over_all: Callable[[Any], Any] = as_it_is) -> float:
        """The spread of the scores of predicted nodes; `over_all` as in `judge`."""
        predicted = self.status == STATUS.index(PREDICTED)
        total, count = 0.0, 0
        for rows in slices(len(predicted), rows_at_once(self.temperatures.shape[1])):
            S = self.scores(rows)[predicted[rows]]
            total += float(((S - S.mean(axis=1, keepdims=True)) ** 2).sum())
            count += S.size
        total, count = over_all(np.array([total, count]))
        return math.sqrt(total / count) if total > 0 else 1.0

    def leave_out(
        self, session: Callable[[], Session], max_seeds: int | None, random_state: int
    ) -> LeftOut:
        """Seeds left out, all that can be or so many, drawn at random."""
        every = np.arange(len(self.seed_codes))
        some = drawn_seeds(self.problem, every, max_seeds, random_state)
        return self._freed(session(), some)

    def scores_without(
        self, session: Session, place: NDArray[np.intp]
    ) -> NDArray[np.float64] | None:
        """Of a seed, by its place, if it were free: scores of shape (1, K); None without heat."""
        left = self._freed(session, place)
        return left.scores(self.decision) if left.reached[0] else None

    def _freed(self, session: Session, some: NDArray[np.intp] | None) -> LeftOut:
        """Some seeds left out one at a time, by their places; by default all."""
        return leave_one_out(
            session, self.solution, self.seed_codes, abstain=self.abstain, some=some
        )


@dataclass
class FoundLater(Sealed):
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
    calibration: Calibration | Softmax | None = None
    ranking: Ranking | None = None
    labels: NDArray[np.generic] | None = None
