"""The engine that docs/engines.md shows: what somebody would write who wants one more."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from isotherm.engines.api import HostSession, ReferenceOperator


@dataclass(frozen=True)
class DenseEngine:
    """For graphs of a few hundred nodes."""

    name: ClassVar[str] = "dense"

    def prepare(self, problem, options):
        """Make the matrix of a problem ready."""
        return HostSession(self.name, problem, options, DenseOperator)


class DenseOperator(ReferenceOperator):
    """M by way of a dense array; all else is SciPy's."""

    @cached_property
    def weights(self):
        return self.problem.graph.adjacency.toarray()

    def apply(self, P):
        """M P at free nodes, 0 elsewhere, for P of shape (n, k)."""
        known = np.nan_to_num(P, nan=0.0)  # nodes that no heat reaches have no temperature
        product = self.diagonal * P - self.weights @ known
        product[~self.problem.is_free] = 0.0
        return product
