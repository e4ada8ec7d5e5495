"""``isotherm classify``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from isotherm.cli import options as o
from isotherm.cli.app import command
from isotherm.cli.estimate import print_estimate
from isotherm.cli.jobs import end, make_job
from isotherm.cli.messages import MessageOptions, say_lines
from isotherm.cli.reading_options import ReadingOptions

if TYPE_CHECKING:
    from isotherm.job import Job


@command
def classify(
    edges: o.Edges,
    labels: o.Labels,
    *,
    output: o.PredictionOptions,
    several: o.SeveralLabels,
    model: o.ModelOptions,
    solver: o.SolverOptions,
    reading: ReadingOptions,
    messages: MessageOptions,
) -> None:
    """Label every node of a graph from a few known labels.

    For example: isotherm classify edges.csv labels.csv -o labelled.csv --report report.html

    On many machines: mpiexec -n 4 python -m isotherm_petsc classify graph.iso labels.csv -o out.csv
    """
    if not (output.out or output.report or output.summary or output.estimate):
        raise typer.BadParameter(
            "Name a file for the predictions with -o (- is standard output), or for --report."
        )
    job = make_job(edges, labels, reading, model, solver)
    if output.estimate:
        print_estimate(job, messages)
        return
    job = replace(
        job,
        out=output.out,
        report=output.report,
        listed=output.listed,
        top=output.top,
        summary=output.summary,
        temperatures=output.temperatures,
        min_probability=output.min_probability,
        force=output.force,
        spreadsheet_safe=output.spreadsheet_safe,
    )
    if several.multi:
        several.check(model, output)
        _classify_sets(job, several.label_separator, messages)
        return
    if several.label_separator is not None:
        raise typer.BadParameter("--label-separator needs --multi: add --multi, or leave it out.")
    from isotherm.pipeline import do
    from isotherm.report.model_lines import model_lines
    from isotherm.report.terminal import run_lines

    with messages.stages() as stages:
        run = do(job, stages)
    if stages.is_shown or (messages.verbose and not messages.quiet):
        say_lines(run_lines(run, output.out, output.report))
    elif run.classifier.selection_.candidates and not messages.quiet:
        say_lines(model_lines(run.classifier))  # what was asked to be chosen
    end(converged=run.converged)


def _classify_sets(job: Job, separator: str | None, messages: MessageOptions) -> None:
    """Give every node several labels, or none."""
    from isotherm.fit_files import predict_label_sets
    from isotherm.report.terminal import fitted_lines

    with messages.stages() as stages:
        found = predict_label_sets(job, stages, separator=separator)
    if stages.is_shown or (messages.verbose and not messages.quiet):
        say_lines(fitted_lines(found, "label", job))
    end(converged=found.solution_.converged)
