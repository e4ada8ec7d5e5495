"""``isotherm evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from isotherm.cli import options as o
from isotherm.cli.app import command
from isotherm.cli.console import Console
from isotherm.cli.jobs import end, make_job
from isotherm.cli.messages import MessageOptions
from isotherm.cli.parse import parse_share

if TYPE_CHECKING:
    from isotherm.job import Job


@command
def evaluate(
    edges: o.Edges,
    labels: o.Labels,
    *,
    seeds: Annotated[
        str, typer.Option(help="Shares of the labelled nodes that are given as seeds.")
    ] = "5%,10%,20%",
    repeats: o.Repeats = 100,
    seed: o.Seed = 0,
    auto: Annotated[
        bool,
        typer.Option("--auto", help="Also with decision and leak chosen by leave-one-out; slower."),
    ] = False,
    table: o.TableOptions,
    solver: o.SolverOptions,
    reading: o.ReadingOptions,
    messages: MessageOptions,
) -> None:
    """Score every decision on your own graph: some labels are given, the others are predicted."""
    from isotherm.report.terminal import WIDE, decision_table

    job = make_job(edges, labels, reading, o.ModelOptions(), solver)
    table.check(job)
    shares = [parse_share(text) for text in seeds.split(",")]
    rows = _scores(job, messages, shares, repeats=repeats, seed=seed, auto=auto)
    console = Console()
    spread = ", mean ± standard deviation" if console.width >= WIDE else ", mean"
    console.print(f"macro-F1{spread} over {repeats} draw(s) of seeds")
    console.print(decision_table(rows, width=console.width))
    table.write(rows, ("seed_fraction", "decision", "repeat", "macro_f1"))
    end(converged=all(row["converged"] for row in rows))


def _scores(
    job: Job,
    messages: MessageOptions,
    shares: list[float],
    *,
    repeats: int,
    seed: int,
    auto: bool,
) -> list[dict[str, Any]]:
    """The rows of all draws."""
    import numpy as np

    from isotherm.experiments.evaluate import evaluate
    from isotherm.labels import encode_labels
    from isotherm.pipeline import read

    with messages.stages() as stages:
        inputs = read(job, stages)
    codes, _ = encode_labels(inputs.labels, inputs.graph)
    with messages.progress_bar() as progress:
        return evaluate(
            inputs.graph,
            codes,
            shares,
            repeats=repeats,
            auto=auto,
            rngs=lambda share, repeat: np.random.default_rng([seed, round(share * 1e9), repeat]),
            progress=progress,
            tol=job.model["tol"],
            solver=job.model["solver"],
            engine=job.model["engine"],
        )
