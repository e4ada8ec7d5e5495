"""Further nodes held, or seeds held at other values: the change, and its proof from two proofs.

Let X be temperatures with some nodes held, S the exact ones and E = X − S. Now node j is held at y,
and w is a column of temperatures with j at 1 and all other seeds at 0, g the exact one. With
δ = y − X_j ::

    X' = X + w δ + ρ            ρ: the rounding, and what moving X' within its bounds takes away
    S' = S + g (y − S_j)
    E' = (E − g E_j) + (w − g) δ + ρ

Let h be the exit times by which X and w were proven (`isotherm.solvers.certificate`), c and c_w the
factors of their bounds, and ℓ the greatest |ρ| / h.

- E − g E_j has the residual of E and is 0 at j: still at most c h.
- w − g is at most c_w h. What h drains from each node is found once: j is held now, and h 0 there,
  by which it drains only more from others.
- Further changes add the same, of which only ρ − g ρ_j is not of that kind. It is at most 2 ℓ h,
  since g h_j ≤ h: heat drains from h at every node, so that nowhere it is below the temperatures
  that come of holding j at h_j.

Hence E' ≤ (c + c_w |δ| + 2 ℓ) h, and so on with the next change. For a seed that was held before,
E_j = 0, and all is the same. Several at a time only add up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from isotherm.rounding import UNIT_ROUNDOFF
from isotherm.solvers.certificate import prove, spans
from isotherm.solvers.superposition import Superposition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.session import HostSession
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.solution import Solution


def with_added(
    session: HostSession,
    problem: DirichletProblem,
    before: Solution,
    nodes: list[int],
    W: NDArray[np.floating],
) -> tuple[NDArray[np.floating], Certificate] | None:
    """Temperatures after some nodes have been held, and their proof; None if there is none.

    Parameters
    ----------
    session : HostSession
    problem : DirichletProblem
        As it is now: seeds are those of before and these nodes.
    before : Solution
        Proven by exit times.
    nodes : list of int
        Held from now on, or at other values than before.
    W : array of shape (len(nodes), n)
        Temperatures with one of these at 1 and all other seeds at 0, exactly.
    """
    X, proof = before.temperatures, before.certificate
    if not by_exit_times(proof):
        return None
    now = problem.values[np.searchsorted(problem.boundary, nodes)]
    shares = now - X[nodes]
    if not _is_exact(now, X[nodes].astype(np.float64), shares)[proof.nodes[nodes] == 0].all():
        return None  # a seed's own rounding is not measured by exit times
    h, drains = np.where(problem.is_free, proof.nodes, 0.0), proof.drains
    if nodes:
        if drains is None:  # they will do for further changes, too
            drains = session.operator.drains(problem, h)
        units = _proof_of_units(session, problem, nodes, W, h, drains)
        if not by_exit_times(units):
            return None
        factors, residual, exits = units.columns, units.residual, units.nodes
    else:
        factors, residual, exits = np.zeros(0), 0.0, np.where(problem.is_unreached, np.nan, h)
    low, high = problem.bounds
    X, off = session.operator.superpose(Superposition(X, W, shares, proof.nodes, (low, high)))
    X[problem.boundary] = problem.values
    if not (X[nodes] == now).all():
        return None  # a value needs more digits
    size = np.abs(shares)
    slack = 1 + (32 + 4 * len(nodes)) * UNIT_ROUNDOFF
    within = (low.astype(X.dtype) == low) & (high.astype(X.dtype) == high)
    more = size.sum(axis=0).max() * residual + (2 + problem.leak) * off.max() * proof.longest
    sum_of_both = replace(
        proof,
        nodes=exits,
        columns=(proof.columns + factors @ size + 2 * off) * slack,
        spans=np.where(within, spans(problem), np.inf),
        residual=proof.residual + float(more),
        rounding=proof.rounding + 2 * float(off.max()),
        drains=drains,
    )
    return X, sum_of_both.knowing(units.longest) if nodes else sum_of_both


def by_exit_times(proof: Certificate) -> bool:
    """Whether that is how all columns are proven, and not by the maximum principle alone."""
    so_proven = (proof.columns < proof.spans) | (proof.columns == 0)
    return bool(so_proven.all() and np.isfinite(proof.bound))


def _proof_of_units(
    session: HostSession,
    problem: DirichletProblem,
    nodes: list[int],
    W: NDArray[np.floating],
    h: NDArray[np.float64],
    drains: NDArray[np.float64] | None,
) -> Certificate:
    values = np.zeros((problem.n_seeds, len(nodes)))
    values[np.searchsorted(problem.boundary, nodes), np.arange(len(nodes))] = 1.0
    one_each, X = problem.with_values(values), np.ascontiguousarray(W.T)
    return prove(one_each, X, h, session.operator.imbalance(one_each, X, h, drains))


def _is_exact(
    a: NDArray[np.float64], b: NDArray[np.float64], difference: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Rows in which a − b was not rounded (Knuth, TAOCP 2, section 4.2.2, theorem B)."""
    part = difference - a
    rest = (a - (difference - part)) + (-b - part)
    return np.asarray((rest == 0).all(axis=1))
