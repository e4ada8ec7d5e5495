"""``isotherm suspects``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from isotherm.cli import options as o
from isotherm.cli.app import command
from isotherm.cli.console import Console
from isotherm.cli.jobs import end, fitted, make_job
from isotherm.cli.messages import MessageOptions
from isotherm.cli.reading_options import ReadingOptions

if TYPE_CHECKING:
    from isotherm.trust.scoring import LeaveOneOut


@command
def suspects(
    edges: o.Edges,
    labels: o.Labels,
    *,
    most: o.Most = 10,
    max_seeds: Annotated[
        int | None, typer.Option(min=1, help="Leave out at most this many seeds, drawn at random.")
    ] = None,
    table: o.TableOptions,
    model: o.ModelOptions,
    solver: o.SolverOptions,
    reading: ReadingOptions,
    messages: MessageOptions,
) -> None:
    """List the known labels that look wrong: judging by all others, another is more probable."""
    from isotherm.report.terminal import suspect_table
    from isotherm.trust.scoring import Suspect

    job = make_job(edges, labels, reading, model, solver)
    table.check(job)
    run = fitted(job, messages)
    with messages.stages() as stages, stages.stage("leaving seeds out"):
        found = run.classifier.leave_one_out(max_seeds=max_seeds)
    listed = found.suspects()
    console = Console()
    console.print("\n".join(_summary(found, len(listed), most)), soft_wrap=True)
    if listed:
        console.print()
        console.print(suspect_table(listed[:most], width=console.width))
    table.write([one._asdict() for one in listed], Suspect._fields)
    end(converged=run.converged)


def _summary(found: LeaveOneOut, n_listed: int, most: int) -> list[str]:
    """How the seeds fared that were left out."""
    whole = "" if len(found.nodes) == found.n_seeds else f" of {found.n_seeds:,}"
    way = "several at a time" if found.together else "one at a time"
    lines = [f"{len(found.nodes):,}{whole} seeds left out, {way}: {found.words}"]
    if found.n_lost:
        lines.append(
            f"{found.n_lost:,} of them could not get their label back: no other seed has it, or "
            "no heat reaches them"
        )
    if not n_listed:
        return [*lines, "no label looks wrong: for no seed is another label more probable"]
    cut = f"; {most} are listed" if n_listed > most else ""
    look = "label looks" if n_listed == 1 else "labels look"
    return [*lines, f"{n_listed:,} {look} wrong, the clearest first{cut}"]
