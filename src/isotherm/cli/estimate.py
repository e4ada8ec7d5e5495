"""``isotherm estimate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from isotherm.cli import options as o
from isotherm.cli.app import command
from isotherm.cli.console import Console
from isotherm.cli.jobs import make_job
from isotherm.cli.messages import MessageOptions
from isotherm.cli.reading_options import ReadingOptions

if TYPE_CHECKING:
    from isotherm.job import Job

CLASSES = 10  # where no labels are given


@command
def estimate(
    edges: o.Edges,
    labels: Annotated[
        str | None,
        typer.Argument(metavar="LABELS", help="Known labels, if there are any yet."),
    ] = None,
    *,
    classes: Annotated[
        int, typer.Option(min=1, help="How many classes to expect where there are no labels.")
    ] = CLASSES,
    model: o.ModelOptions,
    solver: o.SolverOptions,
    reading: ReadingOptions,
    messages: MessageOptions,
) -> None:
    """Say how large a job is before it is done: nodes, edges, classes, memory and time."""
    print_estimate(make_job(edges, labels or "", reading, model, solver), messages, classes)


def print_estimate(job: Job, messages: MessageOptions, classes: int = CLASSES) -> None:
    """Print how large a job is."""
    from isotherm.estimate import estimate_job
    from isotherm.report.terminal import estimate_lines

    job.check()
    with messages.stages() as stages, stages.stage(f"looking at {job.edges}"):
        found = estimate_job(job, classes)
    Console().print("\n".join(estimate_lines(found)))
