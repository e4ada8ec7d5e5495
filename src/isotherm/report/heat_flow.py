"""The way that heat takes → SVG, on a page or as a picture of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.colours import COLOURS, OTHER
from isotherm.report.flow_layout import FlowLayout
from isotherm.report.palette import colour
from isotherm.report.svg import element, picture, together
from isotherm.report.words import percent, short

if TYPE_CHECKING:
    from collections.abc import Callable

    from markupsafe import Markup

    from isotherm.report.palette import Palette
    from isotherm.trust.explain import Explanation

TITLE_ROOM = 48.0
INK, PAPER = "#1d2733", "#ffffff"
# What a page has from its stylesheet; a picture of its own has no names for colours.
STYLE = f"""
text {{ font: 11px system-ui, sans-serif; fill: {INK}; }}
.title {{ font-size: 14px; font-weight: 600; }}
.lines {{ fill: none; opacity: .6; }}
.seed circle {{ stroke: {INK}; stroke-width: 2; }}
.way {{ text-anchor: middle; }}
.way circle {{ fill: {PAPER}; stroke: {OTHER}; stroke-width: 1.5; }}
.row circle {{ stroke-dasharray: 2.5 1.5; }}
.it {{ text-anchor: end; }}
"""


def heat_flow(why: Explanation, palette: Palette) -> Markup:
    """A drawing of the paths of an explanation; seeds and lines have the colours of classes."""
    layout = FlowLayout(why, palette)
    told = f"Paths from {short(why.node)} to the seeds that its heat comes from"
    wide = f"--wide: {layout.size[0]:.0f}px"
    return picture(_drawn(layout, colour), layout.size, told, "flow", style=wide)


def heat_flow_file(title: str, note: str, why: Explanation, palette: Palette) -> str:
    """The same as an SVG file, below a title and a note."""
    layout = FlowLayout(why, palette)
    wide, high = layout.size[0], layout.size[1] + TITLE_ROOM
    return element(
        "svg",
        element("style", STYLE),
        element("rect", width=wide, height=high, fill=PAPER),
        element("text", title, x=16.0, y=22.0, class_="title"),
        element("text", note, x=16.0, y=38.0),
        element("g", _drawn(layout, _fixed), transform=f"translate(0 {TITLE_ROOM:.0f})"),
        xmlns="http://www.w3.org/2000/svg",
        width=wide,
        height=high,
        viewBox=f"0 0 {wide:.0f} {high:.0f}",
    )


def _fixed(number: int) -> str:
    """A colour by its number, for paper; grey if there is none of that number."""
    return COLOURS[number] if 0 <= number < len(COLOURS) else OTHER


def _drawn(layout: FlowLayout, paint: Callable[[int], str]) -> Markup:
    lines = []
    for line in layout.lines():
        (a, b), (c, d), half = line.start, line.stop, line.bend
        curve = f"{half:.1f} {b:.1f} {half:.1f} {d:.1f} {c + 0.5:.1f} {d:.1f}"
        lines.append(
            element(
                "path",
                element("title", percent(line.share)),
                d=f"M{a:.1f} {b:.1f}C{curve}",
                stroke=paint(line.number),
                stroke_width=line.width,
            )
        )
    marks = []
    for mark in layout.marks():
        (x, y), title = mark.spot, element("title", mark.told)
        circle = element("circle", title, cx=x, cy=y, r=mark.radius, fill=paint(mark.number))
        texts = (element("text", line, x=x, y=y) for line, x, y in mark.texts)
        marks.append(element("g", circle, *texts, class_=mark.kind))
    return together(element("g", *lines, class_="lines"), *marks)
