"""``isotherm regress``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from isotherm.cli import options as o
from isotherm.cli.app import command
from isotherm.cli.jobs import end, make_job
from isotherm.cli.messages import MessageOptions, say_lines
from isotherm.cli.reading_options import ReadingOptions


@command
def regress(
    edges: o.Edges,
    values: Annotated[
        str,
        typer.Argument(
            metavar="VALUES", help="Known values, in a file like LABELS of other commands."
        ),
    ],
    *,
    output: o.FileOptions,
    heat: o.HeatOptions,
    solver: o.SolverOptions,
    reading: ReadingOptions,
    messages: MessageOptions,
) -> None:
    """Give every node a value, from a few whose values are known.

    Each value is the mean of the neighbours' values, by weight; OUT has a proven bound on how far
    it is from that. --tol is in the unit of the values. --node and --label name the columns of
    VALUES.

    For example: isotherm regress edges.csv values.csv -o predicted.csv --report report.html
    """
    if not (output.out or output.report):
        raise typer.BadParameter(
            "Name a file for the values with -o (- is standard output), or for --report."
        )
    from isotherm.fit_files import predict_values
    from isotherm.report.terminal import fitted_lines

    model = o.ModelOptions(leak=heat.leak, unreached=heat.unreached)
    job = make_job(edges, values, reading, model, solver)
    job = replace(
        job,
        out=output.out,
        report=output.report,
        force=output.force,
        spreadsheet_safe=output.spreadsheet_safe,
    )
    with messages.stages() as stages:
        found = predict_values(job, stages)
    if stages.is_shown or (messages.verbose and not messages.quiet):
        say_lines(fitted_lines(found, "value", job))
    end(converged=found.solution_.converged)
