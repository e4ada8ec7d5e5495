"""Which seeds are left out, and how: one at a time where they are few, else tenths of them.

Seeds left out are what the model is fitted to. One at a time is exact and costs a column for each;
of more seeds a tenth is left out at once, ten times over, so that each row misses as few others as
possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isotherm.stacking.flows import log_ratios
from isotherm.trust.leave_one_out import LeftOut, joined, leave_one_out, leave_some_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.engine import Session
    from isotherm.solvers import Solution

MOST_ALONE = 300  # seeds left out one at a time
MOST_ROWS = 1500
PARTS = 10
FEWEST = 10  # seeds that can be judged, or there is nothing to learn from
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
        Those of the same part are left out together, or judged by a model fitted to the others.
    alone : bool
        Whether each is left out alone all the same.
    """

    places: NDArray[np.intp]
    part: NDArray[np.intp]
    alone: bool

    @property
    def parts(self) -> list[NDArray[np.intp]]:
        """The rows of each part."""
        return [np.flatnonzero(self.part == one) for one in np.unique(self.part)]


def plan(codes: NDArray[np.intp], n_classes: int) -> Plan | None:
    """Which seeds to leave out; None if too few of them can be judged.

    The only seed of a class cannot be found again, and stays. Parts are drawn class by class, so
    that no class loses all its seeds at once unless it has few.

    Parameters
    ----------
    codes : int array of shape (s,)
        The class of each seed.
    n_classes : int

    Examples
    --------
    >>> found = plan(np.repeat([0, 1], 200), 2)
    >>> len(found.places), found.alone, [len(part) for part in found.parts]
    (400, False, [40, 40, 40, 40, 40, 40, 40, 40, 40, 40])
    >>> plan(np.repeat([0, 1], 4), 2) is None
    True
    """
    findable = np.flatnonzero(np.bincount(codes, minlength=n_classes)[codes] > 1)
    if len(findable) < FEWEST:
        return None
    rng = np.random.default_rng(0)
    if len(findable) > MOST_ROWS:
        findable = np.sort(rng.choice(findable, MOST_ROWS, replace=False))
    by_class = np.lexsort((rng.random(len(findable)), codes[findable]))
    part = np.empty(len(findable), dtype=np.intp)
    part[by_class] = np.arange(len(findable)) % PARTS
    return Plan(findable, part, len(codes) <= MOST_ALONE)


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
    if chosen.alone:
        return leave_one_out(session, solution, codes, tol=tol, abstain=abstain, some=places)
    loose = max(tol, TOGETHER_TOL)
    found = [
        leave_some_out(session, solution, codes, places[rows], tol=loose, abstain=abstain)
        for rows in chosen.parts
    ]
    return joined(found).only(np.argsort(np.concatenate(chosen.parts)))


def ratios_left_out(left: LeftOut) -> NDArray[np.float64]:
    """X of seeds left out, see `isotherm.stacking.flows`; 0 where no heat reaches one."""
    return np.nan_to_num(log_ratios(left.temperatures, left.means.all))


def bounds_left_out(left: LeftOut) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Between which these are proven to be."""
    T, off = left.temperatures, left.errors[:, np.newaxis]
    means, mean_off = left.means.all, left.mean_errors.all
    low = log_ratios(np.maximum(T - off, 0.0), means + mean_off)
    high = log_ratios(np.minimum(T + off, 1.0), np.maximum(means - mean_off, 0.0))
    return np.nan_to_num(low, nan=-np.inf, posinf=np.inf), np.nan_to_num(high, nan=np.inf)


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
