"""Hold-out: some labels are given as seeds, the others are there to score the answer.

The temperatures of a draw are solved for once; each decision then makes its own labels of them, as
`DirichletClassifier` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.classifier.verdict import judge
from isotherm.dirichlet import DirichletProblem
from isotherm.equilibrium import solve
from isotherm.errors import LabelError
from isotherm.graph.keys import least
from isotherm.labels import UNKNOWN
from isotherm.solvers import NotConverged, SolveOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.graph.keys import Keys
    from isotherm.solvers import Solution
    from isotherm.solvers.method import Solver

TOL = 1e-6


def draw_seeds(labels: NDArray[np.intp], fraction: float, keys: Keys) -> NDArray[np.intp]:
    """Seeds drawn uniformly among nodes of known label, so many of all nodes.

    Parameters
    ----------
    labels : int array of shape (n,)
        −1 where unknown.
    fraction : float
    keys : array of shape (n,)
        Of the nodes, by which they are drawn; see `isotherm.graph.keys`.
    """
    known = np.flatnonzero(labels != UNKNOWN)
    count = max(1, round(fraction * len(labels)))
    if count >= len(known):
        raise LabelError(
            f"{count} seeds among {len(known)} nodes with a known label leave none to score: use "
            "a smaller share of seeds, or more labels"
        )
    return known[least(keys[known], count)]


def temperatures_of(
    graph: Graph,
    labels: NDArray[np.intp],
    seeds: NDArray[np.intp],
    solver: str | Solver = "auto",
    *,
    tol: float = TOL,
    engine: str = "auto",
) -> tuple[Solution, NDArray[np.intp]]:
    """Solve the Dirichlet problems of the labels that seeds have.

    Returns
    -------
    solution : Solution
        Whatever was reached.
    classes : int array of shape (K,)
        The label of each column.
    """
    classes = np.unique(labels[seeds])
    values = np.equal.outer(labels[seeds], classes)
    problem = DirichletProblem(graph, seeds, values)
    try:
        return solve(problem, SolveOptions(tol, solver), engine=engine), classes
    except NotConverged as failure:
        return failure.solution, classes


def predictions(
    solution: Solution,
    classes: NDArray[np.intp],
    labels: NDArray[np.intp],
    seeds: NDArray[np.intp],
    *,
    decisions: Iterable[str],
    tol: float = TOL,
) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """Labels of all nodes by each decision; −1 where a node abstains."""
    codes = np.full(len(labels), UNKNOWN, dtype=np.intp)
    codes[seeds] = np.searchsorted(classes, labels[seeds])
    for decision in decisions:
        T, certificate = solution.temperatures, solution.certificate
        found = judge(T, certificate, codes, decision=decision, tol=tol).codes
        yield decision, np.where(found == UNKNOWN, UNKNOWN, classes[found])


def macro_f1(truth: NDArray[np.intp], predicted: NDArray[np.intp]) -> float:
    """F1 averaged over the classes that there are; an abstention is no answer, so wrong."""
    from sklearn.metrics import f1_score

    classes = np.unique(truth)
    return float(f1_score(truth, predicted, labels=classes, average="macro", zero_division=0.0))
