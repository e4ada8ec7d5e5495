"""Records → text for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from isotherm.labels import number_classes
from isotherm.report.tables import grouped, mean_and_spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.classifier import DirichletClassifier
    from isotherm.datasets import Dataset
    from isotherm.datasets.catalogue import DatasetInfo
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


def decision_table(rows: list[dict[str, Any]]) -> Table:
    """Macro-F1 of each decision, mean ± standard deviation, a row for each share of seeds."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("seeds", justify="right")
    decisions = [decision for (decision,) in grouped(rows, "decision")]
    for decision in decisions:
        table.add_column(decision, justify="right")
    for (share,), group in grouped(rows, "seed_fraction").items():
        found = grouped(group, "decision")
        scores = [
            mean_and_spread([row["macro_f1"] for row in found[(decision,)]])
            for decision in decisions
        ]
        best = max(round(mean, 3) for mean, _ in scores)
        cells = [
            Text(f"{mean:.3f} ± {spread:.3f}", style="bold" if round(mean, 3) == best else "")
            for mean, spread in scores
        ]
        table.add_row(f"{share:.3g}", *cells)
    return table


def dataset_table(records: list[DatasetInfo], *, width: int) -> Table:
    """One row per data set: its name, where it is, and what it is if there is room."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("where", no_wrap=True)
    if width >= MEDIUM:
        table.add_column("what")
    for info in records:
        where = "comes along" if info.bundled else "in the cache" if info.cached else "to fetch"
        table.add_row(info.name, where, *([info.title] if width >= MEDIUM else []))
    return table


def dataset_lines(info: DatasetInfo, found: Dataset | None) -> str:
    """What a data set is, and what is in it if it is here."""
    lines = [info.title, f"source: {info.source}"]
    if found is not None:
        classes = len(number_classes(found.labels)[1])
        lines.append(
            f"{found.graph.n_nodes:,} nodes, {found.graph.n_edges:,} edges, {classes} classes"
        )
    if info.paper is not None:
        nodes, edges, classes = info.paper
        lines.append(f"in the paper: {nodes:,} nodes, {edges:,} edges, {classes} classes")
    if info.path is not None:
        lines.append(f"file: {info.path}")
    elif not info.bundled:
        lines += [f"not in the cache; isotherm datasets fetch {info.name} gets it from:"]
        lines += [f"  {address}" for address in info.addresses]
    return "\n".join(lines)
