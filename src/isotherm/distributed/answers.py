"""What a rank says of its own nodes: labels, margins, status, probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from isotherm.classifier.algorithm import HeatClassifier
from isotherm.classifier.model import FoundLater
from isotherm.classifier.seeds import Seeds
from isotherm.distributed.left_out import Fitted, leave_sample_out
from isotherm.graph.nodes import NodeIndex
from isotherm.trust.calibrate import calibrated
from isotherm.trust.choose import Selection
from isotherm.trust.sample import SAMPLE_TOL

if TYPE_CHECKING:
    import pyarrow as pa

    from isotherm.dirichlet import DirichletProblem
    from isotherm.distributed.labels import OwnSeeds
    from isotherm.engines.mpi.session import SharedSession
    from isotherm.solvers import Solution


class OwnAnswers(HeatClassifier):
    """A classifier that was fitted across ranks, of the nodes that one of them owns.

    What it says of them is what a fit of the whole graph would; means, and what scores are worth,
    are those of all ranks.
    """

    def conclude(
        self, texts: pa.Array, session: SharedSession, solution: Solution, seeds: OwnSeeds
    ) -> OwnAnswers:
        """Make labels of the temperatures of own nodes; all ranks at once."""
        ranks = session.problem.graph.ranks
        own = Seeds(seeds.nodes, seeds.codes, session.problem.values, None, np.array(seeds.classes))
        self._nodes = NodeIndex(texts)
        self.solution_ = solution
        problem = cast("DirichletProblem", session.problem)
        self.selection_ = Selection(self.decision, problem.leak, [], 0, problem.n_seeds)
        model = self._judge(problem, own, seeds.shares, ranks.sums)
        fitted = Fitted(session, solution, seeds.codes, model.abstain)
        left = leave_sample_out(fitted, max(self.tol, SAMPLE_TOL))
        unit = model.spread(ranks.sums)
        self._later = FoundLater(left, calibrated(left, self.decision, unit))
        return self
