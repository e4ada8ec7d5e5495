"""Parts → one HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from isotherm.printable import printable
from isotherm.report.page import NodeList

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isotherm.report.page import Section

TEMPLATES = Path(__file__).parent / "templates"
SCRIPT = "lists.js"

# Nothing from elsewhere, and no script but the one below, whatever else may be on the page.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; script-src "
)


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
