"""What a fitted classifier says of nodes: labels, scores, probabilities; also of new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.classifier.estimator import (
    NO_HEAT,
    SEED,
    STATUS,
    UNSURE,
    check_is_fitted,
    rows_at_once,
    slices,
)
from isotherm.classifier.export import RANKED, RankedRows
from isotherm.classifier.trusted import Trusted
from isotherm.decision import scores, winners
from isotherm.errors import LabelError
from isotherm.labels import UNKNOWN, decode_labels
from isotherm.trust.abstain import LEAST, Coverage, check_probability, covered, cross_fitted
from isotherm.trust.best_effort import solve_best_effort
from isotherm.trust.rank import LEAK, TOL, Ranking, best_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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


class Answering(Trusted):
    """A classifier that answers once it is fitted."""

    margins_: NDArray[np.float64]
    certified_: NDArray[np.bool_]

    def _rows(self) -> Iterator[slice]:
        """All nodes, some at a time."""
        return slices(len(self._codes), rows_at_once(len(self.classes_)))

    # Made when asked for: as large as the temperatures, or larger, and often not looked at.

    @property
    def labels_(self) -> NDArray[np.generic]:
        """Labels of all nodes, shape (n,)."""
        check_is_fitted(self)
        if self._later.labels is None:
            self._later.labels = decode_labels(self._codes, self.classes_)
        return self._later.labels

    @property
    def scores_(self) -> NDArray[np.float64]:
        """Scores of the classes at each node, shape (n, K)."""
        check_is_fitted(self)
        return np.asarray(scores(self.temperatures_, self._means, self._decision))

    @property
    def status_(self) -> NDArray[np.str_]:
        """What became of each node, shape (n,)."""
        check_is_fitted(self)
        return np.array(STATUS)[self._status]

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
        return decode_labels(winners(self._new_scores(X)), self.classes_)

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
        P[np.isnan(S[:, 0])] = self._means.seed_share
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
        codes = [self.answers(rows, min_probability).codes for rows in self._rows()]
        return decode_labels(np.concatenate(codes), self.classes_)

    def coverage(self, min_probabilities: Sequence[float] = LEAST) -> list[Coverage]:
        """How many labels `labels_at` leaves at each least probability, and how many are right.

        This is checked on the seeds of `spot_check`, with probabilities learnt from other seeds.

        Parameters
        ----------
        min_probabilities : sequence of float
        """
        check_is_fitted(self)
        least = [check_probability(p) for p in min_probabilities]
        certainties = (
            self.certainty(rows)[self._status[rows] != STATUS.index(SEED)] for rows in self._rows()
        )
        left = self.left_out_
        right = left.labels(self._decision) == left.codes
        return covered(certainties, (self._certainty_left_out(), right), least)

    def _certainty_left_out(self) -> NDArray[np.float64]:
        """The probability of the label that each seed left out gets, learnt from other seeds."""
        return cross_fitted(self.left_out_, self._decision, self._spread())

    @property
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
            self._later.ranking = self._ranked()
        return self._later.ranking

    def _ranked(self) -> Ranking:
        problem, leak = self.problem_, self.selection_.leak or LEAK
        with self._prepare(problem.with_leak(leak)) as session:
            solution = solve_best_effort(session, tol=min(self.tol, TOL))
        self._tell(solution)
        free = np.flatnonzero(problem.is_free & ~solution.unreached)
        names, T = self._nodes.ids[free], solution.temperatures[free, 0].astype(np.float64)
        order, scores = best_first(T, names)
        return Ranking(
            names[order],
            scores[order],
            np.arange(1, len(order) + 1),
            free[order],
            leak,
            solution.certificate.bound,
            solution.converged,
        )

    def columns(self) -> dict[str, list[Any]]:
        """What is known about each node, by the name of the column; see `to_frame`."""
        check_is_fitted(self)
        if len(self.classes_) == 1:
            return self._ranked_columns()
        parts = [self.answers(rows) for rows in self._rows()]
        said = Answers(*map(np.concatenate, zip(*parts, strict=True)))
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

    def _ranked_columns(self) -> dict[str, list[Any]]:
        rows = RankedRows.of(self.ranking_, self.problem_)
        return {
            "node": self.names_[rows.nodes].tolist(),
            "score": rows.scores.tolist(),
            "rank": [rank or None for rank in rows.ranks.tolist()],
            "status": [RANKED[k] for k in rows.status.tolist()],
        }

    # --- some rows at a time, for files and reports ---------------------------------------------

    def codes(self, rows: slice | NDArray[np.integer]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """For some nodes, the class number (−1 without a label) and the number in `STATUS`."""
        return self._codes[rows].astype(np.intp), self._status[rows].astype(np.intp)

    def answers(self, rows: slice, min_probability: float = 0.0) -> Answers:
        """For some nodes, all that files and reports say about them; see `labels_at`."""
        least = check_probability(min_probability)
        codes, status = self.codes(rows)
        P = self.some_probabilities(rows)
        best, every = P.argmax(axis=1), np.arange(len(P))
        probability = np.where(codes == UNKNOWN, np.nan, P[every, codes])
        likelier = np.where(P[every, best] > probability, best, UNKNOWN)
        unsure = (probability < least) & (status != STATUS.index(SEED))
        codes[unsure], status[unsure] = UNKNOWN, STATUS.index(UNSURE)
        probability[unsure], likelier[unsure] = np.nan, best[unsure]
        its = np.where(likelier == UNKNOWN, np.nan, P[every, best])
        return Answers(codes, status, probability, likelier, its)

    def tally(self, min_probability: float = 0.0) -> Tally:
        """How many nodes there are of each kind; see `labels_at`."""
        check_is_fitted(self)
        every = self._rows()
        return Tally.sum(self.answers(rows, min_probability).tally() for rows in every)

    def certainty(self, rows: slice) -> NDArray[np.float64]:
        """For some nodes, the probability of the label, as in `predict_proba`; NaN without one."""
        return self.answers(rows).probability

    def some_probabilities(self, rows: slice | NDArray[np.intp]) -> NDArray[np.float64]:
        """For some nodes, the probabilities of the classes; see `predict_proba`."""
        P: NDArray[np.float64] = self.calibration_(self.some_scores(rows))
        P[self._status[rows] == STATUS.index(NO_HEAT)] = self._means.seed_share
        known = np.flatnonzero(self._status[rows] == STATUS.index(SEED))
        nodes = (rows.start or 0) + known if isinstance(rows, slice) else rows[known]
        held = self.seeds_.nodes[: self.seeds_.n_held]
        P[known] = self.seeds_.values[np.searchsorted(held, nodes)]
        return P

    def _new_scores(self, rows: Any) -> NDArray[np.float64]:
        return np.asarray(scores(self._extend(rows), self._means, self._decision))
