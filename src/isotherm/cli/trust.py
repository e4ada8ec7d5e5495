"""``isotherm explain``, ``isotherm suspects`` and ``isotherm suggest``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isotherm.cli import options as o
from isotherm.cli.app import app, show_warnings
from isotherm.cli.console import Console
from isotherm.cli.progress import Stages
from isotherm.files import written

if TYPE_CHECKING:
    from isotherm.classifier import DirichletClassifier
    from isotherm.job import Job
    from isotherm.trust.explain import Explanation

Most = Annotated[int, typer.Option(min=1, help="How many to show.")]


@app.command()
def explain(
    edges: o.Edges,
    labels: o.Labels,
    node: Annotated[str, typer.Argument(metavar="NODE", help="The node to explain.")],
    most: Most = 5,
    decision: Annotated[o.Decision, typer.Option(help="How temperatures become scores.")] = o.PAPER,
    leak: Annotated[str, typer.Option(metavar="NUMBER", help="Heat lost, or 'auto'.")] = "0",
    confidence: o.Confidence = None,
    without_own: Annotated[
        bool,
        typer.Option(
            "--without-own", help="Of a node that has a label: what the others say of it."
        ),
    ] = False,
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
    comment: o.Comment = None,
    encoding: o.Encoding = "utf-8",
    label_node: o.LabelNode = None,
    label: o.Label = None,
    label_delimiter: o.LabelDelimiter = None,
    label_header: o.LabelHeader = None,
    on_error: o.ErrorRule = o.OnError.RAISE,
    unpack_limit: o.UnpackedSize = o.LIMIT,  # type: ignore[assignment]  # parsed by typer
    unpack_ratio: o.UnpackedRatio = o.RATIO,
    quiet: o.Quiet = False,
) -> None:
    """Say why a node has its label: which seeds its heat comes from, and along which paths."""
    from isotherm.report.terminal import explanation_lines

    show_warnings(quiet=quiet)
    job = _job(
        edges,
        labels,
        columns={"source": source, "target": target, "weight": weight},
        label_columns={"node": label_node, "label": label},
        said=(delimiter, header, comment, encoding, on_error.value),
        said_of_labels=(label_delimiter, label_header, comment, encoding, on_error.value),
        unpacking=(unpack_limit, unpack_ratio),
        model={"decision": decision.value, "leak": o.parse_leak(leak)},
        confidence=o.parse_confidence(confidence),
        report=draw,
        force=force,
    )
    classifier = _fitted(job, quiet=quiet)
    why = classifier.explain(node, paths=most, without_own=without_own)
    console = Console()
    lines = explanation_lines(why, most, console.width, classifier.selection_.decision)
    if draw is not None:
        _draw(draw, why, classifier, most, force=force)
        lines += ["", f"wrote {draw}"]
    console.print("\n".join(lines), soft_wrap=True)


def _draw(
    path: str, why: Explanation, classifier: DirichletClassifier, most: int, *, force: bool
) -> None:
    """Write the page of an explanation."""
    from isotherm.report.pages.explanation import Classes, explanation_page
    from isotherm.report.tables import write_text

    page = explanation_page(why, Classes.of(classifier), most=most)
    with written(path):
        write_text(Path(path), page, force=force)


@app.command()
def suspects(
    edges: o.Edges,
    labels: o.Labels,
    most: Most = 20,
    decision: Annotated[o.Decision, typer.Option(help="How temperatures become scores.")] = o.PAPER,
    leak: Annotated[str, typer.Option(metavar="NUMBER", help="Heat lost, or 'auto'.")] = "0",
    confidence: o.Confidence = None,
    max_seeds: Annotated[
        int | None, typer.Option(min=1, help="Leave out so many seeds at the most.")
    ] = None,
    source: o.Source = None,
    target: o.Target = None,
    weight: o.Weight = None,
    delimiter: o.Delimiter = None,
    header: o.Header = None,
    comment: o.Comment = None,
    encoding: o.Encoding = "utf-8",
    label_node: o.LabelNode = None,
    label: o.Label = None,
    label_delimiter: o.LabelDelimiter = None,
    label_header: o.LabelHeader = None,
    on_error: o.ErrorRule = o.OnError.RAISE,
    unpack_limit: o.UnpackedSize = o.LIMIT,  # type: ignore[assignment]  # parsed by typer
    unpack_ratio: o.UnpackedRatio = o.RATIO,
    quiet: o.Quiet = False,
) -> None:
    """List the known labels that look wrong: left out, the node would get another."""
    from isotherm.report.terminal import suspect_table

    show_warnings(quiet=quiet)
    job = _job(
        edges,
        labels,
        columns={"source": source, "target": target, "weight": weight},
        label_columns={"node": label_node, "label": label},
        said=(delimiter, header, comment, encoding, on_error.value),
        said_of_labels=(label_delimiter, label_header, comment, encoding, on_error.value),
        unpacking=(unpack_limit, unpack_ratio),
        model={"decision": decision.value, "leak": o.parse_leak(leak)},
        confidence=o.parse_confidence(confidence),
    )
    classifier = _fitted(job, quiet=quiet)
    found = classifier.leave_one_out(max_seeds=max_seeds)
    listed = found.suspects()
    console = Console()
    whole = "" if len(found.nodes) == found.n_seeds else f" of {found.n_seeds:,}"
    console.print(
        f"left out one at a time, {len(found.nodes):,}{whole} seeds: accuracy {found.accuracy}",
    )
    if found.n_lost:
        console.print(
            f"{found.n_lost:,} of them could not be found again, being the only ones of their "
            "class or out of reach of heat"
        )
    if not listed:
        console.print("none of them would lose its label to another")
        return
    cut = f"; {most} are listed" if len(listed) > most else ""
    console.print(f"{len(listed):,} would lose their label, the clearest first{cut}")
    console.print()
    console.print(suspect_table(listed[:most], width=console.width))


@app.command()
def suggest(
    edges: o.Edges,
    labels: o.Labels,
    most: Annotated[int, typer.Option(min=1, help="How many to suggest.")] = 10,
    decision: Annotated[o.Decision, typer.Option(help="How temperatures become scores.")] = o.PAPER,
    leak: Annotated[str, typer.Option(metavar="NUMBER", help="Heat lost, or 'auto'.")] = "0",
    confidence: o.Confidence = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="CSV file for them, too.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = None,
    spreadsheet_safe: o.SpreadsheetSafe = False,
    force: o.Force = False,
    source: o.Source = None,
    target: o.Target = None,
    weight: o.Weight = None,
    delimiter: o.Delimiter = None,
    header: o.Header = None,
    comment: o.Comment = None,
    encoding: o.Encoding = "utf-8",
    label_node: o.LabelNode = None,
    label: o.Label = None,
    label_delimiter: o.LabelDelimiter = None,
    label_header: o.LabelHeader = None,
    on_error: o.ErrorRule = o.OnError.RAISE,
    unpack_limit: o.UnpackedSize = o.LIMIT,  # type: ignore[assignment]  # parsed by typer
    unpack_ratio: o.UnpackedRatio = o.RATIO,
    quiet: o.Quiet = False,
) -> None:
    """Say which nodes to label next, and whether further labels would still pay."""
    from isotherm.write import STANDARD_OUTPUT

    if out in STANDARD_OUTPUT:
        raise typer.BadParameter("-o needs a file: the list is on standard output anyhow.")
    if out is not None and not out.lower().endswith(".csv"):
        raise typer.BadParameter("-o writes CSV: name a file that ends in .csv.")
    from isotherm.report.tables import write_csv
    from isotherm.report.terminal import suggestion_table

    show_warnings(quiet=quiet)
    job = _job(
        edges,
        labels,
        columns={"source": source, "target": target, "weight": weight},
        label_columns={"node": label_node, "label": label},
        said=(delimiter, header, comment, encoding, on_error.value),
        said_of_labels=(label_delimiter, label_header, comment, encoding, on_error.value),
        unpacking=(unpack_limit, unpack_ratio),
        model={"decision": decision.value, "leak": o.parse_leak(leak)},
        confidence=o.parse_confidence(confidence),
        report=out,
        force=force,
    )
    classifier = _fitted(job, quiet=quiet)
    found = classifier.suggest(most)
    console = Console()
    if not found:
        console.print("every node has a label")
        return
    console.print(suggestion_table(found, width=console.width))
    console.print()
    console.print(str(classifier.should_stop()), soft_wrap=True)
    if out is not None:
        rows = [one._asdict() for one in found]
        with written(out):
            write_csv(
                Path(out), rows, found[0]._fields, force=force, spreadsheet_safe=spreadsheet_safe
            )
        console.print(f"wrote {out}", soft_wrap=True)


def _job(
    edges: str,
    labels: str,
    *,
    columns: dict[str, str | None],
    said: tuple[Any, Any, Any, str, str],
    said_of_labels: tuple[Any, Any, Any, str, str],
    unpacking: tuple[int, float],
    **others: Any,
) -> Job:
    from isotherm.job import Job
    from isotherm.read.options import TextOptions
    from isotherm.read.unpacking import UnpackLimit

    limit = UnpackLimit(*unpacking)
    return Job(
        edges,
        labels,
        edge_columns=columns,
        said_of_edges=TextOptions(*said, limit),
        said_of_labels=TextOptions(*said_of_labels, limit),
        **others,
    )


def _fitted(job: Job, *, quiet: bool) -> DirichletClassifier:
    from isotherm.job import label
    from isotherm.report.terminal import selection_lines

    job.check()
    with Stages(quiet=quiet) as stages:
        classifier = label(job, stages).classifier
    if not quiet:
        for line in selection_lines(classifier):
            Console(stderr=True).print(line, soft_wrap=True)
    return classifier
