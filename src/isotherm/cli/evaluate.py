"""``isotherm evaluate``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # read by typer
from typing import Annotated

import typer
from rich.console import Console

from isotherm.cli.app import app
from isotherm.cli.progress import progress_bar
from isotherm.errors import ParameterError


@app.command()
def evaluate(
    edges: Annotated[Path, typer.Argument(help="Edges: two node ids per line, perhaps a weight.")],
    labels: Annotated[Path, typer.Argument(help="Labels: a node id and its label per line.")],
    seeds: Annotated[
        str, typer.Option(help="Shares of the labelled nodes that are given as seeds.")
    ] = "5%,10%,20%",
    repeats: Annotated[int, typer.Option(min=1, help="Draws of seeds for each share.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn at random.")] = 0,
    csv: Annotated[
        Path | None, typer.Option(help="File for one row per single run.", dir_okay=False)
    ] = None,
) -> None:
    """Score every decision on your own graph: some labels are given, the others are predicted."""
    import numpy as np

    from isotherm.experiments.evaluate import evaluate as run
    from isotherm.labels import encode_labels
    from isotherm.read import read_graph, read_labels
    from isotherm.report.tables import write_csv
    from isotherm.report.terminal import decision_table

    shares = [share_of(text) for text in seeds.split(",")]
    graph = read_graph(edges)
    codes, _ = encode_labels(read_labels(labels, graph), graph)
    with progress_bar() as progress:
        rows = run(
            graph,
            codes,
            shares,
            repeats=repeats,
            rngs=lambda share, repeat: np.random.default_rng([seed, round(share * 1e9), repeat]),
            progress=progress,
        )
    if csv is not None:
        write_csv(csv, rows, ("seed_fraction", "decision", "repeat", "macro_f1"))
    Console().print(decision_table(rows))


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
