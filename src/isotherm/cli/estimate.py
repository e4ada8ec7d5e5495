"""``isotherm estimate``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from isotherm.cli import options as o
from isotherm.cli.app import command
from isotherm.cli.console import Console
from isotherm.cli.jobs import make_job
from isotherm.cli.messages import MessageOptions
from isotherm.cli.parse import parse_memory, parse_size
from isotherm.cli.reading_options import ReadingOptions
from isotherm.errors import ParameterError

if TYPE_CHECKING:
    from isotherm.job import Job

CLASSES = 10  # where no labels are given

_on_machines = partial(typer.Option, rich_help_panel="Many machines (see docs/many-machines.md)")


@dataclass(frozen=True)
class MachineSizes:
    """A job on many machines, by its size alone."""

    nodes: Annotated[float | None, _on_machines(help="Number of nodes, such as 1e9.")] = None
    edge_count: Annotated[
        float | None, _on_machines("--edges", help="Number of edges, such as 1e11.")
    ] = None
    ranks: Annotated[
        int | None, _on_machines(min=1, help="Number of processes to share the work.")
    ] = None
    bandwidth: Annotated[
        str, _on_machines(metavar="SIZE", help="Bytes that a rank can send per second.")
    ] = "1GB"
    latency: Annotated[
        float, _on_machines(min=0.0, metavar="SECONDS", help="Time until a message arrives.")
    ] = 2e-5
    steps: Annotated[
        int, _on_machines(min=1, help="Steps to expect of each class; hard graphs take hundreds.")
    ] = 20

    def lines(self, classes: int, memory: int | None) -> list[str]:
        """What it would take, and whether it fits into the memory of a rank."""
        from isotherm.engines import cost_on_ranks

        if self.nodes is None or self.edge_count is None:
            raise ParameterError("--nodes and --edges go together: give both")
        return cost_on_ranks(
            self.nodes,
            self.edge_count,
            classes,
            self.ranks or 1,
            memory=memory,
            bandwidth=parse_size(self.bandwidth, "--bandwidth"),
            latency=self.latency,
            steps=self.steps,
        )


@command
def estimate(
    edges: o.EdgesIfAny = None,
    labels: Annotated[
        str | None,
        typer.Argument(metavar="LABELS", help="Known labels, if there are any yet."),
    ] = None,
    *,
    classes: Annotated[
        int,
        typer.Option(
            min=1, max=2**31 - 1, help="Number of classes to expect if there are no labels."
        ),
    ] = CLASSES,
    machines: MachineSizes,
    model: o.ModelOptions,
    solver: o.SolverOptions,
    reading: ReadingOptions,
    messages: MessageOptions,
) -> None:
    """Estimate how large a job is before running it: nodes, edges, classes, memory and time.

    For many machines, without files: isotherm estimate --nodes 1e9 --edges 1e11 --ranks 512
    """
    if machines.nodes is not None or machines.edge_count is not None:
        Console().print("\n".join(machines.lines(classes, parse_memory(solver.memory))))
        return
    if edges is None:
        raise typer.BadParameter("Name a file of edges, or give --nodes and --edges.")
    print_estimate(make_job(edges, labels or "", reading, model, solver), messages, classes)


def print_estimate(job: Job, messages: MessageOptions, classes: int = CLASSES) -> None:
    """Print how large a job is."""
    from isotherm.estimate import estimate_job
    from isotherm.report.terminal import estimate_lines

    job.check()
    with messages.stages() as stages, stages.stage(f"inspecting {job.edges}"):
        found = estimate_job(job, classes)
    Console().print("\n".join(estimate_lines(found)))
