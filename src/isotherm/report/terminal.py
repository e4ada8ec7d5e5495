"""Records → text. The only place where numbers are formatted for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.classifier import DirichletClassifier
    from isotherm.solvers import Solution

WIDE, MEDIUM = 80, 60  # terminal columns that the full table and the one without extras need


def prediction_table(classifier: DirichletClassifier, truth: NDArray[Any], *, width: int) -> Table:
    """One row per node: temperatures, label, margin, proof, true label.

    Columns that a narrow terminal has no room for are left out: first status and truth, then
    all temperatures but that of the label. A label that is not the true one has a star.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    full, medium = width >= WIDE, width >= MEDIUM
    table.add_column("node", justify="right")
    for heading in [f"T({name})" for name in classifier.classes_] if medium else ["T"]:
        table.add_column(heading, justify="right")
    table.add_column("label")
    table.add_column("margin", justify="right")
    if full:
        table.add_column("status")
    table.add_column("certified" if medium else "cert.")
    if full:
        table.add_column("truth")
    for i, node in enumerate(classifier.names_):
        label, status = classifier.labels_[i], str(classifier.status_[i])
        right = label == truth[i]
        T = classifier.temperatures_[i]
        table.add_row(
            str(node),
            *(f"{t:.4f}" for t in (T if medium else T[classifier.classes_ == label])),
            str(label) if right else Text(f"{label} *", style="red"),
            f"{classifier.margins_[i]:.4f}",
            *([status] if full else []),
            "yes" if classifier.certified_[i] else "no",
            *([str(truth[i])] if full else []),
            style="bold" if status == "seed" else None,
        )
    return table


def solution_line(solution: Solution) -> str:
    """How the temperatures were found and how exact they are."""
    steps = f"{solution.n_iter} step" + ("" if solution.n_iter == 1 else "s")
    return (
        f"{solution.solver} on {solution.engine}, {steps}: every "
        f"temperature within {solution.certificate.bound:.1e} of equilibrium"
    )


def accuracy_line(correct: int, total: int, what: str) -> str:
    """A share of right answers."""
    star = "" if correct == total else "; * marks the others"
    return f"accuracy on {what}: {correct} of {total} ({correct / total:.1%}){star}"
