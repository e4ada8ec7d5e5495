"""Seeds added, changed or withdrawn after a solve, exactly, at the price of one column each.

Temperatures T are linear in what the seeds are held at and in the heat put in. Let g_s be those
when seed s alone is at 1, and v_i those when d_i units of heat are put in at free node i, all seeds
at 0. Then the temperatures after any changes are ::

    T' = T + Σ_s g_s δ_s + Σ_i v_i q_i

- a seed held at another value: δ_s is the difference of the two;
- a node held from now on: q_i is such that T' is at the value given there;
- a seed released: δ_s is such that the heat that flows into it, F(T')_s, is 0.

The last two are a small system of linear equations. Columns are kept, and T stays that of the
solve, so that errors do not add up from change to change; what comes out is proven by a fresh
residual. Where that is not good enough any more the problem is solved anew, from there.
"""

from __future__ import annotations

import time
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.errors import LabelError
from isotherm.solvers.method import Warm, settle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.session import HostSession
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.options import Progress, Stop
    from isotherm.solvers.solution import Solution

COLUMN_TOL = 0.1  # of the tolerance, for a column
MOST_COLUMNS = 48  # that are kept
ROOM = 1 << 26  # numbers that they may have


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
        self._session = session
        self._problem = problem
        self._solution = solution
        self._is_seed = np.zeros(problem.graph.n_nodes, dtype=bool)
        self._is_seed[problem.boundary] = True
        self._columns: dict[int, NDArray[np.float64]] = {}
        self._known: dict[int, NDArray[np.float64] | None] = {}  # held at, or (None) released

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
        known = self._with(changes)
        problem = _changed(self._problem, known)
        if not self._follows(problem, known):
            return problem, self._session.begin_again(problem, None, stop, progress)
        steps = self._solve_columns([i for i in known if i not in self._columns], progress)
        found = self._combined(problem, known)
        if found is None:
            return problem, self._session.begin_again(problem, None, stop, progress)
        T, certificate = found
        tol = self._session.options.tol
        if certificate.bound > tol and not (stop is not None and stop(T, certificate) <= 1):
            warm = Warm(T, certificate.nodes if np.isfinite(certificate.bound) else None)
            return problem, self._session.begin_again(problem, warm, stop, progress)
        self._known = known
        return problem, replace(
            self._solution,
            temperatures=T,
            certificate=certificate,
            unreached=problem.is_unreached,
            n_iter=steps,
            seconds=time.perf_counter() - started,
            converged=True,
            shortfall="",
        )

    def _with(
        self, changes: Mapping[int, NDArray[np.float64] | None]
    ) -> dict[int, NDArray[np.float64] | None]:
        """All changes since the solve, those that came to nothing left out."""
        n, K = self._problem.graph.n_nodes, self._problem.n_columns
        known = dict(self._known)
        for i, row in changes.items():
            if not 0 <= i < n:
                raise LabelError(f"no node at position {i}: there are {n}")
            if row is None and not self._is_seed[i]:
                known.pop(i, None)  # free as it was
                continue
            known[i] = row
        widths = {len(row) for row in known.values() if row is not None} | {K}
        if len(widths) > 1:
            raise LabelError(f"values of {sorted(widths)} columns for a problem of {K}")
        return known

    def _with_columns(self, columns: Sequence[int]) -> Changes:
        """The same with some of the columns, or others, in another order; −1: one of zeros."""

        def picked(rows: NDArray[np.floating]) -> NDArray[np.floating]:
            wider = np.hstack([rows, np.zeros((len(rows), 1), rows.dtype)])
            return np.ascontiguousarray(wider[:, columns])

        other = copy(self)
        other._problem = self._problem.with_values(picked(self._problem.seed_values))
        proof = self._solution.certificate
        other._solution = replace(
            self._solution,
            temperatures=picked(self._solution.temperatures),
            certificate=replace(
                proof,
                columns=picked(proof.columns[np.newaxis])[0],
                spans=picked(proof.spans[np.newaxis])[0],
            ),
        )
        other._known = {
            i: None if row is None else picked(row[np.newaxis])[0] for i, row in self._known.items()
        }
        return other

    def _follows(
        self, problem: DirichletProblem, known: Mapping[int, NDArray[np.float64] | None]
    ) -> bool:
        """Whether the changed temperatures follow from columns of the matrix at hand."""
        base, n = self._problem, self._problem.graph.n_nodes
        at = np.fromiter(known, dtype=np.intp, count=len(known))
        tied = base.ties is not None and np.isin(at, base.ties.nodes).any()
        same = np.array_equal(problem.is_unreached, base.is_unreached)
        few = len(known) <= min(MOST_COLUMNS, ROOM // n)
        proven = np.isfinite(self._solution.certificate.bound)
        some_free = base.n_free > 0 and problem.n_free > 0
        return bool(same and few and proven and not tied and some_free)

    def _solve_columns(self, nodes: list[int], progress: Progress | None) -> int:
        """Find the columns of some nodes, all together."""
        if not nodes:
            return 0
        at = np.array(sorted(nodes), dtype=np.intp)
        columns = np.arange(len(at))
        seeds = self._is_seed[at]
        base = self._problem
        values = np.zeros((base.n_seeds, len(at)))
        values[np.searchsorted(base.boundary, at[seeds]), columns[seeds]] = 1.0
        heat = np.zeros((np.count_nonzero(~seeds), len(at)))
        heat[np.arange(len(heat)), columns[~seeds]] = base.capacities[at[~seeds]]
        asked = base.with_heat(at[~seeds], heat, values)
        V, steps = self._session.columns(asked, COLUMN_TOL * self._session.options.tol, progress)
        self._columns |= {int(i): V[:, k].astype(np.float64) for k, i in enumerate(at)}
        return steps

    def _combined(
        self, problem: DirichletProblem, known: Mapping[int, NDArray[np.float64] | None]
    ) -> tuple[NDArray[np.floating], Certificate] | None:
        """Temperatures and their proof, by the columns; None if they do not say."""
        base, solution = self._problem, self._solution
        T = solution.temperatures
        changed = [i for i, row in known.items() if row is not None and self._is_seed[i]]
        with np.errstate(all="ignore"):
            G = self._stack(changed)
            if changed:
                now = np.array([known[i] for i in changed])
                T = T + G @ (now - base.values[np.searchsorted(base.boundary, changed)])
            held = [i for i, row in known.items() if row is not None and not self._is_seed[i]]
            gone = [i for i, row in known.items() if row is None]
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
        V, G = self._stack(held), self._stack(gone)
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

    def _stack(self, nodes: list[int]) -> NDArray[np.float64]:
        n = self._problem.graph.n_nodes
        return np.array([self._columns[i] for i in nodes]).reshape(len(nodes), n).T


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


def _changed(
    base: DirichletProblem,
    known: Mapping[int, NDArray[np.float64] | None],
) -> DirichletProblem:
    """The problem with some nodes held otherwise, or no longer."""
    ties = base.ties
    kept = np.array([int(i) not in known for i in base.boundary], dtype=bool)
    held = {i: row for i, row in known.items() if row is not None}
    if not kept.any() and not held and ties is None:
        raise LabelError("no seed would be left: at least one node must have a known value")
    values = np.vstack([base.values[kept], *held.values()])
    boundary = np.concatenate([base.boundary[kept], np.fromiter(held, np.intp, len(held))])
    order = np.argsort(boundary)
    if ties is not None:
        ties = ties.only(~np.isin(ties.nodes, list(known)))
    return base.with_boundary(boundary[order], values[order], ties)
