"""The few numbers that prove temperatures, from the graph and the arrays as they are returned.

What they prove is in `isotherm.solvers.certificate`. The residual of a column x at a free node i
and the heat that exit times h drain from it are sums of differences along the node's edges::

    r_i = Σ_j A_ij (x_j − x_i) − τ d_i x_i        (M h)_i = Σ_j A_ij (h_i − h_j) + τ d_i h_i

so that no degree is subtracted from, and nodes that are nearly alike are compared exactly. This is
the reference, in NumPy; `native/proof.hpp` is the same in C++, and shares nothing with a solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.rounding import UNDERFLOW, UNIT_ROUNDOFF

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


def native_imbalance(
    problem: DirichletProblem,
    X: NDArray[Any],
    h: NDArray[np.float64],
    *,
    threads: int | None = None,
    simd: str | None = None,
) -> Imbalance:
    """By the core; arguments as in `imbalance`, and see `isotherm.engines.native.NativeEngine`."""
    rows = problem.graph.rows
    found = core.prove(
        rows.start,
        rows.ends,
        rows.weights,
        problem.is_free.view(np.uint8),
        problem.leak,
        problem.roundings,
        X,
        h,
        n_threads(threads),
        simd or core.instruction_sets()[0],
    )
    return Imbalance(
        level=np.array(found["level"]),
        rounding=np.array(found["rounding"]),
        relative=np.array(found["relative"]),
        low=-np.array(found["minus_low"]),
        high=np.array(found["high"]),
        degrees=(found["least_degree"], found["greatest_degree"]),
        exits=(found["least_exit"], found["greatest_exit"]),
        n_nodes=found["n_nodes"],
        stray=found["stray"],
    )


def imbalance(problem: DirichletProblem, X: NDArray[Any], h: NDArray[np.float64]) -> Imbalance:
    """The same without the core, some rows at a time.

    Parameters
    ----------
    problem : DirichletProblem
        With at least one free node.
    X : array of shape (n, k)
    h : array of shape (n,)
        Zero at nodes that are not free.
    """
    start = problem.graph.rows.start
    free, columns = problem.free, X.shape[1]
    entries = np.cumsum(start[free + 1] - start[free])
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
    problem: DirichletProblem, X: NDArray[Any], h: NDArray[np.float64], nodes: NDArray[np.intp]
) -> dict[str, Any]:
    rows = problem.graph.rows
    entries, counts = rows.entries(nodes)
    begin = np.cumsum(counts) - counts
    ends, own = rows.ends[entries], np.repeat(nodes, counts)
    weights = np.ones(len(entries)) if rows.weights is None else rows.weights[entries]
    degrees = np.add.reduceat(weights, begin)
    # A sum of N terms, in whatever order, is off by at most N u times the sum of their sizes. 8
    # more cover the difference and the products that make a term, the degree, and the last
    # additions; 1 % covers the rounding of the bound itself. Weights that were rounded change the
    # terms.
    unit = 1.01 * (counts + 8 + problem.roundings) * UNIT_ROUNDOFF
    tiny = (counts + 8) * UNDERFLOW
    loss = problem.leak * degrees

    def balance(Y: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Heat that flows in, less what is lost; and a bound on the rounding of that."""
        Y_own = Y[nodes].astype(np.float64)
        terms = weights[:, np.newaxis] * (Y[ends].astype(np.float64) - Y[own])
        lost = loss[:, np.newaxis] * Y_own
        sizes = np.add.reduceat(np.abs(terms), begin) + np.abs(lost)
        rounding = unit[:, np.newaxis] * sizes + tiny[:, np.newaxis] * (1 + np.abs(Y_own))
        return np.add.reduceat(terms, begin) - lost, rounding

    inflow, rounding = balance(h[:, np.newaxis])
    drain = -inflow - rounding
    drain[~(drain > 0)] = np.nan  # h proves nothing
    r, rounding = balance(X)
    return {
        "level": ((np.abs(r) + rounding) / drain).max(axis=0),
        "rounding": (rounding / drain).max(axis=0),
        "relative": (np.abs(r) / degrees[:, np.newaxis]).max(axis=0),
        "low": X[nodes].min(axis=0),
        "high": X[nodes].max(axis=0),
        "least_degree": degrees.min(),
        "greatest_degree": degrees.max(),
    }
