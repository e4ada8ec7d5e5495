"""solve_dirichlet: a problem, an engine, a session, and its solution or an exception."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.compiled import on_threads
from isotherm.dirichlet import DirichletProblem
from isotherm.engines import choose_engine
from isotherm.errors import LabelError
from isotherm.graph import Graph
from isotherm.graph.nodes import as_column
from isotherm.solvers import NotConverged, Solution, SolveOptions, Warm

if TYPE_CHECKING:
    from isotherm.engines.engine import Engine
    from isotherm.solvers.method import Solver
    from isotherm.solvers.options import Progress, Stop


def solve_dirichlet(
    graph: Any,
    boundary: Any,
    values: Any,
    *,
    tol: float = 1e-6,
    leak: float = 0.0,
    solver: str | Solver = "auto",
    engine: str | Engine = "auto",
    threads: int | None = None,
    memory: int | None = None,
    start: Any = None,
    progress: Progress | None = None,
) -> Solution:
    """Temperatures at equilibrium when some nodes are held at given temperatures (Section 2).

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
    threads, memory : int or None
        See `isotherm.SolveOptions`.
    start : Solution or array of shape (n, k), optional
        Temperatures to start from, such as those of a problem that differs in a few nodes; the
        proof is the same wherever a solve starts.
    progress : callable, optional
        Called every few milliseconds with the steps so far and the error that is still likely;
        what it raises ends the solve.

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
    asked = getattr(engine, "threads", None) if threads is None else threads
    problem = on_threads(asked, _problem, graph, boundary, values, leak)
    warm = None
    if start is not None:
        warm = Warm.of(start) if isinstance(start, Solution) else Warm(np.asarray(start))
    options = SolveOptions(tol, solver, threads, memory)
    return solve(problem, options, engine=engine, start=warm, progress=progress)


def _problem(graph: Any, boundary: Any, values: Any, leak: float) -> DirichletProblem:
    """The problem of a graph of any kind, whose boundary is given by ids or by a mask."""
    graph = Graph.from_any(graph)
    held = as_column(boundary, "boundary")
    if held.dtype == bool:
        if len(held) != graph.n_nodes:
            raise LabelError(
                f"a mask of {len(held)} entries for a graph of {graph.n_nodes} nodes: give one per "
                "node"
            )
        positions = np.flatnonzero(held)
    else:
        positions = graph.positions(held)
    return DirichletProblem(graph, positions, values, leak=leak)


def solve(
    problem: DirichletProblem,
    options: SolveOptions,
    *,
    engine: str | Engine = "auto",
    start: Warm | None = None,
    stop: Stop | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Solve a Dirichlet problem once; the only place where a failed solve becomes an exception.

    Parameters
    ----------
    problem : DirichletProblem
    options : SolveOptions
    engine : str or Engine
    start, stop, progress : optional
        See `isotherm.engines.engine.Session.solve`.

    Raises
    ------
    NotConverged
        If no solver allowed proves the tolerance; it carries the best solution.
    """
    with choose_engine(engine, problem.graph).prepare(problem, options) as session:
        solution = session.solve(start=start, stop=stop, progress=progress)
    if not solution.converged:
        raise NotConverged(solution.shortfall, solution)
    return solution
