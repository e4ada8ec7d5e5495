"""Leave one seed out, exactly: each seed as if it were free, without solving anew for each.

Let g be the temperatures when seed i alone is hot. Temperatures are linear in those of the
boundary: freeing seed i, held at y, adds ``δ g`` to all of them, where the balance of heat at i
gives::

    δ = r / κ,   r = Σ_j A_ij (T_j − y) − τ d_i y,   κ = Σ_j A_ij (1 − g_j) + τ d_i

and ``mean' = mean + δ Γ / n`` with ``Γ = Σ_j g_j``. One column per seed, all against the same
matrix. A seed that is not held but tied to its class (see `isotherm.classifier.seeds`) is left
out by cutting the tie. Its node counts as held at the temperature that it has: the same formulas,
with that for y, ``g / g_i`` for g, and without the tie.

T and g are known up to their certificates, so that δ is off by at most ``(ε_r + |δ| ε_κ) / (κ −
ε_κ)``. Behind a weak link κ is next to nothing, and that is too much: such a seed is solved anew.

A sample of the seeds is often enough; see `isotherm.trust.sample`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from isotherm.decision import Means, score_errors, scores
from isotherm.labels import UNKNOWN
from isotherm.read_only import Sealed
from isotherm.rounding import UNIT_ROUNDOFF
from isotherm.solvers import Warm
from isotherm.trust.best_effort import solve_best_effort
from isotherm.trust.freed import Freed, ResponseSums, free_each, heated_without
from isotherm.trust.hot_seeds import solve_each_hot

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.engine import Session
    from isotherm.solvers import Solution


@dataclass(frozen=True, eq=False)
class LeftOut(Sealed):
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
        means = replace(self.means, errors=self.mean_errors)
        S = np.array(scores(self.temperatures, means, decision), dtype=np.float64)
        S[(self.means.seed_share == 0) & self.reached[:, np.newaxis]] = -np.inf
        return S

    def labels(self, decision: str) -> NDArray[np.intp]:
        """The class that each seed would get; −1 where it would get none."""
        return np.where(self.reached, self.scores(decision).argmax(axis=1), UNKNOWN)

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

    def only(self, rows: NDArray[np.intp]) -> Self:
        """Some of the seeds left out, or all in another order."""
        return replace(self, **_arrays_of([self], lambda arrays: arrays[0][rows]))

    def among(self, drawn: NDArray[np.bool_] | None) -> Self:
        """Those of seeds that were drawn at random; all, where that is not known of the seeds."""
        return self if drawn is None else self.only(np.flatnonzero(drawn[self.places]))


def joined(found: Sequence[LeftOut]) -> LeftOut:
    """Seeds left out in several goes, one after the other."""
    return replace(found[0], **_arrays_of(found, np.concatenate))


def _arrays_of(
    found: Sequence[LeftOut], make: Callable[[list[NDArray[Any]]], NDArray[Any]]
) -> dict[str, Any]:
    """Each array of a `LeftOut`, made of those that were found."""
    made: dict[str, Any] = {}
    for name, first in vars(found[0]).items():
        all_found = [getattr(one, name) for one in found]
        if isinstance(first, Means):
            fields = ("all", "free", "seed_share")
            made[name] = Means(*(make([getattr(one, of) for one in all_found]) for of in fields))
        elif isinstance(first, np.ndarray):
            made[name] = make(all_found)
    return made


def leave_one_out(
    session: Session,
    solution: Solution,
    codes: NDArray[np.intp],
    *,
    tol: float | None = None,
    abstain: bool = True,
    some: NDArray[np.intp] | None = None,
) -> LeftOut:
    """Free each seed in turn.

    Parameters
    ----------
    session : Session
        Of the problem, a column for each class.
    solution : Solution
        What it has solved.
    codes : int array of shape (s,)
        The class of each seed, in the order of the problem's.
    tol : float, optional
        Of each seed's column; by default that of the session.
    abstain : bool
        Whether nodes that no heat reaches are left out of the means, or have temperature 0.
    some : int array, optional
        Which seeds to free, by their place among all; by default all.
    """
    problem, tol = session.problem, session.options.tol if tol is None else tol
    places = np.arange(problem.n_seeds) if some is None else np.asarray(some)
    E = solution.certificate.error_or_0
    T = solution.temperatures
    total, total_error = ResponseSums.of(solution).temperatures, float(E.sum())
    found = Freed.unreached(len(places), problem.n_columns)
    heated = heated_without(problem, places)  # before: what it looks up is kept for the solves
    (reached,) = (~_alone(problem)[places]).nonzero()
    for part, responses in solve_each_hot(session, places[reached], tol):
        found.put(reached[part], free_each(problem, places[reached[part]], T, E, responses))
    for row in (~(found.errors <= tol)).nonzero()[0][:, np.newaxis]:
        anew = _without(session, solution, places[row], tol)
        found.put(row, Freed.anew(anew, problem.seeds[places[row]], total, total_error))
    freed = np.minimum(np.maximum(found.temperatures, 0.0), 1.0)
    freed[~heated & ~np.isnan(freed)] = 0.0
    n_counted = _counted(T, abstain=abstain)
    return left_out_of(
        SeedsOut.of(problem, places, codes),
        SeedTotals.of(problem),
        n_counted,
        freed,
        total + found.changes,
        found.errors,
        total_error + found.change_errors,
        heated,
        together=False,
    )


def leave_some_out(
    session: Session,
    solution: Solution,
    codes: NDArray[np.intp],
    some: NDArray[np.intp],
    *,
    tol: float | None = None,
    abstain: bool = True,
) -> LeftOut:
    """Free some seeds at once, in one solve: each misses the others, too, and fares a bit worse.

    Parameters
    ----------
    session, solution, codes, tol, abstain
        See `leave_one_out`.
    some : int array
        Which seeds to free.
    """
    problem = session.problem
    found = _without(session, solution, some, tol)
    T, E = found.temperatures, found.certificate.error_or_0
    own = problem.seeds[some]
    # NaN at unreached nodes; of any other one the error is infinite, and so is their sum.
    sums = np.asarray(np.nansum(T, axis=0, dtype=np.float64))
    freed = T[own].astype(np.float64)
    heated = np.broadcast_to(heated_without(problem, some, together=True), freed.shape)
    n_counted = _counted(T, abstain=abstain)
    seeds = SeedsOut.of(problem, some, codes)
    totals = SeedTotals.of(problem)
    return left_out_of(
        seeds, totals, n_counted, freed, sums, E[own], E.sum(), heated, together=True
    )


def _without(
    session: Session, solution: Solution, some: NDArray[np.intp], tol: float | None
) -> Solution:
    """The solution when some seeds are free, all at once."""
    with session.prepare(session.problem.without(some)) as other:
        return solve_best_effort(other, tol=tol, start=Warm(solution.temperatures))


def _counted(T: NDArray[np.floating], *, abstain: bool) -> int:
    """Nodes over which means are taken."""
    return int(np.count_nonzero(~np.isnan(T[:, 0]))) if abstain else len(T)


class SeedTotals(NamedTuple):
    """What all seeds of a problem add up to.

    Attributes
    ----------
    n_nodes, n_seeds, n_held : int
    heat, shares, counts : arrays of shape (K,)
        The values of those held, the values of all, and how many have a share in each class.
    """

    n_nodes: int
    n_seeds: int
    n_held: int
    heat: NDArray[np.float64]
    shares: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, problem: DirichletProblem) -> SeedTotals:
        """Those of a problem."""
        Y, n_held = problem.seed_values, len(problem.boundary)
        heat, shares, counts = Y[:n_held].sum(axis=0), Y.sum(axis=0), (Y > 0).sum(axis=0)
        return cls(problem.graph.n_nodes, len(Y), n_held, heat, shares, counts)


class SeedsOut(NamedTuple):
    """The seeds that are left out: places among all, classes, values, and whether held."""

    places: NDArray[np.intp]
    codes: NDArray[np.intp]
    values: NDArray[np.float64]
    is_held: NDArray[np.bool_]

    @classmethod
    def of(
        cls, problem: DirichletProblem, places: NDArray[np.intp], codes: NDArray[np.intp]
    ) -> SeedsOut:
        """Some of a problem's, of which all have these codes."""
        held = places < len(problem.boundary)
        return cls(places, codes[places], problem.seed_values[places], held)


def left_out_of(
    seeds: SeedsOut,
    totals: SeedTotals,
    n_counted: int,
    T: NDArray[np.float64],
    sums: NDArray[np.float64],
    errors: NDArray[np.float64],
    sum_errors: Any,
    heated: NDArray[np.bool_],
    *,
    together: bool,
) -> LeftOut:
    """With what decisions look at: the means over all nodes, over free ones, and seeds left.

    Parameters
    ----------
    seeds : SeedsOut
        The m that are left out.
    totals : SeedTotals
        Of all seeds.
    n_counted : int
        Nodes over which means are taken.
    T, errors : arrays of shape (m, K) and (m,)
        Temperatures of these seeds once they are free, and bounds on their errors.
    sums, sum_errors : arrays of shape (m, K) or (K,), and (m,) or ()
        Of the temperatures of all nodes then, and bounds on their errors.
    heated : bool array of shape (m, K)
        Classes with heat then.
    together : bool
        Whether they are free all at once.
    """
    Y, held = seeds.values, seeds.is_held[:, np.newaxis]

    def gone(some: NDArray[Any]) -> NDArray[Any]:
        return some.sum(axis=0, keepdims=True) if together else some

    n_free = np.maximum(n_counted - totals.n_held + gone(held), 1)
    heat = totals.heat - gone(Y * held)
    has_left = totals.counts > gone(Y > 0)
    left = np.where(has_left, totals.shares - gone(Y), 0.0)
    free = np.where(heated, np.maximum(sums - heat, 0.0), 0.0)  # a class without heat has none
    rounding = 2 * totals.n_nodes * UNIT_ROUNDOFF
    off = np.asarray(sum_errors).reshape(-1, 1) * (1 + rounding) + rounding * (sums + heat)
    share = left / np.maximum(left.sum(axis=-1, keepdims=True), 1e-300)
    means = Means(*(_rows_like(T, each) for each in (sums / n_counted, free / n_free, share)))
    is_last = means.seed_share[np.arange(len(T)), seeds.codes] == 0
    mean_errors = Means(
        _rows_like(T, off / n_counted),
        np.where(heated, off / n_free, 0.0),
        2 * totals.n_seeds * UNIT_ROUNDOFF * means.seed_share,
    )
    return LeftOut(seeds.places, seeds.codes, T, means, errors, mean_errors, is_last, together)


def _rows_like(T: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """One row for each of T's, where there is one for all."""
    return rows if rows.shape == T.shape else np.broadcast_to(rows, T.shape)


def _alone(problem: DirichletProblem) -> NDArray[np.bool_]:
    """Seeds without another one in their component: no heat would reach them."""
    _, part = np.unique(problem.seed_components, return_inverse=True)
    return np.asarray(np.bincount(part)[part] == 1)
