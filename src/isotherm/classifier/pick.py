"""Which model to use: the most accurate one, where there are seeds and room enough for it."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from isotherm.classifier.algorithm import HeatClassifier
from isotherm.classifier.stack import StackedHeatClassifier
from isotherm.errors import NotEnoughMemory
from isotherm.memory import COPY, free_memory, memory_of_solve, size_text
from isotherm.stacking.embedding import fits, memory_of_embedding
from isotherm.stacking.flows import FURTHER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isotherm.graph import Graph

MOST_ENTRIES = 100_000_000  # of the adjacency matrix, up to which views are stacked
MOST_NUMBERS = 1 << 27  # temperatures of a flow, likewise


def pick_model(
    kind: Literal["auto", "stacked", "paper"],
    parameters: Mapping[str, Any],
    graph: Graph,
    n_classes: int,
    *,
    balance: float = 0.0,
) -> HeatClassifier:
    """A classifier, not yet fitted.

    Parameters
    ----------
    kind : {"auto", "stacked", "paper"}
        ``"auto"``: stacked, up to 50 million edges and 134 million temperatures. Its work is then
        about that of ten fits of the paper's on large graphs, more on small ones, where all is
        done at once. With too few seeds it is the paper's by itself, and so it is where
        `parameters` allow too little memory, or too little is free for a copy of a saved graph.
    parameters : mapping
        Of `isotherm.DirichletClassifier`; a stacked model takes those that it has.
    graph : Graph
    n_classes : int
    balance : float
        Of a stacked model.

    Raises
    ------
    NotEnoughMemory
        If a stacked model is asked for and takes more memory than is allowed.
    """
    size = (graph.rows.n_entries, graph.n_nodes, n_classes)
    limit = parameters.get("memory")
    if limit is None and graph.rows.is_mapped:
        limit = free_memory()
    if not is_stacked(kind, *size, memory=limit):
        return HeatClassifier(**parameters)
    if limit is not None and memory_of_stack(*size) > limit:
        needed = memory_of_stack(*size)
        raise NotEnoughMemory(
            f"a stacked model of this graph takes about {size_text(needed)} of memory, and "
            f"{size_text(limit)} is allowed: use --memory {-(-needed // (1 << 20))}M or "
            "--model paper"
        )
    known = signature(StackedHeatClassifier).parameters
    shared = {name: value for name, value in parameters.items() if name in known}
    return StackedHeatClassifier(balance=balance, **shared)


def is_stacked(
    kind: str, n_entries: int, n_nodes: int, n_classes: int, memory: int | None = None
) -> bool:
    """Whether views of such a graph are stacked, in so much memory; see `pick_model`."""
    small = n_entries <= MOST_ENTRIES and n_nodes * n_classes <= MOST_NUMBERS
    if memory is not None and memory_of_stack(n_entries, n_nodes, n_classes) > memory:
        small = False
    return kind == "stacked" or (kind == "auto" and small)


def memory_of_stack(n_entries: int, n_nodes: int, n_classes: int) -> int:
    """Bytes of a stacked model: the temperatures of all flows, and graphs with other weights."""
    flows = 8 * n_nodes * n_classes * len(FURTHER)
    embedding = memory_of_embedding(n_nodes) if fits(n_nodes, n_entries) else 0
    return COPY * n_entries + flows + max(memory_of_solve(n_nodes, n_classes), embedding)
