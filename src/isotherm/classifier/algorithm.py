"""Algorithm 1 of the paper, at equilibrium."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from isotherm.caller import depth_of_caller
from isotherm.classifier.estimator import STATUS, check_is_fitted
from isotherm.classifier.inputs import graph_and_labels, warn_of_cross_validation
from isotherm.classifier.model import FoundLater
from isotherm.classifier.questions import Questions
from isotherm.classifier.seeds import read_seeds
from isotherm.decision import DECISIONS
from isotherm.errors import IsothermWarning, LabelError, ParameterError
from isotherm.graph.nodes import as_column
from isotherm.labels import UNKNOWN, drawn_positions, number_classes
from isotherm.locks import answers_one_at_a_time
from isotherm.masked import refuse_masked, with_none
from isotherm.read_only import seal
from isotherm.solvers import Warm
from isotherm.trust.choose import AUTO, select

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from isotherm.classifier.model import HeatModel
    from isotherm.classifier.seeds import Seeds
    from isotherm.engines.engine import Engine, Session
    from isotherm.graph import Graph
    from isotherm.graph.nodes import NodeIndex
    from isotherm.solvers import Solution
    from isotherm.solvers.method import Solver
    from isotherm.solvers.options import Progress


@answers_one_at_a_time
class HeatClassifier(Questions):
    """What `isotherm.DirichletClassifier` does, whose parameters and attributes it has.

    Without scikit-learn, which takes longer to load than most jobs take.
    """

    STATUS = STATUS  # what `codes` numbers
    views_: list[tuple[str, float]] = []  # noqa: RUF012  # what is combined: heat alone
    fallback_ = ""  # why heat alone is used, where more was asked for

    doubts_: list[str]

    def __init__(
        self,
        decision: str = "centered",
        *,
        leak: float | Literal["auto"] = 0.0,
        tol: float = 1e-6,
        solver: str | Solver = "auto",
        engine: str | Engine = "auto",
        threads: int | None = None,
        memory: int | None = None,
        unreached: Literal["abstain", "zero"] = "abstain",
        warm_start: bool = False,
    ) -> None:
        self.decision = decision
        self.leak = leak
        self.tol = tol
        self.solver = solver
        self.engine = engine
        self.threads = threads
        self.memory = memory
        self.unreached = unreached
        self.warm_start = warm_start

    def fit(
        self,
        X: Any,
        y: Any,
        confidence: Any = None,
        *,
        drawn: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Find the labels of all nodes.

        Parameters
        ----------
        X : Graph, square matrix, networkx or igraph graph
            The graph.
        y : array of shape (n,) or (n, K), mapping or pandas Series {node: label}, or other
            The labels, −1, None or NaN where unknown. A label may be a distribution
            {label: share}; the rows of a matrix are distributions over classes 0 … K − 1, NaN where
            unknown. Or a DataFrame with a column of nodes and one of labels, or the name of an
            attribute of the nodes of a networkx or igraph graph.
        confidence : number, array of shape (n,), or mapping or Series {node: number}, optional
            How sure a label is, above 0 and at most 1. Below 1, a node is not held at its label:
            the label makes up this share of its temperature, and its neighbours the rest. The node
            counts as predicted and may get another label. See `isotherm.classifier.seeds`.
        drawn : iterable of nodes, or bool array of shape (n,), optional
            Whose labels were drawn at random, such as the checks of `suggest`. Then only these are
            judged, and of fewer than 20 nothing is said; `isotherm.read_labels` finds them in a
            column ``drawn``. By default it is not known.
        progress : callable, optional
            Called every few milliseconds with the steps so far and the error that is still likely;
            what it raises ends the fit, and leaves the classifier as it was.

        Raises
        ------
        GraphError, LabelError, ParameterError
            On input that makes no problem.

        Warns
        -----
        IsothermWarning
            If there are too few labels to go by, once and with all reasons.
        sklearn.exceptions.ConvergenceWarning
            If temperatures could not be proven to `tol`.
        """
        if self.decision not in (*DECISIONS, AUTO):  # found before the work
            raise ParameterError.unknown("decision", self.decision, [*DECISIONS, AUTO])
        if isinstance(self.leak, str) and self.leak != AUTO:
            raise ParameterError(f"leak must be a number ≥ 0 or 'auto', got {self.leak!r}")
        self._check()
        warn_of_cross_validation(y)
        graph, labels = graph_and_labels(X, y, self)
        seeds = read_seeds(labels, graph, confidence, drawn)
        problem = seeds.bind(graph, 0.0 if isinstance(self.leak, str) else self.leak)
        asked, abstain = (self.decision, self.leak), self.unreached == "abstain"
        self.selection_, sample = select(
            problem, seeds.codes, asked, self._prepare, abstain, first=seeds.drawn
        )
        self._later = FoundLater(sample)
        session = self._prepare(problem.with_leak(self.selection_.leak))
        start, *further = self._starts(graph, seeds.classes)
        solution = self._solve(session, start=start, progress=progress)
        with graph.rows.steady():
            self._conclude(graph.nodes, session, solution, seeds, further, progress)
        self.doubts_ = self._diagnostics().doubts(self._later.sample)
        seal(self)
        if self.doubts_:
            warnings.warn("few labels: " + "; ".join(self.doubts_), IsothermWarning,
                          stacklevel=depth_of_caller())  # fmt: skip
        return self

    def update(
        self,
        labels: Mapping[Hashable, Any],
        *,
        drawn: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Add, change or withdraw labels after a fit: exactly, at the cost of one column each.

        The result is that of fitting again with these labels, proven like it; decision and leak
        stay those that were chosen then. Nothing is changed if it fails.

        Parameters
        ----------
        labels : mapping {node: label or None}
            A label is certain, whatever was known of its node before, and may be of a new class;
            None (or −1, or NaN) withdraws one.
        drawn : iterable of nodes, or bool array of shape (n,), optional
            Which of these nodes were drawn at random; see `fit`. Those given before stay so.
        progress : callable, optional
            See `fit`.

        Raises
        ------
        UnknownNode, LabelError
            On a node that the graph does not have, or if no label would be left.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, Graph
        >>> path = Graph.from_edges("abcd", "bcde")
        >>> clf = DirichletClassifier().fit(path, {"a": "left", "e": "right"})
        >>> clf.update({"b": "right"}).predict().tolist()
        ['left', 'right', 'right', 'right', 'right']
        >>> clf.update({"b": None, "d": "new"}).predict().tolist()
        ['left', 'left', 'new', 'new', 'right']
        """
        check_is_fitted(self)
        if not isinstance(labels, Mapping):
            raise LabelError(f"update takes labels as {{node: label}}, got {labels!r:.60}")
        nodes = list(labels)
        codes, _ = number_classes(as_column([labels[node] for node in nodes], "labels"))
        known = (codes != UNKNOWN).tolist()
        changes = {
            int(i): labels[node] if is_known else None
            for i, node, is_known in zip(self._nodes.positions(nodes), nodes, known, strict=True)
        }
        if not changes:
            return self
        seeds = self._drawn_too(self.seeds_.with_changes(changes), labels, drawn)
        column = {label: k for k, label in enumerate(self.classes_.tolist())}
        columns = [column.get(label, -1) for label in seeds.classes.tolist()]
        held = seeds.nodes[: seeds.n_held]  # sorted, and a label given is held
        rows = {
            i: None if label is None else seeds.values[np.searchsorted(held, i)]
            for i, label in changes.items()
        }
        session = self.session()
        if not session.is_solved:  # that of a copy, or after a change that did not end
            session.solve(start=Warm.of(self.solution_))
        solution = session.change(
            rows,
            None if columns == list(range(len(column))) else columns,
            progress=progress,
        )
        self._tell(solution)
        self._later = FoundLater()
        with self._steady():
            self._conclude(self._nodes, session, solution, seeds, [], progress)
        self.doubts_ = self._diagnostics().doubts(self._later.sample, leaving_out=False)
        seal(self)
        return self

    def _drawn_too(self, seeds: Seeds, labels: Any, drawn: Any) -> Seeds:
        """Seeds of which further ones were drawn at random, if that is said."""
        more = drawn_positions(drawn, labels, self.problem_.graph)
        before = seeds.drawn_nodes
        if more is None:
            return seeds
        return seeds.with_drawn(more if before is None else np.append(before, more))

    def fit_predict(self, X: Any, y: Any, confidence: Any = None) -> NDArray[np.generic]:
        """Labels of all nodes; see `fit`."""
        return self.fit(X, y, confidence).predict()

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy on new nodes; those whose label is unknown (−1, None, NaN) do not count."""
        truth = as_column(with_none(y), "labels")
        known = number_classes(truth)[0] != UNKNOWN
        refuse_masked(sample_weight, "sample weights")
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        right = self.predict(X)[known] == truth[known]
        return float(np.average(right, weights=weights)) if known.any() else float("nan")

    def _conclude(
        self,
        nodes: NodeIndex,
        session: Session,
        solution: Solution,
        seeds: Seeds,
        starts: Sequence[Warm | None],  # noqa: ARG002  # of further solves, in a stack
        progress: Progress | None,  # noqa: ARG002  # likewise
    ) -> HeatModel:
        """Make labels of temperatures, and keep all; return what scores them."""
        self._record(nodes, session, solution)
        return self._judge(self.problem_, seeds, seeds.shares)

    def _starts(self, graph: Graph, classes: NDArray[np.generic]) -> list[Warm | None]:
        """Where the solves of a fit may start: from what those of the last one found."""
        return [self._warm(getattr(self, "solution_", None), graph, classes)]

    def _warm(
        self, found: Solution | None, graph: Graph, classes: NDArray[np.generic]
    ) -> Warm | None:
        """The temperatures of each class in the last fit; 0 of one that is new."""
        previous = self._previous(graph, found)
        if previous is None:
            return None
        column = {label: k for k, label in enumerate(self.classes_.tolist())}
        T = np.zeros((graph.n_nodes, len(classes)), dtype=previous.temperatures.dtype)
        for k, label in enumerate(classes.tolist()):
            if label in column:
                T[:, k] = previous.temperatures[:, column[label]]
        return previous._replace(temperatures=T)
