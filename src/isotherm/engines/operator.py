"""What an engine must offer: the operator of a Dirichlet problem.

Arrays of temperatures have one row per node of the graph, also those held: a residual is then one
product with the adjacency matrix, and nothing needs to be cut out of it or put together again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from isotherm.rounding import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.imbalance import Imbalance

WIDEST_RANGE = 1e6  # of degrees whose roots still measure residuals well
USUAL_EXIT_TIME = 30.0  # h in units of the least degree, unless the graph is hard


class Operator(Protocol):
    """The matrix ``M = (1 + τ) D_F − A_FF`` of one problem.

    Attributes
    ----------
    problem : DirichletProblem
    """

    problem: DirichletProblem

    @property
    def gauge(self) -> NDArray[np.float64]:
        """The unit w in which the residual of each node is measured; see the function `gauge`."""
        ...

    def apply(self, P: NDArray[np.float64]) -> NDArray[np.float64]:
        """Product M P at free nodes, 0 elsewhere; P, of shape (n, k), is 0 there too."""
        ...

    def residual(self, X: NDArray[np.float64], heat: float = 0.0) -> NDArray[np.float64]:
        """``heat · w + A X − (1 + τ) D X`` at free nodes, 0 elsewhere."""
        ...

    def level(self, R: NDArray[np.float64]) -> NDArray[np.float64]:
        """Size of a residual, ``max_i |R_ik| / w_i`` for each column k."""
        ...

    def imbalance(self, X: NDArray[Any], h: NDArray[np.float64]) -> Imbalance:
        """The numbers that prove X, of shape (n, k), by the exit times h, of shape (n,)."""
        ...


class Engine(Protocol):
    """Makes operators."""

    @property
    def name(self) -> str:
        """The name by which users choose it."""
        ...

    def operator(self, problem: DirichletProblem, tol: float) -> Operator:
        """Prepare the operator of a problem that is to be solved to `tol`."""
        ...


def root_measures(problem: DirichletProblem, tol: float) -> bool:
    """Whether residuals are measured by the roots of degrees rather than by the degrees.

    Conjugate gradients make ``|r| / √d`` small, so that measured by it a certificate is met
    sooner where degrees differ: by 3 times on an R-MAT graph. But rounding at hubs counts for
    more: not with degrees of very different sizes, nor close to the limits of float64.
    """
    least, most = problem.degree_range
    terms = problem.graph.rows.longest + 8
    rounding = 4 * UNIT_ROUNDOFF * terms * np.sqrt(most / min(least, 1e300))
    return bool(most <= WIDEST_RANGE * least and USUAL_EXIT_TIME * rounding <= tol)


def gauge(problem: DirichletProblem, tol: float) -> NDArray[np.float64]:
    """The unit w of residuals at each node: √d or d at free nodes, 1 at others."""
    degrees = problem.graph.degrees
    w = np.sqrt(degrees) if root_measures(problem, tol) else degrees.copy()
    w[~problem.is_free] = 1.0
    return w
