"""Sections of the reproduced paper → files to be read again, and one page of all of them."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from isotherm.errors import FileError
from isotherm.report.parts import Heading, Image, Section
from isotherm.report.tables import Cell, Table, write_text
from isotherm.report.template import page

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from isotherm.report.parts import Part
    from isotherm.report.tables import Row

TITLE = "A consistent diffusion-based algorithm, reproduced"
INTRODUCTION = (
    "Every figure and table of Bonald and De Lara, A Consistent Diffusion-Based Algorithm for "
    "Semi-Supervised Graph Learning, reproduced by isotherm beside the paper's numbers; then "
    "some results beyond the paper."
)


def paper_page(sections: Iterable[Section]) -> str:
    """All that was made of the paper."""
    return page(TITLE, INTRODUCTION, sections)


def image(path: Path, caption: str) -> Image:
    """A figure from its SVG file."""
    return Image(caption, base64.b64encode(path.read_bytes()).decode("ascii"))


def write_section(path: Path, section: Section) -> None:
    """Keep a section of headings, images and tables, as JSON."""
    parts = [asdict(part) | {"part": type(part).__name__} for part in section.parts]
    kept = {"title": section.title, "text": section.text, "parts": parts}
    write_text(path, json.dumps(kept))


def read_section(path: Path) -> Section:
    """A section that was kept.

    Raises
    ------
    FileError
        If the file holds something else.
    """
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        parts = [_part(part) for part in kept["parts"]]
        return Section(kept["title"], kept["text"], parts)
    except (ValueError, TypeError, KeyError) as error:
        advice = "remove it, and make this part of the paper again"
        raise FileError(f"{path} does not hold a section ({error}): {advice}") from error


def _part(kept: Row) -> Part:
    fields = dict(kept)
    part = fields.pop("part")
    if part == "Table":
        rows = [tuple(map(_cell, row)) for row in fields.pop("rows")]
        return Table(columns=tuple(fields.pop("columns")), rows=rows, **fields)
    return Heading(**fields) if part == "Heading" else Image(**fields)


def _cell(kept: str | Row) -> str | Cell:
    return kept if isinstance(kept, str) else Cell(**kept)
