"""The application that commands are added to."""

from __future__ import annotations

import typer

app = typer.Typer(
    name="isotherm",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
