"""Which solvers ``"auto"`` tries, in which order.

No choice may cost more than a multiple of the edges: factors that fill up are worse than any number
of steps. `Direct` is therefore chosen only where its work is known beforehand: by counting it, or
because there are so few free nodes that it does not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.errors import NotEnoughMemory, ParameterError
from isotherm.graph.rows import Rows
from isotherm.memory import fits_copy
from isotherm.solvers.cg import ConjugateGradient
from isotherm.solvers.direct import Direct
from isotherm.solvers.elimination import Elimination
from isotherm.solvers.fill import elimination_order
from isotherm.solvers.sweeps import Sweeps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.method import Solver

SOLVERS: dict[str, Callable[[], Solver]] = {
    "direct": Direct,
    "cg": ConjugateGradient,
    "sweeps": Sweeps,
    "elimination": Elimination,
}

# Free nodes up to which "auto" uses a solver without counting: even if they fill up, factors of 200
# nodes take a millisecond, of 1 000 nodes 70, of 2 000 nodes half a second and 50 MB.
DIRECT_FIRST = 200
DIRECT_AT_ALL = 2_000
ELIMINATION = 1_000

# Multiplications per entry of the matrix that factors, and counting them, may take: instead of
# steps, and where these have failed. There a third of a second is never too much.
INSTEAD_OF_STEPS = 1_000
AFTER_STEPS = 200
A_MOMENT = 1e8
CYCLES = 500  # with so few, or one in fifty nodes, a graph is nearly a tree


def may_copy(problem: DirichletProblem, memory: int | None) -> bool:
    """Whether solvers may copy the edges of the graph.

    They may, unless there is a limit that the copy does not fit, or the edges are in a file since
    they do not fit into memory.
    """
    rows = problem.graph.rows
    if memory is None and not rows.is_mapped:
        return True
    return fits_copy(rows.n_entries, rows.n_nodes, problem.n_columns, memory)


def choose_solvers(
    solver: str | Solver,
    problem: DirichletProblem,
    *,
    eliminates: bool = False,
    copies: bool = True,
) -> Iterator[Solver]:
    """The solvers to try, in turn; more than one only for ``"auto"``.

    ``"auto"`` takes `Direct` up to 200 free nodes, and on larger graphs that are nearly trees, or
    mostly long paths, if the work that its factors take was counted and is small;
    `ConjugateGradient` on all others, and on these, too, where it `eliminates` such nodes itself.
    Where that cannot prove the tolerance it falls back on `Direct` (up to 2 000 free nodes, or
    where its work was counted) and on `Elimination` (up to 1 000), which copes with weights of any
    range. Where there is no room for `copies` of the edges it takes `ConjugateGradient` alone.

    Raises
    ------
    ParameterError
        If there is no solver of that name.
    """
    if isinstance(solver, str):
        if solver == "auto":
            if not copies:
                return iter([ConjugateGradient()])
            return _auto(problem, eliminates=eliminates)
        if solver in SOLVERS:
            if not copies and solver != "cg":
                raise NotEnoughMemory(
                    f"solver {solver!r} copies all edges, and there is not enough memory for that; "
                    "use 'cg' or 'auto', which do not"
                )
            return iter([SOLVERS[solver]()])
    elif hasattr(solver, "bind") and not isinstance(solver, type):
        return iter([solver])
    raise ParameterError.unknown("solver", solver, ["auto", *SOLVERS])


def _auto(problem: DirichletProblem, *, eliminates: bool) -> Iterator[Solver]:
    n_free = problem.n_free
    direct: Direct | None = None
    if n_free <= DIRECT_FIRST:
        direct = Direct()
    elif not eliminates and (_mostly_paths(problem) or _nearly_a_tree(problem)):
        direct = _counted(problem, INSTEAD_OF_STEPS)
    if direct is None:
        yield ConjugateGradient()
        if n_free <= DIRECT_AT_ALL:
            direct = Direct()
        else:
            direct = _counted(problem, AFTER_STEPS, least=A_MOMENT)
    if direct is not None:
        yield direct
    if n_free <= ELIMINATION:
        yield Elimination()


def _counted(problem: DirichletProblem, per_entry: float, *, least: float = 0.0) -> Direct | None:
    """The direct solver, if it takes no more multiplications than that."""
    size = problem.n_free + problem.inner.nnz
    order = elimination_order(problem.inner, most_work=max(per_entry * size, least))
    return None if order is None else Direct(_order=order)


# Both tests below are for what may suit `Direct`, which is then counted; what most graphs pay for
# them is a look at the degrees.


def _mostly_paths(problem: DirichletProblem) -> bool:
    """Whether at least half of the free nodes lie within paths, their ends not counted.

    Steps carry heat along a path by one node each.
    """
    rows, n_free = problem.graph.rows, problem.n_free
    if 2 * rows.n_thin < n_free:
        return False
    thin = problem.is_free.copy()
    for part, lengths in rows.lengths():
        thin[part] &= lengths <= 2
    if 2 * np.count_nonzero(thin) < n_free:
        return False
    nodes = np.flatnonzero(thin)  # each has an edge: heat reaches it
    within = thin[rows.ends[rows.start[nodes]]] & thin[rows.ends[rows.start[nodes + 1] - 1]]
    return bool(2 * np.count_nonzero(within) >= n_free)


def _nearly_a_tree(problem: DirichletProblem) -> bool:
    """Whether the graph of free nodes has few independent cycles: edges − nodes + components."""
    rows, n_free = problem.graph.rows, problem.n_free
    most = max(CYCLES, n_free // 50)
    # Entries among free nodes, at the least: each of the others takes two away, and each of the
    # loops that there may be is no edge. For most graphs that is answer enough.
    enough = rows.n_entries - n_free - 2 * (n_free + most)
    if 2 * rows.longest * (rows.n_nodes - n_free) < enough:
        return False
    of_free = sum(int(np.dot(lengths, problem.is_free[part])) for part, lengths in rows.lengths())
    if 2 * (rows.n_entries - of_free) < enough:
        return False
    loops = np.count_nonzero(problem.inner.diagonal())
    surplus = (problem.inner.nnz - loops) // 2 - n_free
    if surplus + 1 > most:
        return False
    pieces = int(Rows.of(problem.inner).components().max()) + 1
    return bool(surplus + pieces <= most)
