"""Certificates: a proof of how far temperatures can be from equilibrium.

``M = (1 + τ) D_F − A_FF`` is an M-matrix, so ``M⁻¹ ≥ 0``. Let w be any positive vector, the gauge,
and h a vector with ``M h ≥ (1 − η) w`` and η < 1; then ``M⁻¹ w ≤ h / (1 − η)``. Temperatures X
whose residual ``r = B − M X`` satisfies ``|r| ≤ ρ w`` are off by ``|X − X*| = |M⁻¹ r| ≤ ρ M⁻¹ w``,
hence::

    |X − X*| ≤ ρ / (1 − η) · h      at every node

h approximates the solution of ``M h = w``; with the degrees for w it is the mean time a random
walk takes to reach the boundary, with their roots the bound is tighter (see
`isotherm.engines.operator.root_measures`). One column proves all the others. Residuals are
computed afresh in float64 and the bound on their rounding is added, so the proof holds for the
numbers as they are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isotherm.rounding import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.operator import Imbalance


ETA_ROUNDING = 1e-12  # far more than the rounding of η and 1 − η
SLACK = 1 + 16 * UNIT_ROUNDOFF  # for the rounding of the few operations that make a bound


@dataclass(frozen=True, eq=False)
class Certificate:
    """Bound ``min(nodes_i · columns_k, spans_k)`` on the error of temperature (i, k).

    Attributes
    ----------
    nodes : array, one entry per node
    columns : array of shape (k,)
    spans : array of shape (k,)
        Distance of the extreme temperatures: no error is larger, by the maximum principle.
    residual : float
        Greatest residual relative to the degree.
    rounding : float
        The part of the greatest of `columns` that is rounding, which no step takes away.
    """

    nodes: NDArray[np.float64]
    columns: NDArray[np.float64]
    spans: NDArray[np.float64]
    residual: float
    rounding: float = 0.0

    def errors(self, nodes: NDArray[np.intp] | slice = slice(None)) -> NDArray[np.float64]:
        """The bound at the given nodes (by default all), for each column."""
        bound: NDArray[np.float64] = np.outer(self.nodes[nodes], self.columns)
        return np.minimum(bound, self.spans, out=bound)

    @property
    def error_bound(self) -> NDArray[np.float64]:
        """The bound at each node, over all its columns."""
        bound = np.zeros_like(self.nodes)
        for column, span in zip(self.columns, self.spans, strict=True):
            np.maximum(bound, np.minimum(self.nodes * column, span), out=bound)
        return bound

    @property
    def bound(self) -> float:
        """The bound over all nodes and columns."""
        largest = np.nanmax(self.nodes, initial=0.0)
        return float(np.minimum(largest * self.columns, self.spans).max())


def proven(
    problem: DirichletProblem,
    X: NDArray[np.floating],
    nodes: NDArray[np.float64] | None,
    found: Imbalance,
) -> Certificate:
    """The proof above, or the weakest one where it does not apply.

    Parameters
    ----------
    problem : DirichletProblem
    X : array of shape (n, k)
        Within the problem's bounds. If the solve did not come to numbers at all it is put in the
        middle of what may be.
    nodes : array of shape (n,) or None
        See `exit_factors`.
    found : Imbalance
        Of X.
    """
    broken = not (np.isfinite(found.over).all() and np.isfinite(found.under).all())
    if broken:
        low, high = problem.bounds
        X[problem.is_free] = (low + high) / 2
    if broken or nodes is None:
        return by_maximum_principle(problem, found.relative)
    return Certificate(
        nodes,
        np.maximum(found.over, found.under) * SLACK,
        spans(problem),
        found.relative,
        float(found.rounding.max(initial=0.0)),
    )


def guessed(
    problem: DirichletProblem, nodes: NDArray[np.float64] | None, levels: NDArray[np.float64]
) -> Certificate:
    """What `proven` would say if residuals were of these levels."""
    if nodes is None:
        return by_maximum_principle(problem)
    return Certificate(nodes, levels, spans(problem), residual=np.nan)


def exit_factors(
    problem: DirichletProblem, h: NDArray[np.floating], eta: float
) -> NDArray[np.float64] | None:
    """``h / (1 − η)`` at free nodes, 0 on the boundary, NaN at unreached nodes.

    Parameters
    ----------
    problem : DirichletProblem
    h : array of shape (n,)
        0 at nodes that are not free.
    eta : float
        Greatest of ``(w − M h) / w``, its rounding included.

    Returns
    -------
    array of shape (n,), or None if h is too far off to prove anything
    """
    eta += ETA_ROUNDING
    if not eta < 1:
        return None
    nodes = h.astype(np.float64)
    nodes *= SLACK / (1 - max(eta, 0.0))
    if not np.isfinite(nodes.sum()):
        return None
    nodes[problem.is_unreached] = np.nan
    return nodes


def by_maximum_principle(problem: DirichletProblem, residual: float = np.inf) -> Certificate:
    """The weakest certificate: temperatures lie between those of the boundary."""
    return Certificate(problem.over_nodes(1.0), spans(problem), spans(problem), residual)


def spans(problem: DirichletProblem) -> NDArray[np.float64]:
    """Greatest distance between two temperatures, for each column."""
    low, high = problem.bounds
    return (high - low) * (1 + 4 * UNIT_ROUNDOFF)
