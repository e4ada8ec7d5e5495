"""Which model to use: the most accurate one, where there are seeds and room enough for it."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from isotherm.classifier.algorithm import HeatClassifier
from isotherm.classifier.stack import StackedHeatClassifier

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
        done at once. With too few seeds it is the paper's by itself.
    parameters : mapping
        Of `isotherm.DirichletClassifier`; a stacked model takes those that it has.
    graph : Graph
    n_classes : int
    balance : float
        Of a stacked model.
    """
    if not is_stacked(kind, graph.rows.n_entries, graph.n_nodes, n_classes):
        return HeatClassifier(**parameters)
    known = signature(StackedHeatClassifier).parameters
    shared = {name: value for name, value in parameters.items() if name in known}
    return StackedHeatClassifier(balance=balance, **shared)


def is_stacked(kind: str, n_entries: int, n_nodes: int, n_classes: int) -> bool:
    """Whether views of such a graph are stacked; see `pick_model`."""
    small = n_entries <= MOST_ENTRIES and n_nodes * n_classes <= MOST_NUMBERS
    return kind == "stacked" or (kind == "auto" and small)
