"""What all estimators share: the solve, warm starts, and new nodes."""

from __future__ import annotations

import logging
import warnings
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.caller import depth_of_caller
from isotherm.classifier.export import frame_of, networkx_of
from isotherm.classifier.new_nodes import extend, read_new_nodes
from isotherm.engines import check_engine, choose_engine
from isotherm.errors import ParameterError
from isotherm.locks import answers_one_at_a_time
from isotherm.read_only import Sealed
from isotherm.solvers import SolveOptions, Warm

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    import scipy
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.engine import Engine, Session
    from isotherm.graph import Graph
    from isotherm.graph.nodes import NodeIndex
    from isotherm.solvers import Solution
    from isotherm.solvers.method import Solver
    from isotherm.solvers.options import Progress

logger = logging.getLogger(__name__)

ROWS = 1 << 17  # worked on at once where all would take much room
NUMBERS = 1 << 18  # in these rows, at the most
UNREACHED = ("abstain", "zero")
SEED, PREDICTED, TIE, NO_HEAT = "seed", "predicted", "tie", "unreached"  # values of status_
UNSURE = "unsure"  # of a node whose label is not probable enough, where that is asked for
STATUS = (SEED, PREDICTED, TIE, NO_HEAT, UNSURE)


@answers_one_at_a_time
class DirichletEstimator(Sealed):
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

    def _steady(self) -> AbstractContextManager[None]:
        """While a question is answered; see `Rows.steady`."""
        problem = getattr(self, "problem_", None)
        return nullcontext() if problem is None else problem.graph.rows.steady()

    def _check(self) -> None:
        """Find what can be wrong with the parameters before any work is done."""
        if self.unreached not in UNREACHED:
            raise ParameterError.unknown("rule for unreached nodes", self.unreached, UNREACHED)
        check_engine(self.engine)

    def _prepare(self, problem: DirichletProblem) -> Session:
        """Make a problem ready on the engine asked for."""
        options = SolveOptions(self.tol, self.solver, self.threads, self.memory)
        return choose_engine(self.engine, problem.graph).prepare(problem, options)

    def session(self) -> Session:
        """The problem of the fit, made ready for further solves; see `isotherm.engines.engine`.

        It is for one thread, in which the model is asked, too.
        """
        check_is_fitted(self)
        kept = self._session
        if kept is not None and kept.is_busy:
            return self._prepare(self.problem_)  # used in another thread, which does not ask us
        if kept is None or kept.problem is not self.problem_:  # after a change that did not end
            self._session = kept = self._prepare(self.problem_)
        return kept

    def _solve(
        self,
        session: Session,
        *,
        start: Warm | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """Solve; a solve that failed is a warning with the bound that it did reach."""
        solution = session.solve(start=start, progress=progress)
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
        """Temperatures of new nodes, or what else is `of` nodes; see `extend`."""
        T = self.temperatures_ if of is None else of
        leak, unreached = self._fitted_with
        return extend(self._new_weights(rows), T, leak, abstain=unreached == "abstain")

    def _new_weights(self, rows: Any) -> scipy.sparse.csr_array:
        """The weights of new nodes to the fitted ones, checked."""
        return read_new_nodes(rows, self._nodes, type(self).__name__)

    # --- for other libraries, and for readers ----------------------------------------------------

    def columns(self) -> dict[str, list[Any]]:
        """What is known of each node, by the name of the column, in plain Python objects."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """What is known about each node, as a pandas DataFrame with a row for each.

        Its columns are those of the files that `isotherm.write_predictions` writes, with ids,
        labels and numbers as they are.

        Raises
        ------
        MissingLibrary
            If pandas is not installed.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, Graph
        >>> path = Graph.from_edges("abcd", "bcde")
        >>> clf = DirichletClassifier().fit(path, {"a": "left", "e": "right"})
        >>> print(clf.to_frame()[["node", "label", "margin", "status"]].round(3).head(3))
          node label  margin     status
        0    a  left     1.0       seed
        1    b  left     0.5  predicted
        2    c  left     0.0        tie
        """
        return frame_of(self.columns())

    def to_networkx(self) -> Any:
        """The graph as a networkx graph, with what is known about each node as its attributes.

        They are named as the columns of `to_frame`, and hold plain texts, numbers and truth values,
        so that networkx can write them to files; what a node does not have is left out. Edges have
        a weight if the graph is weighted.

        Raises
        ------
        MissingLibrary
            If networkx is not installed.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, Graph
        >>> path = Graph.from_edges("abcd", "bcde")
        >>> clf = DirichletClassifier().fit(path, {"a": "left", "e": "right"})
        >>> clf.to_networkx().nodes["b"]["label"]
        'left'
        """
        return networkx_of(self.problem_.graph, self.columns())

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a web page about what was found: one file that needs nothing else.

        Parameters
        ----------
        path : str or Path
        **options
            ``force=True`` replaces an existing file; see `isotherm.write_report`.

        Examples
        --------
        >>> import os, tempfile
        >>> from isotherm import DirichletClassifier, load_dataset
        >>> club = load_dataset("karate")
        >>> clf = DirichletClassifier().fit(club.graph, {0: "Mr. Hi", 33: "Officer"})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clf.report(f"{folder}/club.html")
        ...     print(os.listdir(folder))
        ['club.html']
        """
        import isotherm  # pages are made far above: see `isotherm.report`

        isotherm.write_report(self, path, **options)


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
