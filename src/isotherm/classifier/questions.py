"""What else may be asked of a fitted classifier: how far to trust it, and why it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.classifier.diagnostics import Asked, Diagnostics
from isotherm.classifier.estimator import check_is_fitted
from isotherm.classifier.predictor import Predictor
from isotherm.locks import answers_one_at_a_time, each_in_turn
from isotherm.trust.abstain import LEAST

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from isotherm.trust.abstain import Coverage
    from isotherm.trust.explain import Explanation
    from isotherm.trust.interval import Interval
    from isotherm.trust.scoring import LeaveOneOut, Suspect
    from isotherm.trust.stop import Advice
    from isotherm.trust.suggest import Suggestion


@answers_one_at_a_time
class Questions(Predictor):
    """Questions that are answered by the diagnostics of a fitted classifier."""

    def _diagnostics(self) -> Diagnostics:
        check_is_fitted(self)
        return Diagnostics(self, self._model)

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
        return self._diagnostics().leave_one_out(max_seeds, random_state)

    def spot_check(self) -> LeaveOneOut:
        """The same for a sample of the seeds, at a bounded cost.

        It is the sample that probabilities are calibrated on, or that the decision was chosen by:
        up to 300 seeds that are not the only ones of their class, left out one at a time; more on a
        small graph, if the decision was chosen by it; up to 31 on a graph of more than 150 000
        edges (1.5 million, if the decision was chosen by it). If there are many seeds on such a
        graph, a tenth of them is left out at once; each then also misses the others and does
        slightly worse.
        """
        return self._diagnostics().spot_check()

    def expected_accuracy(self) -> Interval:
        """The share of free nodes with a label whose label is right, with an interval.

        Unlike the accuracy of `leave_one_out`, it holds for seeds that are not a random sample,
        such as those of `suggest`: seeds left out are weighted to resemble the free nodes. See
        `isotherm.trust.expected`. NaN if no seed can be left out, or no node is free. If `fit` or
        `update` were told which labels were drawn at random, only these count, and it is NaN if
        there are fewer than 20.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, load_dataset
        >>> club = load_dataset("karate")
        >>> known = {node: club.labels[node] for node in (0, 1, 2, 3, 30, 31, 32, 33)}
        >>> print(DirichletClassifier().fit(club.graph, known).expected_accuracy())
        1.000 (0.411 to 1.000)
        """
        return self._diagnostics().expected().accuracy

    def coverage(self, min_probabilities: Sequence[float] = LEAST) -> list[Coverage]:
        """How many labels `labels_at` leaves at each least probability, and how many are right.

        This is checked on the seeds of `spot_check`, with probabilities learnt from other seeds.

        Parameters
        ----------
        min_probabilities : sequence of float
        """
        return self._diagnostics().coverage(min_probabilities)

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
        return self._diagnostics().suggest(k, random_state)

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
        return self._diagnostics().should_stop(gain, random_state)

    def explain(
        self,
        node: Hashable,
        *,
        paths: int = 5,
        heat: float | None = None,
        without_own: bool = False,
        probability: bool = False,
    ) -> Explanation:
        """Which seeds a node's temperatures come from, exactly, and along which paths.

        Parameters
        ----------
        node : hashable
            Its id.
        paths : int
            How many paths to find.
        heat : float, optional
            From 0 to 1: while the paths carry less than this share of the heat, find more, up to 40
            with at least a hundredth of the heat each; `rest` says what other paths carry.
        without_own : bool
            For a seed: explain the label it would get if it were free, as after `suspects`. `label`
            is then the label it would get, and `own_label` its known one.
        probability : bool
            Whether to say how probable the label is: seeds are left out for that, once.

        Raises
        ------
        UnknownNode
            If there is no such node.
        LabelError
            If no heat reaches it.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, Graph
        >>> path = Graph.from_edges("abcd", "bcde")
        >>> clf = DirichletClassifier().fit(path, {"a": "left", "e": "right"})
        >>> [(seed, round(share, 6)) for seed, _, share in clf.explain("b").seeds]
        [('a', 0.75), ('e', 0.25)]
        >>> alone = clf.explain("a", without_own=True)
        >>> alone.label, alone.own_label
        ('right', 'left')
        >>> clf.explain("b", paths=1, heat=0.8).rest
        Rest(share=0.0, n_paths=0, is_all=True)
        """
        asked = Asked(paths, heat, without_own, probability)
        return next(self._diagnostics().explain_each([node], asked, None))

    def explain_each(
        self,
        nodes: Iterable[Hashable],
        *,
        paths: int = 5,
        heat: float | None = None,
        without_own: bool = False,
        probability: bool = False,
        skipped: list[str] | None = None,
    ) -> Iterator[Explanation]:
        """The same for several nodes, one after the other; shared work is done once.

        Each is of the model as it is when it is asked for.

        Parameters
        ----------
        nodes : iterable of hashables
            Ids.
        paths, heat, without_own, probability
            See `explain`.
        skipped : list, optional
            Nodes that nothing explains are left out, and a sentence about each is added here.
            Without it they are an error.
        """
        asked = Asked(paths, heat, without_own, probability)
        return each_in_turn(self, self._diagnostics().explain_each(nodes, asked, skipped))
