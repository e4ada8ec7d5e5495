"""An engine of dense NumPy arrays: what somebody would write who wants one more.

It overrides the one product that everything else is made of; the rest is the reference's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from isotherm.engines.session import HostSession
from isotherm.solvers.operator import ReferenceOperator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers import SolveOptions


@dataclass(frozen=True)
class DenseEngine:
    """For graphs of a few hundred nodes."""

    name: ClassVar[str] = "dense"

    def prepare(self, problem: DirichletProblem, options: SolveOptions) -> HostSession:
        """Make the matrix of a problem ready."""
        return HostSession(self.name, problem, options, DenseOperator)


class DenseOperator(ReferenceOperator):
    """M as a dense array, 0 in the rows and columns of nodes that are not free."""

    @cached_property
    def _held_weights(self) -> NDArray[np.float64]:
        weights = self.problem.graph.adjacency.toarray()
        weights[~self.problem.is_free] = 0.0
        return np.asarray(weights)

    def apply(self, P: NDArray[np.float64]) -> NDArray[np.float64]:
        """Product M P at free nodes, 0 elsewhere."""
        known = np.nan_to_num(P, nan=0.0)  # nodes that no heat reaches have no temperature
        product = self.diagonal * P - self._held_weights @ known
        product[~self.problem.is_free] = 0.0
        return np.asarray(product)
