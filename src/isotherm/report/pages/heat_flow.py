"""The way that heat takes → SVG, on a page or as a picture of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.colours import COLOURS, OTHER
from isotherm.report.pages.flow_layout import FlowLayout
from isotherm.report.palette import colour
from isotherm.report.svg import element, picture, together
from isotherm.report.words import percent, short

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


def heat_flow_file(titled: Sequence[tuple[str, str, Explanation]], palette: Palette) -> str:
    """Drawings with their titles, one below the other, as an SVG file.

    Parameters
    ----------
    titled : sequence of tuples
        Of a title, a note below it and an explanation that has paths.
    palette : Palette
    """
    parts, top, wide = [], 0.0, 0.0
    for title, note, why in titled:
        layout = FlowLayout(why, palette)
        drawn = element(
            "g", _drawn(layout, fixed), transform=f"translate(0 {top + TITLE_ROOM:.0f})"
        )
        parts += [element("text", title, x=16.0, y=top + 22, class_="title")]
        parts += [element("text", note, x=16.0, y=top + 38), drawn]
        top, wide = top + TITLE_ROOM + layout.size[1], max(wide, layout.size[0])
    ground = element("rect", width=wide, height=top, fill=PAPER)
    return element(
        "svg",
        element("style", STYLE),
        ground,
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        width=wide,
        height=top,
        viewBox=f"0 0 {wide:.0f} {top:.0f}",
    )


def fixed(number: int) -> str:
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
