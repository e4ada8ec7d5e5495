"""The few numbers that prove temperatures, from the graph and the arrays as they are returned.

What they prove is in `isotherm.solvers.certificate`. The residual of a column x at a free node i
and the heat that exit times h drain from it are sums of differences along the node's edges, and
along its tie if it has one::

    r_i = Σ_j A_ij (x_j − x_i) − τ d_i x_i + a_i (y_i − x_i)
    (M h)_i = Σ_j A_ij (h_i − h_j) + τ d_i h_i + a_i h_i

so that no degree is subtracted from, and nodes that are nearly alike are compared exactly. This is
the reference, in NumPy; `native/proof.hpp` is the same in C++, and shares nothing with a solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.graph.rows import row_sums
from isotherm.rounding import OTHERS, rounding_of_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem

ROOM = 1 << 22  # numbers worked on at once


@dataclass(frozen=True, eq=False)
class Imbalance:
    """What a certificate needs to know of temperatures X and exit times h.

    All are maxima or minima over free nodes. Arrays have shape (k,), an entry for each column.

    Attributes
    ----------
    level : array
        Of ``(|r| + ε) / (M h − ε′)``, where ε and ε′ bound the rounding of r and of M h. NaN if
        X or h has a NaN, or h drains no heat from some node.
    rounding : array
        Of ``ε / (M h − ε′)``.
    relative : array
        Of ``|r| / d``.
    low, high : arrays
        The least and the greatest temperature.
    degrees, exits : tuples of two floats
        The least and the greatest degree, and entry of h.
    n_nodes : int
        How many nodes were looked at.
    stray : bool
        Whether h is not zero at a node that is not free.
    """

    level: NDArray[np.float64]
    rounding: NDArray[np.float64]
    relative: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    degrees: tuple[float, float]
    exits: tuple[float, float]
    n_nodes: int
    stray: bool


def imbalance(
    problem: DirichletProblem, X: NDArray[np.floating], h: NDArray[np.float64]
) -> Imbalance:
    """These numbers, found some rows at a time.

    Parameters
    ----------
    problem : DirichletProblem
        With at least one free node.
    X : array of shape (n, k)
    h : array of shape (n,)
        Zero at nodes that are not free.
    """
    if problem.heat is not None:
        raise ValueError("nothing is proven of temperatures where heat is put in")
    start = problem.graph.rows.start
    free, columns = problem.free, X.shape[1]
    entries = np.cumsum(start[free + 1] - start[free] + 1)
    at_once = max(ROOM // (columns + 1), 1)
    cuts = np.searchsorted(entries, np.arange(at_once, entries[-1], at_once))
    parts = [
        _of_nodes(problem, X, h, some) for some in np.split(free, np.unique(cuts)) if len(some)
    ]
    of = {name: np.array([part[name] for part in parts]) for name in parts[0]}
    return Imbalance(
        level=of["level"].max(axis=0),
        rounding=of["rounding"].max(axis=0),
        relative=of["relative"].max(axis=0),
        low=of["low"].min(axis=0),
        high=of["high"].max(axis=0),
        degrees=(float(of["least_degree"].min()), float(of["greatest_degree"].max())),
        exits=(float(h[free].min()), float(h[free].max())),
        n_nodes=len(free),
        stray=bool(h[~problem.is_free].any()),
    )


def _of_nodes(
    problem: DirichletProblem,
    X: NDArray[np.floating],
    h: NDArray[np.float64],
    nodes: NDArray[np.intp],
) -> dict[str, Any]:
    rows = problem.graph.rows
    entries, counts = rows.entries(nodes)
    ends, own = rows.ends[entries], np.repeat(np.arange(len(nodes)), counts)
    weights = np.ones(len(entries)) if rows.weights is None else rows.weights[entries]
    sums = row_sums(counts)
    edges = sums(weights[:, np.newaxis])[:, 0]
    tied, tie = _ties_of(problem, nodes)  # rows here, rows of the ties
    weight, roundings = np.zeros(0), 0.0
    if problem.ties is not None:
        weight, roundings = problem.ties.weights[tie], problem.ties.roundings
    degrees = edges.copy()
    degrees[tied] += weight
    n_terms = counts.copy()
    n_terms[tied] += 1
    unit, tiny = rounding_of_sums(n_terms)
    loss = problem.leak * edges

    def balance(Y: NDArray[np.floating], known: NDArray[np.float64]) -> tuple[Any, Any]:
        """Heat that flows in, less what is lost; and a bound on the rounding of that."""
        Y_own = Y[nodes].astype(np.float64)
        flows = weights[:, np.newaxis] * (Y[ends].astype(np.float64) - Y_own[own])
        lost = loss[:, np.newaxis] * Y_own
        inflow, sizes = sums(flows), sums(np.abs(flows)) + np.abs(lost)
        if len(tied):
            pull = weight[:, np.newaxis] * (known - Y_own[tied])
            inflow[tied] += pull
            # A weight that was rounded changes its term by so much more.
            more = roundings / (n_terms[tied, np.newaxis] + float(OTHERS))
            sizes[tied] += np.abs(pull) * (1 + more)
        rounding = unit[:, np.newaxis] * sizes + tiny[:, np.newaxis] * (1 + np.abs(Y_own))
        return inflow - lost, rounding

    known = np.zeros((0, X.shape[1])) if problem.ties is None else problem.ties.values[tie]
    inflow, rounding = balance(h[:, np.newaxis], np.zeros((len(tied), 1)))
    drain = -inflow - rounding
    drain[~(drain > 0)] = np.nan  # h proves nothing
    r, rounding = balance(X, known)
    return {
        "level": ((np.abs(r) + rounding) / drain).max(axis=0),
        "rounding": (rounding / drain).max(axis=0),
        "relative": (np.abs(r) / degrees[:, np.newaxis]).max(axis=0),
        "low": X[nodes].min(axis=0),
        "high": X[nodes].max(axis=0),
        "least_degree": degrees.min(),
        "greatest_degree": degrees.max(),
    }


def _ties_of(
    problem: DirichletProblem, nodes: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which of these nodes are tied, and by which ties."""
    if problem.ties is None:
        return np.empty(0, np.intp), np.empty(0, np.intp)
    _, places, ties = np.intersect1d(
        nodes, problem.ties.nodes, assume_unique=True, return_indices=True
    )
    return places, ties
