"""``isotherm datasets``."""

from __future__ import annotations

from typing import Annotated

import typer

from isotherm.cli.app import app
from isotherm.cli.console import Console
from isotherm.cli.options import Data  # noqa: TC001  # read by typer

commands = typer.Typer(no_args_is_help=True, help="Graphs with known labels, by name.")
app.add_typer(commands, name="datasets")

Name = Annotated[str, typer.Argument(help="Name of the data set.")]


@commands.command("list")
def list_datasets(data: Data = None) -> None:
    """List all data sets: bundled, and in a folder."""
    from isotherm.datasets import dataset_names
    from isotherm.report.terminal import dataset_table

    console = Console()
    console.print(dataset_table(dataset_names(data), width=console.width))


@commands.command()
def info(name: Name, data: Data = None) -> None:
    """Show what a data set is, where it comes from, and what is in it."""
    from isotherm.datasets import load_dataset
    from isotherm.report.terminal import dataset_lines

    Console().print(dataset_lines(load_dataset(name, data)), soft_wrap=True)
