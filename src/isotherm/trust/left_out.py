"""Leave one seed out, exactly: each seed as if it were free, without solving anew for each.

Let g be the temperatures when seed i alone is hot. Temperatures are linear in those of the
boundary: freeing seed i, held at y, adds ``δ g`` to all of them, where the balance of heat at i
gives::

    δ = r / κ,   r = Σ_j A_ij (T_j − y) − τ d_i y,   κ = Σ_j A_ij (1 − g_j) + τ d_i

and ``mean' = mean + δ Γ / n`` with ``Γ = Σ_j g_j``. One column per seed, all against the same
operator. A seed that is not held but tied to its class (see `isotherm.classifier.seeds`) is left
out by cutting the tie. Its node counts as held at the temperature that it has: the same formulas,
with that for y, ``g / g_i`` for g, and without the tie.

T and g are known up to their certificates, so that δ is off by at most ``(ε_r + |δ| ε_κ) / (κ −
ε_κ)``. Behind a weak link κ is next to nothing, and that is too much: such a seed is solved anew.

Where even a sample of the seeds would take too many columns some are left out together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.decision import Means, score_errors, scores
from isotherm.labels import UNKNOWN
from isotherm.rounding import UNIT_ROUNDOFF
from isotherm.solvers import Warm
from isotherm.trust.free_one import (
    Freed,
    Responses,
    free_one,
    heated_without,
    node_of,
    without_seeds,
)
from isotherm.trust.nearly import solve_nearly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers import Certificate, Solution

COLUMNS = 255  # seeds solved for at once, on a graph that is not large
ROOM = 1 << 24  # temperatures that there is room for
MOST_SEEDS = 300  # of a sample
FEW_SEEDS = 31  # of a sample of a large graph
LARGE = 300_000  # entries of the adjacency matrix
LARGE_CHOICE = 3_000_000  # where decision and leak are chosen by it
TOGETHER = 0.1  # of the seeds, at the most, are left out at once
MOST_TOGETHER = 3000
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
    errors : array of shape (m,)
        No temperature of the seed is farther off than this.
    mean_errors : Means
        Bounds on the errors of the means.
    is_last : bool array of shape (m,)
        Whether a seed is the only one of its class, which then cannot be found.
    together : bool
        Whether they are free all at once.
    """

    places: NDArray[np.intp]
    codes: NDArray[np.intp]
    temperatures: NDArray[np.float64]
    means: Means
    errors: NDArray[np.float64]
    mean_errors: Means
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

    def certified(self, decision: str) -> NDArray[np.bool_]:
        """Whether these labels are proven to be those of fitting again without the seed."""
        S, rows = self.scores(decision), np.arange(len(self.codes))
        with np.errstate(invalid="ignore", over="ignore"):
            error = score_errors(self.means, self.mean_errors, decision)
            E = error(np.nan_to_num(S, neginf=0.0), self.errors[:, np.newaxis])
            best = self.labels(decision)
            rivals = S + E
            rivals[rows, best] = -np.inf
            lead = S[rows, best] - E[rows, best] - rivals.max(axis=1, initial=-np.inf)
        return np.asarray((lead > 0) | ~self.reached)

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Whether heat reaches a seed once it is free."""
        return ~np.isnan(self.temperatures[:, 0])


def leave_one_out(
    problem: DirichletProblem,
    temperatures: NDArray[Any],
    codes: NDArray[np.intp],
    *,
    certificate: Certificate,
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
    certificate : Certificate
        Of these temperatures.
    some : int array, optional
        Which seeds to free, by their place in the boundary; by default all.
    **how
        Tolerance, solver and engine of the solves, see `isotherm.solve_dirichlet`.
    """
    n = len(temperatures)
    places = np.arange(len(problem.boundary)) if some is None else np.asarray(some)
    E = np.nan_to_num(certificate.error_bound[:n], nan=0.0, posinf=np.inf)
    T = np.asarray(temperatures)
    alone, total_error = _alone(problem), float(E.sum())
    total = np.asarray(np.nansum(T, axis=0, dtype=np.float64))
    found: list[Freed] = []
    for part, solution in _responses(problem, places, **how):
        responses = Responses(solution, n)
        for column, place in enumerate(places[part].tolist()):
            if alone[place]:
                found.append(Freed.unreached(problem.n_columns))
                continue
            one = free_one(problem, place, T, E, responses, column)
            if not one.error <= how["tol"]:
                anew = _without(problem, T, np.array([place]), **how)
                one = Freed.anew(anew, node_of(problem, place, n), total, total_error, n)
            found.append(one)
    heated = heated_without(problem, places)
    shape = len(places), problem.n_columns
    freed = np.clip(np.reshape([one.temperatures for one in found], shape), 0.0, 1.0)
    freed[~heated & ~np.isnan(freed)] = 0.0
    return _left_out(
        problem,
        T,
        places,
        codes,
        freed,
        total + np.reshape([one.change for one in found], shape),
        np.array([one.error for one in found]),
        total_error + np.array([one.change_error for one in found]),
        heated,
        together=False,
    )


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
    n = len(temperatures)
    solution = _without(problem, temperatures, some, **how)
    T, E = solution.temperatures, np.nan_to_num(solution.error_bound, posinf=np.inf)
    own = np.array([node_of(problem, place, n) for place in some.tolist()], dtype=np.intp)
    found = T[own].astype(np.float64)
    if not abstain:
        T = np.nan_to_num(T)
    sums = np.asarray(np.nansum(T, axis=0, dtype=np.float64))
    heated = np.broadcast_to(heated_without(problem, some, together=True), found.shape)
    return _left_out(problem, T, some, codes, found, sums, E[own], E.sum(), heated, together=True)


def _without(
    problem: DirichletProblem, temperatures: NDArray[Any], some: NDArray[np.intp], **how: Any
) -> Solution:
    """The solution when some seeds are free, all at once."""
    n = len(temperatures)
    warm = Warm(temperatures) if n == problem.graph.n_nodes else None
    return solve_nearly(without_seeds(problem, n, some), warm=warm, **how).of_first(n)


def leave_sample_out(
    problem: DirichletProblem,
    temperatures: NDArray[Any],
    codes: NDArray[np.intp],
    *,
    certificate: Certificate,
    abstain: bool,
    large: int = LARGE,
    **how: Any,
) -> LeftOut:
    """Enough seeds to judge by, at a bounded price; always the same ones.

    One at a time, as many as `columns_of_sample` says. Where there are so many seeds that a tenth
    of them makes a larger sample, these are left out together.

    Parameters
    ----------
    problem, temperatures, codes, certificate
        See `leave_one_out`.
    abstain : bool
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
    return leave_one_out(problem, temperatures, codes, certificate=certificate, some=some, **how)


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
    errors: NDArray[np.float64],
    sum_errors: Any,
    heated: NDArray[np.bool_],
    *,
    together: bool,
) -> LeftOut:
    """With what decisions look at: the means over all nodes, over free ones, and seeds left."""
    n, n_counted = len(temperatures), np.count_nonzero(~np.isnan(temperatures[:, 0]))
    Y, held = problem.values, (problem.boundary < n)[:, np.newaxis]

    def gone(of_each: NDArray[Any]) -> NDArray[Any]:
        some: NDArray[Any] = of_each[places]
        return some.sum(axis=0, keepdims=True) if together else some

    n_free = np.maximum(n_counted - held.sum() + gone(held), 1)
    heat = (Y * held).sum(axis=0) - gone(Y * held)
    has_left = (Y > 0).sum(axis=0) > gone(Y > 0)
    left = np.where(has_left, Y.sum(axis=0) - gone(Y), 0.0)
    free = np.where(heated, np.maximum(sums - heat, 0.0), 0.0)  # a class without heat has none
    rounding = 2 * n * UNIT_ROUNDOFF
    off = np.asarray(sum_errors).reshape(-1, 1) * (1 + rounding) + rounding * (sums + heat)
    share = left / np.maximum(left.sum(axis=-1, keepdims=True), 1e-300)
    spread = (np.broadcast_to(each, T.shape) for each in (sums / n_counted, free / n_free, share))
    means = Means(*spread)
    own = codes[places]
    is_last = means.seed_share[np.arange(len(places)), own] == 0
    mean_errors = Means(
        np.broadcast_to(off / n_counted, T.shape),
        np.where(heated, off / n_free, 0.0),
        2 * len(Y) * UNIT_ROUNDOFF * means.seed_share,
    )
    return LeftOut(places, own, T, means, errors, mean_errors, is_last, together)


def _alone(problem: DirichletProblem) -> NDArray[np.bool_]:
    """Seeds without another one in their component: no heat would reach them."""
    part = problem.graph.components[problem.boundary]
    return np.asarray(np.bincount(part)[part] == 1)


def _responses(
    problem: DirichletProblem, places: NDArray[np.intp], **how: Any
) -> Iterator[tuple[slice, Solution]]:
    """The solutions when one seed alone is hot, some seeds at a time."""
    at_once = min(COLUMNS, max(15, ROOM // problem.graph.n_nodes // 16 * 16 - 1))
    for first in range(0, len(places), at_once):
        part = slice(first, min(first + at_once, len(places)))
        values = np.equal.outer(np.arange(problem.n_seeds), places[part]).astype(np.float64)
        yield part, solve_nearly(problem.with_values(values), **how)
