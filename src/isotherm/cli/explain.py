"""``isotherm explain``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isotherm.cli import options as o
from isotherm.cli.app import command
from isotherm.cli.console import Console
from isotherm.cli.jobs import end, fitted, make_job
from isotherm.cli.messages import MessageOptions
from isotherm.cli.reading_options import ReadingOptions
from isotherm.files import written

if TYPE_CHECKING:
    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.trust.explain import Explanation


@command
def explain(
    edges: o.Edges,
    labels: o.Labels,
    explained: Annotated[str, typer.Argument(metavar="NODE", help="The node to explain.")],
    *,
    most: o.Most = 10,
    without_own: Annotated[
        bool,
        typer.Option(
            "--without-own",
            help="Of a node whose label is known: the label that the others give it, and why.",
        ),
    ] = False,
    draw: o.Drawing = None,
    force: o.Force = False,
    model: o.ModelOptions,
    solver: o.SolverOptions,
    reading: ReadingOptions,
    messages: MessageOptions,
) -> None:
    """Say why a node has its label: which seeds its heat comes from, and along which paths."""
    from isotherm.report.explanation_lines import explanation_lines

    job = replace(make_job(edges, labels, reading, model, solver), force=force)
    job.check(draw)
    run = fitted(job, messages)
    classifier, console = run.classifier, Console()
    why = classifier.explain(explained, paths=most, without_own=without_own)
    lines = explanation_lines(why, most, console.width, classifier.decision_)
    if draw is not None:
        _draw(draw, why, classifier, most, force=force)
        lines += ["", f"wrote {draw}"]
    console.print("\n".join(lines), soft_wrap=True)
    end(converged=run.converged)


def _draw(
    path: str, why: Explanation, classifier: HeatClassifier, most: int, *, force: bool
) -> None:
    """Write the page of an explanation."""
    from isotherm.report.pages.explanation import Classes, explanation_page
    from isotherm.report.tables import write_text

    page = explanation_page(why, Classes.of(classifier), most=most)
    with written(path):
        write_text(Path(path), page, force=force)
