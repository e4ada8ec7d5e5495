"""Leave one seed out, exactly: each seed as if it were free, without solving anew for each.

Let g be the temperatures when seed i alone is hot, ``c = Σ_j A_ij g_j`` (i itself included where it
has a self loop) and ``Γ = Σ_j g_j``. Temperatures are linear in those of the boundary: freeing seed
i, held at y, adds ``(T'_i − y) g`` to all of them, and the balance of heat at i gives::

    T'_i(k) = ((A T_k)_i − y_k c) / ((1 + τ) d_i − c)
    mean'_k = mean_k + (T'_i(k) − y_k) Γ / n

One column per seed, all against the same operator. A seed that is not held but tied to its class
(see `isotherm.classifier.seeds`) is left out by cutting the tie. Its node counts as held at the
temperature that it has: the same formulas, with that for y, ``g / g_i`` for g, and without the tie.

Where even a sample of the seeds would take too many columns some are left out together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.decision import Means, scores
from isotherm.labels import UNKNOWN
from isotherm.solvers import Warm
from isotherm.trust.nearly import solve_nearly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem

COLUMNS = 255  # seeds solved for at once, on a graph that is not large
ROOM = 1 << 24  # temperatures that there is room for
MOST_SEEDS = 300  # of a sample
FEW_SEEDS = 31  # of a sample of a large graph
LARGE = 300_000  # entries of the adjacency matrix
LARGE_CHOICE = 3_000_000  # where decision and leak are chosen by it
TOGETHER = 0.1  # of the seeds, at the most, are left out at once
MOST_TOGETHER = 3000
WEAK, MOST_WEAK = 1000.0, 50  # degree to escape of a seed that is solved anew without; how many
NO_HEAT = 1e-6  # in all, on free nodes: rounding
TOGETHER_TOL = 1e-3  # so many, on so large a graph, need no more


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Temperatures and means of m seeds, each of them free while all others are held.

    Attributes
    ----------
    places : int array of shape (m,)
        Which seeds, by their place in the boundary.
    codes : int array of shape (m,)
        Their classes.
    temperatures : array of shape (m, K)
        NaN where no heat reaches a seed once it is free.
    means : Means
        What decisions look at, arrays of shape (m, K): a row for each seed left out.
    is_last : bool array of shape (m,)
        Whether a seed is the only one of its class, which then cannot be found.
    together : bool
        Whether they are free all at once.
    """

    places: NDArray[np.intp]
    codes: NDArray[np.intp]
    temperatures: NDArray[np.float64]
    means: Means
    is_last: NDArray[np.bool_]
    together: bool

    def scores(self, decision: str) -> NDArray[np.float64]:
        """Scores of the classes at each seed left out; a class without a seed has none (−∞)."""
        S = np.array(scores(self.temperatures, self.means, decision), dtype=np.float64)
        S[(self.means.seed_share == 0) & self.reached[:, np.newaxis]] = -np.inf
        return S

    def labels(self, decision: str) -> NDArray[np.intp]:
        """The class that each seed would get; −1 where it would get none."""
        S = self.scores(decision)
        return np.where(self.reached, np.nan_to_num(S, nan=-np.inf).argmax(axis=1), UNKNOWN)

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Whether heat reaches a seed once it is free."""
        return ~np.isnan(self.temperatures[:, 0])


def leave_one_out(
    problem: DirichletProblem,
    temperatures: NDArray[Any],
    codes: NDArray[np.intp],
    *,
    some: NDArray[np.intp] | None = None,
    **how: Any,
) -> LeftOut:
    """Free each seed in turn.

    Parameters
    ----------
    problem : DirichletProblem
        Whose boundary is the seeds, a column for each class.
    temperatures : array of shape (n, K)
        Its solution, without the far ends of ties, which come last; NaN at nodes over which no
        mean is taken.
    codes : int array of shape (s,)
        The class of each seed, in the order of the boundary.
    some : int array, optional
        Which seeds to free, by their place in the boundary; by default all.
    **how
        Tolerance, solver and engine of the solves, see `isotherm.solve_dirichlet`.
    """
    n, loss = len(temperatures), 1 + problem.leak
    places = np.arange(len(problem.boundary)) if some is None else np.asarray(some)
    graph, ends, Y = problem.graph, problem.boundary[places], problem.values[places]
    back, total = np.empty(len(places)), np.empty(len(places))
    at, degrees = ends.copy(), graph.degrees[ends]
    start = Y.astype(np.float64)  # temperatures before
    for part, X in _responses(problem, places, **how):
        for k, (i, x) in enumerate(zip(ends[part], X.T, strict=True), start=part.start):
            if i >= n:  # a tie: its node counts as held where it is
                at[k] = node = graph.rows.ends[graph.rows.start[i]]
                x = x / x[node]
                degrees[k] = graph.degrees[node] - graph.degrees[i]
                start[k] = temperatures[node]
            back[k] = graph.rows.products([at[k]], x[:n, np.newaxis])[0, 0]
            total[k] = np.nansum(x[:n], dtype=np.float64)
    received = graph.rows.products(at, temperatures)
    escape = loss * degrees - back
    with np.errstate(divide="ignore", invalid="ignore"):
        T = (received - start * back[:, np.newaxis]) / escape[:, np.newaxis]
    T[_alone(problem)[places]] = np.nan
    T = np.clip(T, 0.0, 1.0)
    change = np.nan_to_num(T - start, nan=0.0) * total[:, np.newaxis]
    sums = np.nansum(temperatures, axis=0, dtype=np.float64) + change
    # Behind a weak link little heat escapes, and errors are divided by it.
    weak = ~np.isnan(T[:, 0]) & (ends < n) & (loss * degrees > WEAK * escape)
    for k in np.flatnonzero(weak)[:MOST_WEAK]:
        anew = _without(problem, temperatures, places[[k]], **how)
        T[k], sums[k] = anew[at[k]], np.nansum(anew, axis=0, dtype=np.float64)
    return _left_out(problem, temperatures, places, codes, T, sums, together=False)


def leave_some_out(
    problem: DirichletProblem,
    temperatures: NDArray[Any],
    codes: NDArray[np.intp],
    some: NDArray[np.intp],
    *,
    abstain: bool,
    **how: Any,
) -> LeftOut:
    """Free some seeds at once, in one solve: each misses the others, too, and fares a bit worse.

    Parameters
    ----------
    problem, temperatures, codes
        See `leave_one_out`.
    some : int array
        Which seeds to free.
    abstain : bool
        Whether nodes that no heat reaches are left out of the means, or have temperature 0.
    **how
        See `leave_one_out`.
    """
    n, rows = len(temperatures), problem.graph.rows
    T = _without(problem, temperatures, some, **how)
    ends = problem.boundary[some]
    own = np.array([i if i < n else rows.ends[rows.start[i]] for i in ends.tolist()], dtype=np.intp)
    found = T[own].astype(np.float64)
    if not abstain:
        T = np.nan_to_num(T)
    sums = np.asarray(np.nansum(T, axis=0, dtype=np.float64))
    return _left_out(problem, T, some, codes, found, sums, together=True)


def _without(
    problem: DirichletProblem, temperatures: NDArray[Any], some: NDArray[np.intp], **how: Any
) -> NDArray[Any]:
    """Temperatures when some seeds are free, all at once."""
    n = len(temperatures)
    warm = Warm(temperatures) if n == problem.graph.n_nodes else None
    return solve_nearly(problem.without(some), warm=warm, **how).temperatures[:n]


def leave_sample_out(
    problem: DirichletProblem,
    temperatures: NDArray[Any],
    codes: NDArray[np.intp],
    *,
    abstain: bool,
    large: int = LARGE,
    **how: Any,
) -> LeftOut:
    """Enough seeds to judge by, at a bounded price; always the same ones.

    One at a time, as many as `columns_of_sample` says. Where there are so many seeds that a tenth
    of them makes a larger sample, these are left out together.

    Parameters
    ----------
    problem, temperatures, codes, abstain
        See `leave_some_out`.
    large : int
        Entries of the adjacency matrix from which a graph counts as large.
    **how
        See `leave_one_out`.
    """
    rng = np.random.default_rng(0)
    most = columns_of_sample(len(problem.graph.rows.ends), len(codes), large)
    if most == 0:
        groups = (problem.graph.components[problem.boundary], codes)
        spared = np.concatenate([np.unique(of, return_index=True)[1] for of in groups])
        others = np.setdiff1d(np.arange(len(codes)), spared)
        count = min(int(len(codes) * TOGETHER), MOST_TOGETHER)
        if len(others) > count:
            how["tol"] = max(how["tol"], TOGETHER_TOL)
            some = np.sort(rng.choice(others, count, replace=False))
            return leave_some_out(problem, temperatures, codes, some, abstain=abstain, **how)
        most = FEW_SEEDS
    # The only seed of a class cannot be found again.
    findable = np.flatnonzero(np.bincount(codes, minlength=problem.n_columns)[codes] > 1)
    some = findable if len(findable) <= most else np.sort(rng.choice(findable, most, replace=False))
    return leave_one_out(problem, temperatures, codes, some=some, **how)


def columns_of_sample(n_entries: int, n_seeds: int, large: int = LARGE) -> int:
    """How many seeds are left out one at a time; 0 if some are left out together instead."""
    if n_entries <= large:
        return min(n_seeds, MOST_SEEDS)
    return 0 if n_seeds * TOGETHER > FEW_SEEDS else min(n_seeds, FEW_SEEDS)


def _left_out(
    problem: DirichletProblem,
    temperatures: NDArray[Any],
    places: NDArray[np.intp],
    codes: NDArray[np.intp],
    T: NDArray[np.float64],
    sums: NDArray[np.float64],
    *,
    together: bool,
) -> LeftOut:
    """With what decisions look at: the means over all nodes, over free ones, and seeds left."""
    n, n_counted = len(temperatures), np.count_nonzero(~np.isnan(temperatures[:, 0]))
    Y, held = problem.values, (problem.boundary < n)[:, np.newaxis]

    def gone(of_each: NDArray[Any]) -> NDArray[Any]:
        some: NDArray[Any] = of_each[places]
        return some.sum(axis=0, keepdims=True) if together else some

    n_free = n_counted - held.sum() + gone(held)
    heat = (Y * held).sum(axis=0) - gone(Y * held)
    free = sums - heat
    has_left = (Y > 0).sum(axis=0) > gone(Y > 0)
    left = np.where(has_left, Y.sum(axis=0) - gone(Y), 0.0)
    means = Means(
        *(
            np.broadcast_to(each, T.shape)
            for each in (
                sums / n_counted,
                np.where(free > NO_HEAT, free, 0.0) / np.maximum(n_free, 1),
                left / np.maximum(left.sum(axis=-1, keepdims=True), 1e-300),
            )
        )
    )
    own = codes[places]
    is_last = means.seed_share[np.arange(len(places)), own] == 0
    return LeftOut(places, own, T, means, is_last, together)


def _alone(problem: DirichletProblem) -> NDArray[np.bool_]:
    """Seeds without another one in their component: no heat would reach them."""
    part = problem.graph.components[problem.boundary]
    return np.asarray(np.bincount(part)[part] == 1)


def _responses(
    problem: DirichletProblem, places: NDArray[np.intp], **how: Any
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Temperatures when one seed alone is hot, some seeds at a time."""
    at_once = min(COLUMNS, max(15, ROOM // problem.graph.n_nodes // 16 * 16 - 1))
    for first in range(0, len(places), at_once):
        part = slice(first, min(first + at_once, len(places)))
        values = np.equal.outer(np.arange(len(problem.boundary)), places[part]).astype(np.float64)
        yield part, solve_nearly(problem.with_values(values), **how).temperatures
