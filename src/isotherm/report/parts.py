"""What pages are made of; each part has a template of its own in `templates/parts`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from isotherm.report.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup


@dataclass(frozen=True)
class Paragraph:
    """A few sentences."""

    template: ClassVar[str] = "paragraph.html"
    text: str


@dataclass(frozen=True)
class Heading:
    """A title within a section."""

    template: ClassVar[str] = "heading.html"
    text: str


@dataclass(frozen=True)
class Command:
    """A line to be copied."""

    template: ClassVar[str] = "command.html"
    text: str


@dataclass(frozen=True)
class Notice:
    """Sentences that must not be missed."""

    template: ClassVar[str] = "notice.html"
    text: str
    items: list[str]


@dataclass(frozen=True)
class Figure:
    """A chart or a drawing, made by `isotherm.report.svg`, below its caption.

    One with `scrolls` keeps its size where the page is too narrow for it.
    """

    template: ClassVar[str] = "figure.html"
    caption: str
    picture: Markup
    scrolls: bool = False


@dataclass(frozen=True)
class Image:
    """A picture from a file of SVG, in base 64; nothing in it can act on the page."""

    template: ClassVar[str] = "image.html"
    caption: str
    svg: str


@dataclass(frozen=True)
class Legend:
    """What the colours and rings of a drawing stand for: pairs of a style and a name."""

    template: ClassVar[str] = "legend.html"
    marks: list[tuple[str, str]]


@dataclass(frozen=True)
class Group:
    """Parts next to each other: a "pair", the first of which is wide, "two" alike, or "many"."""

    template: ClassVar[str] = "group.html"
    kind: str
    parts: Sequence[Part]


Part: TypeAlias = Paragraph | Heading | Command | Notice | Figure | Image | Legend | Group | Table


@dataclass(frozen=True)
class Section:
    """A title, a few words and what belongs to them."""

    title: str
    text: str
    parts: Sequence[Part] = ()
