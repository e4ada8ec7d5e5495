"""Table 1: the counts of each data set, checked against the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.experiments.paper import TABLE1
from isotherm.labels import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph

COLUMNS = (
    *("dataset", "nodes", "edges", "classes", "self_loops"),
    *("paper_nodes", "paper_edges", "paper_classes", "agrees"),
)


def counts(name: str, graph: Graph, labels: NDArray[np.intp]) -> dict[str, Any]:
    """A row of the table. The paper's number of edges is half the stored entries, rounded down."""
    entries = graph.rows.n_entries
    row: dict[str, Any] = {
        "dataset": name,
        "nodes": graph.n_nodes,
        "edges": entries // 2,
        "classes": len(np.unique(labels[labels != UNKNOWN])),
        "self_loops": 2 * graph.n_edges - entries,
    }
    if name in TABLE1:
        paper = TABLE1[name]
        row |= {f"paper_{key}": getattr(paper, key) for key in ("nodes", "edges", "classes")}
        row["agrees"] = all(
            row[key] == row[f"paper_{key}"] for key in ("nodes", "edges", "classes")
        )
    return row
