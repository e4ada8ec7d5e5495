"""``isotherm classify``."""

from __future__ import annotations

import logging
import os
import shlex
import sys
from typing import Annotated, Any

import typer

from isotherm.cli import options as o
from isotherm.cli.app import NOT_CONVERGED, app, show_warnings
from isotherm.cli.console import Console
from isotherm.cli.progress import Stages
from isotherm.printable import printable
from isotherm.read.formats import output_formats


@app.command()
def classify(
    edges: o.Edges,
    labels: o.Labels,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help=f"File for the predictions, by its ending {output_formats()}; - is CSV on "
            "standard output.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Web page about the run, one file.", rich_help_panel=o.OUTPUT
        ),
    ] = None,
    temperatures: Annotated[
        bool,
        typer.Option(
            "--temperatures", help="Add a column for each class.", rich_help_panel=o.OUTPUT
        ),
    ] = False,
    spreadsheet_safe: o.SpreadsheetSafe = False,
    force: o.Force = False,
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Only say how large the job is.", rich_help_panel=o.OUTPUT),
    ] = False,
    decision: Annotated[
        o.Decision,
        typer.Option(
            help="How temperatures become scores; 'auto': chosen by leave-one-out.",
            rich_help_panel=o.MODEL,
        ),
    ] = o.PAPER,
    leak: Annotated[
        str,
        typer.Option(
            metavar="NUMBER", help="Heat lost at each node, or 'auto'.", rich_help_panel=o.MODEL
        ),
    ] = "0",
    confidence: o.Confidence = None,
    tol: Annotated[
        float,
        typer.Option(help="Greatest error of a temperature, proven.", rich_help_panel=o.MODEL),
    ] = 1e-6,
    stop: Annotated[
        o.Stop,
        typer.Option(help="'labels': stop once no label can change.", rich_help_panel=o.MODEL),
    ] = o.Stop.TOLERANCE,
    solver: Annotated[o.Solver, typer.Option(rich_help_panel=o.MODEL)] = o.Solver.AUTO,
    engine: Annotated[o.Engine, typer.Option(rich_help_panel=o.MODEL)] = o.Engine.AUTO,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1, max=1024, help="By default one per processor.", rich_help_panel=o.MODEL
        ),
    ] = None,
    unreached: Annotated[
        o.Unreached,
        typer.Option(help="Nodes without a path to a seed.", rich_help_panel=o.MODEL),
    ] = o.Unreached.ABSTAIN,
    source: o.Source = None,
    target: o.Target = None,
    weight: o.Weight = None,
    delimiter: o.Delimiter = None,
    header: o.Header = None,
    comment: o.Comment = None,
    encoding: o.Encoding = "utf-8",
    node: o.Node = None,
    label: o.Label = None,
    label_weight: o.LabelWeight = None,
    label_delimiter: o.LabelDelimiter = None,
    label_header: o.LabelHeader = None,
    strict: o.Strict = False,
    on_error: o.ErrorRule = o.OnError.RAISE,
    unpack_limit: o.UnpackedSize = o.LIMIT,  # type: ignore[assignment]  # parsed by typer
    unpack_ratio: o.UnpackedRatio = o.RATIO,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
) -> None:
    """Label every node of a graph from a few known ones.

    For example: isotherm classify edges.csv labels.csv -o labelled.csv --report report.html
    """
    if out is None and report is None and not estimate:
        raise typer.BadParameter(
            "Name a file for the predictions with -o (- is standard output), or one for --report."
        )
    if edges == labels == "-":
        raise typer.BadParameter("EDGES and LABELS cannot both be standard input.")
    if threads is not None:
        os.environ["OMP_NUM_THREADS"] = str(threads)
    listen(quiet=quiet, verbose=verbose)
    from isotherm.job import Job, do
    from isotherm.read.options import TextOptions
    from isotherm.read.unpacking import UnpackLimit
    from isotherm.report.terminal import outcome_lines

    model: dict[str, Any] = {
        "decision": decision.value,
        "leak": o.parse_leak(leak),
        "tol": tol,
        "stop": stop.value,
        "solver": solver.value,
        "engine": engine.value,
        "unreached": unreached.value,
    }
    limit = UnpackLimit(unpack_limit, unpack_ratio)
    job = Job(
        edges,
        labels,
        out,
        report,
        edge_columns={"source": source, "target": target, "weight": weight},
        label_columns={"node": node, "label": label, "weight": label_weight},
        said_of_edges=TextOptions(delimiter, header, comment, encoding, on_error.value, limit),
        said_of_labels=TextOptions(
            label_delimiter, label_header, comment, encoding, on_error.value, limit
        ),
        strict=strict,
        temperatures=temperatures,
        force=force,
        spreadsheet_safe=spreadsheet_safe,
        model=model,
        confidence=o.parse_confidence(confidence),
        command=shlex.join(["isotherm", *sys.argv[1:]]),
    )
    if estimate:
        from isotherm.estimate import estimate_job
        from isotherm.report.terminal import estimate_lines

        Console().print("\n".join(estimate_lines(estimate_job(job))))
        return
    with Stages(quiet=quiet) as stages:
        outcome = do(job, stages)
    if stages.is_shown or (verbose and not quiet):
        Console(stderr=True).print("\n".join(outcome_lines(outcome, out, report)), soft_wrap=True)
    if not outcome.converged:
        raise typer.Exit(NOT_CONVERGED)


class _Formatter(logging.Formatter):
    """What the library logs, harmless for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def listen(*, quiet: bool = False, verbose: int = 0) -> None:
    """Say as much as was asked for: warnings, and what the library logs."""
    show_warnings(quiet=quiet)
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    handler = logging.StreamHandler()
    handler.setLevel(level)  # not the logger's alone: what draws progress listens to every step
    handler.setFormatter(_Formatter("%(name)s: %(message)s"))
    logger = logging.getLogger("isotherm")
    logger.addHandler(handler)
    logger.setLevel(level)
