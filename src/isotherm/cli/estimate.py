"""``isotherm estimate``."""

from __future__ import annotations

from typing import Annotated

import typer

from isotherm.cli import options as o  # read by typer
from isotherm.cli.app import app
from isotherm.cli.console import Console


@app.command()
def estimate(
    edges: o.Edges,
    labels: Annotated[
        str | None,
        typer.Argument(metavar="LABELS", help="Known labels, if there are any yet."),
    ] = None,
    classes: Annotated[
        int, typer.Option(min=1, help="How many classes to expect where there are no labels.")
    ] = 10,
    source: o.Source = None,
    target: o.Target = None,
    weight: o.Weight = None,
    delimiter: o.Delimiter = None,
    header: o.Header = None,
    comment: o.Comment = None,
    encoding: o.Encoding = "utf-8",
    node: o.Node = None,
    label: o.Label = None,
    unpack_limit: o.UnpackedSize = o.LIMIT,  # type: ignore[assignment]  # parsed by typer
    unpack_ratio: o.UnpackedRatio = o.RATIO,
) -> None:
    """Say how large a job is before it is done: nodes, edges, classes, memory and time."""
    from isotherm.estimate import estimate_job
    from isotherm.job import Job
    from isotherm.read.options import TextOptions
    from isotherm.read.unpacking import UnpackLimit
    from isotherm.report.terminal import estimate_lines

    limit = UnpackLimit(unpack_limit, unpack_ratio)
    job = Job(
        edges,
        labels or "",
        edge_columns={"source": source, "target": target, "weight": weight},
        label_columns={"node": node, "label": label},
        said_of_edges=TextOptions(delimiter, header, comment, encoding, unpacking=limit),
        said_of_labels=TextOptions(encoding=encoding, unpacking=limit),
    )
    Console().print("\n".join(estimate_lines(estimate_job(job, classes))))
