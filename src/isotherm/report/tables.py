"""Tables of a page, and their cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Cell:
    """A cell of a table with more than text: the dot of a class, or else a star.

    Attributes
    ----------
    text : str
    colour : str
        Of the dot before it; without one a star comes after it: there is something to say.
    list_number : int
        Of the list of nodes that it links to, see `isotherm.report.parts`; −1 without one.
    """

    text: str
    colour: str = ""
    list_number: int = -1


@dataclass(frozen=True)
class Best:
    """A cell with the best number of its column, in bold."""

    best: str


@dataclass(frozen=True)
class Bars:
    """A cell with two bars, an outlined one and a full one below it; lengths are from 0 to 1."""

    outlined: float
    full: float
    colour: str


@dataclass(frozen=True)
class Table:
    """Text in rows and columns.

    Attributes
    ----------
    title : str
    columns : tuple of str
    rows : sequence of rows, of str, Cell, Best or Bars
    notes : sequence of str
        Sentences that belong below.
    kind : str
        Its classes in the stylesheet; in one of "words3", say, three columns are words.
    """

    template: ClassVar[str] = "table.html"
    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str | Cell | Best | Bars]]
    notes: Sequence[str] = ()
    kind: str = ""
