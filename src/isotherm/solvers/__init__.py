"""Solvers: one Dirichlet problem → temperatures with a certificate.

`solve` chooses solver and engine, lets them make an `attempt`, and is the only place that turns a
failed one into an exception.
"""

from __future__ import annotations

import logging
import math
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.dirichlet import DirichletProblem
from isotherm.engines import choose_engine
from isotherm.errors import LabelError, NotConverged, ParameterError
from isotherm.graph import Graph
from isotherm.graph.nodes import as_column
from isotherm.memory import check_room
from isotherm.solvers.attempt import attempt
from isotherm.solvers.certificate import COVERED, Certificate
from isotherm.solvers.cg import ConjugateGradient
from isotherm.solvers.choice import ELIMINATION, SOLVERS, choose_solvers
from isotherm.solvers.direct import Direct
from isotherm.solvers.elimination import Elimination
from isotherm.solvers.method import Warm
from isotherm.solvers.solution import Solution
from isotherm.solvers.sweeps import Sweeps

if TYPE_CHECKING:
    from isotherm.engines.operator import Engine
    from isotherm.solvers.attempt import Excess
    from isotherm.solvers.method import Solver

__all__ = [
    "SOLVERS",
    "Certificate",
    "ConjugateGradient",
    "Direct",
    "Elimination",
    "Solution",
    "Sweeps",
    "Warm",
    "choose_solvers",
    "solve",
    "solve_dirichlet",
]

logger = logging.getLogger(__name__)


def solve_dirichlet(
    graph: Any,
    boundary: Any,
    values: Any,
    *,
    tol: float = 1e-6,
    leak: float = 0.0,
    solver: str | Solver = "auto",
    engine: str | Engine = "auto",
    start: Any = None,
) -> Solution:
    """Temperatures at equilibrium when some nodes are held at given ones (Section 2).

    Parameters
    ----------
    graph : Graph, matrix, networkx or igraph graph
    boundary : sequence of s node ids, or bool array of shape (n,)
        The nodes held.
    values : array of shape (s,) or (s, k)
        Their temperatures: any real numbers, each column a problem of its own.
    tol : float
        ``|T − T*| ≤ tol`` at every node, proven.
    leak : float
        τ ≥ 0, heat lost at each free node: ``((1 + τ) D − A) T = 0`` there.
    solver : {"auto", "direct", "cg", "sweeps", "elimination"} or solver object
    engine : {"auto", "native", "scipy"} or engine object
    start : Solution or array of shape (n, k), optional
        Temperatures to start from, such as those of a problem that differs in a few nodes; the
        proof is the same wherever a solve starts.

    Returns
    -------
    Solution
        Its ``temperatures`` have shape (n, k), k = 1 for one-dimensional values.

    Raises
    ------
    NotConverged
        If the solver cannot prove `tol`; its ``solution`` holds what was reached.
    LabelError, ParameterError, GraphError
        On input that makes no problem.

    Examples
    --------
    On a path, temperatures fall in a straight line.

    >>> from isotherm import Graph, solve_dirichlet
    >>> path = Graph.from_edges("abcd", "bcde")
    >>> solution = solve_dirichlet(path, ["a", "e"], [1.0, 0.0])
    >>> solution.temperatures.ravel().round(6).tolist()
    [1.0, 0.75, 0.5, 0.25, 0.0]
    >>> bool((solution.error_bound <= 1e-6).all())
    True
    """
    graph = Graph.from_any(graph)
    held = as_column(boundary, "boundary")
    if held.dtype == bool:
        if len(held) != graph.n_nodes:
            raise LabelError(f"a mask of {len(held)} nodes for a graph of {graph.n_nodes}")
        positions = np.flatnonzero(held)
    else:
        positions = graph.positions(held)
    problem = DirichletProblem(graph, positions, values, leak=leak)
    warm = None
    if start is not None:
        warm = Warm.of(start) if isinstance(start, Solution) else Warm(np.asarray(start))
    return solve(problem, tol=tol, solver=solver, engine=engine, warm=warm)


def solve(
    problem: DirichletProblem,
    *,
    tol: float = 1e-6,
    solver: str | Solver = "auto",
    engine: str | Engine = "auto",
    excess: Excess | None = None,
    warm: Warm | None = None,
) -> Solution:
    """Solve a Dirichlet problem until every temperature is proven to `tol`.

    Parameters
    ----------
    problem : DirichletProblem
    tol, solver, engine
        See `solve_dirichlet`.
    excess : callable, optional
        Looks at temperatures and their certificate and says how many times too large the errors
        still are for the purpose at hand; at most 1 ends the solve there.
    warm : Warm, optional
        Where to start from.

    Raises
    ------
    NotConverged
        If no solver allowed proves `tol`; it carries the best solution.
    """
    if not isinstance(tol, Real) or isinstance(tol, bool) or not 0 < tol < math.inf:
        raise ParameterError(f"tol must be a number > 0, got {tol!r}")
    check_room(problem.graph.n_nodes, problem.n_columns, what="columns")
    chosen = choose_engine(engine, problem.graph)
    warm = None if warm is None else _checked(warm, problem)
    attempts = []
    for candidate in choose_solvers(solver, problem):
        tried = attempt(problem, candidate, chosen, float(tol), excess=excess, warm=warm)
        if tried.met:
            return tried.solution
        logger.info("%r missed tol = %.1e", tried.solution, tol)
        attempts.append(tried)
        if tried.out_of_digits and problem.n_free > ELIMINATION:
            break
    best, _, out_of_steps, _ = min(attempts, key=lambda tried: tried.solution.certificate.bound)
    if math.isinf(best.certificate.bound):
        least, greatest = COVERED
        raise NotConverged(
            f"nothing is proven of these temperatures ({best.solver}): degrees and values must be "
            f"within {least:.0e} and {greatest:.0e}, which is what the proof covers; scale the "
            "weights or the values",
            best,
        )
    if out_of_steps:
        advice = "raise the solver's max_iter, choose another solver or loosen tol"
    elif best.solver == Elimination.name:
        advice = "float64 can prove no more: loosen tol"
    else:
        advice = (
            "float64 can prove no more: loosen tol, or choose solver='elimination' if the "
            "weights are very far apart"
        )
    raise NotConverged(
        f"{best.solver} stopped at step {best.n_iter}: temperatures are proven to "
        f"{best.certificate.bound:.1e} only, not to tol = {tol:.1e}; {advice}",
        best,
    )


def _checked(warm: Warm, problem: DirichletProblem) -> Warm:
    """The same in the shapes of the problem."""
    T, shape = warm.temperatures, (problem.graph.n_nodes, problem.n_columns)
    if T.dtype.kind not in "biuf" or T.size != math.prod(shape) or len(T) != shape[0]:
        raise ParameterError(
            f"temperatures to start from must be numbers of shape {shape}, got {T.dtype} of "
            f"shape {T.shape}"
        )
    return warm._replace(temperatures=T.reshape(shape))
