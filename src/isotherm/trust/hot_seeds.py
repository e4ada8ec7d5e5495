"""Temperatures when one seed alone is hot, for as many seeds at a time as there is room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.memory import FEWEST_LANES, memory_of_solve
from isotherm.trust.best_effort import solve_best_effort

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.engines.engine import Session
    from isotherm.solvers import Solution

COLUMNS = 256  # seeds solved for at once, on a graph that is not large
ROOM = 1 << 21  # temperatures that there is room for


def columns_at_once(n_nodes: int) -> int:
    """How many seeds are solved for at once.

    Examples
    --------
    >>> columns_at_once(100), columns_at_once(20_000), columns_at_once(1_000_000)
    (256, 96, 16)
    """
    return min(COLUMNS, max(16, ROOM // max(n_nodes, 1) // 16 * 16))


def solve_each_hot(
    session: Session, places: NDArray[np.intp], tol: float
) -> Iterator[tuple[slice, Solution]]:
    """The solutions when one seed alone is hot, some seeds at a time."""
    n_nodes, n_seeds = session.problem.graph.n_nodes, session.problem.n_seeds
    at_once, limit = columns_at_once(n_nodes), session.options.memory
    if limit is not None:
        limit -= 8 * n_nodes * session.problem.n_columns  # temperatures of the fit
        while at_once > 1 and memory_of_solve(n_nodes, at_once, 0, FEWEST_LANES) > limit:
            at_once //= 2
    for first in range(0, len(places), at_once):
        part = slice(first, min(first + at_once, len(places)))
        values = np.equal.outer(np.arange(n_seeds), places[part]).astype(np.float64)
        yield part, solve_best_effort(session, values, tol=tol)
