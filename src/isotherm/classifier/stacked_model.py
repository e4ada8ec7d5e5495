"""How a stacked classifier scores nodes: by several views of the graph, combined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from isotherm.classifier.model import HeatModel
from isotherm.decision import winners
from isotherm.stacking.left_out import STACKED, Plan, leave_out
from isotherm.trust.sample import drawn_seeds

if TYPE_CHECKING:
    from collections.abc import Callable

    import scipy
    from numpy.typing import NDArray

    from isotherm.classifier.model import FlowShare, Rows
    from isotherm.engines.engine import Session
    from isotherm.stacking.combination import Combination, Softmax
    from isotherm.stacking.left_out import StackedLeftOut
    from isotherm.trust.leave_one_out import LeftOut


@dataclass(frozen=True, eq=False)
class StackedModel:
    """Scores by all that is combined; see `HeatModel`.

    Attributes
    ----------
    heat : HeatModel
        The paper's flow alone.
    combination : Combination
    left : StackedLeftOut
        The seeds that were left out to fit it.
    codes : int array of shape (n,)
        The class that each node gets.
    """

    decision: ClassVar[str] = STACKED

    heat: HeatModel
    combination: Combination
    left: StackedLeftOut
    codes: NDArray[np.signedinteger]

    @property
    def shares(self) -> NDArray[np.floating]:
        return self.heat.shares

    @property
    def flows(self) -> list[FlowShare]:
        flows = self.combination.views.flows
        weights = np.maximum(self.combination.stack.weights[: len(flows)], 0.0)
        weights = weights / weights.sum() if weights.any() else np.eye(len(flows))[0]
        pairs = zip(weights.tolist(), flows, strict=True)
        return [(weight, flow.problem, flow.solution) for weight, flow in pairs]

    def scores(self, rows: Rows) -> NDArray[np.float64]:
        return self.combination.logits(rows)

    def extended(self, weights: scipy.sparse.csr_array) -> NDArray[np.float64]:
        return self.combination.extended(weights, self.heat.problem.graph.degrees)

    def new_codes(
        self,
        weights: scipy.sparse.csr_array,
        tol: float,  # noqa: ARG002
    ) -> NDArray[np.intp]:
        return winners(self.extended(weights))

    def calibrated(self, left: LeftOut | None) -> Softmax:  # noqa: ARG002  # is fitted to them
        return self.combination.softmax

    def certainties(self, left: LeftOut) -> NDArray[np.float64]:
        S = left.scores(STACKED)  # of models that were fitted to others
        return np.asarray(self.combination.softmax(S)[np.arange(len(S)), S.argmax(axis=1)])

    def leave_out(
        self,
        session: Callable[[], Session],  # noqa: ARG002  # they were left out in the fit
        max_seeds: int | None,
        random_state: int,
    ) -> LeftOut:
        some = drawn_seeds(self.heat.problem, self.left.places, max_seeds, random_state)
        return self.left if some is None else self.left.only(some)

    def scores_without(
        self, session: Session, place: NDArray[np.intp]
    ) -> NDArray[np.float64] | None:
        chosen, views = Plan(place, np.zeros(1, dtype=np.intp), 0), self.combination.views
        codes, abstain = self.heat.seed_codes, self.heat.abstain
        left = []
        for flow in views.flows:
            with session.prepare(flow.problem) as other:
                left.append(leave_out(other, flow.solution, codes, chosen, abstain=abstain))
        X, *_ = views.left_out(left, chosen)
        Z = self.combination.stack.logits(X) - self.combination.softmax.shift
        return Z if left[0].reached[0] else None


Model = HeatModel | StackedModel  # how a classifier scores
