"""The command line: arguments → one call → report. One file per command."""

from __future__ import annotations

from typing import Annotated

import typer

# Each adds its commands.
import isotherm.cli.build
import isotherm.cli.classify
import isotherm.cli.datasets
import isotherm.cli.demo
import isotherm.cli.estimate
import isotherm.cli.evaluate
import isotherm.cli.explain
import isotherm.cli.label
import isotherm.cli.regress
import isotherm.cli.suggest
import isotherm.cli.suspects  # noqa: F401
from isotherm.cli.app import app, run_command, settings


def _print_version(asked: bool) -> None:
    if asked:
        from isotherm import __version__
        from isotherm.compiled import core

        typer.echo(f"isotherm {__version__}{' without the core' if core is None else ''}")
        raise typer.Exit


@app.callback()
def program(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where in the program an error occurred.")
    ] = False,
) -> None:
    """Label every node of a graph from a few known labels, by heat diffusion at equilibrium."""
    settings.debug = debug


def run() -> int:
    """Run the command line; how it ended."""
    return run_command(app)
