"""A sample of the seeds, left out at a bounded price: how many, which, and how.

One seed at a time takes a column each, against a matrix of so many entries. Where even a sample
would take too many columns some seeds are left out together, in one solve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.graph.keys import least, node_keys, salted
from isotherm.solvers.method import check_count
from isotherm.trust.leave_one_out import leave_one_out, leave_some_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.engine import Session
    from isotherm.graph.keys import Keys
    from isotherm.solvers import Solution
    from isotherm.trust.leave_one_out import LeftOut

SAMPLE_TOL = 2e-4  # of temperatures that only choose, or tell how sure labels are
MOST_SEEDS = 300  # unless the budget has work left for more
FEW_SEEDS = 31  # of a large graph
TOGETHER = 0.1  # of the seeds, at the most, are left out at once
MOST_TOGETHER = 3000
TOGETHER_TOL = 1e-3  # so many, on so large a graph, need no more


class Budget(NamedTuple):
    """What a sample may cost.

    Attributes
    ----------
    large : int
        Entries of the adjacency matrix from which a graph counts as large.
    work : int
        Columns × entries up to which more than `MOST_SEEDS` are left out.
    """

    large: int
    work: int


JUDGING = Budget(large=300_000, work=0)
# Candidates differ by a few seeds of a few classes: with many classes 300 do not tell them apart.
CHOOSING = Budget(large=3_000_000, work=50_000_000)


def leave_sample_out(
    session: Session,
    solution: Solution,
    codes: NDArray[np.intp],
    *,
    tol: float,
    abstain: bool,
    budget: Budget = JUDGING,
    first: NDArray[np.bool_] | None = None,
) -> LeftOut:
    """Enough seeds to judge by, at a bounded price; always the same ones.

    One at a time, as many as `columns_of_sample` says. Where there are so many seeds that a tenth
    of them makes a larger sample, these are left out together.

    Parameters
    ----------
    session, solution, codes, tol, abstain
        See `isotherm.trust.leave_one_out.leave_one_out`.
    budget : Budget
    first : bool array of shape (s,), optional
        Seeds to be left out before others.
    """
    problem = session.problem
    most = columns_of_sample(problem.graph.rows.n_entries, len(codes), budget)
    if most == 0:
        keys = seed_keys(problem, "left out")
        in_turn = np.argsort(keys)
        groups = (problem.seed_components[in_turn], codes[in_turn])
        spared = np.concatenate([np.unique(of, return_index=True)[1] for of in groups])
        others = np.setdiff1d(np.arange(len(codes)), in_turn[spared])
        count = min(int(len(codes) * TOGETHER), MOST_TOGETHER)
        if len(others) > count:
            some = some_of(others, count, first, keys)
            loose = max(tol, TOGETHER_TOL)
            return leave_some_out(session, solution, codes, some, tol=loose, abstain=abstain)
        most = FEW_SEEDS
    # The only seed of a class cannot be found again.
    (findable,) = (np.bincount(codes, minlength=problem.n_columns)[codes] > 1).nonzero()
    if len(findable) > most:
        findable = some_of(findable, most, first, seed_keys(problem, "left out"))
    return leave_one_out(session, solution, codes, tol=tol, abstain=abstain, some=findable)


def columns_of_sample(n_entries: int, n_seeds: int, budget: Budget = JUDGING) -> int:
    """How many seeds are left out one at a time; 0 if some are left out together instead.

    Examples
    --------
    Of 2,000 seeds, on a small, a medium and a large graph:

    >>> [columns_of_sample(entries, 2000, CHOOSING) for entries in (10_000, 100_000, 10_000_000)]
    [2000, 500, 0]
    >>> [columns_of_sample(entries, 2000) for entries in (10_000, 100_000, 10_000_000)]
    [300, 300, 0]
    """
    if n_entries <= budget.large:
        return min(n_seeds, max(MOST_SEEDS, budget.work // max(n_entries, 1)))
    return 0 if n_seeds * TOGETHER > FEW_SEEDS else min(n_seeds, FEW_SEEDS)


def drawn_seeds(
    problem: DirichletProblem, places: NDArray[np.intp], max_seeds: int | None, random_state: int
) -> NDArray[np.intp] | None:
    """Which of the seeds at some places, so many at the most, drawn by key; None for all."""
    if max_seeds is None:
        return None
    check_count(max_seeds, "max_seeds")
    if max_seeds >= len(places):
        return None
    return least(seed_keys(problem, "some seeds", random_state)[places], max_seeds)


def seed_keys(problem: DirichletProblem, purpose: str, random_state: int = 0) -> Keys:
    """A key for each seed, see `isotherm.graph.keys`."""
    return salted(node_keys(problem.graph.nodes, problem.seeds), purpose, random_state)


def some_of(
    places: NDArray[np.intp], count: int, first: NDArray[np.bool_] | None, keys: Keys
) -> NDArray[np.intp]:
    """So many places, those with the least keys: of those that come first, then of others."""
    later = np.zeros(len(places), dtype=bool) if first is None else ~first[places]
    return np.sort(places[np.lexsort((keys[places], later))[:count]])
