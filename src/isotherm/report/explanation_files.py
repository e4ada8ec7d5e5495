"""Explanations → files, by the ending of their names: a page, text, or drawings.

A new kind of file is a function and an entry in `KINDS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING

from isotherm.errors import MissingLibrary, ParameterError
from isotherm.files import replacing, written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from isotherm.report.pages.explanation import Classes
    from isotherm.trust.explain import Explanation

MOST_DRAWN = 20  # drawings in one picture
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

    def drawn(self) -> list[tuple[str, str, Explanation]]:
        """Those that have paths to draw, with their titles and what is not drawn.

        Raises
        ------
        ParameterError
            If there is none.
        """
        from isotherm.report.explanation_lines import heading, rest_words
        from isotherm.report.words import short

        found = [(short(heading(why), 90), rest_words(why), why) for why in self.whys if why.paths]
        if not found:
            raise ParameterError(
                "there is nothing to draw, because seeds get no heat from others: write .txt or "
                ".html instead, or add --without-own"
            )
        return found


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes
    ----------
    write : callable
        Writes explanations to a binary file.
    library : str
        That it needs, in the extra of the same files.
    is_one_picture : bool
        Whether all drawings are in one picture, which has no room for many.
    """

    write: Callable[[IO[bytes], Explanations], None]
    library: str = ""
    is_one_picture: bool = False


def check_explanation_file(name: str, n_nodes: int) -> None:
    """Refuse a file that cannot be made, before any work is done.

    Raises
    ------
    ParameterError
        An ending that stands for no kind of file; more drawings than a picture has room for.
    MissingLibrary
        If what it takes is not installed.
    """
    ending = Path(name.lower()).suffix
    if ending not in KINDS:
        known = ", ".join(KINDS)
        raise ParameterError(f"{name}: the ending chooses the format and must be one of {known}")
    kind = KINDS[ending]
    if kind.is_one_picture and n_nodes > MOST_DRAWN:
        raise ParameterError(
            f"{name}: a picture has room for {MOST_DRAWN} nodes, and there are {n_nodes}: write "
            ".pdf, with a page for each node, or .html"
        )
    if kind.library and find_spec(kind.library) is None:
        raise MissingLibrary(
            f"{name}: {ending} needs {kind.library}: pip install 'isotherm[pictures]', or write "
            ".svg or .html"
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
    from isotherm.report.pages.explanation import explanations_page

    page = explanations_page(
        found.whys, found.classes, unexplained=found.unexplained, most=found.most
    )
    file.write(page.encode())


def _write_text(file: IO[bytes], found: Explanations) -> None:
    file.write("\n".join([*found.lines(WIDTH), ""]).encode())


def _write_svg(file: IO[bytes], found: Explanations) -> None:
    from isotherm.report.pages.heat_flow import heat_flow_file

    file.write(heat_flow_file(found.drawn(), found.classes.palette).encode())


def _write_png(file: IO[bytes], found: Explanations) -> None:
    from isotherm.report.pages.flow_picture import write_png

    write_png(file, found.drawn(), found.classes.palette)


def _write_pdf(file: IO[bytes], found: Explanations) -> None:
    from isotherm.report.pages.flow_picture import write_pdf

    write_pdf(file, found.drawn(), found.classes.palette)


KINDS = {
    ".html": Kind(_write_page),
    ".htm": Kind(_write_page),
    ".txt": Kind(_write_text),
    ".svg": Kind(_write_svg, is_one_picture=True),
    ".png": Kind(_write_png, "matplotlib", is_one_picture=True),
    ".pdf": Kind(_write_pdf, "matplotlib"),
}
