"""What is going on, on stderr where that is a terminal."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from isotherm.cli.console import Console
from isotherm.printable import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NARROW = 60  # terminal columns below which the counts are left out


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """A function of what runs, how much is done and how much there is, that draws it."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda *_: None
        return
    columns = [TextColumn("{task.description}", markup=False), BarColumn(bar_width=None)]
    if console.width >= NARROW:
        columns += [MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left:")]
    bars = Progress(*columns, TimeRemainingColumn(), console=console)
    tasks: dict[str, tuple[TaskID, int]] = {}  # number of the bar, and what was done before

    def show(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = bars.add_task(one_line(what), total=total - done), done
        number, before = tasks[what]
        bars.update(number, completed=done - before)

    with bars:
        yield show


class Stages:
    """The stages of a run, one bar after the other.

    Parameters
    ----------
    quiet : bool
        Draw nothing, whatever stderr is.
    between : callable
        Called before each stage.
    hint : callable
        Called with what was found in a file, for the user to check.
    """

    def __init__(
        self, *, quiet: bool, between: Callable[[], None], hint: Callable[[str], None]
    ) -> None:
        self._between, self.hint = between, hint
        console = Console(stderr=True)
        self.is_shown = console.is_terminal and not quiet
        room = max(20, console.width - 30)
        columns = [
            TextColumn(f"{{task.description:.{room}}}", markup=False),
            BarColumn(bar_width=None),
        ]
        columns += [TaskProgressColumn(), TimeElapsedColumn()] if console.width >= NARROW else []
        self._bars = Progress(*columns, console=console, transient=True)
        self._task: TaskID | None = None

    @contextmanager
    def stage(self, what: str) -> Iterator[Callable[[int, int | None], None]]:
        """A stage: a function of how much is done and, where that is known, how much there is."""
        self._between()
        if not self.is_shown:
            yield lambda *_: None
            return
        task = self._task = self._bars.add_task(one_line(what), total=None)

        def show(done: int, total: int | None) -> None:
            self._bars.update(task, completed=done, total=total)

        try:
            yield show
        finally:
            self._bars.remove_task(task)
            self._task = None

    @contextmanager
    def solving(self) -> Iterator[Callable[[int, float], None]]:
        """The stage of the solve: a function of the step and the error that is still likely."""
        with self.stage("solving"):

            def show(step: int, likely: float) -> None:
                known = f", error about {likely:.0e}" if math.isfinite(likely) else ""
                self.say(f"solving: step {step}{known}")

            yield show

    def say(self, what: str) -> None:
        """Describe the stage anew."""
        if self._task is not None:
            self._bars.update(self._task, description=one_line(what))

    def __enter__(self) -> Stages:
        if self.is_shown:
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_shown:
            self._bars.stop()
