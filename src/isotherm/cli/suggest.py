"""``isotherm suggest``."""

from __future__ import annotations

import math

from isotherm.cli import options as o
from isotherm.cli.app import command
from isotherm.cli.console import Console
from isotherm.cli.jobs import end, fitted, make_job
from isotherm.cli.messages import MessageOptions
from isotherm.cli.reading_options import ReadingOptions


@command
def suggest(
    edges: o.Edges,
    labels: o.Labels,
    *,
    most: o.Most = 10,
    table: o.TableOptions,
    model: o.ModelOptions,
    solver: o.SolverOptions,
    reading: ReadingOptions,
    messages: MessageOptions,
) -> None:
    """Suggest which nodes to label next, and say whether more labels would still help.

    Every other node is a check, drawn at random. The file of suggestions says so in its column
    drawn; keep that column in LABELS: then accuracy is judged by the labels drawn at random alone.
    """
    from isotherm.report.terminal import suggestion_table
    from isotherm.trust.suggest import Suggestion

    job = make_job(edges, labels, reading, model, solver)
    table.check(job)
    run = fitted(job, messages)
    with messages.stages() as stages, stages.stage("comparing nodes"):
        found, advice = run.classifier.suggest(most), run.classifier.should_stop()
    console = Console()
    if found:
        console.print(suggestion_table(found, width=console.width))
        console.print()
        if not math.isnan(advice.accuracy.value) or advice.n_drawn is not None:
            console.print(f"expected accuracy on free nodes: {advice.words}", soft_wrap=True)
        console.print(str(advice), soft_wrap=True)
    else:
        console.print("every node has a label")
    rows = [{**one._asdict(), "drawn": one.drawn} for one in found]
    table.write(rows, (*Suggestion._fields, "drawn"))
    end(converged=run.converged)
