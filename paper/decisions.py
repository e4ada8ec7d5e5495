"""Seeds, labels and scores of the experiments.

At equilibrium labels are those of isotherm's classifier, which knows how exact temperatures are and
so what is a tie. After ten sweeps they are far from exact, and the warmest class by score wins.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.metrics import f1_score

from isotherm import DirichletClassifier, IsothermWarning, NotConverged, Sweeps, solve_dirichlet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from isotherm import Graph

    Codes = NDArray[np.intp]
    Rule = Literal["abstain", "zero"]
    Predictions = Iterator[tuple[str, str, Codes]]  # decision, rule, label of each node

UNKNOWN = -1
# In the order of tables and colours. The paper has the second and the first, and names the third.
DECISIONS = ("centered", "plain", "partial", "mass", "standard", "ratio")
NAMES = {"plain": "no centering", "centered": "centering", "partial": "partial centering"}
RULES: tuple[Rule, ...] = ("abstain", "zero")  # what becomes of free nodes that no heat reaches


def draw_seeds(labels: Codes, fraction: float, rng: np.random.Generator) -> Codes:
    """Seeds drawn uniformly among nodes of known label, so many of all nodes."""
    known = np.flatnonzero(labels != UNKNOWN)
    return np.sort(rng.choice(known, max(1, round(fraction * len(labels))), replace=False))


def at_equilibrium(
    graph: Graph,
    labels: Codes,
    seeds: Codes,
    decisions: Iterable[str],
    rules: Iterable[Rule] = ("abstain",),
) -> Predictions:
    """Labels of all nodes by each rule and decision; −1 where a node abstains."""
    known = np.full(len(labels), UNKNOWN)
    known[seeds] = labels[seeds]
    decisions = tuple(decisions)
    found: dict[str, Codes] = {}
    for rule in rules:
        for decision in decisions:
            if decision not in found or UNKNOWN in found[decision]:  # else all rules say the same
                model = DirichletClassifier(decision, unreached=rule)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", IsothermWarning)  # few labels, as they are
                    found[decision] = np.asarray(model.fit(graph, known).labels_)
            yield decision, rule, found[decision]


def after_sweeps(
    n: int, graph: Graph, labels: Codes, seeds: Codes, rules: Iterable[Rule] = ("abstain",)
) -> Predictions:
    """The same with and without centering, after n sweeps from 0 instead of the equilibrium."""
    classes, own = np.unique(labels[seeds], return_inverse=True)
    is_seed = np.zeros(len(labels), dtype=bool)
    is_seed[seeds] = True
    try:
        solution = solve_dirichlet(graph, is_seed, np.eye(len(classes))[own], solver=Sweeps(n))
    except NotConverged as error:
        solution = error.solution
    for rule in rules:
        T = np.asarray(solution.temperatures, dtype=np.float64)
        if rule == "zero":
            T = np.nan_to_num(T)
        reached = ~np.isnan(T[:, 0])
        for decision, shift in (("centered", T[reached].mean(axis=0)), ("plain", 0.0)):
            warmest = np.nan_to_num(T - shift).argmax(axis=1)
            yield decision, rule, np.where(reached, classes[warmest], UNKNOWN)


def scored(labels: Codes, seeds: Codes, predictions: Predictions) -> list[dict[str, Any]]:
    """Macro-F1 on the free nodes of known label, a row for each decision and rule.

    It is averaged over the classes that there are; an abstention is no answer, so wrong.
    """
    free = labels != UNKNOWN
    free[seeds] = False
    truth = labels[free]
    how = {"labels": np.unique(truth), "average": "macro", "zero_division": 0.0}
    rows = []
    for decision, rule, found in predictions:
        f1 = float(f1_score(truth, found[free], **how))
        rows.append({"decision": decision, "unreached": rule, "macro_f1": f1})
    return rows
