"""Parts → one HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from isotherm.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TEMPLATES = Path(__file__).parent / "templates"
SCRIPT = "lists.js"

# Nothing from elsewhere, and no script but the one below, whatever else may be on the page.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; script-src "
)


class Part:
    """What a page is made of: `templates/parts.html` has a macro for each class, of its name."""

    @property
    def macro(self) -> str:
        """The name of the macro that shows it."""
        return type(self).__name__


@dataclass(frozen=True)
class Paragraph(Part):
    """A few sentences."""

    text: str


@dataclass(frozen=True)
class Heading(Part):
    """A title within a section."""

    text: str


@dataclass(frozen=True)
class Command(Part):
    """A line to be copied."""

    text: str


@dataclass(frozen=True)
class Notice(Part):
    """Sentences that must not be missed."""

    text: str
    items: list[str]


@dataclass(frozen=True)
class Figure(Part):
    """A chart or a drawing, made by `isotherm.report.svg`, below its caption.

    One with `scrolls` keeps its size where the page is too narrow for it.
    """

    caption: str
    picture: Markup
    scrolls: bool = False


@dataclass(frozen=True)
class Legend(Part):
    """What the colours and rings of a drawing stand for: pairs of a style and a name."""

    marks: list[tuple[str, str]]


@dataclass(frozen=True)
class Group(Part):
    """Parts next to each other: a "pair", the first of which is wide, "two" alike, or "many"."""

    kind: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class KeyNumbers(Part):
    """What a reader wants first: pairs of a number and what it counts."""

    numbers: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Cell:
    """A cell of a table with more than text: the dot of a class, or else a star."""

    text: str
    colour: str = ""  # of the dot before it; without one a star comes after it
    list_number: int = -1  # of the list of nodes that it links to


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
class Table(Part):
    """Text in rows and columns."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str | Cell | Best | Bars]]
    notes: Sequence[str] = ()  # sentences that belong below
    kind: str = (
        ""  # its classes in the stylesheet; in one of "words3", say, three columns are words
    )


@dataclass(frozen=True)
class Column:
    """A column of a list of nodes; an `extra` one is left out where the page is narrow."""

    name: str
    is_number: bool = False
    is_extra: bool = False


@dataclass(frozen=True)
class NodeRow:
    """A node: its cells, what speaks for it in a sentence, and more to know once it is opened."""

    cells: Sequence[str | Cell]
    gist: str
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class NodeList(Part):
    """Nodes in an order, each with reasons; the script of the page sorts and filters it."""

    number: int  # which list of the page it is; links lead to ``#list-NUMBER``
    title: str
    count: str  # how many nodes are shown, and of how many
    columns: Sequence[Column]  # the second is searched, the third filtered
    rows: Sequence[NodeRow]
    colour: str = ""  # of its class, if it has one


@dataclass(frozen=True)
class Finder(Part):
    """Search and filters over all lists of the page, which only a script can work."""

    number_name: str  # of the number to filter by
    lists: Sequence[tuple[int, str]]  # the number and the title of each
    group_name: str = "class"  # of what lists stand for


@dataclass(frozen=True)
class Section:
    """A title, a few words and what belongs to them."""

    title: str
    text: str
    parts: Sequence[Part] = ()


def page(title: str, introduction: str, sections: Iterable[Section]) -> str:
    """A whole page: all text is escaped, and control characters are written out.

    One with lists of nodes has a script that sorts and filters them; without it they are tables.
    """
    sections = list(sections)
    has_lists = any(isinstance(part, NodeList) for one in sections for part in one.parts)
    template = _environment().get_template("page.html")
    return template.render(
        title=title,
        introduction=introduction,
        sections=sections,
        script=SCRIPT if has_lists else None,
        policy=POLICY + (_fingerprint() if has_lists else "'none'"),
    )


@cache
def _fingerprint() -> str:
    """What a policy says of the script that may run."""
    digest = hashlib.sha256((TEMPLATES / SCRIPT).read_bytes()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )


def _visible(value: object) -> object:
    """Text without control characters; what is markup already was made without them."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
