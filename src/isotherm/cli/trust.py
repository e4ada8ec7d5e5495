"""``isotherm explain`` and ``isotherm suspects``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from isotherm.cli import options as o
from isotherm.cli.app import app, show_warnings
from isotherm.cli.progress import Stages
from isotherm.errors import FileError

if TYPE_CHECKING:
    from isotherm.classifier import DirichletClassifier
    from isotherm.classifier.trusted import Explanation
    from isotherm.job import Job

Most = Annotated[int, typer.Option(min=1, help="How many to show.")]


@app.command()
def explain(
    edges: o.Edges,
    labels: o.Labels,
    node: Annotated[str, typer.Argument(metavar="NODE", help="The node to explain.")],
    most: Most = 5,
    decision: Annotated[o.Decision, typer.Option(help="How temperatures become scores.")] = o.PAPER,
    leak: Annotated[str, typer.Option(metavar="NUMBER", help="Heat lost, or 'auto'.")] = "0",
    draw: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Draw it, too: a page for the browser.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = None,
    force: o.Force = False,
    source: o.Source = None,
    target: o.Target = None,
    weight: o.Weight = None,
    delimiter: o.Delimiter = None,
    header: o.Header = None,
    label: o.Label = None,
    quiet: o.Quiet = False,
) -> None:
    """Say why a node has its label: which seeds its heat comes from, and along which paths."""
    from isotherm.report.terminal import explanation_lines

    show_warnings(quiet=quiet)
    columns = {"source": source, "target": target, "weight": weight}
    job = _job(edges, labels, columns, label, delimiter, header, decision.value, leak)
    job = replace(job, report=draw, force=force)
    job.check()
    classifier = _fitted(job, quiet=quiet)
    why = classifier.explain(node, paths=most)
    console = Console()
    lines = explanation_lines(why, most, console.width)
    if draw is not None:
        _draw(draw, why, classifier, most)
        lines += ["", f"wrote {draw}"]
    console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)


def _draw(path: str, why: Explanation, classifier: DirichletClassifier, most: int) -> None:
    """Write the page of an explanation."""
    from isotherm.report.explanation import explanation_page
    from isotherm.report.tables import write_text

    means = dict(zip(classifier.classes_, classifier.mean_temperatures_, strict=True))
    decision = classifier.selection_.decision
    page = explanation_page(why, means=means, decision=decision, most=most)
    try:
        write_text(Path(path), page)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}") from None


@app.command()
def suspects(
    edges: o.Edges,
    labels: o.Labels,
    most: Most = 20,
    decision: Annotated[o.Decision, typer.Option(help="How temperatures become scores.")] = o.PAPER,
    leak: Annotated[str, typer.Option(metavar="NUMBER", help="Heat lost, or 'auto'.")] = "0",
    max_seeds: Annotated[
        int | None, typer.Option(min=1, help="Leave out so many seeds at the most.")
    ] = None,
    source: o.Source = None,
    target: o.Target = None,
    weight: o.Weight = None,
    delimiter: o.Delimiter = None,
    header: o.Header = None,
    label: o.Label = None,
    quiet: o.Quiet = False,
) -> None:
    """List the known labels that look wrong: left out, the node would get another."""
    from isotherm.report.terminal import suspect_table

    show_warnings(quiet=quiet)
    columns = {"source": source, "target": target, "weight": weight}
    job = _job(edges, labels, columns, label, delimiter, header, decision.value, leak)
    classifier = _fitted(job, quiet=quiet)
    found = classifier.leave_one_out(max_seeds=max_seeds)
    listed = found.suspects()
    console = Console()
    console.print(f"left out one at a time, {len(found.nodes):,} seeds: accuracy {found.accuracy}",
                  highlight=False)  # fmt: skip
    if not listed:
        console.print("none of them would lose its label")
        return
    console.print(f"{len(listed):,} would lose their label, the clearest first", highlight=False)
    console.print()
    console.print(suspect_table(listed[:most], width=console.width))


def _job(
    edges: str,
    labels: str,
    columns: dict[str, str | None],
    label: str | None,
    delimiter: str | None,
    header: bool | None,
    decision: str,
    leak: str,
) -> Job:
    from isotherm.job import Job
    from isotherm.read.record import Said

    return Job(
        edges,
        labels,
        edge_columns=columns,
        label_columns={"label": label},
        said_of_edges=Said(delimiter, header),
        model={"decision": decision, "leak": o.parse_leak(leak)},
    )


def _fitted(job: Job, *, quiet: bool) -> DirichletClassifier:
    from isotherm.job import label

    with Stages(quiet=quiet) as stages:
        return label(job, stages).classifier
