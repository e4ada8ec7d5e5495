"""``isotherm reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from isotherm.cli import options as o
from isotherm.cli.app import command
from isotherm.cli.console import Console
from isotherm.cli.messages import MessageOptions

Part = Literal["figure1", "figure2", "figure3", "table1", "table2", "consistency", "growth", "all"]


@command
def reproduce(
    part: Annotated[Part, typer.Argument(help="Which part of the paper to make.")] = "all",
    *,
    folder: Annotated[Path, typer.Option(help="Folder for the results.", file_okay=False)] = Path(
        "paper"
    ),
    data: o.Data = None,
    repeats: o.Repeats = 100,
    seed: o.Seed = 0,
    jobs: Annotated[
        int, typer.Option(min=0, help="Number of processes; 0 means one per processor.")
    ] = 0,
    messages: MessageOptions,
) -> None:
    """Make the figures and tables of the paper from scratch, beside the paper's own numbers.

    It can be stopped and started again: results are kept in the folder and not computed twice.
    """
    if data is not None and not data.is_dir():
        raise typer.BadParameter(f"there is no folder {data}: name another", param_hint="--data")
    from isotherm.compiled import n_threads
    from isotherm.reproduce import Reproduction

    with messages.progress_bar() as progress:
        made = Reproduction(
            folder,
            data,
            repeats=repeats,
            jobs=jobs or n_threads(),
            seed=seed,
            progress=progress,
        ).make(*() if part == "all" else (part,))
    Console().print(f"see {made}", soft_wrap=True)
