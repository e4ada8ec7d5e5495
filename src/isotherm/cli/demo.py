"""``isotherm demo``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console

from isotherm.cli.app import app
from isotherm.decision import DECISIONS

Decision = StrEnum("Decision", {name: name for name in DECISIONS})  # type: ignore[misc]
PAPER = Decision("centered")


@app.command()
def demo(
    decision: Annotated[Decision, typer.Option(help="How temperatures become scores.")] = PAPER,
) -> None:
    """Classify Zachary's karate club from two seeds (Figure 1 of the paper)."""
    from isotherm.classifier import DirichletClassifier
    from isotherm.datasets import load_dataset
    from isotherm.report.terminal import accuracy_line, prediction_table, solution_line

    club = load_dataset("karate")
    seeds = {node: club.labels[node] for node in (0, 33)}  # the two rivals
    classifier = DirichletClassifier(decision.value).fit(club.graph, seeds)
    free = classifier.status_ != "seed"
    right = classifier.labels_[free] == club.labels[free]

    console = Console()
    console.print(prediction_table(classifier, club.labels, width=console.width))
    console.print()
    console.print(solution_line(classifier.solution_), highlight=False)
    console.print(accuracy_line(int(right.sum()), len(right), "the free nodes"), highlight=False)
