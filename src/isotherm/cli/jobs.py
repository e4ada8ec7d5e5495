"""Options → a job; a job → a run, with what was chosen on the way said."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import typer

from isotherm.cli.app import NOT_CONVERGED
from isotherm.cli.messages import say_lines
from isotherm.cli.parse import parse_confidence, parse_leak, parse_memory, parse_size
from isotherm.errors import ParameterError

if TYPE_CHECKING:
    from isotherm.cli.messages import MessageOptions
    from isotherm.cli.options import ModelOptions, SolverOptions
    from isotherm.cli.reading_options import EdgeOptions, ReadingOptions
    from isotherm.job import Job, Run
    from isotherm.read.options import TextOptions


def make_job(
    edges: str,
    labels: str,
    reading: ReadingOptions,
    model: ModelOptions,
    solver: SolverOptions,
) -> Job:
    """The job that the options ask for, without its outputs."""
    from isotherm.job import Job

    return Job(
        edges,
        labels,
        edge_columns=edge_columns(reading),
        label_columns={"node": reading.node, "label": reading.label},
        edge_options=edge_options(reading),
        label_options=replace(
            _text_options(reading),
            delimiter=reading.label_delimiter,
            header=reading.label_header,
            merge_case=reading.merge_case,
            keep_placeholders=reading.keep_placeholders,
            table=reading.label_table,
            results_as_labels=reading.results_as_labels,
        ),
        strict=reading.strict,
        kind=_kind(model),
        balance=model.balance,
        model={
            "decision": model.decision or "centered",
            "leak": parse_leak(model.leak or "0"),
            "unreached": model.unreached,
            "tol": solver.tol,
            "solver": solver.solver,
            "engine": solver.engine,
            "threads": solver.threads,
            "memory": parse_memory(solver.memory),
        },
        confidence=parse_confidence(model.confidence),
        command=shlex.join(["isotherm", *sys.argv[1:]]),
    )


def edge_columns(reading: EdgeOptions) -> dict[str, str | None]:
    """The columns of EDGES that are named."""
    return {"source": reading.source, "target": reading.target, "weight": reading.weight}


def edge_options(reading: EdgeOptions) -> TextOptions:
    """How EDGES are read."""
    return replace(
        _text_options(reading),
        delimiter=reading.delimiter,
        header=reading.header,
        bipartite=reading.bipartite,
        table=reading.edge_table,
    )


def _text_options(reading: EdgeOptions) -> TextOptions:
    """What holds for all files."""
    from isotherm.read.options import NumberOptions, TextOptions
    from isotherm.read.unpacking import UnpackLimit

    return TextOptions(
        comment=reading.comment,
        encoding=reading.encoding,
        on_error=reading.on_error,
        unpacking=UnpackLimit(parse_size(reading.unpack_limit), reading.unpack_ratio),
        numbers=NumberOptions(reading.decimal, reading.thousands),
        ids=reading.ids,
    )


def _kind(model: ModelOptions) -> Literal["auto", "stacked", "paper"]:
    """The model asked for; what only the paper's has asks for that one."""
    of_paper = {"--decision": model.decision, "--leak": model.leak}
    given = [name for name, value in of_paper.items() if value is not None]
    if given and model.model == "stacked":
        raise ParameterError(
            f"{given[0]} is for --model paper only: leave it out, or leave out --model stacked"
        )
    if model.balance and (given or model.model == "paper"):
        raise ParameterError(
            "--balance is for --model stacked only: leave it out, or "
            + (f"leave out {given[0]}" if given else "leave out --model paper")
        )
    return "paper" if given else model.model


def fitted(job: Job, messages: MessageOptions) -> Run:
    """Read the files of a job and label all nodes; say what was chosen by leave-one-out."""
    from isotherm.pipeline import label
    from isotherm.report.model_lines import model_lines

    with messages.stages() as stages:
        run = label(job, stages)
    if not messages.quiet:
        say_lines(model_lines(run.classifier))
    return run


def end(*, converged: bool) -> None:
    """End a command that is done; by the exit code for it where something is left to prove."""
    if not converged:
        raise typer.Exit(NOT_CONVERGED)
