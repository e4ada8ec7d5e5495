"""A console for text that may come from anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich.console

from isotherm.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.segment import Segment
    from rich.text import Text

NARROWEST, USUAL, WIDEST = 20, 80, 500  # columns of a terminal


class Console(rich.console.Console):
    """Prints text as it is: no markup in it, and control characters shown, not sent.

    Parameters
    ----------
    stderr : bool
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, highlight=False, emoji=False)
        if self.width < 1:  # COLUMNS=0: not known
            self.width = USUAL
        self.width = min(max(self.width, NARROWEST), WIDEST)

    def render_str(self, text: str, **how: Any) -> Text:
        """A text, before it is measured."""
        return super().render_str(printable(text), **how)

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """What is sent, whatever it was made of; codes of the console's own stay."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))
