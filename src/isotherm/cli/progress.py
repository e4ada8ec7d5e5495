"""A progress bar on stderr, where that is a terminal."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NARROW = 60  # terminal columns below which the counts are left out


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A function of what runs, how much is done and how much there is, that draws it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda *_: None
        return
    columns = [TextColumn("{task.description}"), BarColumn(bar_width=None)]
    if console.width >= NARROW:
        columns += [MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left:")]
    bars = Progress(*columns, TimeRemainingColumn(), console=console)
    tasks: dict[str, tuple[TaskID, int]] = {}  # number of the bar, and what was done before

    def show(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = bars.add_task(what, total=total - done), done
        number, before = tasks[what]
        bars.update(number, completed=done - before)

    with bars:
        yield show
