"""Equation (4), ``X = (I − Q)⁻¹ R Y``, by sparse factorisation, dense where F is small."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import scipy

from isotherm.errors import ParameterError
from isotherm.solvers.fill import elimination_order
from isotherm.solvers.method import Relaxation, check_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.fill import Order
    from isotherm.solvers.operator import Operator, Sources

DENSE = 128  # free nodes up to which a dense matrix is solved sooner than a sparse one is set up
FOR_SUPERLU = 2_000  # free nodes up to which its own order takes a few milliseconds at most
# Pivots that cancel to exactly 0, as they may where weights are far apart, can make SuperLU crash:
# the diagonal is a little larger than it should be, and refinement takes that back.
APART = 1 + 2.0**-46
WORK_PER_ENTRY = 200  # up to which an order of ours is looked for


@dataclass(frozen=True)
class Direct:
    """Sparse LU of the symmetric form ``M = D_F (I − Q)``, then refinement.

    With up to 128 free nodes the matrix is dense. Best for small or tree-like graphs; on large
    well-connected ones the factors fill up. Free nodes are eliminated in the order of
    `elimination_order`; where the graph is small or fills up, by the minimum degree of SuperLU,
    which takes time as the square of the leaves that a hub has.

    Parameters
    ----------
    max_iter : int
        Solves with the factors after which it gives up: the first, then refinements.

    Examples
    --------
    >>> from isotherm import Direct, Graph, solve_dirichlet
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> solution = solve_dirichlet(path, [0, 3], [0.0, 3.0], solver=Direct())
    >>> solution.temperatures.round(6).ravel().tolist(), solution.solver
    ([0.0, 1.0, 2.0, 3.0], 'direct')
    """

    max_iter: int = 4
    _order: Order | None = field(default=None, repr=False, compare=False)  # if it is known already
    name: ClassVar[str] = "direct"

    def __post_init__(self) -> None:
        check_count(self.max_iter, "max_iter")

    def bind(self, operator: Operator) -> BoundDirect:
        """Factorise one matrix."""
        problem, order = operator.problem, self._order
        if order is not None and len(order.nodes) != problem.n_free:
            raise ParameterError(
                f"the order is for {len(order.nodes)} nodes, but {problem.n_free} are free"
            )
        try:
            is_small = order is None and problem.n_free <= DENSE
            factors: Solved | None = Dense(problem) if is_small else Factors(problem, order)
        except RuntimeError:
            factors = None  # singular in float64: the weights are too far apart
        return BoundDirect(operator, factors, self.max_iter)


class Solved(Protocol):
    """What solves with M."""

    def solve(self, R: NDArray[np.float64]) -> NDArray[np.float64]:
        """``M⁻¹ R``."""
        ...


class Dense:
    """M as a dense matrix; SciPy, which takes long to load, is not needed."""

    def __init__(self, problem: DirichletProblem) -> None:
        inner = problem.graph.rows.among(problem.free)
        self.matrix = np.diag(problem.diagonal)
        row = np.repeat(np.arange(len(self.matrix)), np.diff(inner.start))
        self.matrix[row, inner.ends] -= 1.0 if inner.weights is None else inner.weights

    def solve(self, R: NDArray[np.float64]) -> NDArray[np.float64]:
        try:
            return np.asarray(np.linalg.solve(self.matrix, R), dtype=np.float64)
        except np.linalg.LinAlgError:
            return np.zeros_like(R)  # singular, as above: nothing is gained


class Factors:
    """``M = L U``, its rows and columns in a given order or, without one, in SuperLU's own."""

    def __init__(self, problem: DirichletProblem, order: Order | None) -> None:
        from scipy.sparse.linalg import splu  # not needed where conjugate gradients will do

        if order is None and problem.n_free > FOR_SUPERLU:
            size = problem.n_free + problem.inner.nnz
            order = elimination_order(problem.inner, most_work=WORK_PER_ENTRY * size)
        diagonal = APART * problem.diagonal
        matrix = (scipy.sparse.diags_array(diagonal) - problem.inner).tocsr()
        self.nodes = slice(None) if order is None else order.nodes
        how: dict[str, Any] = {"permc_spec": "MMD_AT_PLUS_A"}
        if order is not None:
            # Columns one by one: most have few entries, which SuperLU is not to pad with zeros.
            how = {"permc_spec": "NATURAL", "relax": 1, "panel_size": 1}
            matrix = matrix[order.nodes][:, order.nodes]
        # M is diagonally dominant: its diagonal entries are safe pivots.
        self.lu = splu(
            matrix.tocsc(), diag_pivot_thresh=0.0, options={"SymmetricMode": True}, **how
        )

    def solve(self, R: NDArray[np.float64]) -> NDArray[np.float64]:
        """``M⁻¹ R``."""
        X = np.empty_like(R)
        X[self.nodes] = self.lu.solve(R[self.nodes])
        return X


class BoundDirect(Relaxation):
    """See `isotherm.solvers.method.Method`."""

    def __init__(self, operator: Operator, factors: Solved | None, max_iter: int) -> None:
        super().__init__(operator)
        self.factors = factors
        self.max_iter = max_iter

    def relax(
        self, X: NDArray[np.floating], target: float, sources: Sources | None
    ) -> Iterator[NDArray[np.float64]]:
        free = self.operator.problem.free
        R = self.operator.residual(X, sources)
        last = np.full(X.shape[1], np.inf)
        for _ in range(self.max_iter):
            level = self.operator.level(R)
            yield level
            # Rounding is all that is left of a residual that a refinement did not halve.
            done = (level <= target) | ~(level < last / 2)
            if done.all() or self.factors is None:
                return
            last = level
            X[free] += self.factors.solve(R[free])
            R = self.operator.residual(X, sources)
        yield self.operator.level(R)
