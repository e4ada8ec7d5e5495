"""What a fitted classifier says of nodes: labels, scores, probabilities; also of new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.caller import VOTING, is_called_by
from isotherm.classifier.answers import Answers, Tally
from isotherm.classifier.estimator import (
    NO_HEAT,
    SEED,
    STATUS,
    DirichletEstimator,
    check_is_fitted,
    rows_at_once,
    slices,
)
from isotherm.classifier.export import RankedRows
from isotherm.classifier.model import HeatModel
from isotherm.classifier.verdict import as_it_is, judge
from isotherm.errors import LabelError
from isotherm.labels import UNKNOWN, decode_labels
from isotherm.locks import answers_one_at_a_time, of_one_state, one_at_a_time
from isotherm.read_only import read_only
from isotherm.trust.abstain import check_probability
from isotherm.trust.best_effort import solve_best_effort
from isotherm.trust.rank import LEAK, TOL, Ranking
from isotherm.trust.sample import SAMPLE_TOL, leave_sample_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from isotherm.classifier.model import FoundLater
    from isotherm.classifier.seeds import Seeds
    from isotherm.classifier.stacked_model import Model
    from isotherm.dirichlet import DirichletProblem
    from isotherm.stacking.combination import Softmax
    from isotherm.trust.calibrate import Calibration
    from isotherm.trust.choose import Selection
    from isotherm.trust.leave_one_out import LeftOut


@answers_one_at_a_time
class Predictor(DirichletEstimator):
    """A classifier that keeps what a fit has found, and says it of nodes."""

    classes_: NDArray[np.generic]
    seeds_: Seeds
    selection_: Selection
    mean_temperatures_: NDArray[np.floating]
    margins_: NDArray[np.float64]
    certified_: NDArray[np.bool_]
    _model: Model
    _later: FoundLater
    _codes: NDArray[np.signedinteger]
    _status: NDArray[np.int8]  # numbers in `STATUS`

    def _judge(
        self,
        problem: DirichletProblem,
        seeds: Seeds,
        shares: NDArray[np.float64],
        total: Callable[[Any], Any] = as_it_is,
    ) -> HeatModel:
        """Make labels of the temperatures of the solution, and keep all; see `judge`."""
        decision, solution = self.selection_.decision, self.solution_
        T = self._with_unreached(solution.temperatures, solution.unreached)
        codes, proof = seeds.held_codes(len(T)), solution.certificate
        verdict = judge(
            T, proof, codes, decision=decision, tol=self.tol, shares=shares, total=total
        )
        self.seeds_, self.classes_ = seeds, seeds.classes
        self.temperatures_, self.mean_temperatures_ = T, verdict.means.all
        self.margins_, self.certified_ = verdict.margins, verdict.certified
        few = np.min_scalar_type(-len(self.classes_) - 1)  # enough for −1 … K − 1
        self._codes = verdict.codes.astype(few)
        self._status, abstain = verdict.status, self.unreached == "abstain"
        if not abstain:  # they have a temperature then
            self._status[solution.unreached] = STATUS.index(NO_HEAT)
        self._model = model = HeatModel(
            decision, verdict.means, T, problem, solution, self._status, seeds.codes, abstain
        )
        return model

    def _rows(self) -> Iterator[slice]:
        """All nodes, some at a time."""
        return slices(len(self._codes), rows_at_once(len(self.classes_)))

    # Made when asked for: as large as the temperatures, or larger, and often not looked at.

    @property
    @of_one_state
    def labels_(self) -> NDArray[np.generic]:
        """Labels of all nodes, shape (n,)."""
        check_is_fitted(self)
        if self._later.labels is None:
            self._later.labels = read_only(self._decoded(self._codes))
        return self._later.labels

    @property
    @of_one_state
    def scores_(self) -> NDArray[np.float64]:
        """Scores of the classes at each node, shape (n, K)."""
        check_is_fitted(self)
        return self.some_scores(slice(0, len(self.temperatures_)))

    @property
    def status_(self) -> NDArray[np.str_]:
        """What became of each node, shape (n,)."""
        check_is_fitted(self)
        return np.array(STATUS)[self._status]

    @property
    def decision_(self) -> str:
        """How labels are decided on: one of the decisions, or ``"stacked"``."""
        check_is_fitted(self)
        return self._model.decision

    @property
    @one_at_a_time
    def calibration_(self) -> Calibration | Softmax:
        """How scores become probabilities."""
        check_is_fitted(self)
        if self._later.calibration is None:
            self._later.calibration = self._model.calibrated(self.left_out_)
        return self._later.calibration

    @property
    @one_at_a_time
    def left_out_(self) -> LeftOut:
        """Seeds left out, enough to judge by; see `isotherm.trust.sample`."""
        check_is_fitted(self)
        if self._later.sample is None:
            self._later.sample = leave_sample_out(
                self.session(),
                self.solution_,
                self.seeds_.codes,
                tol=max(self.tol, SAMPLE_TOL),
                abstain=self.unreached == "abstain",
                first=self.seeds_.drawn,
            )
        return self._later.sample

    @property
    @one_at_a_time
    def ranking_(self) -> Ranking:
        """If only one class is known: the free nodes, those nearest to its seeds first.

        They are ranked by temperature, with the leak of the fit, or 0.01 if that is 0; see
        `isotherm.trust.rank`. Computed on first use.

        Raises
        ------
        LabelError
            If there are several classes.
        """
        check_is_fitted(self)
        if len(self.classes_) != 1:
            raise LabelError(
                f"a ranking is for one class, but there are {len(self.classes_)}: sort the nodes "
                "by the column of a class in predict_proba()"
            )
        if self._later.ranking is None:
            leak = self.selection_.leak or LEAK
            with self._prepare(self.problem_.with_leak(leak)) as session:
                solution = solve_best_effort(session, tol=min(self.tol, TOL))
            self._tell(solution)
            self._later.ranking = Ranking.of(session.problem, solution)
        return self._later.ranking

    def predict(self, X: Any = None) -> NDArray[np.generic]:
        """Labels of the fitted nodes, or of new ones.

        Parameters
        ----------
        X : matrix of shape (m, n), or mapping {new node: {node: weight}}, optional
            Weights of m new nodes to the n fitted ones. A new node takes the mean temperature
            of its neighbours, whose own temperatures do not change. A row of the fitted matrix
            is a new node, too: at a seed's row its known label is ignored.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, Graph
        >>> path = Graph.from_edges("abcd", "bcde")
        >>> clf = DirichletClassifier().fit(path, {"a": "left", "e": "right"})
        >>> clf.predict({"new": {"a": 1.0, "b": 3.0}, "other": {"d": 1.0}}).tolist()
        ['left', 'right']
        """
        check_is_fitted(self)
        if X is None:
            return self.labels_.copy()
        codes = self._model.new_codes(self._new_weights(X), self.tol)
        _refuse_votes_of_none(codes == UNKNOWN)
        return self._decoded(codes)

    def predict_proba(self, X: Any = None) -> NDArray[np.float64]:
        """Probabilities of the classes, calibrated on what seeds get when they are left out.

        Of labels said to have probability 0.8, about four in five are right; see
        `isotherm.trust.calibrate`. The first call leaves seeds out, up to 300 of them, and takes
        its time. Seeds have what is known of them; nodes no heat reaches the shares of the classes
        among the seeds. The label of a node is by its scores: where another class is more probable,
        the label is one to look at.

        Parameters
        ----------
        X : matrix or mapping, optional
            See `predict`.
        """
        check_is_fitted(self)
        if X is None:
            return self.some_probabilities(slice(0, len(self.temperatures_)))
        S = self._new_scores(X)
        P: NDArray[np.float64] = self.calibration_(S)
        P[np.isnan(S[:, 0])] = self._model.shares
        return P

    def labels_at(self, min_probability: float) -> NDArray[np.generic]:
        """Labels that are probable enough; other nodes get none, nor do those no heat reaches.

        Parameters
        ----------
        min_probability : float
            From 0 to 1. A node whose label is less probable gets none; a seed keeps its own.

        Raises
        ------
        ParameterError
            On a number outside the range from 0 to 1.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, Graph
        >>> path = Graph.from_edges("abcd", "bcde")
        >>> clf = DirichletClassifier().fit(path, {"a": "left", "e": "right"})
        >>> clf.labels_at(0.6).tolist()
        ['left', 'left', None, 'right', 'right']
        """
        check_is_fitted(self)
        said = Answers.joined([self.answers(rows, min_probability) for rows in self._rows()])
        return self._decoded(said.codes)

    def columns(self) -> dict[str, list[Any]]:
        """What is known about each node, by the name of the column; see `to_frame`."""
        check_is_fitted(self)
        if len(self.classes_) == 1:
            return RankedRows.of(self.ranking_, self.problem_).columns(self.names_)
        said = Answers.joined([self.answers(rows) for rows in self._rows()])
        return {
            "node": self.names_.tolist(),
            "label": decode_labels(said.codes, self.classes_).tolist(),
            "probability": said.probability.tolist(),
            "most_probable": decode_labels(said.likelier, self.classes_).tolist(),
            "its_probability": said.its_probability.tolist(),
            "margin": self.margins_.tolist(),
            "status": self.status_.tolist(),
            "certified": self.certified_.tolist(),
        }

    def _decoded(self, codes: NDArray[np.signedinteger]) -> NDArray[np.generic]:
        """Labels of class numbers; texts are Python's, which other libraries can write."""
        classes = self.classes_
        return decode_labels(
            codes, classes.astype(object) if classes.dtype.kind == "U" else classes
        )

    # --- some rows at a time, for files and reports ---------------------------------------------

    def codes(self, rows: slice | NDArray[np.integer]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """For some nodes, the class number (−1 without a label) and the number in `STATUS`."""
        return self._codes[rows].astype(np.intp), self._status[rows].astype(np.intp)

    def answers(self, rows: slice, min_probability: float = 0.0) -> Answers:
        """For some nodes, all that files and reports say about them; see `labels_at`."""
        least = check_probability(min_probability)
        return Answers.of(*self.codes(rows), self.some_probabilities(rows), least)

    def tally(self, min_probability: float = 0.0) -> Tally:
        """How many nodes there are of each kind; see `labels_at`."""
        check_is_fitted(self)
        every = self._rows()
        return Tally.sum(self.answers(rows, min_probability).tally() for rows in every)

    def certainty(self, rows: slice) -> NDArray[np.float64]:
        """For some nodes, the probability of the label, as in `predict_proba`; NaN without one."""
        return self.answers(rows).probability

    def some_scores(self, rows: slice | NDArray[np.intp]) -> NDArray[np.float64]:
        """For some nodes, the scores of the classes."""
        return self._model.scores(rows)

    def some_probabilities(self, rows: slice | NDArray[np.intp]) -> NDArray[np.float64]:
        """For some nodes, the probabilities of the classes; see `predict_proba`."""
        P: NDArray[np.float64] = self.calibration_(self.some_scores(rows))
        P[self._status[rows] == STATUS.index(NO_HEAT)] = self._model.shares
        known = np.flatnonzero(self._status[rows] == STATUS.index(SEED))
        nodes = (rows.start or 0) + known if isinstance(rows, slice) else rows[known]
        held = self.seeds_.nodes[: self.seeds_.n_held]
        P[known] = self.seeds_.values[np.searchsorted(held, nodes)]
        return P

    def _new_scores(self, rows: Any) -> NDArray[np.float64]:
        return self._model.extended(self._new_weights(rows))


def _refuse_votes_of_none(has_none: NDArray[np.bool_]) -> None:
    """Raise LabelError where scikit-learn would count the votes of nodes without a label."""
    if has_none.any() and is_called_by(VOTING):
        raise LabelError(
            f"no heat reaches {np.count_nonzero(has_none):,} of {len(has_none):,} nodes, so they "
            "have no label, and VotingClassifier counts votes of labels only: leave these nodes "
            "out, or label a node that is connected to them"
        )
