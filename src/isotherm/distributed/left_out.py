"""Seeds left out across ranks, to tell how sure labels are: a sample, drawn as on one machine.

See `isotherm.trust.leave_one_out` and `isotherm.trust.sample`, whose formulas and numbers these
are. What is found at the owner of each seed is a few rows, and goes to all ranks.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from isotherm.distributed.around import Around
from isotherm.engines.blocks import LANES
from isotherm.solvers import Warm
from isotherm.trust.freed import Freed, ResponseSums, free_each
from isotherm.trust.leave_one_out import SeedsOut, SeedTotals, left_out_of
from isotherm.trust.sample import (
    FEW_SEEDS,
    MOST_TOGETHER,
    TOGETHER,
    TOGETHER_TOL,
    columns_of_sample,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.mpi.ranks import Ranks
    from isotherm.engines.mpi.session import SharedSession
    from isotherm.engines.mpi.share import SharedProblem
    from isotherm.solvers import Solution
    from isotherm.trust.leave_one_out import LeftOut


class Fitted(NamedTuple):
    """What was solved, of own nodes.

    Attributes
    ----------
    session : SharedSession
    solution : Solution
    codes : int array
        The classes of own seeds.
    abstain : bool
        Whether nodes that no heat reaches are left out of the means.
    """

    session: SharedSession
    solution: Solution
    codes: NDArray[np.intp]
    abstain: bool

    @property
    def problem(self) -> SharedProblem:
        """The problem."""
        return self.session.problem

    @property
    def ranks(self) -> Ranks:
        """The ranks."""
        return self.problem.graph.ranks

    def n_counted(self, T: NDArray[np.floating]) -> int:
        """Nodes over which means are taken."""
        if not self.abstain:
            return self.problem.graph.n_nodes
        return self.ranks.total(int(np.count_nonzero(~np.isnan(T[:, 0]))))

    def totals(self) -> SeedTotals:
        """What all seeds add up to."""
        Y, n = self.problem.values, self.problem.n_seeds
        heat, counts = self.ranks.sums(Y.sum(axis=0)), self.ranks.sums((Y > 0).sum(axis=0))
        return SeedTotals(self.problem.graph.n_nodes, n, n, heat, heat, counts)


def leave_sample_out(fitted: Fitted, tol: float) -> LeftOut:
    """Enough seeds to judge by, at a bounded price; see `isotherm.trust.sample`."""
    problem, ranks, codes = fitted.problem, fitted.ranks, fitted.codes
    most = columns_of_sample(problem.graph.n_entries, problem.n_seeds)
    counts = ranks.sums(np.bincount(codes, minlength=problem.n_columns))
    if most == 0:
        others = np.flatnonzero(~_spared(problem, codes))
        count = min(int(problem.n_seeds * TOGETHER), MOST_TOGETHER)
        if ranks.total(len(others)) > count:
            return leave_some_out(fitted, _drawn(ranks, others, count), max(tol, TOGETHER_TOL))
        most = FEW_SEEDS
    # The only seed of a class cannot be found again.
    return leave_one_out(fitted, _drawn(ranks, np.flatnonzero(counts[codes] > 1), most), tol)


def leave_some_out(fitted: Fitted, some: NDArray[np.intp], tol: float) -> LeftOut:
    """Free some of the own seeds of each rank, all at once."""
    problem, ranks = fitted.problem, fitted.ranks
    own, K = problem.boundary[some], problem.n_columns
    freed, sums, E = np.empty((len(own), K)), np.empty(K), np.zeros(problem.graph.n_own)
    fitted.session.close()  # it has solved all that it will
    with fitted.session.prepare(problem.without(some), beside=K) as other:
        # Some columns at a time: there is a solution to be kept meanwhile.
        for columns in _in_turns(K, other.lanes(min(K, LANES))):
            start = Warm(fitted.solution.temperatures[:, columns])
            found = other.solve(other.problem.values[:, columns], tol=tol, start=start)
            freed[:, columns] = found.temperatures[own]
            # NaN at unreached nodes; of any other one the error is infinite, as is a sum with it.
            sums[columns] = np.nansum(found.temperatures, axis=0)
            n_counted = fitted.n_counted(found.temperatures)
            np.maximum(E, found.certificate.error_or_0, out=E)
            del found
        heated = np.broadcast_to(other.problem.is_heated, (ranks.total(len(own)), K))
    return left_out_of(
        _everywhere_seeds(fitted, some),
        fitted.totals(),
        n_counted,
        everywhere(ranks, freed),
        ranks.sums(sums),
        everywhere(ranks, E[own]),
        ranks.sums(E.sum()),
        heated,
        together=True,
    )


def _in_turns(n_columns: int, lanes: int) -> list[slice]:
    """Columns that are solved together, the first ones with the exit times."""
    cuts = [0, *range(lanes - 1, n_columns, lanes), n_columns]
    return [slice(*both) for both in pairwise(cuts)]


def leave_one_out(fitted: Fitted, some: NDArray[np.intp], tol: float) -> LeftOut:
    """Free some of the own seeds of each rank, one at a time."""
    problem, ranks = fitted.problem, fitted.ranks
    T, E = fitted.solution.temperatures, fitted.solution.certificate.error_or_0
    total, total_error = ranks.sums(np.nansum(T, axis=0)), float(ranks.sums(E.sum()))
    seeds = _everywhere_seeds(fitted, some)
    counts = ranks.gathered(np.int64(len(some)))
    first = int(counts[: ranks.rank].sum())
    freed = Freed.unreached(len(some), problem.n_columns)
    fitted.session.beside = problem.n_columns  # the temperatures are kept
    at_once = fitted.session.lanes(LANES)
    for begin in range(0, int(counts.sum()), at_once):
        columns = np.arange(begin, min(begin + at_once, int(counts.sum())))
        own = columns[(columns >= first) & (columns < first + len(some))] - first
        found = _free(fitted, some[own], own + first - begin, len(columns), E, tol)
        freed.put(own, found)
    worst = ~(freed.errors <= tol)
    places = np.flatnonzero(everywhere(ranks, worst))
    for place in places - first:  # behind a weak link: solved anew
        here = np.array([place]) if 0 <= place < len(some) else np.empty(0, np.intp)
        _free_anew(fitted, some, here, freed, total, total_error, tol)
    heated = _heated_without(problem, some)
    rows = np.clip(freed.temperatures, 0.0, 1.0)
    rows[~heated & ~np.isnan(rows)] = 0.0
    return left_out_of(
        seeds,
        fitted.totals(),
        fitted.n_counted(T),
        everywhere(ranks, rows),
        total + everywhere(ranks, freed.changes),
        everywhere(ranks, freed.errors),
        total_error + everywhere(ranks, freed.change_errors),
        everywhere(ranks, heated),
        together=False,
    )


def _free(
    fitted: Fitted,
    places: NDArray[np.intp],
    columns: NDArray[np.intp],
    n_columns: int,
    E: NDArray[np.float64],
    tol: float,
) -> Freed:
    """Own seeds, each as if it were free, by columns in which each alone is hot."""
    problem, ranks = fitted.problem, fitted.ranks
    values = np.zeros((len(problem.boundary), n_columns))
    values[places, columns] = 1.0
    solution = fitted.session.solve(values, tol=tol)
    X, bound = solution.temperatures, solution.certificate
    sums = ranks.sums(np.nansum(X, axis=0))
    exits = float(ranks.sums(np.nansum(bound.nodes)))  # NaN only at unreached nodes
    around = Around(problem, places)
    nodes, T, E, X = map(around.of, (bound.nodes, fitted.solution.temperatures, E, X))
    if len(places) == 0:
        return Freed.unreached(0, problem.n_columns)
    proof = replace(bound, nodes=nodes, columns=bound.columns[columns], spans=bound.spans[columns])
    return free_each(
        cast("DirichletProblem", around),
        np.arange(len(places)),
        T,
        E,
        replace(solution, temperatures=X[:, columns], certificate=proof),
        ResponseSums(sums[columns], exits, problem.graph.n_nodes),
    )


def _free_anew(
    fitted: Fitted,
    some: NDArray[np.intp],
    here: NDArray[np.intp],
    freed: Freed,
    total: NDArray[np.float64],
    total_error: float,
    tol: float,
) -> None:
    """One seed, which is this rank's if it is `here`, by solving without it."""
    problem, ranks = fitted.problem, fitted.ranks
    if problem.n_seeds == 1:
        freed.put(here, Freed.unreached(len(here), problem.n_columns))
        return
    with fitted.session.prepare(problem.without(some[here])) as other:
        found = other.solve(tol=tol, start=Warm(fitted.solution.temperatures))
    E = found.certificate.error_or_0
    change = ranks.sums(np.nansum(found.temperatures, axis=0)) - total
    error = float(ranks.sums(E.sum())) - total_error
    own = problem.boundary[some[here]]
    rows = np.broadcast_to(change, (len(here), problem.n_columns))
    freed.put(
        here,
        Freed(found.temperatures[own].astype(np.float64), E[own], rows, np.full(len(here), error)),
    )


def _heated_without(problem: SharedProblem, some: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Classes with heat at free nodes when each of some own seeds is left out; (m, K)."""
    share, ranks, touching = problem.graph, problem.graph.ranks, problem.is_touching
    warm = problem.values > 0
    counts = ranks.sums(warm[touching].sum(axis=0))
    heated = counts > (warm[some] & touching[some, np.newaxis])
    # Freed, a seed is heated by those that were shut in by it.
    shut_in = np.zeros((share.n_all, warm.shape[1]), dtype=np.uint8)
    shut_in[problem.boundary[~touching]] = warm[~touching]
    share.halo.fill(shut_in)
    nodes = problem.boundary[some]
    entries, of = share.rows.entries(nodes)
    by, ends = np.repeat(np.arange(len(some)), of), share.rows.ends[entries]
    others = ends != nodes[by]
    np.logical_or.at(heated, by[others], shut_in[ends[others]].astype(bool))
    return np.asarray(heated)


def _spared(problem: SharedProblem, codes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Own seeds that are the first of their component, or of their class."""
    numbers = problem.graph.first + problem.boundary
    lowest = np.full(problem.n_columns, np.iinfo(np.int64).max)
    np.minimum.at(lowest, codes, numbers)
    lowest = problem.graph.ranks.gathered(lowest).min(axis=0)
    return np.asarray((numbers == problem.lowest_seed) | (numbers == lowest[codes]))


def _drawn(ranks: Ranks, own: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Those of the own places that are among so many of all ranks; always the same ones."""
    counts = ranks.gathered(np.int64(len(own)))
    total, first = int(counts.sum()), int(counts[: ranks.rank].sum())
    if total <= count:
        return own
    drawn = np.sort(np.random.default_rng(0).choice(total, count, replace=False)) - first
    return own[drawn[(drawn >= 0) & (drawn < len(own))]]


def _everywhere_seeds(fitted: Fitted, some: NDArray[np.intp]) -> SeedsOut:
    ranks, codes = fitted.ranks, everywhere(fitted.ranks, fitted.codes[some])
    values = everywhere(ranks, fitted.problem.values[some])
    return SeedsOut(np.arange(len(codes)), codes, values, np.ones(len(codes), dtype=bool))


def everywhere(ranks: Ranks, rows: NDArray[Any]) -> NDArray[Any]:
    """The rows of all ranks, on all ranks; there must be few."""
    return np.concatenate(ranks.exchange([rows] * ranks.size, "the results of other ranks"))
