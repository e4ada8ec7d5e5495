"""``isotherm datasets``."""

from __future__ import annotations

from typing import Annotated

import typer

from isotherm.cli.app import app
from isotherm.cli.console import Console
from isotherm.cli.options import Data  # noqa: TC001  # read by typer
from isotherm.cli.progress import progress_bar

commands = typer.Typer(no_args_is_help=True, help="Graphs with known labels, by name.")
app.add_typer(commands, name="datasets")

Name = Annotated[str, typer.Argument(help="Name of the data set.")]


@commands.command("list")
def list_datasets(data: Data = None) -> None:
    """List all data sets: bundled, in the cache, or to download."""
    from isotherm.datasets import dataset_names, describe
    from isotherm.report.terminal import dataset_table

    console = Console()
    records = [describe(name, data) for name in dataset_names(data)]
    console.print(dataset_table(records, width=console.width))


@commands.command()
def fetch(name: Name, data: Data = None) -> None:
    """Download a data set into the cache."""
    from isotherm.datasets import fetch_dataset

    with progress_bar() as progress:
        path = fetch_dataset(name, data, progress=progress)
    Console().print(f"{path}", soft_wrap=True)


@commands.command()
def info(name: Name, data: Data = None) -> None:
    """Show what a data set is, where it comes from, and what is in it."""
    from isotherm.datasets import describe, load_dataset
    from isotherm.report.terminal import dataset_lines

    record = describe(name, data)
    found = load_dataset(name, data) if record.is_here else None
    Console().print(dataset_lines(record, found), soft_wrap=True)
