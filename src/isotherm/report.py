"""Records → text. The only place where numbers are formatted for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.classifier import DirichletClassifier
    from isotherm.graph import Graph
    from isotherm.solvers import Solution


def prediction_table(graph: Graph, classifier: DirichletClassifier, truth: NDArray[Any]) -> Table:
    """One row per node: temperature of each class, label, margin, proof, true label."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("node", justify="right")
    for name in classifier.classes_:
        table.add_column(f"T({name})", justify="right")
    table.add_column("label")
    table.add_column("margin", justify="right")
    table.add_column("status")
    table.add_column("certified")
    table.add_column("truth")
    for i, node in enumerate(graph.names):
        label = classifier.labels_[i]
        style = "bold" if classifier.status_[i] == "seed" else None
        table.add_row(
            str(node),
            *(f"{T:.4f}" for T in classifier.temperatures_[i]),
            str(label),
            f"{classifier.margins_[i]:.4f}",
            str(classifier.status_[i]),
            "yes" if classifier.certified_[i] else "no",
            Text(str(truth[i])) if label == truth[i] else Text(f"{truth[i]} ✗", style="red"),
            style=style,
        )
    return table


def solution_line(solution: Solution) -> str:
    """How the temperatures were found and how exact they are."""
    plural = "" if solution.n_iter == 1 else "s"
    return (
        f"{solution.solver} on {solution.engine}, {solution.n_iter} step{plural}: every "
        f"temperature within {solution.certificate.bound:.1e} of equilibrium"
    )


def accuracy_line(correct: int, total: int, what: str) -> str:
    """A share of right answers."""
    return f"accuracy on {what}: {correct} of {total} ({correct / total:.1%})"
