"""``isotherm explain``."""

from __future__ import annotations

import csv
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
from isotherm.errors import FileError, LabelError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.cli.progress import Stages
    from isotherm.report.explanation import Explanations
    from isotherm.trust.explain import Explanation

HEAT = 0.8  # that the paths account for at the least
MOST_BYTES = 1 << 26  # of a file of nodes


@command
def explain(
    edges: o.Edges,
    labels: o.Labels,
    explained: Annotated[
        list[str] | None, typer.Argument(metavar="[NODE]...", help="The nodes to explain.")
    ] = None,
    *,
    nodes_from: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File of more nodes: one per line, or the column 'node' of a CSV or TSV file.",
        ),
    ] = None,
    most: o.Most = 10,
    without_own: Annotated[
        bool,
        typer.Option(
            "--without-own",
            help="For a node whose label is known: explain the label that the others give it.",
        ),
    ] = False,
    out: o.ExplanationFile = None,
    force: o.Force = False,
    model: o.ModelOptions,
    solver: o.SolverOptions,
    reading: ReadingOptions,
    messages: MessageOptions,
) -> None:
    """Explain why nodes have their labels: which seeds their heat comes from, by which paths.

    For example: isotherm explain edges.csv labels.csv ann bob -o why.html
    """
    from isotherm.report.explanation import check_explanation_file, write_explanations

    job = replace(make_job(edges, labels, reading, model, solver), force=force)
    job.check(out)
    names = list(
        dict.fromkeys([*(explained or ()), *(_names_in(nodes_from) if nodes_from else ())])
    )
    if not names:
        raise ParameterError(
            "no node to explain: name some after LABELS, or a file of them with --nodes-from"
        )
    if out is not None:
        check_explanation_file(out, len(names))
    run = fitted(job, messages)
    with messages.stages() as stages:
        own = run.graph.nodes.ids_of(names)
        found = _explained(run.classifier, own, most, stages, without_own=without_own)
    console = Console()
    lines = found.lines(console.width)
    if out is not None:
        write_explanations(out, found, force=force)
        lines += ["", f"wrote {out}"]
    console.print("\n".join(lines), soft_wrap=True)
    end(converged=run.converged)


def _explained(
    classifier: HeatClassifier,
    names: Sequence[Hashable],
    most: int,
    stages: Stages,
    *,
    without_own: bool,
) -> Explanations:
    """Explain all nodes; of several, those that nothing explains are told of."""
    from isotherm.report.explanation import Classes, Explanations

    whys: list[Explanation] = []
    unexplained: list[str] = []
    with stages.stage("explaining nodes") as show:
        found = classifier.explain_each(
            names,
            paths=most,
            heat=HEAT,
            without_own=without_own,
            probability=True,
            skipped=unexplained,
        )
        for why in found:
            whys.append(why)
            show(len(whys) + len(unexplained), len(names))
    if not whys:
        raise LabelError("; ".join(unexplained))
    return Explanations(whys, Classes.of(classifier), unexplained, most)


def _names_in(path: str) -> list[str]:
    """Nodes of a file: one a line, or a column of that name."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise FileError(
                f"{path} is too large to be a list of nodes: it has more than {MOST_BYTES:,} bytes"
            )
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise FileError(f"{path} is not text: list one node per line, or use CSV") from None
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path} cannot be read: {error.strerror or error}") from None
    for delimiter in (",", "\t", ";"):
        rows = csv.reader(lines, delimiter=delimiter)
        heads = [head.strip().lower() for head in next(rows, [])]
        if "node" in heads:
            place = heads.index("node")
            return [row[place] for row in rows if len(row) > place and row[place]]
    return [line.strip() for line in lines if line.strip()]
