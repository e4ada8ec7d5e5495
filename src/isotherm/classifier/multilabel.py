"""MultiLabelDirichletClassifier: several labels per node, each a problem of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin

from isotherm.classifier.contract import Estimator
from isotherm.classifier.estimator import (
    NO_HEAT,
    PREDICTED,
    SEED,
    DirichletEstimator,
    check_is_fitted,
)
from isotherm.classifier.inputs import graph_and_labels
from isotherm.classifier.label_sets import read_indicator, read_label_sets
from isotherm.classifier.two_classes import (
    as_pair,
    calibrations,
    certificate_of,
    leads,
    leads_left_out,
    rest,
    with_all_heat,
)
from isotherm.classifier.verdict import judge
from isotherm.decision import Means, choose_decision
from isotherm.dirichlet import DirichletProblem
from isotherm.errors import LabelError
from isotherm.labels import UNKNOWN
from isotherm.locks import answers_one_at_a_time, of_one_state
from isotherm.read_only import read_only, seal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.engine import Engine
    from isotherm.solvers.method import Solver
    from isotherm.solvers.options import Progress
    from isotherm.trust.calibrate import Calibration

PROBABILITY_TOL = 1e-4  # of temperatures that only calibrate


@answers_one_at_a_time
class MultiLabelDirichletClassifier(
    DirichletEstimator, MultiOutputMixin, ClassifierMixin, Estimator
):
    """Give every node of a graph its labels, none or several, from a few nodes with known labels.

    One Dirichlet problem per label: seeds that have it are held at 1, seeds that do not at 0. Each
    label is then decided as by a `DirichletClassifier` of the two classes "has it" and "has not".

    Parameters
    ----------
    decision : {"centered", "plain", "partial", "mass", "standard", "ratio"}
        Between the temperature T of a label and the rest of the heat, 1 − T, see
        `isotherm.decision`. Without leak, and if unreached nodes abstain, ``"centered"`` gives a
        label where T is above its mean (so do ``"standard"`` and ``"ratio"``), ``"plain"`` where T
        is above 1/2.
    leak, tol, solver, engine, threads, memory, unreached
        See `DirichletClassifier`. With a leak, all the heat at a node is less than 1 and takes a
        column of its own. Nodes that no heat reaches get no label under either rule; with
        ``"zero"`` they count in the means.

    Attributes
    ----------
    names_ : array of shape (n,)
        Node ids, in the order of all arrays below.
    classes_ : array of shape (L,)
        The labels; for an indicator without names the numbers of its columns.
    indicator_ : bool array of shape (n, L)
        Which node has which label; a seed keeps its own. All False where no heat reaches.
    labels_ : object array of shape (n,)
        The same as tuples of labels; None where no heat reaches.
    temperatures_ : array of shape (n, L)
    mean_temperatures_ : array of shape (L,)
    scores_ : array of shape (n, L)
        Score of having a label minus that of not having it; NaN at unreached nodes if these
        abstain. Infinite for a label that all seeds have (+∞) or that none has (−∞).
    certified_ : bool array of shape (n, L)
        Whether `indicator_` is proven to be that of the exact equilibrium. True at seeds and
        where no heat reaches. Where the two scores cannot be told apart it is False, and the
        label is given if it is surely warmer than the rest.
    status_ : array of shape (n,)
        ``"seed"``, ``"predicted"`` or ``"unreached"``.
    solution_ : Solution
        With a leak, its last column is all the heat.
    n_iter_ : int

    Examples
    --------
    >>> from isotherm import Graph, MultiLabelDirichletClassifier
    >>> graph = Graph.from_edges("abcxyzc", "bcayzxx")
    >>> known = {"a": {"red", "round"}, "y": {"blue"}, "z": {"blue", "round"}}
    >>> model = MultiLabelDirichletClassifier().fit(graph, known)
    >>> dict(zip(model.names_[1:4].tolist(), model.labels_[1:4].tolist()))
    {'b': ('red', 'round'), 'c': ('red', 'round'), 'x': ('blue',)}
    >>> bool(model.certified_.all())
    True
    """

    classes_: NDArray[np.generic]
    indicator_: NDArray[np.bool_]
    mean_temperatures_: NDArray[np.float64]
    certified_: NDArray[np.bool_]
    status_: NDArray[np.str_]

    def __init__(
        self,
        decision: str = "centered",
        *,
        leak: float = 0.0,
        tol: float = 1e-6,
        solver: str | Solver = "auto",
        engine: str | Engine = "auto",
        threads: int | None = None,
        memory: int | None = None,
        unreached: Literal["abstain", "zero"] = "abstain",
    ) -> None:
        self.decision = decision
        self.leak = leak
        self.tol = tol
        self.solver = solver
        self.engine = engine
        self.threads = threads
        self.memory = memory
        self.unreached = unreached

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False  # a node has a label or not
        tags.target_tags.single_output = False
        return tags

    def fit(self, X: Any, y: Any, *, progress: Progress | None = None) -> Self:
        """Find the labels of all nodes.

        Parameters
        ----------
        X : Graph, square matrix, networkx or igraph graph
            The graph.
        y : mapping or pandas Series {node: collection}, sequence, or array of shape (n, L)
            For each node a set, list or tuple of labels, which may be empty; None or NaN where
            they are unknown. Or an indicator, dense or sparse: 1 where a node has a label, 0 where
            it has not, rows of −1 or NaN where that is unknown. Or a DataFrame with a column of
            nodes and one of labels, one label a row; or the name of an attribute of the nodes of a
            networkx or igraph graph that holds collections.
        progress : callable, optional
            See `DirichletClassifier.fit`.

        Raises
        ------
        GraphError, LabelError, ParameterError
            On input that makes no problem.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If temperatures could not be proven to `tol`.
        """
        self._check()
        choose_decision(self.decision)  # a bad name is found before the work
        graph, labels = graph_and_labels(X, y, self, indicator=True)
        seeds, has, classes = read_label_sets(labels, graph)
        # The last column is all the heat there is; without leak it need not be solved for.
        values = np.column_stack([has, np.ones(len(has))])
        problem = DirichletProblem(graph, seeds, values, leak=self.leak)
        leaks = problem.leak > 0
        asked = problem if leaks else problem.with_values(problem.values[:, :-1])
        session = self._prepare(asked)
        solution = self._solve(session, progress=progress)

        self._record(graph.nodes, session, solution)
        self.problem_, self._decision = problem, self.decision
        self.classes_ = classes
        T = self._with_unreached(solution.temperatures, solution.unreached)
        heat = np.where(np.isnan(T[:, 0]), np.nan, ~solution.unreached)
        self._heat = T[:, -1].astype(np.float64) if leaks else heat
        self.temperatures_ = np.ascontiguousarray(T[:, :-1]) if leaks else T
        which = [problem.is_free, solution.unreached]
        self.status_ = np.select(which, [PREDICTED, NO_HEAT], SEED)
        self._judge_labels()
        self._calibrations: list[Calibration] = []  # found when first asked for
        self._left_out: list[tuple[NDArray[np.float64], NDArray[np.bool_]]] = []  # likewise
        seal(self)
        return self

    def _judge_labels(self) -> None:
        """Decide on each label, as between two classes: 0 has it not, 1 has it."""
        T, heat, problem = self.temperatures_, self._heat, self.problem_
        self.indicator_, self.certified_ = np.zeros(T.shape, bool), np.ones(T.shape, bool)
        codes = np.full(len(T), UNKNOWN, dtype=np.intp)
        means = np.empty((2, 6, T.shape[1]))
        for k in range(T.shape[1]):
            codes[problem.boundary] = problem.values[:, k]
            verdict = judge(
                np.column_stack([rest(T[:, k], heat), T[:, k]]),
                certificate_of(self.solution_.certificate, k, leaks=problem.leak > 0),
                codes,
                decision=self._decision,
                tol=2 * self.tol,  # the rest has the errors of all the heat and of the label
            )
            found = verdict.means
            each = [(of.all, of.free, of.seed_share) for of in (found, found.errors) if of]
            means[:, :, k] = np.concatenate(each).T
            one_class = found.seed_share.max() == 1  # which then all nodes get
            self.indicator_[:, k] = found.seed_share[1] if one_class else verdict.codes == 1
            self.certified_[:, k] = one_class | verdict.certified
        no_heat = self.solution_.unreached
        self.indicator_[no_heat], self.certified_[no_heat] = False, True
        has_not, has = (Means(*of[:3], errors=Means(*of[3:])) for of in means)
        self._means = has_not, has
        self.mean_temperatures_ = means[1, 0]

    @property
    @of_one_state
    def labels_(self) -> NDArray[np.generic]:
        """Labels of all nodes as tuples, shape (n,); None where no heat reaches."""
        check_is_fitted(self)
        names = self.classes_.tolist()
        found = np.empty(len(self.indicator_), dtype=object)
        for i in np.flatnonzero(~self.solution_.unreached).tolist():
            found[i] = tuple(names[k] for k in np.flatnonzero(self.indicator_[i]).tolist())
        return found

    @property
    @of_one_state
    def scores_(self) -> NDArray[np.float64]:
        """Score of having each label minus that of not having it, shape (n, L)."""
        check_is_fitted(self)
        return leads(self.temperatures_, self._heat, self._means, self._decision)

    def predict(self, X: Any = None) -> NDArray[np.int64]:
        """Which labels the fitted nodes have, or new ones: 1 or 0, shape (n, L).

        Parameters
        ----------
        X : matrix or mapping, optional
            Weights of m new nodes to the n fitted ones; see `DirichletClassifier.predict`.
        """
        check_is_fitted(self)
        if X is None:
            return self.indicator_.astype(np.int64)
        S, heat = self._new_scores(X)
        return np.asarray((S > 0) & (heat > 0)[:, np.newaxis], dtype=np.int64)

    def predict_proba(self, X: Any = None) -> NDArray[np.float64]:
        """Probability of each label, shape (n, L), calibrated on what seeds get when left out.

        One label at a time; see `isotherm.trust.calibrate`. The first call leaves out up to 300
        seeds, which takes time. Probabilities are ordered like the scores of their label, up to
        their rounding (1e-12), but the scores decide whether a node has it: a label may be given
        although it is less likely than not. Seeds have what is known about them; nodes that no heat
        reaches have the share of the label among the seeds.

        Parameters
        ----------
        X : matrix or mapping, optional
            See `predict`.
        """
        check_is_fitted(self)
        S, heat = (self.scores_, self._heat) if X is None else self._new_scores(X)
        if not self._calibrations:
            self._calibrations.extend(self._calibrate())
        share = self._means[1].seed_share
        P = np.tile(share, (len(S), 1))
        warm = heat > 0
        for k in np.flatnonzero((share > 0) & (share < 1)):
            P[warm, k] = self._calibrations[k](as_pair(S[warm, k]))[:, 1]
        if X is None:
            P[self.problem_.boundary] = self.problem_.values[:, :-1]
        return P

    def columns(self) -> dict[str, list[Any]]:
        """What is known of each node, by the name of the column; see `to_frame`.

        ``labels`` and their ``probabilities`` are tuples; ``certified`` says whether all labels are
        numerically exact, those that a node has and those that it does not have.
        """
        P, has = self.predict_proba(), self.indicator_
        return {
            "node": self.names_.tolist(),
            "labels": self.labels_.tolist(),
            "probabilities": [tuple(P[i, has[i]].tolist()) for i in range(len(P))],
            "status": self.status_.tolist(),
            "certified": self.certified_.all(axis=1).tolist(),
        }

    def fit_predict(self, X: Any, y: Any) -> NDArray[np.int64]:
        """Which labels all nodes have, 1 or 0; see `fit`."""
        return self.fit(X, y).predict()

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the new nodes all of whose labels are right; unknown rows do not count."""
        known, truth = read_indicator(y)
        found = self.predict(X)
        if found.shape != truth.shape:
            raise LabelError(
                f"y has shape {truth.shape}, but the predicted labels have {found.shape}: give one "
                "row per new node and one column per label"
            )
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        right = (found == truth).all(axis=1)[known]
        return float(np.average(right, weights=weights)) if known.any() else float("nan")

    def _new_scores(self, rows: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of new nodes: the scores, and all the heat."""
        heat = self._extend(rows, self._heat)[:, 0]
        return leads(self._extend(rows), heat, self._means, self._decision), heat

    def spot_check(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Seeds left out: the labels that each would get, those it has, and what can be judged.

        Arrays have a row for each of up to 300 seeds and a column for each label. What cannot be
        judged is a label that no other seed has, or that all others have, or a seed that no heat
        would reach.
        """
        check_is_fitted(self)
        S, has = self._leads_left_out()
        judged = np.isfinite(S)
        return judged & (S > 0), has, judged

    def _leads_left_out(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Leads at seeds as if each were free, and whether it has the label; found once."""
        if not self._left_out:
            with self._prepare(self.problem_) as session:
                found = leads_left_out(
                    session,
                    with_all_heat(self.solution_, leaks=self.problem_.leak > 0),
                    self._decision,
                    tol=max(self.tol, PROBABILITY_TOL),
                    abstain=self.unreached == "abstain",
                )
            self._left_out.append(read_only(found))
        return self._left_out[0]

    def _calibrate(self) -> list[Calibration]:
        S, predicted = self.scores_, self.status_ == PREDICTED
        spread = np.sqrt((S[predicted] ** 2).sum(axis=0) / max(predicted.sum(), 1)) / 2
        units = np.where((spread > 0) & np.isfinite(spread), spread, 1.0)
        return calibrations(*self._leads_left_out(), units)
