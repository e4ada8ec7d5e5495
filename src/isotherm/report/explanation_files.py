"""Explanations → files, by the ending of their names: a page, text, or a drawing.

A new kind of file is a function and an entry in `KINDS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from isotherm.errors import ParameterError
from isotherm.files import replacing, written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from isotherm.report.explanation import Classes
    from isotherm.trust.explain import Explanation

WIDTH = 100  # letters of a line of text


@dataclass(frozen=True)
class Explanations:
    """What a file tells of some nodes.

    Attributes
    ----------
    whys : sequence of Explanation
    classes : Classes
        Of the same classifier.
    unexplained : sequence of str
        What is to be said of nodes that nothing explains.
    most : int
        How many seeds to list.
    """

    whys: Sequence[Explanation]
    classes: Classes
    unexplained: Sequence[str] = ()
    most: int = 10

    def lines(self, width: int) -> list[str]:
        """All of it as lines of text."""
        from isotherm.report.explanation_lines import explanation_lines

        found: list[str] = []
        for why in self.whys:
            lines = explanation_lines(why, self.most, width, self.classes.decision)
            found += ["", "", *lines] if found else lines
        return [*found, *([""] if found and self.unexplained else []), *self.unexplained]


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes
    ----------
    write : callable
        Writes explanations to a binary file.
    is_drawing : bool
        Whether it is one drawing, of one node.
    """

    write: Callable[[IO[bytes], Explanations], None]
    is_drawing: bool = False


def check_explanation_file(name: str, n_nodes: int) -> None:
    """Refuse a file that cannot be made, before any work is done.

    Raises
    ------
    ParameterError
        An ending that stands for no kind of file; several nodes for one drawing.
    """
    ending = Path(name.lower()).suffix
    if ending not in KINDS:
        known = ", ".join(KINDS)
        raise ParameterError(f"{name}: the ending chooses the format and must be one of {known}")
    if KINDS[ending].is_drawing and n_nodes > 1:
        raise ParameterError(
            f"{name}: a drawing shows one node, and there are {n_nodes}: write .html, which shows "
            "them all, or a file for each node"
        )


def write_explanations(name: str, found: Explanations, *, force: bool = False) -> None:
    """Write the file, whole or not at all.

    Raises
    ------
    FileError
        If it cannot be written.
    """
    with written(name), replacing(Path(name), force=force) as file:
        KINDS[Path(name.lower()).suffix].write(file, found)


def _write_page(file: IO[bytes], found: Explanations) -> None:
    from isotherm.report.explanation import explanations_page

    page = explanations_page(
        found.whys, found.classes, unexplained=found.unexplained, most=found.most
    )
    file.write(page.encode())


def _write_text(file: IO[bytes], found: Explanations) -> None:
    file.write("\n".join([*found.lines(WIDTH), ""]).encode())


def _write_svg(file: IO[bytes], found: Explanations) -> None:
    from isotherm.report.explanation_lines import heading, rest_words
    from isotherm.report.heat_flow import heat_flow_file
    from isotherm.report.words import short

    (why,) = found.whys
    if not why.paths:
        raise ParameterError(
            "there is nothing to draw, because seeds get no heat from others: write .txt or "
            ".html instead, or add --without-own"
        )
    title, note = short(heading(why), 90), rest_words(why)
    file.write(heat_flow_file(title, note, why, found.classes.palette).encode())


KINDS = {
    ".html": Kind(_write_page),
    ".htm": Kind(_write_page),
    ".txt": Kind(_write_text),
    ".svg": Kind(_write_svg, is_drawing=True),
}
