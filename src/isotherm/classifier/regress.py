"""DirichletRegressor: real values instead of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin

from isotherm.classifier.contract import Estimator
from isotherm.classifier.estimator import (
    NO_HEAT,
    PREDICTED,
    SEED,
    DirichletEstimator,
    check_is_fitted,
)
from isotherm.classifier.inputs import graph_and_labels
from isotherm.dirichlet import DirichletProblem
from isotherm.errors import LabelError
from isotherm.graph.nodes import is_missing
from isotherm.labels import locate
from isotherm.locks import answers_one_at_a_time
from isotherm.read_only import seal
from isotherm.trust.values import leave_values_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.engine import Engine
    from isotherm.graph import Graph
    from isotherm.solvers.method import Solver
    from isotherm.solvers.options import Progress
    from isotherm.trust.values import ValuesLeftOut


@answers_one_at_a_time
class DirichletRegressor(DirichletEstimator, RegressorMixin, Estimator):
    """Give every node of a graph a value, from a few nodes with known values.

    Seeds are held at their values, as temperatures; all other values are those at equilibrium.

    Parameters
    ----------
    leak, tol, solver, engine, threads, memory, unreached, warm_start
        See `DirichletClassifier`; heat leaks towards the value 0, and ``"abstain"`` gives NaN.
        `tol` is in the unit of the values: 1e-6 suits values around 1, not prices in millions
        or concentrations in parts per billion.

    Attributes
    ----------
    names_ : array of shape (n,)
        Node ids, in the order of all arrays below.
    temperatures_ : array of shape (n,)
        The values of all nodes.
    mean_temperatures_ : float
        Their mean, over the nodes that have one.
    status_ : array of shape (n,)
        ``"seed"``, ``"predicted"`` or ``"unreached"``.
    certified_ : bool array of shape (n,)
        Whether the value is proven to within `tol`.
    solution_ : Solution
    n_iter_ : int

    Examples
    --------
    >>> from isotherm import DirichletRegressor, Graph
    >>> path = Graph.from_edges("abcd", "bcde")
    >>> DirichletRegressor().fit(path, {"a": -2.0, "e": 2.0}).predict().round(6).tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """

    mean_temperatures_: float
    status_: NDArray[np.str_]
    certified_: NDArray[np.bool_]

    def __init__(
        self,
        *,
        leak: float = 0.0,
        tol: float = 1e-6,
        solver: str | Solver = "auto",
        engine: str | Engine = "auto",
        threads: int | None = None,
        memory: int | None = None,
        unreached: Literal["abstain", "zero"] = "abstain",
        warm_start: bool = False,
    ) -> None:
        self.leak = leak
        self.tol = tol
        self.solver = solver
        self.engine = engine
        self.threads = threads
        self.memory = memory
        self.unreached = unreached
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any, *, progress: Progress | None = None) -> Self:
        """Find the values of all nodes.

        Parameters
        ----------
        X : Graph, square matrix, networkx or igraph graph
            The graph.
        y : array of shape (n,), mapping or pandas Series {node: value}, or other
            The values, None or NaN where unknown (−1 is a value like any other). Or a DataFrame, or
            the name of an attribute; see `DirichletClassifier.fit`.
        progress : callable, optional
            See `DirichletClassifier.fit`.

        Raises
        ------
        GraphError, LabelError, ParameterError
            On input that makes no problem.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If values could not be proven to `tol`.
        """
        self._check()
        graph, values = graph_and_labels(X, y, self)
        positions, known = _known_values(values, graph)
        problem = DirichletProblem(graph, positions, known, leak=self.leak)
        session = self._prepare(problem)
        solution = self._solve(
            session,
            start=self._previous(graph, getattr(self, "solution_", None)),
            progress=progress,
        )

        self._record(graph.nodes, session, solution)
        T = self._with_unreached(solution.temperatures, solution.unreached)
        self.temperatures_ = T[:, 0]
        self.mean_temperatures_ = float(np.nanmean(self.temperatures_, dtype=np.float64))
        self.certified_ = ~(solution.error_bound > self.tol)
        is_seed = np.zeros(graph.n_nodes, dtype=bool)
        is_seed[problem.boundary] = True
        self.status_ = np.select([is_seed, solution.unreached], [SEED, NO_HEAT], PREDICTED)
        seal(self)
        return self

    def predict(self, X: Any = None) -> NDArray[np.floating]:
        """Values of the fitted nodes, or of new ones; see `DirichletClassifier.predict`."""
        check_is_fitted(self)
        return self.temperatures_.copy() if X is None else self._extend(X)[:, 0]

    def spot_check(self) -> ValuesLeftOut:
        """What seeds would get if their own values were not known: how far off values may be.

        Up to 300 seeds are left out one at a time; on a graph of more than 150 000 edges up to 31,
        or a tenth of all seeds at once.

        Examples
        --------
        >>> from isotherm import DirichletRegressor, Graph
        >>> path = Graph.from_edges("abcd", "bcde")
        >>> model = DirichletRegressor().fit(path, {"a": -2.0, "c": 1.0, "e": 2.0})
        >>> model.spot_check().found.round(3).tolist()
        [1.0, 0.0, 1.0]
        """
        check_is_fitted(self)
        return leave_values_out(self.problem_, self._prepare)

    def columns(self) -> dict[str, list[Any]]:
        """What is known of each node, by the name of the column; see `to_frame`.

        ``value``, the ``error`` that it is proven not to exceed, ``status`` and ``certified``.
        """
        check_is_fitted(self)
        return {
            "node": self.names_.tolist(),
            "value": self.temperatures_.astype(np.float64).tolist(),
            "error": self.solution_.error_bound.tolist(),
            "status": self.status_.tolist(),
            "certified": self.certified_.tolist(),
        }

    def fit_predict(self, X: Any, y: Any) -> NDArray[np.floating]:
        """Values of all nodes; see `fit`."""
        return self.fit(X, y).predict()


def _known_values(values: Any, graph: Graph) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Positions and values of the seeds."""
    positions, given = locate(values, graph)
    known = np.array([not is_missing(value) for value in given.tolist()], dtype=bool)
    try:
        return positions[known], given[known].astype(np.float64)
    except (TypeError, ValueError) as error:
        raise LabelError(f"values must be real numbers: {error}") from None
