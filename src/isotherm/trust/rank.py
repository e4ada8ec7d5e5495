"""One class known, and nothing of any other: a ranking of the free nodes, without probabilities.

Without a leak every temperature would be 1. With a leak τ a free node has 1 / (1 + τ) of the mean
of its neighbours: its temperature is the chance that a random walk from it, which ends at each step
with the chance τ / (1 + τ), meets a seed before it ends. That ranks nodes by how near they are to
the seeds, many short paths being nearer than few long ones. It is not the probability of the class:
what share of the nodes has it nobody has said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isotherm.read_only import Sealed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers import Solution

# Larger ones rank worse; smaller ones hardly better, with scores ever closer to 1 and each other
# (benchmarks/a_single_class_ranks.py).
LEAK = 0.01
TOL = 1e-8  # of temperatures that rank
DIGITS = 6  # after the point; scores that agree in them are level


@dataclass(frozen=True, eq=False)
class Ranking(Sealed):
    """The free nodes that heat reaches, those nearest to the seeds first.

    Attributes
    ----------
    nodes : array of shape (m,)
        Their ids.
    scores : array of shape (m,)
        From 0 to 1, rounded to six decimals; these are not probabilities of the class.
    ranks : int array of shape (m,)
        1, 2, … m; nodes with the same score are in the order of their names.
    positions : int array of shape (m,)
        Places of these nodes in the graph.
    leak : float
        How much heat is lost at each node; without it, all scores would be 1.
    error_bound : float
        Proven bound: no score is farther off than this, before it is rounded.
    converged : bool
        Whether that bound is within the tolerance asked for.

    Examples
    --------
    >>> from isotherm import DirichletClassifier, load_dataset
    >>> club = load_dataset("karate")
    >>> known = {node: str(club.labels[node]) for node in (0, 1)}
    >>> model = DirichletClassifier().fit(club.graph, known)
    >>> model.ranking_.nodes[:3].tolist(), model.ranking_.scores[:3].tolist()
    ([11, 17, 21], [0.990099, 0.990099, 0.990099])
    """

    nodes: NDArray[np.generic]
    scores: NDArray[np.float64]
    ranks: NDArray[np.intp]
    positions: NDArray[np.intp]
    leak: float
    error_bound: float
    converged: bool

    @classmethod
    def of(cls, problem: DirichletProblem, solution: Solution) -> Ranking:
        """By the temperatures of a problem with a leak and one class."""
        free = np.flatnonzero(problem.is_free & ~solution.unreached)
        names, T = problem.graph.names[free], solution.temperatures[free, 0].astype(np.float64)
        order, scores = best_first(T, names)
        return cls(
            names[order],
            scores[order],
            np.arange(1, len(order) + 1),
            free[order],
            problem.leak,
            solution.certificate.bound,
            solution.converged,
        )


def best_first(
    scores: NDArray[np.float64], names: NDArray[np.generic]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The places of scores in descending order, level ones by name; and the scores, rounded.

    Examples
    --------
    >>> best_first(np.array([0.5, 0.9, 0.5]), np.array(["z", "y", "a"]))[0].tolist()
    [1, 2, 0]
    """
    rounded = np.round(scores, DIGITS)
    _, group, sizes = np.unique(rounded, return_inverse=True, return_counts=True)
    level = np.flatnonzero(sizes[group] > 1)
    by_name = np.zeros(len(rounded), dtype=np.intp)
    by_name[level[_sorted(names[level])]] = np.arange(len(level))
    return np.lexsort((by_name, -rounded)), rounded


def _sorted(names: NDArray[np.generic]) -> NDArray[np.intp]:
    """Places of names in order; of those that cannot be compared as they are written."""
    try:
        return np.argsort(names, kind="stable")
    except TypeError:
        return np.argsort(np.array([str(name) for name in names]), kind="stable")
