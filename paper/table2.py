"""Tables 1 and 2: real graphs, their sizes, and macro-F1 with seeds drawn uniformly.

The paper leaves open what becomes of free nodes that no heat reaches, so both rules are run. All
decisions but two, and ten sweeps instead of the equilibrium, go past it.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm import load_dataset
from paper import decisions
from paper.decisions import DECISIONS, RULES, UNKNOWN
from paper.printed import TABLE1

if TYPE_CHECKING:
    from isotherm import Graph
    from paper.decisions import Codes

FRACTIONS = (0.01, 0.05, 0.10, 0.20)
SWEEPS = 10
COLUMNS = ("dataset", "seed_fraction", "decision", "unreached", "repeat", "macro_f1")
COUNTS = (
    *("dataset", "nodes", "edges", "classes", "self_loops"),
    *("paper_nodes", "paper_edges", "paper_classes", "agrees"),
)
BESIDES = ("wikischools2007",)  # not in the paper's table, shown if it is there


@lru_cache(maxsize=2)
def labelled(dataset: str, data: str) -> tuple[Graph, Codes]:
    """A data set with its labels as numbers, −1 where unknown."""
    found = load_dataset(dataset, data)
    labels = found.labels
    if labels.dtype.kind in "OU":  # names, None where unknown
        is_known = np.array([label is not None for label in labels])
        codes = np.full(len(labels), UNKNOWN)
        codes[is_known] = np.unique(labels[is_known].astype(str), return_inverse=True)[1]
        return found.graph, codes
    return found.graph, labels.astype(np.intp)


def settings(datasets: list[str], data: str) -> list[dict[str, Any]]:
    """One for each data set and share of seeds."""
    return [
        {"dataset": name, "seed_fraction": fraction, "print": fingerprint(*labelled(name, data))}
        for name in datasets
        for fraction in FRACTIONS
    ]


def fingerprint(graph: Graph, labels: Codes) -> str:
    """What tells two versions of a data set apart. It is part of random streams: keep it."""
    A = graph.adjacency
    arrays = (A.indptr.astype(np.int64), A.indices.astype(np.int32), graph.degrees, labels)
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]


def draw(setting: dict[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
    """One draw of seeds: every decision, both rules, at equilibrium and after ten sweeps."""
    graph, labels = labelled(setting["dataset"], setting["data"])
    seeds = decisions.draw_seeds(labels, setting["seed_fraction"], rng)
    where = {"dataset": setting["dataset"], "seed_fraction": setting["seed_fraction"]}
    rows = []
    methods = {
        "equilibrium": decisions.at_equilibrium(graph, labels, seeds, DECISIONS, RULES),
        "ten sweeps": decisions.after_sweeps(SWEEPS, graph, labels, seeds, RULES),
    }
    for method, predictions in methods.items():
        found = decisions.scored(labels, seeds, predictions)
        rows += [{**where, "method": method, **row} for row in found]
    return rows


def counts(name: str, graph: Graph, labels: Codes) -> dict[str, Any]:
    """A row of Table 1. The paper's number of edges is half the stored entries, rounded down."""
    entries = graph.adjacency.nnz
    row: dict[str, Any] = {
        "dataset": name,
        "nodes": graph.n_nodes,
        "edges": entries // 2,
        "classes": len(np.unique(labels[labels != UNKNOWN])),
        "self_loops": 2 * graph.n_edges - entries,
    }
    if name in TABLE1:
        theirs = TABLE1[name]._asdict()
        row |= {f"paper_{key}": number for key, number in theirs.items()}
        row["agrees"] = all(row[key] == number for key, number in theirs.items())
    return row
