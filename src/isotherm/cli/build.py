"""``isotherm build``."""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from isotherm.cli import options as o
from isotherm.cli.app import command
from isotherm.cli.console import Console
from isotherm.cli.jobs import edge_columns, edge_options
from isotherm.cli.messages import MessageOptions
from isotherm.cli.parse import parse_memory
from isotherm.cli.reading_options import EdgeOptions
from isotherm.errors import IsothermWarning

EdgeFiles = Annotated[
    list[str],
    typer.Argument(metavar="EDGES...", help="Files of edges; with --check, a saved graph."),
]
Out = Annotated[
    str | None,
    typer.Option("--graph", "-o", metavar="OUT", help="File for the graph, such as graph.iso."),
]
Check = Annotated[
    bool,
    typer.Option("--check", help="Verify a saved graph: EDGES, or the one just built."),
]


@command
def build(
    edges: EdgeFiles,
    *,
    out: Out = None,
    memory: o.Memory = None,
    check: Check = False,
    force: o.Force = False,
    reading: EdgeOptions,
    messages: MessageOptions,
) -> None:
    """Build a graph once, so that all other commands open it in milliseconds.

    For example: isotherm build edges.parquet -o graph.iso --memory 4G
    """
    if out is None and not check:
        raise typer.BadParameter("Name a file for the graph with -o, such as -o graph.iso.")
    if out is not None:
        from isotherm.build import build_graph

        with messages.stages() as stages:
            graph, report = build_graph(
                edges,
                out,
                edge_columns(reading),
                edge_options(reading),
                memory=parse_memory(memory),
                force=force,
                stages=stages,
            )
            for hint in report.hints:
                stages.hint(hint)
            for sentence in report.remarks():
                warnings.warn(sentence, IsothermWarning, stacklevel=1)
        Console().print(f"{out}: {graph.n_nodes:,} nodes, {graph.n_edges:,} edges", soft_wrap=True)
    if check:
        for path in edges if out is None else [out]:
            _check(path, messages)


def _check(path: str, messages: MessageOptions) -> None:
    """Verify a saved graph, and say that it is sound."""
    from isotherm.graph.saved.check import check_file

    with messages.stages() as stages, stages.stage(f"checking {path}") as show:
        header = check_file(path, show).header
    Console().print(
        f"{path} is sound: {header.n_nodes:,} nodes, {header.n_entries:,} entries, "
        f"{len(header.parts)} parts",
        soft_wrap=True,
    )
