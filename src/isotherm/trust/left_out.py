"""Leave one seed out, exactly: each seed as if it were free, without solving anew for each.

Let g be the temperatures when seed i alone is hot, ``c = Σ_j A_ij g_j`` (i itself included where it
has a self loop) and ``Γ = Σ_j g_j``. Temperatures are linear in those of the boundary: freeing seed
i adds ``(T'_i − T_i) g`` to all of them, and the balance of heat at i gives::

    T'_i(k) = ((A T_k)_i − [y_i = k] c) / ((1 + τ) d_i − c)
    mean'_k = mean_k + (T'_i(k) − [y_i = k]) Γ / n

One column per seed, all against the same operator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.decision import Means, scores
from isotherm.labels import UNKNOWN
from isotherm.solvers import solve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.operator import Engine
    from isotherm.solvers.method import Solver

COLUMNS = 128  # seeds solved for at once, on a graph that is not large
ROOM = 1 << 26  # temperatures that there is room for


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Temperatures and means of m seeds, each of them free while all others are held.

    Attributes
    ----------
    seeds : int array of shape (m,)
        Positions of the nodes.
    codes : int array of shape (m,)
        Their classes.
    temperatures : array of shape (m, K)
        NaN where no heat reaches a seed once it is free.
    means : Means
        What decisions look at, arrays of shape (m, K): a row for each seed left out.
    is_last : bool array of shape (m,)
        Whether a seed is the only one of its class, which then cannot be found.
    """

    seeds: NDArray[np.intp]
    codes: NDArray[np.intp]
    temperatures: NDArray[np.float64]
    means: Means
    is_last: NDArray[np.bool_]

    def scores(self, decision: str) -> NDArray[np.float64]:
        """Scores of the classes at each seed left out; a class without a seed has none (−∞)."""
        rows = [
            scores(
                self.temperatures[i : i + 1],
                Means(self.means.all[i], self.means.free[i], self.means.seed_share[i]),
                decision,
            )[0]
            for i in range(len(self.seeds))
        ]
        S = np.array(rows, dtype=np.float64).reshape(self.temperatures.shape)
        S[self.means.seed_share == 0] = -np.inf
        return S

    def labels(self, decision: str) -> NDArray[np.intp]:
        """The class that each seed would get; −1 where it would get none."""
        S = self.scores(decision)
        has = ~np.isnan(self.temperatures[:, 0])
        return np.where(has, np.nan_to_num(S, nan=-np.inf).argmax(axis=1), UNKNOWN)


def leave_one_out(
    problem: DirichletProblem,
    temperatures: NDArray[Any],
    codes: NDArray[np.intp],
    *,
    n_counted: int,
    some: NDArray[np.intp] | None = None,
    tol: float = 1e-6,
    solver: str | Solver = "auto",
    engine: str | Engine = "auto",
) -> LeftOut:
    """Free each seed in turn.

    Parameters
    ----------
    problem : DirichletProblem
        Whose boundary is the seeds, a column for each class.
    temperatures : array of shape (n, K)
        Its solution.
    codes : int array of shape (s,)
        The class of each seed, in the order of the boundary.
    n_counted : int
        Nodes over which means are taken: those that heat reaches, or all.
    some : int array, optional
        Which seeds to free, by their place in the boundary; by default all.
    tol, solver, engine
        Of the solves, see `isotherm.solve_dirichlet`.
    """
    n_classes = temperatures.shape[1]
    places = np.arange(len(problem.boundary)) if some is None else np.asarray(some)
    own, rows = codes[places], problem.graph.rows
    back, total = np.empty(len(places)), np.empty(len(places))
    for part, X in _responses(problem, places, tol=tol, solver=solver, engine=engine):
        own_column = zip(problem.boundary[places[part]], X.T, strict=True)
        back[part] = [rows.products([i], x[:, np.newaxis])[0, 0] for i, x in own_column]
        total[part] = np.nansum(X, axis=0, dtype=np.float64)
    seeds = problem.boundary[places]
    received = rows.products(seeds, temperatures)
    is_own = np.equal.outer(own, np.arange(n_classes))
    escape = (1 + problem.leak) * problem.graph.degrees[seeds] - back
    with np.errstate(divide="ignore", invalid="ignore"):
        T = (received - is_own * back[:, np.newaxis]) / escape[:, np.newaxis]
    T[_alone(problem)[places]] = np.nan
    return LeftOut(
        seeds,
        own,
        T,
        _means(temperatures, codes, T, is_own, total, n_counted),
        np.bincount(codes, minlength=n_classes)[own] == 1,
    )


def _alone(problem: DirichletProblem) -> NDArray[np.bool_]:
    """Seeds without another one in their component: no heat would reach them."""
    part = problem.graph.components[problem.boundary]
    return np.asarray(np.bincount(part)[part] == 1)


def _means(
    temperatures: NDArray[Any],
    codes: NDArray[np.intp],
    T: NDArray[np.float64],
    is_own: NDArray[np.bool_],
    total: NDArray[np.float64],
    n_counted: int,
) -> Means:
    """What decisions look at, for each seed left out."""
    n_classes = temperatures.shape[1]
    sums = np.nansum(temperatures, axis=0, dtype=np.float64)
    change = np.nan_to_num(T - is_own, nan=0.0) * total[:, np.newaxis]
    left = np.bincount(codes, minlength=n_classes) - is_own  # seeds of each class
    n_free = n_counted - len(codes) + 1
    return Means(
        (sums + change) / n_counted,
        (sums + change - left) / n_free,
        left / np.maximum(left.sum(axis=1, keepdims=True), 1),
    )


def _responses(
    problem: DirichletProblem, places: NDArray[np.intp], **how: Any
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Temperatures when one seed alone is hot, some seeds at a time."""
    at_once = min(COLUMNS, max(16, ROOM // problem.graph.n_nodes // 16 * 16))
    for first in range(0, len(places), at_once):
        part = slice(first, min(first + at_once, len(places)))
        values = np.equal.outer(np.arange(len(problem.boundary)), places[part]).astype(np.float64)
        yield part, solve(problem.with_values(values), **how).temperatures
