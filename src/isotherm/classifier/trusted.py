"""What a fitted classifier tells of how far to trust it; the work is done in `isotherm.trust`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.classifier.estimator import check_is_fitted, rows_at_once, slices
from isotherm.classifier.explained import Explained
from isotherm.graph.lots import draw_lots
from isotherm.labels import decode_labels
from isotherm.solvers.method import check_count
from isotherm.trust.calibrate import calibrate
from isotherm.trust.compare import Decided, compared
from isotherm.trust.expected import Expected, Labelled, expect
from isotherm.trust.responses import Doubts
from isotherm.trust.scoring import calibrated, judged
from isotherm.trust.stop import Advice, advise
from isotherm.trust.suggest import Lots, Suggestion, suggest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.trust.calibrate import Calibration
    from isotherm.trust.leave_one_out import LeftOut
    from isotherm.trust.scoring import Interval, LeaveOneOut, Suspect

SUGGESTION_TOL = 1e-4
LOOKED_AT = 100_000  # free nodes, to compare what decisions make of them


class Trusted(Explained):
    """What a classifier can tell once it is fitted."""

    _codes: NDArray[np.signedinteger]

    def leave_one_out(self, *, max_seeds: int | None = None, random_state: int = 0) -> LeaveOneOut:
        """What each seed would get if it were free: an honest score without further labels.

        The result is that of fitting again without the seed, at the price of one column each.
        `error_bound` says how closely, about as well as `tol`; `certified` says which labels are
        proven to be the same.

        Parameters
        ----------
        max_seeds : int, optional
            Leave out at most this many, drawn at random; the result says that it is a sample.
        random_state : int
            Of the draw.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, load_dataset
        >>> club = load_dataset("karate")
        >>> known = {node: club.labels[node] for node in (0, 1, 2, 3, 30, 31, 32, 33)}
        >>> print(DirichletClassifier().fit(club.graph, known).leave_one_out().accuracy)
        1.000 (0.676 to 1.000)
        """
        check_is_fitted(self)
        left = self._left_out(max_seeds, random_state)
        return self._judged(left, calibrated(left, self._decision, self._spread()))

    def spot_check(self) -> LeaveOneOut:
        """The same for a sample of the seeds, at a bounded cost.

        It is the sample that probabilities are calibrated on, or that the decision was chosen by:
        up to 300 seeds that are not the only ones of their class, left out one at a time; more on a
        small graph, if the decision was chosen by it; up to 31 on a graph of more than 150 000
        edges (1.5 million, if the decision was chosen by it). If there are many seeds on such a
        graph, a tenth of them is left out at once; each then also misses the others and does
        slightly worse.
        """
        check_is_fitted(self)
        return self._judged(self.left_out_, self.calibration_)

    def expected_accuracy(self) -> Interval:
        """The share of free nodes with a label whose label is right, with an interval.

        Unlike the accuracy of `leave_one_out`, it holds for seeds that are not a random sample,
        such as those of `suggest`: seeds left out are weighted to resemble the free nodes. See
        `isotherm.trust.expected`. NaN if no seed can be left out, or no node is free.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, load_dataset
        >>> club = load_dataset("karate")
        >>> known = {node: club.labels[node] for node in (0, 1, 2, 3, 30, 31, 32, 33)}
        >>> print(DirichletClassifier().fit(club.graph, known).expected_accuracy())
        1.000 (0.411 to 1.000)
        """
        check_is_fitted(self)
        return self._expected().accuracy

    def _expected(self) -> Expected:
        left, degrees = self.left_out_, self.problem_.graph.degrees
        some = np.flatnonzero(left.reached)
        found, nodes = left.labels(self._decision)[some], self.seeds_.nodes[left.places[some]]
        P = self.calibration_(left.scores(self._decision)[some])
        seeds = Labelled.of(P, found, degrees[nodes])
        free = np.setdiff1d(self.problem_.free, self.seeds_.nodes)
        free = free[:: len(free) // LOOKED_AT + 1]
        P = self.calibration_(self.some_scores(free))
        ours = Labelled.of(P, self._codes[free], degrees[free])
        return expect(ours, seeds, found == left.codes[some])

    def compare_decisions(self) -> list[Decided]:
        """What each decision makes of the same temperatures, the one in use first.

        Scores are those of `spot_check`.
        """
        check_is_fitted(self)
        some = self._looked_at()
        return compared(self.left_out_, self.temperatures_[some], self._means, self._decision)

    def _looked_at(self) -> NDArray[np.intp]:
        """Free nodes to compare decisions by."""
        free = np.flatnonzero(self.problem_.is_free)
        return np.asarray(free[:: max(1, len(free) // LOOKED_AT)])

    def _judged(self, left: LeftOut, calibration: Calibration) -> LeaveOneOut:
        return judged(
            left,
            self._decision,
            nodes=self._nodes.ids[self.seeds_.nodes[left.places]],
            classes=self.classes_,
            n_seeds=len(self.seeds_.nodes),
            calibration=calibration,
        )

    def suspects(self, *, max_seeds: int | None = None, random_state: int = 0) -> list[Suspect]:
        """Seeds for which another label is more probable, judging by all others; clearest first.

        The clearest is the one whose own label has the least probability.

        Parameters
        ----------
        max_seeds, random_state
            See `leave_one_out`.
        """
        return self.leave_one_out(max_seeds=max_seeds, random_state=random_state).suspects()

    def suggest(self, k: int = 10, *, random_state: int = 0) -> list[Suggestion]:
        """Free nodes to label next: those whose labels would help most, and checks.

        Every other one is a check, drawn at random from all free nodes: such labels never harm, and
        show how well the others do (`expected_accuracy`). The first suggestions are the same
        however many are asked for, and depend on the names of nodes, not on their order.

        Parameters
        ----------
        k : int
            How many.
        random_state : int
            Of the draw of checks, and of the candidates that are looked at.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, Graph
        >>> path = Graph.from_edges("abcdef", "bcdefg")
        >>> clf = DirichletClassifier().fit(path, {"a": "left", "g": "right"})
        >>> [(one.node, one.why, round(one.reach, 2)) for one in clf.suggest(1)]
        [('d', 'useful', 3.0)]
        """
        check_is_fitted(self)
        check_count(k, "k")
        n = len(self.temperatures_)
        is_known = np.zeros(n, dtype=bool)
        is_known[self.seeds_.nodes] = True
        rough = self._rough_calibration()
        doubts = Doubts(np.empty(n), np.empty(n))
        for rows in slices(n, rows_at_once(len(self.classes_))):
            some = Doubts.of(rough(self.some_scores(rows)), is_known[rows])
            doubts.doubt[rows], doubts.variance[rows] = some
        found = suggest(
            self.session(),
            doubts,
            Lots(*(draw_lots(self._nodes, purpose, random_state) for purpose in Lots._fields)),
            int(k),
            is_known=is_known,
            tol=max(self.tol, SUGGESTION_TOL),
        )
        nodes = [one.position for one in found]
        labels = decode_labels(self._codes[nodes].astype(np.intp), self.classes_)
        columns = (self._nodes.ids[nodes], labels, doubts.doubt[nodes])
        told = zip(*(c.tolist() for c in columns), found, strict=True)
        return [
            Suggestion(node, label, doubt, one.reach, one.why) for node, label, doubt, one in told
        ]

    def _rough_calibration(self) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """Scores → probabilities, where which are close matters more than what they are worth."""
        return calibrate(np.empty((0, len(self.classes_))), np.empty(0, np.intp), self._spread())

    def should_stop(self, *, gain: float = 0.01, random_state: int = 0) -> Advice:
        """Whether more labels would still help, judging by what the last doubling of them gained.

        Seeds are left out one at a time, and again while half of all seeds are hidden. The
        difference in accuracy, of seeds weighted as in `expected_accuracy`, is what the other half
        was worth; one more doubling will hardly be worth more.

        Parameters
        ----------
        gain : float
            The accuracy that twice as many labels must gain to be worth it.
        random_state : int
            Of the draw of the halves.

        Returns
        -------
        Advice
            True if it is time to stop; its ``reason`` says why in words.
        """
        check_is_fitted(self)
        return advise(
            self.session(),
            self.solution_,
            self.seeds_.codes,
            self.left_out_,
            self._expected(),
            decision=self.selection_.decision,
            gain=gain,
            rng=np.random.default_rng(random_state),
            tol=max(self.tol, SUGGESTION_TOL),
            abstain=self.unreached == "abstain",
        )

    def _left_out(self, max_seeds: int | None, random_state: int) -> LeftOut:
        some = drawn_seeds(len(self.seeds_.codes), max_seeds, random_state)
        return self._freed(some)


def drawn_seeds(n_seeds: int, max_seeds: int | None, random_state: int) -> NDArray[np.intp] | None:
    """Places of so many seeds at the most, drawn at random; None for all of them."""
    if max_seeds is None:
        return None
    check_count(max_seeds, "max_seeds")
    if max_seeds >= n_seeds:
        return None
    rng = np.random.default_rng(random_state)
    return np.sort(rng.choice(n_seeds, max_seeds, replace=False))
