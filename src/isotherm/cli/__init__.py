"""The command line: arguments → one call → report."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from isotherm.decision import DECISIONS
from isotherm.errors import IsothermError

app = typer.Typer(
    name="isotherm",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Decision = StrEnum("Decision", {name: name for name in DECISIONS})  # type: ignore[misc]
PAPER = Decision("centered")


def _version(asked: bool) -> None:
    if asked:
        from isotherm import __version__

        typer.echo(f"isotherm {__version__}")
        raise typer.Exit


@app.callback()
def isotherm(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Label every node of a graph from a few, by heat diffusion at equilibrium."""


@app.command()
def demo(
    decision: Annotated[Decision, typer.Option(help="How temperatures become scores.")] = PAPER,
) -> None:
    """Classify Zachary's karate club from two seeds (Figure 1 of the paper)."""
    from isotherm.classifier import DirichletClassifier
    from isotherm.datasets import load_dataset
    from isotherm.report import accuracy_line, prediction_table, solution_line

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


def main() -> None:
    """Run the command line; what goes wrong is one line on stderr, without a traceback."""
    try:
        app()
    except (IsothermError, OSError) as error:
        message = Text.assemble(("error:", "bold red"), f" {error}")
        Console(stderr=True).print(message, soft_wrap=True)
        sys.exit(1)
