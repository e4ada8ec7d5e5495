"""``isotherm reproduce``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from isotherm.cli.app import app
from isotherm.cli.classify import listen
from isotherm.cli.console import Console
from isotherm.cli.progress import progress_bar

PARTS = ("figure1", "figure2", "figure3", "table1", "table2", "consistency", "growth")
Part = StrEnum("Part", {name: name for name in (*PARTS, "all")})  # type: ignore[misc]
ALL = Part("all")


@app.command()
def reproduce(
    part: Annotated[Part, typer.Argument(help="What to make.")] = ALL,
    repeats: Annotated[int, typer.Option(min=1, help="Repeats of each setting.")] = 100,
    jobs: Annotated[
        int, typer.Option(min=0, help="Processes to run at once; 0: one per processor.")
    ] = 0,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of cached data sets; by default ISOTHERM_DATA or the platform's cache.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.", file_okay=False)] = Path(
        "paper"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn at random.")] = 0,
) -> None:
    """Make the figures and tables of the paper from scratch, beside the paper's own numbers.

    Safe to stop and start again: what was found is kept in the folder and not computed twice.
    """
    from isotherm.compiled import n_threads
    from isotherm.reproduce import Reproduction

    listen()
    with progress_bar() as progress:
        made = Reproduction(
            out,
            data,
            repeats=repeats,
            jobs=jobs or n_threads(),
            seed=seed,
            progress=progress,
        ).make(*() if part == ALL else (part.value,))
    Console().print(f"see {made}", soft_wrap=True)
