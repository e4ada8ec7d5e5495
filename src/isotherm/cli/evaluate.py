"""``isotherm evaluate``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # read by typer
from typing import Annotated, Any

import typer

from isotherm.cli import options as o
from isotherm.cli.app import app, show_warnings
from isotherm.cli.console import Console
from isotherm.cli.progress import progress_bar
from isotherm.errors import ParameterError
from isotherm.files import check_output, written


@app.command()
def evaluate(
    edges: o.Edges,
    labels: o.Labels,
    seeds: Annotated[
        str, typer.Option(help="Shares of the labelled nodes that are given as seeds.")
    ] = "5%,10%,20%",
    repeats: Annotated[int, typer.Option(min=1, help="Draws of seeds for each share.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn at random.")] = 0,
    auto: Annotated[
        bool,
        typer.Option("--auto", help="Also with decision and leak chosen by leave-one-out; slower."),
    ] = False,
    csv: Annotated[
        Path | None, typer.Option(help="File for one row per single run.", dir_okay=False)
    ] = None,
    force: o.Force = False,
    source: o.Source = None,
    target: o.Target = None,
    weight: o.Weight = None,
    delimiter: o.Delimiter = None,
    header: o.Header = None,
    comment: o.Comment = None,
    encoding: o.Encoding = "utf-8",
    node: o.Node = None,
    label: o.Label = None,
    label_delimiter: o.LabelDelimiter = None,
    label_header: o.LabelHeader = None,
    on_error: o.ErrorRule = o.OnError.RAISE,
    unpack_limit: o.UnpackedSize = o.LIMIT,  # type: ignore[assignment]  # parsed by typer
    unpack_ratio: o.UnpackedRatio = o.RATIO,
    quiet: o.Quiet = False,
) -> None:
    """Score every decision on your own graph: some labels are given, the others are predicted."""
    import numpy as np

    from isotherm.experiments.evaluate import evaluate as run
    from isotherm.labels import encode_labels
    from isotherm.read import read_graph, read_labels
    from isotherm.report.tables import write_csv
    from isotherm.report.terminal import WIDE, decision_table

    show_warnings(quiet=quiet)
    if csv is not None:
        check_output(csv, force=force)
    shares = [share_of(text) for text in seeds.split(",")]
    shared: dict[str, Any] = {
        "comment": comment,
        "encoding": encoding,
        "on_error": on_error.value,
        "unpack_limit": unpack_limit,
        "unpack_ratio": unpack_ratio,
    }
    graph = read_graph(
        edges,
        source=source,
        target=target,
        weight=weight,
        delimiter=delimiter,
        header=header,
        **shared,
    )
    known = read_labels(
        labels,
        graph,
        node=node,
        label=label,
        delimiter=label_delimiter,
        header=label_header,
        **shared,
    )
    codes, _ = encode_labels(known, graph)
    with progress_bar() as progress:
        rows = run(
            graph,
            codes,
            shares,
            repeats=repeats,
            auto=auto,
            rngs=lambda share, repeat: np.random.default_rng([seed, round(share * 1e9), repeat]),
            progress=progress,
        )
    if csv is not None:
        with written(str(csv)):
            write_csv(csv, rows, ("seed_fraction", "decision", "repeat", "macro_f1"), force=force)
    console = Console()
    spread = ", mean ± standard deviation" if console.width >= WIDE else ", mean"
    console.print(f"macro-F1{spread} over {repeats} draw(s) of seeds")
    console.print(decision_table(rows, width=console.width))


def share_of(text: str) -> float:
    """A share of nodes, written as ``5%`` or ``0.05``.

    Examples
    --------
    >>> share_of("5%"), share_of(" 0.2 ")
    (0.05, 0.2)
    """
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        share = float("nan")
    if not 0 < share < 1:
        raise ParameterError(f"a share of seeds is written like 5% or 0.05, not {text.strip()!r}")
    return share
