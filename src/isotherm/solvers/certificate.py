"""Certificates: a proof of how far temperatures can be from equilibrium.

``M = (1 + τ) D_F − A_FF`` is an M-matrix, so ``M⁻¹ ≥ 0``. Let h be any vector with
``M h ≥ (1 − η) d_F`` and η < 1; then ``M⁻¹ d_F ≤ h / (1 − η)``. Temperatures X whose residual
``r = B − M X`` satisfies ``|r| ≤ ρ d_F`` are off by ``|X − X*| = |M⁻¹ r| ≤ ρ M⁻¹ d_F``, hence::

    |X − X*| ≤ ρ / (1 − η) · h      at every node

h approximates the solution of ``M h = d_F``, the mean time a random walk takes to reach the
boundary; one column proves all the others. Residuals are computed afresh in float64 and the
bound on their rounding is added, so the proof holds for the numbers as they are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isotherm.rounding import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.operator import Operator


ETA_ROUNDING = 1e-12  # far more than the rounding of η and 1 − η


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


class ResidualCertifier:
    """The proof above, from the residual of X and the exit times h.

    Parameters
    ----------
    operator : Operator
    h : array of shape (n_F, 1)
        Approximate solution of ``M h = d_F``. Where it is too far off to prove anything (η ≥ 1)
        the maximum principle alone bounds the error.
    """

    def __init__(self, operator: Operator, h: NDArray[np.float64]) -> None:
        self._operator = operator
        degrees = operator.problem.degrees[:, np.newaxis]
        r, rounding = operator.residual(degrees, h, degrees)
        eta = float(((r + rounding) / degrees).max(initial=0.0)) + ETA_ROUNDING
        proven = eta < 1 and bool(np.isfinite(h).all())
        # The factor covers the rounding of this line and of the products in `Certificate`.
        self._nodes = h[:, 0] / (1 - eta) * (1 + 16 * UNIT_ROUNDOFF) if proven else None

    def target(self, tol: float) -> float:
        largest = 1.0 if self._nodes is None else float(self._nodes.max(initial=1.0))
        return max(tol / (2 * largest), 4 * UNIT_ROUNDOFF)

    def __call__(self, X: NDArray[np.float64]) -> Certificate:
        problem = self._operator.problem
        r, rounding = self._operator.residual(problem.sources, X, problem.source_sizes)
        residual = float(self._operator.level(r).max(initial=0.0))
        if self._nodes is None:
            return by_maximum_principle(problem, residual)
        levels = self._operator.level(np.abs(r) + rounding)
        least = float(self._operator.level(rounding).max(initial=0.0))
        return Certificate(self._nodes, levels, spans(problem), residual, least)


def by_maximum_principle(problem: DirichletProblem, residual: float = np.inf) -> Certificate:
    """The weakest certificate: temperatures lie between those of the boundary."""
    return Certificate(np.ones(len(problem.free)), spans(problem), spans(problem), residual)


def spans(problem: DirichletProblem) -> NDArray[np.float64]:
    """Greatest distance between two temperatures, for each column."""
    low, high = problem.bounds
    return (high - low) * (1 + 4 * UNIT_ROUNDOFF)
