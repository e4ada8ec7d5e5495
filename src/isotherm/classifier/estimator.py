"""What all estimators share: the solve, warm starts, and new nodes."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from isotherm.classifier.caller import depth_of_caller
from isotherm.classifier.export import Exporting
from isotherm.engines import choose_engine
from isotherm.errors import GraphError, ParameterError
from isotherm.graph.weights import as_weight_matrix
from isotherm.solvers import SolveOptions, Warm

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.engine import Engine, Session
    from isotherm.graph import Graph
    from isotherm.graph.nodes import NodeIndex
    from isotherm.solvers import Solution
    from isotherm.solvers.method import Solver
    from isotherm.solvers.options import Progress, Stop

logger = logging.getLogger(__name__)

ROWS = 1 << 17  # worked on at once where all would take much room
NUMBERS = 1 << 18  # in these rows, at the most
UNREACHED = ("abstain", "zero")
SEED, PREDICTED, TIE, NO_HEAT = "seed", "predicted", "tie", "unreached"  # values of status_
UNSURE = "unsure"  # of a node whose label is not probable enough, where that is asked for
STATUS = (SEED, PREDICTED, TIE, NO_HEAT, UNSURE)


class DirichletEstimator(Exporting):
    """Base of the estimators, which have these parameters in common."""

    tol: float
    solver: str | Solver
    engine: str | Engine
    threads: int | None
    memory: int | None
    unreached: str
    warm_start: bool

    temperatures_: NDArray[np.floating]
    solution_: Solution
    problem_: DirichletProblem
    n_iter_: int
    _session: Session | None
    _nodes: NodeIndex
    _fitted_with: tuple[float, str]  # leak and rule for unreached nodes; parameters may change

    @property
    def names_(self) -> NDArray[np.generic]:
        """Node ids, shape (n,)."""
        check_is_fitted(self)
        return self._nodes.ids

    def node_texts(self) -> Any:
        """Node ids, written out, as an Arrow array of texts."""
        check_is_fitted(self)
        return self._nodes.as_texts()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_session": None}  # prepared again when needed

    def _prepare(self, problem: DirichletProblem) -> Session:
        """Make a problem ready on the engine asked for."""
        if self.unreached not in UNREACHED:
            raise ParameterError.unknown("rule for unreached nodes", self.unreached, UNREACHED)
        options = SolveOptions(self.tol, self.solver, self.threads, self.memory)
        return choose_engine(self.engine, problem.graph).prepare(problem, options)

    def session(self) -> Session:
        """The problem of the fit, made ready for further solves; see `isotherm.engines.engine`."""
        check_is_fitted(self)
        if self._session is not None and self._session.is_busy:
            return self._prepare(self.problem_)  # another thread has asked, too
        if self._session is None:
            self._session = self._prepare(self.problem_)
        return self._session

    def _solve(
        self,
        session: Session,
        *,
        start: Warm | None = None,
        stop: Stop | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """Solve; a solve that failed is a warning with the bound that it did reach."""
        solution = session.solve(start=start, stop=stop, progress=progress)
        self._tell(solution)
        return solution

    def _tell(self, solution: Solution) -> None:
        """Say how a solve has ended."""
        if not solution.converged:
            from sklearn.exceptions import ConvergenceWarning  # slow to load, and seldom needed

            warnings.warn(solution.shortfall, ConvergenceWarning, stacklevel=depth_of_caller())
            return
        if not logger.isEnabledFor(logging.INFO):
            return
        logger.info(
            "solved by %s on %s in %d %s: temperatures are proven to %.1e",
            solution.solver,
            solution.engine,
            solution.n_iter,
            "step" if solution.n_iter == 1 else "steps",
            solution.certificate.bound,
        )

    def _record(self, nodes: NodeIndex, session: Session, solution: Solution) -> None:
        """Keep what every fitted estimator has."""
        self._nodes = nodes
        self._session = session
        self.problem_ = session.problem
        self.n_features_in_ = len(nodes)
        self.solution_ = solution
        self.n_iter_ = solution.n_iter
        self._fitted_with = (session.problem.leak, self.unreached)

    @contextmanager
    def _or_as_before(self) -> Iterator[None]:
        """What fails in here, or is interrupted, leaves the estimator as it was."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            session = before.get("_session")
            if session is not None and session.problem is not self.problem_:
                self._session = None  # has moved on: it is prepared again when needed
            raise

    def _with_unreached(
        self, T: NDArray[np.floating], unreached: NDArray[np.bool_]
    ) -> NDArray[np.floating]:
        """Temperatures with the rule for unreached nodes applied: NaN or zero."""
        if self.unreached == "abstain" or not unreached.any():
            return T
        T = T.copy()
        T[unreached] = 0.0
        return T

    def _previous(self, graph: Graph, found: Solution | None) -> Warm | None:
        """Where a fit may start: what the last one found, each node's found by its id.

        A node that was not there starts from the mean of its neighbours.
        """
        if not self.warm_start or found is None:
            return None
        if self._nodes.same_as(graph.nodes):
            return Warm.of(found)
        before = self._nodes.find(graph.nodes.ids)
        known = before >= 0
        T = np.zeros((graph.n_nodes, found.temperatures.shape[1]))
        T[known] = np.nan_to_num(found.temperatures[before[known]])
        new = np.flatnonzero(~known)
        around = graph.adjacency[new]
        weights = around @ known.astype(np.float64)
        T[new] = (around @ T) / np.where(weights > 0, weights, 1.0)[:, np.newaxis]
        return Warm(T)

    def _extend(self, rows: Any, of: NDArray[np.floating] | None = None) -> NDArray[np.float64]:
        """Temperatures of new nodes, or what else is `of` nodes: equation (2), fitted ones held.

        Fitted nodes without a temperature are not looked at: joined to the rest by the new
        node alone, they would take its temperature and not change it.
        """
        weights = self._new_weights(rows)
        T = (self.temperatures_ if of is None else of).reshape(len(self.temperatures_), -1)
        usable = np.flatnonzero(~np.isnan(T[:, 0]))
        weights = weights[:, usable]
        total = weights @ np.ones(len(usable))
        if not np.isfinite(total).all():
            bad = int(np.flatnonzero(~np.isfinite(total))[0])
            raise GraphError(
                f"the weights of a new node (row {bad}) add up to infinity: scale them down"
            )
        leak, unreached = self._fitted_with
        with np.errstate(invalid="ignore"):  # 0 / 0 where a new node has no neighbour
            extended = (weights @ T[usable]) / ((1 + leak) * total)[:, np.newaxis]
        if unreached == "zero":
            extended[total == 0] = 0.0
        return np.asarray(extended, dtype=np.float64)

    def _new_weights(self, rows: Any) -> scipy.sparse.csr_array:
        """The weights of new nodes to the fitted ones, checked."""
        n_nodes = len(self.temperatures_)
        if isinstance(rows, Mapping) and not scipy.sparse.issparse(rows):  # DOK is both
            rows = self._weights_of(rows)
        if not scipy.sparse.issparse(rows):
            rows = np.asarray(rows)
        if rows.ndim != 2:
            raise GraphError(
                f"new nodes must be the rows of a matrix of weights, got shape {rows.shape}. "
                "Reshape your data; for a single node use X.reshape(1, -1)"
            )
        weights = as_weight_matrix(rows)
        if rows.shape[1] != n_nodes:
            raise GraphError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {n_nodes} "
                "features as input: new nodes must be the rows of a matrix of weights, with one "
                "column for each fitted node"
            )
        return weights

    def _weights_of(
        self, new: Mapping[Hashable, Mapping[Hashable, float]]
    ) -> scipy.sparse.csr_array:
        """The rows of new nodes given by the ids of their neighbours, in the order given."""
        ends = [node for neighbours in new.values() for node in neighbours]
        weights = [weight for neighbours in new.values() for weight in neighbours.values()]
        own = np.repeat(np.arange(len(new)), [len(neighbours) for neighbours in new.values()])
        found = self._nodes.positions(ends) if ends else np.empty(0, np.intp)
        try:
            numbers = np.array(weights, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise GraphError(f"the weights of a new node must be numbers: {error}") from None
        return scipy.sparse.csr_array(
            (numbers, (own, found)), shape=(len(new), len(self.temperatures_))
        )


def check_is_fitted(estimator: DirichletEstimator) -> None:
    """Raise scikit-learn's NotFittedError unless there has been a fit."""
    if not hasattr(estimator, "temperatures_"):
        from sklearn.exceptions import NotFittedError  # slow to load, and seldom needed

        name = type(estimator).__name__
        raise NotFittedError(f"this {name} is not fitted yet: call fit first")


def slices(n: int, at_once: int = ROWS) -> Iterator[slice]:
    """All of n rows, some at a time."""
    return (slice(first, min(first + at_once, n)) for first in range(0, n, at_once))


def rows_at_once(n_columns: int) -> int:
    """How many rows of so many columns are worked on at once."""
    return max(1, min(ROWS, NUMBERS // n_columns))
