"""The matrix of a Dirichlet problem: what solvers use of it, and the reference in SciPy.

Arrays of temperatures have one row per node of the graph, also those held: a residual is then one
product with the adjacency matrix, and nothing needs to be cut out of it or put together again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

from isotherm.read_only import cached_property
from isotherm.rounding import UNIT_ROUNDOFF
from isotherm.solvers.imbalance import drains_of, imbalance
from isotherm.solvers.superposition import superpose

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.imbalance import Imbalance
    from isotherm.solvers.method import Method, Solver
    from isotherm.solvers.superposition import Superposition

    Numbers = NDArray[np.floating]
    # Heat put in at some nodes: which, and a row for each.
    Sources = tuple[NDArray[np.intp], NDArray[np.float64]]

WIDEST_RANGE = 1e6  # of degrees whose roots still measure residuals well
USUAL_EXIT_TIME = 30.0  # h in units of the least degree, unless the graph is hard


class Operator(Protocol):
    """The matrix ``M = (1 + τ) D_F + diag(a) − A_FF`` of one problem.

    Attributes
    ----------
    problem : DirichletProblem
        Whose matrix it is; what the seeds are held at does not matter.
    """

    problem: DirichletProblem

    @property
    def eliminates(self) -> bool:
        """Whether conjugate gradients eliminate nodes of few neighbours, as those of trees."""
        ...

    @property
    def gauge(self) -> NDArray[np.float64]:
        """The unit w in which the residual of each node is measured; see the function `gauge`."""
        ...

    @property
    def diagonal(self) -> NDArray[np.float64]:
        """The diagonal of M at free nodes, 1 elsewhere; shape (n, 1)."""
        ...

    def apply(self, P: Numbers) -> NDArray[np.float64]:
        """Product M P at free nodes, 0 elsewhere; P, of shape (n, k), is 0 there too."""
        ...

    def residual(self, X: Numbers, sources: Sources | None = None) -> NDArray[np.float64]:
        """Heat that flows into free nodes, with what is put in, less what is lost; 0 elsewhere."""
        ...

    def level(self, R: NDArray[np.float64]) -> NDArray[np.float64]:
        """Size of a residual, ``max_i |R_ik| / w_i`` for each column k."""
        ...

    def imbalance(
        self,
        problem: DirichletProblem,
        X: Numbers,
        h: NDArray[np.float64],
        drains: NDArray[np.float64] | None = None,
    ) -> Imbalance:
        """The numbers that prove X, of shape (n, k), by the exit times h, of shape (n,)."""
        ...

    def drains(
        self, problem: DirichletProblem, h: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """What h drains from each free node, for several proofs; None if nothing is gained so."""
        ...

    def superpose(self, sum_of: Superposition) -> tuple[Numbers, NDArray[np.float64]]:
        """Temperatures with others added to them, and how far off they are; see there."""
        ...

    def method(self, solver: Solver) -> Method:
        """How a solver is run on this matrix."""
        ...


class ReferenceOperator:
    """See `Operator`; in float64, by `scipy.sparse`.

    Parameters
    ----------
    problem : DirichletProblem
    tol : float
        To which it is to be solved.
    """

    def __init__(self, problem: DirichletProblem, tol: float) -> None:
        self.problem = problem
        self._tol = tol

    @property
    def eliminates(self) -> bool:
        return False

    @cached_property
    def gauge(self) -> NDArray[np.float64]:
        return gauge(self.problem, self._tol)

    @cached_property
    def _held(self) -> NDArray[np.bool_]:
        return ~self.problem.is_free

    @cached_property
    def diagonal(self) -> NDArray[np.float64]:
        whole = (1.0 + self.problem.leak) * self.problem.graph.degrees + self.problem.tie_weights
        whole[self._held] = 1.0
        return np.asarray(whole[:, np.newaxis])

    @cached_property
    def _adjacency(self) -> sparse.csr_array:
        return self.problem.graph.adjacency

    def apply(self, P: Numbers) -> NDArray[np.float64]:
        product: NDArray[np.float64] = self.diagonal * P
        graph = self.problem.graph
        product -= graph.rows.product(P) if graph.rows.are_few else self._adjacency @ P
        product[self._held] = 0.0
        return product

    def residual(self, X: Numbers, sources: Sources | None = None) -> NDArray[np.float64]:
        R = -self.apply(X)
        if sources is not None:
            nodes, rows = sources
            R[nodes] += rows
        return R

    def level(self, R: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((np.abs(R) / self.gauge[:, np.newaxis]).max(axis=0, initial=0.0))

    def imbalance(
        self,
        problem: DirichletProblem,
        X: Numbers,
        h: NDArray[np.float64],
        drains: NDArray[np.float64] | None = None,
    ) -> Imbalance:
        return imbalance(problem, X, h, drains)

    def drains(
        self, problem: DirichletProblem, h: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        return drains_of(problem, h)

    def superpose(self, sum_of: Superposition) -> tuple[Numbers, NDArray[np.float64]]:
        return superpose(sum_of)

    def method(self, solver: Solver) -> Method:
        return solver.bind(self)


def roots_measure_well(degrees: tuple[float, float], longest: int, tol: float) -> bool:
    """Whether residuals are measured by the roots of degrees rather than by the degrees.

    Conjugate gradients make ``|r| / √d`` small, so that measured by it a certificate is met
    sooner where degrees differ: by 3 times on an R-MAT graph. But rounding at hubs counts for
    more: not with degrees of very different sizes, nor close to the limits of float64.

    Parameters
    ----------
    degrees : tuple of two floats
        The least and the greatest degree of a free node, or a wider range.
    longest : int
        Entries of the longest row.
    tol : float
    """
    least, most = degrees
    if not least > 0:  # a tie too weak for float64, and no edge
        return False
    rounding = 4 * UNIT_ROUNDOFF * (longest + 8) * math.sqrt(most / min(least, 1e300))
    return most <= WIDEST_RANGE * least and USUAL_EXIT_TIME * rounding <= tol


def root_measures(problem: DirichletProblem, tol: float) -> bool:
    """Whether the residuals of a problem are measured so; see `roots_measure_well`."""
    rows = problem.graph.rows
    if problem.ties is not None or rows.has_weights:
        return roots_measure_well(problem.degree_range, rows.longest, tol)
    # With all weights 1, degrees are between these: mostly the nodes need not be looked at.
    return roots_measure_well((1.0, rows.longest), rows.longest, tol) or roots_measure_well(
        problem.degree_range, rows.longest, tol
    )


def gauge(problem: DirichletProblem, tol: float) -> NDArray[np.float64]:
    """The unit w of residuals at each node: √d or d at free nodes, ties included; 1 at others."""
    degrees = problem.capacities
    w = np.sqrt(degrees) if root_measures(problem, tol) else degrees.copy()
    w[~problem.is_free] = 1.0
    return w
