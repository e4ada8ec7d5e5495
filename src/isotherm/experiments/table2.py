"""Table 2: macro-F1 on real graphs, seeds drawn uniformly; and the same for all decisions.

The paper compares no centering and centering. What it leaves open is what becomes of free nodes
that no heat reaches, so both rules are run; the other decisions, and ten sweeps instead of the
equilibrium, go past it.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.datasets import load_dataset
from isotherm.decision import DECISIONS
from isotherm.experiments.hold_out import RULES, draw_seeds, scored
from isotherm.labels import number_classes
from isotherm.solvers import Sweeps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph

FRACTIONS = (0.01, 0.05, 0.10, 0.20)
SWEEPS = 10
COLUMNS = ("dataset", "seed_fraction", "decision", "unreached", "repeat", "macro_f1")
BESIDES = ("wikischools2007",)  # not in the paper's table, shown if it is there


@lru_cache(maxsize=2)
def labelled(dataset: str, data: str | None) -> tuple[Graph, NDArray[np.intp]]:
    """A data set with its labels as numbers, −1 where unknown."""
    found = load_dataset(dataset, data)
    return found.graph, number_classes(found.labels)[0]


def settings(datasets: list[str], data: str | None) -> list[dict[str, Any]]:
    """One for each data set and share of seeds."""
    return [
        {"dataset": name, "seed_fraction": fraction, "print": fingerprint(*labelled(name, data))}
        for name in datasets
        for fraction in FRACTIONS
    ]


def fingerprint(graph: Graph, labels: NDArray[np.intp]) -> str:
    """What tells two versions of a data set apart."""
    digest = hashlib.sha256()
    for array in (graph.rows.start, graph.rows.ends, graph.degrees, labels):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]


def run(setting: dict[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
    """One draw of seeds: every decision, both rules, at equilibrium and after ten sweeps."""
    graph, labels = labelled(setting["dataset"], setting["data"])
    seeds = draw_seeds(labels, setting["seed_fraction"], rng)
    where = {"dataset": setting["dataset"], "seed_fraction": setting["seed_fraction"]}
    rows = []
    for method, solver in (("equilibrium", "auto"), ("ten sweeps", Sweeps(SWEEPS))):
        found = scored(graph, labels, seeds, decisions=DECISIONS, rules=RULES, solver=solver)
        rows += [{**where, "method": method, **row} for row in found]
    return rows
