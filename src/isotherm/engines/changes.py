"""Seeds added, changed or withdrawn after a solve, exactly, at the price of one column each.

Temperatures T are linear in what the seeds are held at and in the heat put in. Let g_s be those
when seed s alone is at 1, and v_i those when d_i units of heat are put in at free node i, all seeds
at 0. Then the temperatures after any changes are ::

    T' = T + Σ_s g_s δ_s + Σ_i v_i q_i

- a seed held at another value: δ_s is the difference of the two;
- a node held from now on: q_i is such that T' is at the value given there;
- a seed released: δ_s is such that the heat that flows into it, F(T')_s, is 0.

The last two are a small system of linear equations. Columns are kept. What comes out is proven by a
fresh residual, or, where nodes are only held further or at other values, which is what labelling
is, by the proofs of both parts (`isotherm.engines.additions`) as long as their sum is good enough.
Where neither is, the problem is solved anew, from there.
"""

from __future__ import annotations

import time
import weakref
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.engines.additions import with_added
from isotherm.engines.kept_columns import KeptColumns
from isotherm.errors import LabelError
from isotherm.read_only import cached_property
from isotherm.solvers.method import Warm, picked, settle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.session import HostSession
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.options import Progress, Stop
    from isotherm.solvers.solution import Solution


class Changes:
    """What has changed since a solve.

    Parameters
    ----------
    session : HostSession
        Which has solved the problem.
    problem : DirichletProblem
    solution : Solution
    """

    def __init__(self, session: HostSession, problem: DirichletProblem, solution: Solution) -> None:
        # Weak: the session holds its changes, and memory must not wait for the garbage collector.
        self._session: HostSession = weakref.proxy(session)
        self._problem = problem
        self._solution = solution
        self._now = solution  # with all changes so far
        self._known: dict[int, NDArray[np.float64] | None] = {}  # held at, or (None) released

    @cached_property
    def _columns(self) -> KeptColumns:
        """Most solutions are never changed."""
        return KeptColumns(self._session, self._problem, self._solution.temperatures.dtype)

    def apply(
        self,
        changes: Mapping[int, NDArray[np.float64] | None],
        columns: Sequence[int] | None = None,
        *,
        stop: Stop | None = None,
        progress: Progress | None = None,
    ) -> tuple[DirichletProblem, Solution]:
        """The problem as it is with further changes, and its solution; see `Session.change`."""
        started = time.perf_counter()
        if columns is not None:
            other = self._with_columns(columns)
            result = other.apply(changes, stop=stop, progress=progress)
            self.__dict__ = other.__dict__  # now that it has succeeded
            return result
        problem = changed_problem(self._problem, self._known | dict(changes))
        known = self._with(changes)
        if not self._follows(problem, known):
            return problem, self._begin_again(problem, stop, progress)
        linked = [i for i in known if not self._is_alone(i)]
        steps = self._columns.find(linked, progress)
        tol = self._session.options.tol

        def is_enough(found: tuple[NDArray[np.floating], Certificate] | None) -> bool:
            if found is None:
                return False
            T, certificate = found
            return certificate.bound <= tol or (stop is not None and stop(T, certificate) <= 1)

        found = self._added(problem, known, linked)
        if not is_enough(found):
            found = self._combined(problem, known, linked)
        if found is None or not is_enough(found):
            return problem, self._begin_again(problem, stop, progress, found)
        T, certificate = found
        self._known = known
        self._now = replace(
            self._solution,
            temperatures=T,
            certificate=certificate,
            unreached=problem.is_unreached,
            n_iter=steps,
            seconds=time.perf_counter() - started,
            converged=True,
            shortfall="",
        )
        return problem, self._now

    def _begin_again(
        self,
        problem: DirichletProblem,
        stop: Stop | None,
        progress: Progress | None,
        found: tuple[NDArray[np.floating], Certificate] | None = None,
    ) -> Solution:
        """Solve the problem, from the last temperatures there are."""
        T, proof = found or (self._now.temperatures, self._now.certificate)
        warm = Warm(T, proof.nodes if np.isfinite(proof.bound) else None)
        return self._session.begin_again(problem, warm, stop, progress)

    def _is_alone(self, i: int) -> bool:
        """Whether a node has no edge: nothing follows from what it is held at."""
        start = self._problem.graph.rows.start
        return bool(start[i] == start[i + 1])

    def _with(
        self, changes: Mapping[int, NDArray[np.float64] | None]
    ) -> dict[int, NDArray[np.float64] | None]:
        """All changes since the solve, those that came to nothing left out."""
        ties, known = self._problem.ties, dict(self._known)
        tied = set() if ties is None else set(ties.nodes.tolist())
        for i, row in changes.items():
            if row is None and not (self._columns.is_seed[i] or i in tied):
                known.pop(i, None)  # free as it was
                continue
            known[i] = row
        return known

    def _with_columns(self, columns: Sequence[int]) -> Changes:
        """The same with some of the columns, or others, in another order; −1: one of zeros."""
        other = copy(self)

        def picked_of(solution: Solution) -> Solution:
            proof = solution.certificate
            factors = picked(proof.columns[np.newaxis], columns)[0]
            spans = picked(proof.spans[np.newaxis], columns)[0]
            T = picked(solution.temperatures, columns)
            T[solution.unreached] = np.nan  # in a new column, too
            return replace(
                solution,
                temperatures=T,
                certificate=replace(proof, columns=factors, spans=spans),
            )

        other._problem = self._problem.with_values(picked(self._problem.seed_values, columns))
        other._solution = picked_of(self._solution)
        other._now = other._solution if self._now is self._solution else picked_of(self._now)
        other._known = {
            i: None if row is None else picked(row[np.newaxis], columns)[0]
            for i, row in self._known.items()
        }
        return other

    def _follows(
        self, problem: DirichletProblem, known: Mapping[int, NDArray[np.float64] | None]
    ) -> bool:
        """Whether the changed temperatures follow from columns of the matrix at hand."""
        base = self._problem
        at = np.fromiter(known, dtype=np.intp, count=len(known))
        tied = base.ties is not None and np.isin(at, base.ties.nodes).any()
        changed = problem.is_unreached != base.is_unreached
        changed[[i for i in known if self._is_alone(i)]] = False
        same = not changed.any()
        few = len(known) <= self._columns.most
        proven = np.isfinite(self._solution.certificate.bound)
        some_free = base.n_free > 0 and problem.n_free > 0
        return bool(same and few and proven and not tied and some_free)

    def _added(
        self,
        problem: DirichletProblem,
        known: Mapping[int, NDArray[np.float64] | None],
        linked: list[int],
    ) -> tuple[NDArray[np.floating], Certificate] | None:
        """Temperatures and their proof from those that there are; None where a seed is gone."""
        if any(row is None for row in known.values()) or self._known.keys() - known.keys():
            return None
        if not self._now.certificate.bound <= self._session.options.tol:
            return None
        held = [i for i in linked if not self._columns.is_seed[i]]
        moved = [i for i in linked if (known[i] != self._now.temperatures[i]).any()]
        if len(moved) >= max(problem.n_columns, 2):
            return None  # a fresh residual is as cheap
        W = self._columns.units(problem, held, moved)
        return None if W is None else with_added(self._session, problem, self._now, moved, W)

    def _combined(
        self,
        problem: DirichletProblem,
        known: Mapping[int, NDArray[np.float64] | None],
        linked: list[int],
    ) -> tuple[NDArray[np.floating], Certificate] | None:
        """Temperatures and their proof, by the columns; None if they do not say."""
        base, solution = self._problem, self._solution
        T = solution.temperatures
        changed = [i for i in linked if known[i] is not None and self._columns.is_seed[i]]
        with np.errstate(all="ignore"):
            G = self._columns.of(changed)
            if changed:
                now = np.array([known[i] for i in changed])
                T = T + G @ (now - base.values[np.searchsorted(base.boundary, changed)])
            held = [i for i in linked if known[i] is not None and not self._columns.is_seed[i]]
            gone = [i for i in linked if known[i] is None]
            h = np.nan_to_num(solution.certificate.nodes)
            try:
                T, h = self._freed_and_held(T, h, problem, held, gone)
            except np.linalg.LinAlgError:
                return None
        X = np.ascontiguousarray(T.astype(solution.temperatures.dtype))
        settle(X, problem)
        X[problem.is_unreached] = np.nan
        return X, self._session.prove(problem, X, h)

    def _freed_and_held(
        self,
        T: NDArray[np.floating],
        h: NDArray[np.float64],
        problem: DirichletProblem,
        held: list[int],
        gone: list[int],
    ) -> tuple[NDArray[np.floating], NDArray[np.float64]]:
        """Temperatures and exit times with some nodes held and some seeds gone."""
        V, G = self._columns.of(held), self._columns.of(gone)
        inflow = Inflow(self._problem, gone)
        drawn = -inflow(G)  # S, the heat that seeds held at 1 give off
        if held or gone:
            known = problem.values[np.searchsorted(problem.boundary, held)]
            system = np.block([[V[held], G[held]], [inflow(V), -drawn]])
            asked = np.vstack([known - T[held], -inflow(T)])
            T = T + np.hstack([V, G]) @ np.linalg.solve(system, asked)
        if gone:  # M h = d there, too
            degrees = self._problem.capacities[gone]
            h = h + G @ np.linalg.solve(drawn, degrees + inflow(h[:, np.newaxis])[:, 0])
        return T, h


class Inflow(NamedTuple):
    """F(Y): the heat that flows into some nodes, less what leaks away there."""

    problem: DirichletProblem
    nodes: list[int]

    def __call__(self, Y: NDArray[np.floating]) -> NDArray[np.float64]:
        rows, leak = self.problem.graph.rows, self.problem.leak
        found = np.zeros((len(self.nodes), Y.shape[1]))
        for k, i in enumerate(self.nodes):
            entries = slice(rows.start[i], rows.start[i + 1])
            weights = np.ones(len(rows.ends[entries]))
            if rows.weights is not None:
                weights = rows.weights[entries]
            found[k] = weights @ (Y[rows.ends[entries]].astype(np.float64) - Y[i])
            found[k] -= leak * weights.sum() * Y[i]
        return found


def changed_problem(
    base: DirichletProblem,
    known: Mapping[int, NDArray[np.float64] | None],
    columns: Sequence[int] | None = None,
) -> DirichletProblem:
    """The problem after changes, as `Session.change` takes them; LabelError if it is none."""
    if columns is not None:
        base = base.with_values(picked(base.seed_values, columns))
    n, k, ties = base.graph.n_nodes, base.n_columns, base.ties
    for i in known:
        if not 0 <= i < n:
            raise LabelError(f"there is no node at position {i}: the last one is {n - 1}")
    widths = {len(row) for row in known.values() if row is not None} - {k}
    if widths:
        raise LabelError(f"values must have {k} column(s) like the problem, got {sorted(widths)}")
    kept = ~np.isin(base.boundary, np.fromiter(known, np.intp, len(known)))
    held = {i: row for i, row in known.items() if row is not None}
    if ties is not None:
        ties = ties.only(~np.isin(ties.nodes, list(known)))
    if not kept.any() and not held and (ties is None or len(ties.nodes) == 0):
        raise LabelError("no seed would be left: at least one node must have a known value")
    boundary, values = base.boundary, base.values
    if not kept.all():
        boundary, values = boundary[kept], values[kept]
    if held:
        nodes = sorted(held)
        at = np.searchsorted(boundary, nodes)
        boundary = np.insert(boundary, at, nodes)
        values = np.insert(values, at, [held[i] for i in nodes], axis=0)
    return base.with_boundary(boundary, values, ties)
