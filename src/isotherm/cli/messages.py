"""What is said on stderr while a command runs: errors, warnings, the log, progress."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from isotherm.cli.console import Console
from isotherm.cli.progress import Stages, progress_bar
from isotherm.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


@dataclass(frozen=True)
class MessageOptions:
    """How much is said. Nothing of it outlasts the ``with`` statement that asks for it."""

    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show no progress and no warnings.")
    ] = False
    verbose: Annotated[
        int, typer.Option("--verbose", "-v", count=True, help="Show more; -vv shows every step.")
    ] = 0

    @contextmanager
    def stages(self) -> Iterator[Stages]:
        """What shows the stages of a run; warnings are shown between them."""
        with (
            self.listening() as show,
            Stages(quiet=self.quiet, between=show, hint=self._hint) as stages,
        ):
            yield stages

    def _hint(self, what: str) -> None:
        if not self.quiet:
            say("note", what)

    @contextmanager
    def progress_bar(self) -> Iterator[Callable[[str, int, int], None]]:
        """A function of what runs, how much is done and how much there is, that draws it."""
        with self.listening(), progress_bar(quiet=self.quiet) as progress:
            yield progress

    @contextmanager
    def listening(self) -> Iterator[Callable[[], None]]:
        """Warnings and what the library logs become lines on stderr.

        Warnings are kept and shown at the end, or when the function that this gives is called.
        """
        level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(self.verbose, 2)]
        with _logged(level), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")

            def show() -> None:
                while caught:
                    message = caught.pop(0).message
                    if not self.quiet:
                        say("warning", str(message))

            try:
                yield show
            finally:
                show()


def say(kind: str, message: str) -> None:
    """An error, a warning or a note: one paragraph on stderr."""
    style = {"error": "bold red", "warning": "bold yellow"}.get(kind, "")
    text = Text.assemble((f"{kind}:", style), f" {printable(message)}")
    with suppress(OSError):  # a terminal that was closed
        Console(stderr=True).print(text, soft_wrap=True)


def say_lines(lines: Iterable[str]) -> None:
    """Lines on stderr, as they are."""
    for line in lines:
        Console(stderr=True).print(line, soft_wrap=True)


class _Formatter(logging.Formatter):
    """What the library logs, harmless for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


@contextmanager
def _logged(level: int) -> Iterator[None]:
    """What the library logs, on stderr."""
    handler = logging.StreamHandler()
    handler.setLevel(level)
    handler.setFormatter(_Formatter("%(name)s: %(message)s"))
    logger = logging.getLogger("isotherm")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
