"""Parts → one HTML page that needs nothing but itself."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from isotherm.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isotherm.report.parts import Section

TEMPLATES = Path(__file__).parent / "templates"


def page(title: str, introduction: str, sections: Iterable[Section]) -> str:
    """A whole page: all text is escaped, and control characters are written out."""
    template = _environment().get_template("page.html")
    return template.render(title=title, introduction=introduction, sections=sections)


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
