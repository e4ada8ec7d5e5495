"""Which seeds are left out, and how: one at a time where they are few, else tenths of them.

Seeds left out are what the model is fitted to. One at a time is exact and costs a column for each.
Of more seeds a tenth is left out at once, and then another, up to 1500 in all; on a large graph one
tenth, or a few seeds one at a time, so that all flows together cost about as much as ten fits of
the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isotherm.graph.keys import salted
from isotherm.stacking.flows import log_ratios, ratio_bounds
from isotherm.trust.leave_one_out import LeftOut, joined, leave_one_out, leave_some_out
from isotherm.trust.sample import some_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.engine import Session
    from isotherm.graph.keys import Keys
    from isotherm.solvers import Solution

LARGE = 3_000_000  # entries of the adjacency matrix, above which less is left out
MOST_ALONE, MOST_ALONE_LARGE = 300, 32  # seeds left out one at a time
MOST_ROWS = 1500
PARTS = 10
FEWEST = 10  # seeds that can be judged, or there is nothing to learn from
FEWEST_TOGETHER = 100  # that are left out at once on a large graph
TOL = 1e-4  # of temperatures that a model is fitted to
TOGETHER_TOL = 1e-3
STACKED = "stacked"  # the decision, where others are named by how they centre


@dataclass(frozen=True, eq=False)
class Plan:
    """Seeds to be left out.

    Attributes
    ----------
    places : int array of shape (m,)
        Which, by their place among all seeds.
    part : int array of shape (m,)
        Seeds are judged by a model that was fitted to those of other parts.
    groups : int
        So many groups of parts are left out, each at once; 0: each seed is left out alone.
    """

    places: NDArray[np.intp]
    part: NDArray[np.intp]
    groups: int

    @property
    def parts(self) -> list[NDArray[np.intp]]:
        """The rows of each part."""
        return [np.flatnonzero(self.part == one) for one in np.unique(self.part)]

    @property
    def at_once(self) -> list[NDArray[np.intp]]:
        """The rows that are left out, or kept from a regression, at once."""
        group = self.part % (self.groups or PARTS)
        return [np.flatnonzero(group == one) for one in np.unique(group)]


def plan(
    codes: NDArray[np.intp],
    n_classes: int,
    keys: Keys,
    n_entries: int = 0,
    first: NDArray[np.bool_] | None = None,
) -> Plan | None:
    """Which seeds to leave out; None if too few of them can be judged.

    The only seed of a class cannot be found again, and stays. Parts are drawn class by class, so
    that no class loses all its seeds at once unless it has few.

    Parameters
    ----------
    codes : int array of shape (s,)
        The class of each seed.
    n_classes : int
    keys : array of shape (s,)
        Of the seeds, by which they are drawn.
    n_entries : int
        Of the adjacency matrix.
    first : bool array of shape (s,), optional
        Seeds to be left out before others.

    Examples
    --------
    >>> keys = np.arange(4000, dtype=np.uint64)
    >>> found = plan(np.repeat([0, 1], 200), 2, keys)
    >>> len(found.places), [len(rows) for rows in found.at_once]
    (400, [40, 40, 40, 40, 40, 40, 40, 40, 40, 40])
    >>> found = plan(np.repeat([0, 1], 2000), 2, keys, 10_000_000)
    >>> len(found.places), found.groups
    (400, 1)
    >>> plan(np.repeat([0, 1], 4), 2, keys) is None
    True
    """
    findable = np.flatnonzero(np.bincount(codes, minlength=n_classes)[codes] > 1)
    if len(findable) < FEWEST:
        return None
    groups, most = groups_of(len(codes), large=n_entries > LARGE)
    if len(findable) > most:
        findable = some_of(findable, most, first, salted(keys, "left out"))
    by_class = np.lexsort((salted(keys, "parts")[findable], codes[findable]))
    part = np.empty(len(findable), dtype=np.intp)
    part[by_class] = np.arange(len(findable)) % PARTS
    return Plan(findable, part, groups)


def groups_of(n_seeds: int, *, large: bool) -> tuple[int, int]:
    """How many groups of seeds are left out, and how many seeds at the most; see `Plan`."""
    tenth = n_seeds // PARTS
    if large and tenth >= FEWEST_TOGETHER:
        return 1, min(tenth, MOST_ROWS)
    if large or n_seeds <= MOST_ALONE:
        return 0, MOST_ALONE_LARGE if large else MOST_ALONE
    return min(-(-MOST_ROWS // tenth), PARTS), MOST_ROWS


def leave_out(
    session: Session,
    solution: Solution,
    codes: NDArray[np.intp],
    chosen: Plan,
    *,
    abstain: bool,
) -> LeftOut:
    """What seeds would get in a flow, if they were free.

    Parameters
    ----------
    session : Session
    solution : Solution
        What it has solved.
    codes : int array of shape (s,)
        The class of each seed.
    chosen : Plan
    abstain : bool
        Whether nodes that no heat reaches are left out of the means.
    """
    places = chosen.places
    tol = max(session.options.tol, TOL)
    if chosen.groups == 0:
        return leave_one_out(session, solution, codes, tol=tol, abstain=abstain, some=places)
    loose = max(tol, TOGETHER_TOL)
    found = [
        leave_some_out(session, solution, codes, places[rows], tol=loose, abstain=abstain)
        for rows in chosen.at_once
    ]
    return joined(found).only(np.argsort(np.concatenate(chosen.at_once)))


def ratios_left_out(left: LeftOut) -> NDArray[np.float64]:
    """X of seeds left out, see `isotherm.stacking.flows`; 0 where no heat reaches one."""
    return np.nan_to_num(log_ratios(left.temperatures, left.means.all))


def bounds_left_out(left: LeftOut) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Between which these are proven to be."""
    off = left.errors[:, np.newaxis]
    low, high = ratio_bounds(left.temperatures, off, left.means.all, left.mean_errors.all)
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


@dataclass(frozen=True, eq=False)
class StackedLeftOut(LeftOut):
    """Seeds left out, with what models say that were fitted to others of them.

    Temperatures and means are those of the paper's flow.

    Attributes
    ----------
    logits : array of shape (m, K)
        By which a label is decided.
    sure : bool array of shape (m,)
        Whether that label is proven, as far as the temperatures go.
    """

    logits: NDArray[np.float64]
    sure: NDArray[np.bool_]

    @classmethod
    def of(
        cls, left: LeftOut, logits: NDArray[np.float64], sure: NDArray[np.bool_]
    ) -> StackedLeftOut:
        """Add what models say."""
        return cls(**vars(left), logits=logits, sure=sure)

    def scores(self, decision: str) -> NDArray[np.float64]:
        """What models say, or, by one of the decisions, what the paper's flow says."""
        if decision != STACKED:
            return super().scores(decision)
        S = self.logits.copy()
        S[~self.reached] = np.nan
        return S

    def certified(self, decision: str) -> NDArray[np.bool_]:
        """Whether labels are proven."""
        return self.sure if decision == STACKED else super().certified(decision)
