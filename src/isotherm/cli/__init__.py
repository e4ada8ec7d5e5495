"""The command line: arguments → one call → report. One file per command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from isotherm.cli import datasets, demo, evaluate, reproduce  # noqa: F401  # adds the commands
from isotherm.cli.app import app
from isotherm.errors import IsothermError


def _version(asked: bool) -> None:
    if asked:
        from isotherm import __version__

        typer.echo(f"isotherm {__version__}")
        raise typer.Exit


@app.callback()
def isotherm(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Label every node of a graph from a few, by heat diffusion at equilibrium."""


def main() -> None:
    """Run the command line; what goes wrong is one line on stderr, without a traceback."""
    try:
        app()
    except (IsothermError, OSError) as error:
        message = Text.assemble(("error:", "bold red"), f" {error}")
        Console(stderr=True).print(message, soft_wrap=True)
        sys.exit(1)
