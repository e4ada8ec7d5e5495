"""Several heat flows and other views of the graph, combined; see `isotherm.stacking`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from isotherm.arithmetic import in_standard_arithmetic
from isotherm.blas import one_blas_thread
from isotherm.classifier.algorithm import HeatClassifier
from isotherm.classifier.estimator import PREDICTED, STATUS, TIE, slices
from isotherm.classifier.model import FoundLater
from isotherm.classifier.stacked_model import StackedModel
from isotherm.graph.keys import node_keys, salted
from isotherm.locks import answers_one_at_a_time
from isotherm.stacking.combination import Combination, Softmax, lead
from isotherm.stacking.embedding import embed, fits
from isotherm.stacking.flows import FURTHER, PAPER, Flow, damped
from isotherm.stacking.left_out import Plan, StackedLeftOut, leave_out, plan
from isotherm.stacking.model import Stack, fit_stack
from isotherm.stacking.surroundings import Surroundings
from isotherm.stacking.views import Embedded, Views
from isotherm.trust.abstain import check_probability
from isotherm.trust.best_effort import solve_best_effort

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from isotherm.classifier.model import HeatModel
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


@answers_one_at_a_time
class StackedHeatClassifier(HeatClassifier):
    """What `isotherm.StackedDirichletClassifier` does, without scikit-learn."""

    decision, leak = "centered", 0.0  # of the paper's flow

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
        drawn: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Find the labels of all nodes; see `isotherm.DirichletClassifier.fit`."""
        check_probability(self.balance, "balance")
        return super().fit(X, y, confidence, drawn=drawn, progress=progress)

    def _conclude(
        self,
        nodes: NodeIndex,
        session: Session,
        solution: Solution,
        seeds: Seeds,
        starts: Sequence[Warm | None],
        progress: Progress | None,
    ) -> HeatModel:
        heat = super()._conclude(nodes, session, solution, seeds, starts, progress)
        self.stack_, self.views_ = None, []
        keys, n_entries = node_keys(nodes, seeds.nodes), session.problem.graph.rows.n_entries
        chosen = plan(seeds.codes, len(seeds.classes), keys, n_entries, seeds.drawn)
        self.fallback_ = _reason(seeds, chosen)
        if chosen is not None and not self.fallback_:
            with one_blas_thread:
                self._combine(session, seeds, heat, chosen, starts, progress)
        return heat

    def _starts(self, graph: Graph, classes: NDArray[np.generic]) -> list[Warm | None]:
        before: Combination | None = getattr(self, "stack_", None)
        flows = [] if before is None else before.views.flows[1:]
        further = [self._warm(flow.solution, graph, classes) for flow in flows]
        return [*super()._starts(graph, classes), *further]

    @in_standard_arithmetic
    def _combine(
        self,
        session: Session,
        seeds: Seeds,
        heat: HeatModel,
        chosen: Plan,
        starts: Sequence[Warm | None],
        progress: Progress | None,
    ) -> None:
        """Solve the further flows, leave seeds out of all, and fit the model."""
        graph, abstain = session.problem.graph, heat.abstain
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

        def fitted(rows: NDArray[np.bool_], close: Stack | None = None) -> Stack:
            return fit_stack(X[:, rows], Y[rows], seeds.shares, views.counts, close)

        stack = fitted(judged)
        self.views_ = list(zip(views.names, stack.weights.tolist(), strict=True))
        softmax = Softmax(np.zeros(Y.shape[1]), stack.n_judged)
        self.stack_ = combination = self._decide(Combination(views, stack, softmax))
        # Honest: a seed is judged by a model that was fitted to seeds of the other parts.
        logits, sure = np.empty(X.shape[1:]), np.zeros(X.shape[1], dtype=bool)
        shift = combination.softmax.shift
        for rows in chosen.parts:
            others = judged.copy()
            others[rows] = False
            model = fitted(others, stack) if others.any() else stack
            logits[rows] = model.logits(X[:, rows]) - shift
            ends = model.bounds(low[:, rows], high[:, rows], shift)
            sure[rows] = lead(logits[rows], *ends) > 0
        sample = StackedLeftOut.of(left[0], logits, sure)
        self._model = StackedModel(heat, combination, sample, self._codes)
        self._later = FoundLater(sample, combination.softmax)

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
                keys = salted(node_keys(graph.nodes, seeds.nodes), "regression")
                embedded = Embedded(vectors, seeds.nodes, seeds.counts, keys)
        if n_judged >= MANY_SEEDS:
            surroundings = Surroundings(graph, seeds.nodes, seeds.values)
        return Views(flows, embedded, surroundings)

    def _decide(self, found: Combination) -> Combination:
        """Make labels of what all views say, balanced as asked for."""
        free = np.isin(self._status, [STATUS.index(PREDICTED), STATUS.index(TIE)])
        if self.balance and free.any():
            parts = (found.softmax(found.logits(rows)[free[rows]]) for rows in self._slices())
            sizes = sum(part.sum(axis=0) for part in parts) / np.count_nonzero(free)
            found = found.balanced(sizes, self.balance)
        for rows in self._slices():
            some = free[rows]
            Z, (low, high) = found.logits(rows)[some], found.bounds(rows)
            best, here = Z.argmax(axis=1), np.flatnonzero(some) + rows.start
            proven = lead(Z, low[some], high[some]) > 0
            self._codes[here] = best
            self.margins_[here] = lead(Z, Z, Z)
            self.certified_[here] = proven
            self._status[here] = np.where(proven, STATUS.index(PREDICTED), STATUS.index(TIE))
        return found

    def _slices(self) -> Iterator[slice]:
        """All nodes, some at a time."""
        return slices(len(self.temperatures_), max(1, NUMBERS // len(self.classes_)))

    # --- the same questions, of which there is more to say ----------------------------------------

    @property
    def scores_(self) -> NDArray[np.float64]:
        """Scores of the classes at each node, shape (n, K): logits, if there is a model."""
        return super().scores_

    def leave_one_out(self, *, max_seeds: int | None = None, random_state: int = 0) -> LeaveOneOut:
        """What each seed would get if it were free, by models that were fitted without it.

        For up to 1500 seeds that are not the only ones of their class. Up to 300 seeds are left out
        one at a time; of more, a tenth at a time.

        Parameters
        ----------
        max_seeds, random_state
            See `isotherm.DirichletClassifier.leave_one_out`.
        """
        return super().leave_one_out(max_seeds=max_seeds, random_state=random_state)


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
