"""Heat flows: the same seeds, heat that spreads and leaks in another way.

A flow has weights ``A_ij / (d_i d_j)^β`` and a leak τ. With β = ½ hubs, which touch nodes of all
classes, pass on less. Its number for class k is how much warmer a node is than the mean m of all::

    x(i, k) = log(T_ik / m_k + ε)

ε keeps a node that is very cold from being infinitely unlikely.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.graph import Graph
from isotherm.graph.rows import Rows
from isotherm.read_only import Sealed
from isotherm.rounding import UNIT_ROUNDOFF

if TYPE_CHECKING:
    import scipy
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers import Solution

LEAST_RATIO = 0.05  # ε
ROUNDING = 16 * UNIT_ROUNDOFF  # of x, relative to 1 + |x|


class Kind(NamedTuple):
    """How heat spreads.

    Attributes
    ----------
    exponent : float
        β.
    leak : float
        τ.
    """

    exponent: float
    leak: float

    def __str__(self) -> str:
        hubs = "hubs damped, " if self.exponent else ""
        return f"heat, {hubs}leak {self.leak:g}" if self.leak or hubs else "heat"


PAPER = Kind(0.0, 0.0)
FURTHER = (Kind(0.5, 0.03), Kind(0.5, 0.3))


def damped(graph: Graph, exponent: float) -> Graph:
    """The same graph with weights ``A_ij / (d_i d_j)^β``.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
    >>> damped(star, 0.5).degrees.tolist()
    [2.0, 0.5, 0.5, 0.5, 0.5]
    """
    rows = graph.rows
    if exponent == 0:
        return graph
    with np.errstate(divide="ignore"):
        factors = np.where(graph.degrees > 0, graph.degrees**-exponent, 0.0)
    own = np.repeat(factors, np.diff(rows.start))
    weights = own * factors[rows.ends]
    if rows.weights is not None:
        weights *= rows.weights
        np.maximum(weights, np.finfo(np.float64).tiny, out=weights)  # an edge stays an edge
    return Graph(Rows(rows.start, rows.ends, weights), graph.nodes)


@dataclass(frozen=True, eq=False)
class Flow(Sealed):
    """A heat flow at equilibrium.

    Attributes
    ----------
    kind : Kind
    problem : DirichletProblem
    solution : Solution
    temperatures : array of shape (n, K)
        NaN where there are none.
    means, mean_errors : arrays of shape (K,)
        Mean temperatures, and bounds on their errors.
    """

    kind: Kind
    problem: DirichletProblem
    solution: Solution
    temperatures: NDArray[np.floating]
    means: NDArray[np.float64]
    mean_errors: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        kind: Kind,
        problem: DirichletProblem,
        solution: Solution,
        temperatures: NDArray[np.floating],
    ) -> Flow:
        """A solution, with the rule for unreached nodes applied to its temperatures."""
        has = ~np.isnan(temperatures[:, 0])
        count = max(int(np.count_nonzero(has)), 1)
        means = temperatures[has].sum(axis=0, dtype=np.float64) / count
        proof = solution.certificate
        # An unreached node that counts as 0 is exact; of any other, NaN is no proof of the mean.
        nodes = proof.nodes[has & ~solution.unreached]
        off = np.minimum(nodes.sum() / count * proof.columns, proof.spans)
        rounding = len(temperatures) * UNIT_ROUNDOFF
        errors = off * (1 + 2 * rounding) + rounding * means
        return cls(kind, problem, solution, temperatures, means, errors)

    def ratios(self, rows: slice | NDArray[np.intp]) -> NDArray[np.float64]:
        """X of some nodes, shape (m, K); NaN where there is no temperature."""
        return log_ratios(self.temperatures[rows], self.means)

    def bounds(self, rows: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Between which x of some nodes is proven to be, at equilibrium."""
        off = self.solution.certificate.errors(rows)
        off[self.solution.unreached[rows]] = 0.0  # has no temperature, or exactly 0
        return ratio_bounds(self.temperatures[rows], off, self.means, self.mean_errors)

    def extended(
        self, weights: scipy.sparse.csr_array, degrees: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """X of new nodes: each takes the mean temperature of its neighbours.

        Parameters
        ----------
        weights : sparse matrix of shape (m, n)
            Of the new nodes to these.
        degrees : array of shape (n,)
            Of these, in the graph as it is.
        """
        usable = np.flatnonzero(~np.isnan(self.temperatures[:, 0]))
        here = degrees[usable]
        some = weights[:, usable] * np.where(here > 0, here, 1.0) ** -self.kind.exponent
        total = np.asarray(some.sum(axis=1)).ravel()
        with np.errstate(invalid="ignore"):  # 0 / 0 where a new node has no neighbour
            T = (some @ self.temperatures[usable]) / ((1 + self.kind.leak) * total)[:, np.newaxis]
        return log_ratios(T, self.means)


def log_ratios(T: NDArray[np.floating], means: NDArray[np.floating]) -> NDArray[np.float64]:
    """X of temperatures, given the mean of each class; 0 where nothing is warm.

    Examples
    --------
    >>> log_ratios(np.array([[0.2, 0.0]]), np.array([0.1, 0.3])).round(3).tolist()
    [[0.718, -2.996]]
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(T > 0, T / means, np.where(np.isnan(T), np.nan, 0.0))
        return np.asarray(np.log(ratio + LEAST_RATIO))


def ratio_bounds(
    T: NDArray[np.floating],
    off: NDArray[np.float64],
    means: NDArray[np.floating],
    mean_off: NDArray[np.floating],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Between which x is, if temperatures and means are no farther off than this.

    The upper end is ∞ where the mean may be 0 as far as is known.
    """
    low = log_ratios(np.maximum(T - off, 0.0), means + mean_off)
    high = log_ratios(np.minimum(T + off, 1.0), np.maximum(means - mean_off, 0.0))
    return low - ROUNDING * (1 + np.abs(low)), high + ROUNDING * (1 + np.abs(high))
