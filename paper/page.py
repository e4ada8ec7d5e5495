"""Tables, sections and one page: HTML that needs nothing but itself, Markdown and CSV."""

from __future__ import annotations

import base64
import csv
import os
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

TITLE = "A consistent diffusion-based algorithm, reproduced"
INTRODUCTION = (
    "Every figure and table of Bonald and De Lara, A Consistent Diffusion-Based Algorithm for "
    "Semi-Supervised Graph Learning, reproduced by isotherm beside the paper's numbers; then "
    "some results beyond the paper."
)
# Nothing from elsewhere, and no script.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; script-src 'none'"
)
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; background: #fff }
body { padding: 0 1rem }
figure { margin: 1.5rem 0; overflow-x: auto }
figcaption { font-weight: 600 }
table { border-collapse: collapse }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td { white-space: nowrap }
th:first-child, td:first-child { text-align: left }
"""


@dataclass(frozen=True)
class Table:
    """Text in rows and columns, with sentences that belong below."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """As a section in Markdown."""

        def line(cells: Iterable[str]) -> str:
            return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

        rules = ["---"] + ["---:"] * (len(self.columns) - 1)
        lines = [f"### {self.title}", "", line(self.columns), line(rules)]
        lines += [line(row) for row in self.rows]
        lines += ["", *(note + "\n" for note in self.notes)]
        return "\n".join(lines)

    def html(self) -> str:
        """As a figure with a caption."""

        def line(cells: Iterable[str], tag: str) -> str:
            inner = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
            return f"<tr>{inner}</tr>"

        head, body = line(self.columns, "th"), "\n".join(line(row, "td") for row in self.rows)
        notes = "".join(f"\n<p>{escape(note)}</p>" for note in self.notes)
        return (
            f"<figure>\n<figcaption>{escape(self.title)}</figcaption>\n<table>\n"
            f"<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>{notes}\n</figure>\n"
        )


def heading(text: str) -> str:
    """A title within a section."""
    return f"<h3>{escape(text)}</h3>\n"


def image(path: Path, caption: str) -> str:
    """A figure from its SVG file, in base 64: nothing in it can act on the page."""
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    words = escape(caption)
    return (
        f"<figure>\n<figcaption>{words}</figcaption>\n"
        f'<img src="data:image/svg+xml;base64,{data}" alt="{words}">\n</figure>\n'
    )


def section(title: str, text: str, *parts: str) -> str:
    """A part of the page, from a title, some sentences, and HTML."""
    words = f"<p>{escape(text)}</p>\n" if text else ""
    return f"<section>\n<h2>{escape(title)}</h2>\n{words}{''.join(parts)}</section>\n"


def page(title: str, introduction: str, *parts: str) -> str:
    """A whole page."""
    words = f"<p>{escape(introduction)}</p>\n" if introduction else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{words}{''.join(parts)}</body>\n</html>\n"
    )


def write(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_csv(path: Path, rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> None:
    """Write the given columns of all rows."""
    text = StringIO(newline="")
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write(path, text.getvalue())
