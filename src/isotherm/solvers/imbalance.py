"""The few numbers that prove temperatures, from the graph and the arrays as they are returned.

What they prove is in `isotherm.solvers.certificate`. The residual of a column x at a free node i
and the heat that exit times h drain from it are sums of differences along the node's edges, and
along its tie if it has one::

    r_i = Σ_j A_ij (x_j − x_i) − τ d_i x_i + a_i (y_i − x_i)
    (M h)_i = Σ_j A_ij (h_i − h_j) + τ d_i h_i + a_i h_i

so that no degree is subtracted from, and nodes that are nearly alike are compared exactly. What h
drains can be found once for several proofs: holding a further node, where h is 0 from then on, only
makes it more. This is the reference, in NumPy; `native/proof.hpp` is the same in C++, and shares
nothing with a solver.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.graph.rows import row_sums
from isotherm.rounding import OTHERS, rounding_of_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

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

    @classmethod
    def joined(cls, parts: Sequence[Imbalance]) -> Imbalance:
        """Of all nodes, from parts of them; a level that is NaN in one part is NaN in all."""

        def all_of(name: str) -> NDArray[Any]:
            return np.array([getattr(part, name) for part in parts])

        degrees, exits = all_of("degrees"), all_of("exits")
        return cls(
            level=all_of("level").max(axis=0),
            rounding=all_of("rounding").max(axis=0),
            relative=all_of("relative").max(axis=0),
            low=all_of("low").min(axis=0),
            high=all_of("high").max(axis=0),
            degrees=(float(degrees.min()), float(degrees.max())),
            exits=(float(exits.min()), float(exits.max())),
            n_nodes=int(all_of("n_nodes").sum()),
            stray=bool(all_of("stray").any()),
        )

    @classmethod
    def beside(cls, parts: Sequence[Imbalance]) -> Imbalance:
        """Of all columns, from some of them and then others, by the same h."""
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("level", "rounding", "relative", "low", "high")
        }
        return replace(parts[0], **columns)


def imbalance(
    problem: DirichletProblem,
    X: NDArray[np.floating],
    h: NDArray[np.float64],
    drains: NDArray[np.float64] | None = None,
) -> Imbalance:
    """These numbers, found some rows at a time.

    Parameters
    ----------
    problem : DirichletProblem
        With at least one free node.
    X : array of shape (n, k)
    h : array of shape (n,)
        Zero at nodes that are not free.
    drains : array of shape (n,), optional
        What h drains from each free node at least, if that is known; see `drains_of`.
    """
    if problem.heat is not None:
        raise ValueError("nothing is proven of temperatures where heat is put in")
    lots = _lots(problem, X.shape[1] + 1)
    found = Imbalance.joined([_of_nodes(problem, X, h, some, drains) for some in lots])
    return replace(found, stray=bool(h[~problem.is_free].any()))


def drains_of(problem: DirichletProblem, h: NDArray[np.float64]) -> NDArray[np.float64]:
    """Heat that h drains from each free node, ``M h − ε′``; 0 elsewhere, and where it drains none.

    Examples
    --------
    >>> from isotherm import Graph
    >>> from isotherm.dirichlet import DirichletProblem
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> problem = DirichletProblem(path, np.array([0, 3]), np.array([[0.0], [1.0]]))
    >>> drains_of(problem, np.array([0.0, 2.0, 2.0, 0.0])).round(6).tolist()
    [0.0, 2.0, 2.0, 0.0]
    """
    drains = np.zeros(len(h))
    for some in _lots(problem, 1):
        drains[some] = np.maximum(_drain(_Surroundings(problem, some), h), 0.0)
    return drains


def _lots(problem: DirichletProblem, columns: int) -> list[NDArray[np.intp]]:
    """The free nodes, as many at a time as there is room for."""
    start, free = problem.graph.rows.start, problem.free
    entries = np.cumsum(start[free + 1] - start[free] + 1)
    at_once = max(ROOM // columns, 1)
    cuts = np.searchsorted(entries, np.arange(at_once, entries[-1], at_once))
    return [some for some in np.split(free, np.unique(cuts)) if len(some)]


class _Surroundings:
    """Some free nodes, with their edges and ties."""

    def __init__(self, problem: DirichletProblem, nodes: NDArray[np.intp]) -> None:
        rows = problem.graph.rows
        entries, counts = rows.entries(nodes)
        self.nodes, self.ends = nodes, rows.ends[entries]
        self.own = np.repeat(np.arange(len(nodes)), counts)
        weights = np.ones(len(entries)) if rows.weights is None else rows.weights[entries]
        self.weights, self.sums = weights[:, np.newaxis], row_sums(counts)
        edges = self.sums(self.weights)[:, 0]
        self.tied, self.tie = _ties_of(problem, nodes)  # rows here, rows of the ties
        self.pulls, self.roundings = np.zeros((0, 1)), 0.0
        if problem.ties is not None:
            self.pulls = problem.ties.weights[self.tie, np.newaxis]
            self.roundings = problem.ties.roundings
        self.degrees = edges.copy()
        self.degrees[self.tied] += self.pulls[:, 0]
        self.n_terms = counts.copy()
        self.n_terms[self.tied] += 1
        self.loss = problem.leak * edges

    def balance(self, Y: NDArray[np.floating], known: NDArray[np.float64]) -> tuple[Any, Any]:
        """Heat that flows in, less what is lost; and a bound on the rounding of that."""
        Y_own = Y[self.nodes].astype(np.float64)
        flows = self.weights * (Y[self.ends].astype(np.float64) - Y_own[self.own])
        lost = self.loss[:, np.newaxis] * Y_own
        inflow, sizes = self.sums(flows), self.sums(np.abs(flows)) + np.abs(lost)
        if len(self.tied):
            pull = self.pulls * (known - Y_own[self.tied])
            inflow[self.tied] += pull
            # A weight that was rounded changes its term by so much more.
            more = self.roundings / (self.n_terms[self.tied, np.newaxis] + float(OTHERS))
            sizes[self.tied] += np.abs(pull) * (1 + more)
        unit, tiny = rounding_of_sums(self.n_terms)
        rounding = unit[:, np.newaxis] * sizes + tiny[:, np.newaxis] * (1 + np.abs(Y_own))
        return inflow - lost, rounding


def _drain(around: _Surroundings, h: NDArray[np.float64]) -> NDArray[np.float64]:
    inflow, rounding = around.balance(h[:, np.newaxis], np.zeros((len(around.tied), 1)))
    return np.asarray((-inflow - rounding)[:, 0])


def _of_nodes(
    problem: DirichletProblem,
    X: NDArray[np.floating],
    h: NDArray[np.float64],
    nodes: NDArray[np.intp],
    drains: NDArray[np.float64] | None,
) -> Imbalance:
    around = _Surroundings(problem, nodes)
    drain = (_drain(around, h) if drains is None else drains[nodes])[:, np.newaxis]
    drain[~(drain > 0)] = np.nan  # h proves nothing
    ties = problem.ties
    known = np.zeros((0, X.shape[1])) if ties is None else ties.values[around.tie]
    r, rounding = around.balance(X, known)
    degrees = around.degrees
    return Imbalance(
        level=((np.abs(r) + rounding) / drain).max(axis=0),
        rounding=(rounding / drain).max(axis=0),
        relative=(np.abs(r) / degrees[:, np.newaxis]).max(axis=0),
        low=X[nodes].min(axis=0),
        high=X[nodes].max(axis=0),
        degrees=(float(degrees.min()), float(degrees.max())),
        exits=(float(h[nodes].min()), float(h[nodes].max())),
        n_nodes=len(nodes),
        stray=False,
    )


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
