"""Parts → one HTML page that needs nothing but itself."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

JOINERS = "\u200c\u200d"  # not printable, but part of words in some scripts

STYLE = """
:root { color-scheme: light dark;
  --ink: #1d2733; --paper: #fdfdfc; --line: #d5d9de; --mark: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e7ec; --paper: #14181d; --line: #3a424c; --mark: #ff8a80; }
  .picture { background: #fdfdfc; border-radius: 6px; padding: 6px; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; }
h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
figure { margin: 1.5rem 0; } figcaption { font-weight: 600; margin-bottom: .5rem; }
.scroll { overflow-x: auto; } .picture svg, .picture img { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
td.marked { color: var(--mark); font-weight: 600; }
"""


def picture(path: Path, caption: str) -> str:
    """An SVG file, put into the page itself."""
    svg = path.read_text(encoding="utf-8")
    svg = svg[svg.index("<svg") :]
    # Names within a picture must not clash with those of another on the same page.
    prefix = re.sub(r"\W", "", path.stem)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'(href="|url\()#', rf"\1#{prefix}-", svg)
    described = f'<svg role="img" aria-label="{html.escape(caption)}"'
    return (
        f'<figure><figcaption>{html.escape(caption)}</figcaption><div class="picture">'
        f"{svg.replace('<svg', described, 1)}</div></figure>\n"
    )


def section(title: str, text: str, *parts: str) -> str:
    """A section with a few words and what belongs to it."""
    return f"<h2>{html.escape(title)}</h2>\n{paragraph(text)}{''.join(parts)}"


def paragraph(text: str) -> str:
    """A few sentences."""
    return f"<p>{html.escape(text)}</p>\n"


def short(text: object, longest: int = 60) -> str:
    r"""Words from a file, for people: cut where long, with nothing in them that acts.

    Control characters, those that turn the direction of text, and halves of characters are
    written as escapes.

    Examples
    --------
    >>> short("a\tb"), short("x" * 100, 5), short("")
    ('a\\tb', 'xxxx…', '(empty)')
    """
    words = str(text)[: longest + 1]
    if not words.isprintable():
        words = "".join(
            letter
            if letter.isprintable() or letter in JOINERS
            else letter.encode("unicode_escape").decode()
            for letter in words
        )
    if len(words) > longest:
        words = words[: longest - 1] + "…"
    return words if words.strip() else "(empty)"


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "node"), counted(2000, "node"), counted(0, "class", "classes")
    ('1 node', '2,000 nodes', '0 classes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def figure(caption: str, body: str) -> str:
    """A chart or a drawing below its caption."""
    return f"<figure><figcaption>{html.escape(caption)}</figcaption>{body}</figure>\n"


def code(text: str) -> str:
    """A line to be copied."""
    return f"<pre>{html.escape(text)}</pre>\n"


def page(title: str, introduction: str, sections: Iterable[str], *, style: str = "") -> str:
    """The whole page; `style` is added to that of all pages."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}{style}</style></head>\n<body>\n"
        f"<h1>{html.escape(title)}</h1>\n<p>{html.escape(introduction)}</p>\n"
        f"{''.join(sections)}</body></html>\n"
    )
