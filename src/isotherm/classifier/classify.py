"""DirichletClassifier: Algorithm 1 of the paper, at equilibrium."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from isotherm.classifier.estimator import NO_HEAT, PREDICTED, SEED, STATUS, TIE, depth_of_caller
from isotherm.classifier.sampled import AUTO
from isotherm.classifier.seeds import read_seeds
from isotherm.classifier.trusted import Trusted
from isotherm.classifier.verdict import Verdict, excess, judge
from isotherm.decision import DECISIONS, scores, winners
from isotherm.errors import IsothermWarning, ParameterError
from isotherm.graph import Graph
from isotherm.graph.nodes import as_column
from isotherm.labels import UNKNOWN, decode_labels, number_classes
from isotherm.solvers import Warm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.decision import Means
    from isotherm.engines.operator import Engine
    from isotherm.solvers import Certificate
    from isotherm.solvers.method import Solver

STOPS = ("tolerance", "labels")


class DirichletClassifier(ClassifierMixin, Trusted):
    """Label all nodes of a graph from a few, by heat diffusion at equilibrium.

    One Dirichlet problem per class, its seeds held at 1 and all other seeds at 0; temperatures
    are centred by their mean and the warmest class wins (Bonald and De Lara, Algorithm 1).

    Parameters
    ----------
    decision : {"centered", "plain", "partial", "mass", "standard", "ratio", "auto"}
        How temperatures become scores, see `isotherm.decision`; ``"centered"`` is the paper's.
        ``"auto"``: the one that exact leave-one-seed-out finds clearly better than the paper's, if
        there is one; see `isotherm.trust.choose`.
    leak : float or "auto"
        τ ≥ 0, heat lost at each free node; 0 is the paper. ``"auto"`` likewise, of 0, 0.01, 0.03,
        0.1 and 0.3.
    tol : float
        Every temperature is proven to be within `tol` of equilibrium.
    stop : {"tolerance", "labels"}
        ``"labels"`` stops sooner: as soon as no label could change any more, ties aside.
    solver : {"auto", "direct", "cg", "sweeps", "elimination"} or solver object
    engine : {"auto", "native", "scipy"} or engine object
    unreached : {"abstain", "zero"}
        Free nodes in components without seeds have no temperature. ``"abstain"``: they get no
        label (−1, NaN or None by the type of the labels) and are left out of the means.
        ``"zero"``: the paper's algorithm taken literally, with temperature 0 in all problems.
    warm_start : bool
        Start from the temperatures of the last fit, if that was of the same nodes: quicker when
        a few labels or edges changed. What is proven does not depend on it.

    Attributes
    ----------
    names_ : array of shape (n,)
        Node ids, in the order of all that follows.
    classes_ : array of shape (K,)
    labels_ : array of shape (n,)
        Labels of all nodes; a seed keeps its own.
    temperatures_, scores_ : arrays of shape (n, K)
        NaN at unreached nodes if these abstain. Temperatures are float32 where that holds `tol`.
    mean_temperatures_ : array of shape (K,)
        Over all nodes that have a temperature, equation (5).
    margins_ : array of shape (n,)
        Score of the warmest class minus that of the runner-up.
    status_ : array of shape (n,)
        ``"seed"``, ``"predicted"``, ``"tie"`` (accurate to `tol`, and the two warmest classes
        still cannot be told apart) or ``"unreached"``.
    certified_ : bool array of shape (n,)
        Whether the label is proven to be that of the exact equilibrium. True at seeds and at
        nodes that abstain, whose label no solving could change.
    selection_ : Selection
        The decision and the leak used, and what was compared to choose them.
    calibration_ : Calibration
        How scores become probabilities; found when first asked for.
    doubts_ : list of str
        Why there may be too few labels to go by; `fit` warns of them.
    solution_ : Solution
    n_iter_ : int

    Examples
    --------
    >>> from isotherm import DirichletClassifier, Graph
    >>> graph = Graph.from_edges("abcxyzc", "bcayzxx")
    >>> clf = DirichletClassifier().fit(graph, {"a": "left", "y": "right"})
    >>> dict(zip(clf.names_.tolist(), clf.labels_.tolist()))
    {'a': 'left', 'b': 'left', 'c': 'left', 'x': 'right', 'y': 'right', 'z': 'right'}
    >>> bool(clf.certified_.all())
    True
    """

    STATUS = STATUS  # what `codes` numbers

    classes_: NDArray[Any]
    mean_temperatures_: NDArray[np.float64]
    margins_: NDArray[np.float64]
    certified_: NDArray[np.bool_]
    doubts_: list[str]

    def __init__(
        self,
        decision: str = "centered",
        *,
        leak: float | Literal["auto"] = 0.0,
        tol: float = 1e-6,
        stop: Literal["tolerance", "labels"] = "tolerance",
        solver: str | Solver = "auto",
        engine: str | Engine = "auto",
        unreached: Literal["abstain", "zero"] = "abstain",
        warm_start: bool = False,
    ) -> None:
        self.decision = decision
        self.leak = leak
        self.tol = tol
        self.stop = stop
        self.solver = solver
        self.engine = engine
        self.unreached = unreached
        self.warm_start = warm_start

    def fit(self, graph: Any, labels: Any, confidence: Any = None) -> Self:
        """Find the labels of all nodes.

        Parameters
        ----------
        graph : Graph, square matrix, networkx or igraph graph
        labels : array of shape (n,) or (n, K), or mapping or pandas Series {node: label}
            −1, None or NaN where unknown. A label may be a distribution {label: share}; the rows
            of a matrix are distributions over classes 0 … K − 1, NaN where unknown.
        confidence : number, array of shape (n,), or mapping or Series {node: number}, optional
            How sure a label is, above 0 and up to 1. Below 1 a node is not held at its label but
            takes it as so large a part of its temperature, the rest coming from its neighbours; it
            counts as predicted and may get another label. See `isotherm.classifier.seeds`.

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
        if self.stop not in STOPS:
            raise ParameterError.unknown("stop", self.stop, STOPS)
        graph = Graph.from_any(graph)
        n = graph.n_nodes
        seeds = read_seeds(labels, graph, confidence)
        problem = seeds.bind(graph, 0.0 if self.leak == AUTO else self.leak)
        has_ties = problem.graph.n_nodes > n
        selection, sample = self._select(problem, seeds.codes, n)
        decision = selection.decision
        problem = problem.with_leak(selection.leak)

        rule: dict[str, Any] = {"decision": decision, "tol": self.tol, "shares": seeds.shares}
        held = slice(seeds.n_held)

        def codes() -> NDArray[np.intp]:  # made when needed: room is short during a solve
            whole = np.full(n, UNKNOWN, dtype=np.intp)
            whole[seeds.nodes[held]] = seeds.codes[held]
            return whole

        def unsettled(X: NDArray[Any], certificate: Certificate) -> float:
            T = self._with_unreached(X[:n], problem.is_unreached[:n])
            own = replace(certificate, nodes=certificate.nodes[:n])
            return excess(T, own, codes(), **rule)

        solution = self._solve(
            problem,
            excess=unsettled if self.stop == "labels" else None,
            warm=self._warm(graph, seeds.classes) if not has_ties else None,
        )
        if has_ties:
            solution = solution.of_first(n)
        self._record(graph, solution, problem.leak)
        self.selection_, self._sample = selection, sample
        self._decision, self._problem, self._seeds = decision, problem, seeds
        self.classes_ = seeds.classes
        self.temperatures_ = self._with_unreached(solution.temperatures, solution.unreached)
        known = codes()
        self._keep(judge(self.temperatures_, solution.certificate, known, **rule), known)
        self.doubts_ = self._doubts()
        if self.doubts_:
            warnings.warn("few labels: " + "; ".join(self.doubts_), IsothermWarning,
                          stacklevel=depth_of_caller())  # fmt: skip
        return self

    def _warm(self, graph: Graph, classes: NDArray[Any]) -> Warm | None:
        """The last temperatures of each class; 0 of one that is new."""
        previous = self._previous(graph)
        if previous is None:
            return None
        column = {label: k for k, label in enumerate(self.classes_.tolist())}
        T = np.zeros((graph.n_nodes, len(classes)), dtype=previous.temperatures.dtype)
        for k, label in enumerate(classes.tolist()):
            if label in column:
                T[:, k] = previous.temperatures[:, column[label]]
        return Warm.of(previous)._replace(temperatures=T)

    def _keep(self, verdict: Verdict, seed_codes: NDArray[np.intp]) -> None:
        self.mean_temperatures_ = verdict.means.all
        self.margins_ = verdict.margins
        self.certified_ = verdict.certified
        few = np.min_scalar_type(-len(self.classes_) - 1)  # enough for −1 … K − 1
        self._codes = verdict.codes.astype(few)
        self._labels: NDArray[Any] | None = None
        self._calibrated = None
        self._status = np.full(len(seed_codes), STATUS.index(PREDICTED), dtype=np.int8)
        self._status[verdict.tied] = STATUS.index(TIE)
        self._status[self.solution_.unreached] = STATUS.index(NO_HEAT)
        self._status[seed_codes != UNKNOWN] = STATUS.index(SEED)
        self._means: Means = verdict.means

    # Made when asked for: as large as the temperatures, or larger, and often not looked at.

    @property
    def labels_(self) -> NDArray[Any]:
        """Labels of all nodes, shape (n,)."""
        check_is_fitted(self, "temperatures_")
        if self._labels is None:
            self._labels = decode_labels(self._codes, self.classes_)
        return self._labels

    @property
    def scores_(self) -> NDArray[np.float64]:
        """Scores of the classes at each node, shape (n, K)."""
        check_is_fitted(self, "temperatures_")
        return np.asarray(scores(self.temperatures_, self._means, self._decision))

    @property
    def status_(self) -> NDArray[np.str_]:
        """What became of each node, shape (n,)."""
        check_is_fitted(self, "temperatures_")
        return np.array(STATUS)[self._status]

    def predict(self, rows: Any = None) -> NDArray[Any]:
        """Labels of the fitted nodes, or of new ones.

        Parameters
        ----------
        rows : matrix of shape (m, n), optional
            Weights of m new nodes to the n fitted ones. A new node takes the mean temperature
            of its neighbours, whose own temperatures stay as they are. A row of the fitted
            matrix is a new node, too: at a seed's row its known label is not looked at.
        """
        check_is_fitted(self, "temperatures_")
        if rows is None:
            return self.labels_.copy()
        return decode_labels(winners(self._new_scores(rows)), self.classes_)

    def predict_proba(self, rows: Any = None) -> NDArray[np.float64]:
        """Probabilities of the classes, calibrated on what seeds get when they are left out.

        Of labels said to have probability 0.8, about four in five are right; see
        `isotherm.trust.calibrate`. The first call leaves seeds out, up to 300 of them, and takes
        its time. Seeds have what is known of them; nodes no heat reaches the shares of the classes
        among the seeds. The label of a node is by its scores: where another class is more probable,
        the label is one to look at.

        Parameters
        ----------
        rows : matrix of shape (m, n), optional
            See `predict`.
        """
        check_is_fitted(self, "temperatures_")
        S = self.scores_ if rows is None else self._new_scores(rows)
        P = self.calibration_(S)
        P[np.isnan(S[:, 0])] = self._means.seed_share
        if rows is None:
            P[self.solution_.unreached] = self._means.seed_share
            held = slice(self._seeds.n_held)
            P[self._seeds.nodes[held]] = self._seeds.values[held]
        return P

    # --- some rows at a time, for files and reports ---------------------------------------------

    def codes(self, rows: slice) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Of some nodes: the class number (−1 where there is no label), the number in `STATUS`."""
        return self._codes[rows].astype(np.intp), self._status[rows].astype(np.intp)

    def certainty(self, rows: slice) -> NDArray[np.float64]:
        """Of some nodes: the probability of the label, what is known of seeds; NaN without one."""
        codes = self._codes[rows].astype(np.intp)
        P: NDArray[np.float64] = self.calibration_(self.some_scores(rows))
        found = P[np.arange(len(P)), codes]
        known = np.flatnonzero(self._status[rows] == STATUS.index(SEED))
        held = self._seeds.nodes[: self._seeds.n_held]
        first = rows.start or 0
        found[known] = self._seeds.values[np.searchsorted(held, first + known), codes[known]]
        found[codes == UNKNOWN] = np.nan
        return found

    def fit_predict(self, graph: Any, labels: Any, confidence: Any = None) -> NDArray[Any]:
        """Labels of all nodes; see `fit`."""
        return self.fit(graph, labels, confidence).predict()

    def score(self, rows: Any, labels: Any, sample_weight: Any = None) -> float:
        """Accuracy on new nodes; those whose label is unknown (−1, None, NaN) do not count."""
        truth = as_column(labels, "labels")
        known = number_classes(truth)[0] != UNKNOWN
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        right = self.predict(rows)[known] == truth[known]
        return float(np.average(right, weights=weights)) if known.any() else float("nan")

    def _new_scores(self, rows: Any) -> NDArray[np.float64]:
        return np.asarray(scores(self._extend(rows), self._means, self._decision))
