"""Several heat flows and other views of the graph, combined; see `isotherm.stacking`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from isotherm.blas import one_blas_thread
from isotherm.classifier.algorithm import HeatClassifier
from isotherm.classifier.estimator import (
    PREDICTED,
    STATUS,
    TIE,
    check_is_fitted,
    slices,
)
from isotherm.classifier.trusted import drawn_seeds
from isotherm.stacking.combination import Combination, Softmax, lead
from isotherm.stacking.embedding import embed, fits
from isotherm.stacking.flows import FURTHER, PAPER, Flow, damped
from isotherm.stacking.left_out import STACKED, Plan, StackedLeftOut, leave_out, plan
from isotherm.stacking.model import Stack, fit_stack
from isotherm.stacking.surroundings import Surroundings
from isotherm.stacking.views import Embedded, Views
from isotherm.trust.abstain import check_probability
from isotherm.trust.best_effort import solve_best_effort
from isotherm.trust.compare import Decided, compared, decided
from isotherm.trust.explain import WeightedFlow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from isotherm.classifier.seeds import Seeds
    from isotherm.engines.engine import Engine, Session
    from isotherm.graph import Graph
    from isotherm.graph.nodes import NodeIndex
    from isotherm.solvers import Solution, Warm
    from isotherm.solvers.method import Solver
    from isotherm.solvers.options import Progress
    from isotherm.trust.scoring import LeaveOneOut

NUMBERS = 1 << 17  # of each view, that are worked on at once
MANY_SEEDS = 200  # that can be judged, from which the seeds around a node are looked at


class StackedHeatClassifier(HeatClassifier):
    """What `isotherm.StackedDirichletClassifier` does, without scikit-learn."""

    decision, leak, stop = "centered", 0.0, "tolerance"  # of the paper's flow

    stack_: Combination | None
    views_: list[tuple[str, float]]
    fallback_: str

    def __init__(
        self,
        *,
        balance: float = 0.0,
        tol: float = 1e-6,
        solver: str | Solver = "auto",
        engine: str | Engine = "auto",
        threads: int | None = None,
        memory: int | None = None,
        unreached: Literal["abstain", "zero"] = "abstain",
        warm_start: bool = False,
    ) -> None:
        self.balance = balance
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
        progress: Progress | None = None,
    ) -> Self:
        """Find the labels of all nodes; see `isotherm.DirichletClassifier.fit`."""
        check_probability(self.balance, "balance")
        return super().fit(X, y, confidence, progress=progress)

    def _warm(self, graph: Graph, classes: NDArray[np.generic]) -> Warm | None:
        before: Combination | None = getattr(self, "stack_", None)
        flows = [] if before is None else before.views.flows[1:]
        self._starts = [self._warm_of(flow.solution, graph, classes) for flow in flows]
        return super()._warm(graph, classes)

    def _conclude(
        self,
        nodes: NodeIndex,
        session: Session,
        solution: Solution,
        seeds: Seeds,
        progress: Progress | None = None,
    ) -> None:
        super()._conclude(nodes, session, solution, seeds, progress)
        starts, self._starts = getattr(self, "_starts", []), []
        self.stack_, self.views_ = None, []
        chosen = plan(seeds.codes, len(seeds.classes), session.problem.graph.rows.n_entries)
        self.fallback_ = _reason(seeds, chosen)
        if chosen is None or self.fallback_:
            return
        with one_blas_thread():
            self._combine(session, seeds, chosen, starts, progress)

    def _combine(
        self,
        session: Session,
        seeds: Seeds,
        chosen: Plan,
        starts: Sequence[Warm | None],
        progress: Progress | None,
    ) -> None:
        """Solve the further flows, leave seeds out of all, and fit the model."""
        graph, abstain = session.problem.graph, self.unreached == "abstain"
        flows = [Flow.of(PAPER, self.problem_, self.solution_, self.temperatures_)]
        left = [leave_out(session, self.solution_, seeds.codes, chosen, abstain=abstain)]
        graphs = {kind.exponent: damped(graph, kind.exponent) for kind in FURTHER}
        for kind, start in zip(FURTHER, [*starts, *[None] * len(FURTHER)], strict=False):
            tell(progress)
            problem = seeds.bind(graphs[kind.exponent], kind.leak)
            with session.prepare(problem) as other:
                found = solve_best_effort(other, start=start, progress=progress)
                left.append(leave_out(other, found, seeds.codes, chosen, abstain=abstain))
            T = self._with_unreached(found.temperatures, found.unreached)
            flows.append(Flow.of(kind, problem, found, T))
        judged = left[0].reached & ~left[0].is_last
        views = self._look(graph, flows, seeds, int(np.count_nonzero(judged)), progress)
        tell(progress)
        X, low, high = views.left_out(left, chosen)
        Y = seeds.counts[chosen.places]

        def fitted(rows: NDArray[np.bool_]) -> Stack:
            return fit_stack(X[:, rows], Y[rows], seeds.shares, views.counts)

        stack = fitted(judged)
        self._decision = STACKED
        self.views_ = list(zip(views.names, stack.weights.tolist(), strict=True))
        self._decide(Combination(views, stack, Softmax(np.zeros(Y.shape[1]), stack.n_judged)))
        # Honest: a seed is judged by a model that was fitted to seeds of the other parts.
        logits, sure = np.empty(X.shape[1:]), np.zeros(X.shape[1], dtype=bool)
        shift = self.calibration_.shift
        for rows in chosen.parts:
            others = judged.copy()
            others[rows] = False
            model = fitted(others) if others.any() else stack
            logits[rows] = model.logits(X[:, rows]) - shift
            least, most = model.bounds(low[:, rows], high[:, rows])
            sure[rows] = lead(logits[rows], least - shift, most - shift) > 0
        self._later.sample = StackedLeftOut.of(left[0], logits, sure)

    def _look(
        self,
        graph: Graph,
        flows: Sequence[Flow],
        seeds: Seeds,
        n_judged: int,
        progress: Progress | None,
    ) -> Views:
        """All views that there is room and reason for."""
        embedded = surroundings = None
        if fits(graph.n_nodes, graph.rows.n_entries):
            vectors = embed(graph, lambda: tell(progress))
            if np.isfinite(vectors).all():
                embedded = Embedded(vectors, seeds.nodes, seeds.counts)
        if n_judged >= MANY_SEEDS:
            surroundings = Surroundings(graph, seeds.nodes, seeds.values)
        return Views(flows, embedded, surroundings)

    def _decide(self, found: Combination) -> None:
        """Make labels of what all views say."""
        self.stack_ = found
        free = np.isin(self._status, [STATUS.index(PREDICTED), STATUS.index(TIE)])
        if self.balance and free.any():
            parts = (found.softmax(found.logits(rows)[free[rows]]) for rows in self._slices())
            sizes = sum(part.sum(axis=0) for part in parts) / np.count_nonzero(free)
            self.stack_ = found = found.balanced(sizes, self.balance)
        for rows in self._slices():
            some = free[rows]
            Z, (low, high) = found.logits(rows)[some], found.bounds(rows)
            best, here = Z.argmax(axis=1), np.flatnonzero(some) + rows.start
            proven = lead(Z, low[some], high[some]) > 0
            self._codes[here] = best
            self.margins_[here] = lead(Z, Z, Z)
            self.certified_[here] = proven
            self._status[here] = np.where(proven, STATUS.index(PREDICTED), STATUS.index(TIE))
        self._later.labels = None

    def _slices(self) -> Iterator[slice]:
        """All nodes, some at a time."""
        return slices(len(self.temperatures_), max(1, NUMBERS // len(self.classes_)))

    # --- answers --------------------------------------------------------------------------------

    @property
    def calibration_(self) -> Any:
        """How scores become probabilities."""
        check_is_fitted(self)
        return super().calibration_ if self.stack_ is None else self.stack_.softmax

    @property
    def scores_(self) -> NDArray[np.float64]:
        """Scores of the classes at each node, shape (n, K): logits, if there is a model."""
        check_is_fitted(self)
        return self.some_scores(slice(0, len(self.temperatures_)))

    def some_scores(self, rows: slice | NDArray[np.intp]) -> NDArray[np.float64]:
        """Of some nodes: the scores of the classes."""
        return super().some_scores(rows) if self.stack_ is None else self.stack_.logits(rows)

    def _new_scores(self, rows: Any) -> NDArray[np.float64]:
        if self.stack_ is None:
            return super()._new_scores(rows)
        return self.stack_.extended(self._new_weights(rows), self.problem_.graph.degrees)

    def leave_one_out(self, *, max_seeds: int | None = None, random_state: int = 0) -> LeaveOneOut:
        """What each seed would get if it were free, by models that were fitted without it.

        For up to 1500 seeds that are not the only ones of their class. Up to 300 seeds are left out
        one at a time; of more, a tenth at a time.

        Parameters
        ----------
        max_seeds, random_state
            See `isotherm.DirichletClassifier.leave_one_out`.
        """
        check_is_fitted(self)
        if self.stack_ is None:
            return super().leave_one_out(max_seeds=max_seeds, random_state=random_state)
        left = self.left_out_
        some = drawn_seeds(len(left.codes), max_seeds, random_state)
        left = left if some is None else left.only(some)
        return self._judged(left, self.calibration_)

    def _certainty_left_out(self) -> NDArray[np.float64]:
        if self.stack_ is None:
            return super()._certainty_left_out()
        S = self.left_out_.scores(STACKED)  # of models that were fitted to others
        return np.asarray(self.stack_.softmax(S)[np.arange(len(S)), S.argmax(axis=1)])

    def _rough_calibration(self) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        return super()._rough_calibration() if self.stack_ is None else self.stack_.softmax

    def _flows(self, without: NDArray[np.intp]) -> list[WeightedFlow]:
        if self.stack_ is None:
            return super()._flows(without)
        flows, session = self.stack_.views.flows, self.session()
        weights = np.maximum(self.stack_.stack.weights[: len(flows)], 0.0)
        weights = weights / weights.sum() if weights.any() else np.eye(len(flows))[0]
        found = []
        for flow, weight in zip(flows, weights.tolist(), strict=True):
            if len(without):
                other = session.prepare(flow.problem.without(without))
                found.append(WeightedFlow(weight, other, solve_best_effort(other)))
            else:
                found.append(WeightedFlow(weight, session.prepare(flow.problem), flow.solution))
        return found

    def _scores_without(self, place: NDArray[np.intp]) -> NDArray[np.float64] | None:
        if self.stack_ is None:
            return super()._scores_without(place)
        chosen, views = Plan(place, np.zeros(1, dtype=np.intp), 0), self.stack_.views
        abstain = self.unreached == "abstain"
        left = []
        for flow in views.flows:
            with self.session().prepare(flow.problem) as session:
                left.append(
                    leave_out(session, flow.solution, self.seeds_.codes, chosen, abstain=abstain)
                )
        X, *_ = views.left_out(left, chosen)
        Z = self.stack_.stack.logits(X) - self.stack_.softmax.shift
        return Z if left[0].reached[0] else None

    def compare_decisions(self) -> list[Decided]:
        """What each decision makes of the paper's flow, beside the model."""
        if self.stack_ is None:
            return super().compare_decisions()
        some = self._looked_at()
        own = self._codes[some].astype(np.intp)
        others = compared(self.left_out_, self.temperatures_[some], self._means, "centered", own)
        return [decided(self.left_out_, STACKED, own, own, len(self.classes_)), *others]


def tell(progress: Progress | None) -> None:
    """Let the caller know that the work goes on; what it raises ends it."""
    if progress is not None:
        progress(0, np.nan)


def _reason(seeds: Seeds, chosen: Plan | None) -> str:
    """Why the paper's choice stays, if it does."""
    if len(seeds.classes) < 2:
        return "there is only one class"
    if chosen is None:
        return "too few seeds share their class with another seed to learn from"
    return ""
