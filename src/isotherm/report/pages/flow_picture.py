"""The way that heat takes → PNG and PDF, drawn by matplotlib."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from isotherm.colours import OTHER
from isotherm.report.pages.flow_layout import SIDES, FlowLayout
from isotherm.report.pages.heat_flow import INK, PAPER, TITLE_ROOM, fixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isotherm.report.palette import Palette
    from isotherm.trust.explain import Explanation

    Titled = Sequence[tuple[str, str, Explanation]]

DPI = 96.0  # of the layout
POINTS = 72 / DPI  # of a unit of it
SHARP = 2.0  # pixels of a PNG for a unit


def write_png(file: IO[bytes], titled: Titled, palette: Palette) -> None:
    """Write drawings with their titles, one below the other, as one picture."""
    layouts = [(words, FlowLayout(why, palette)) for *words, why in titled]
    wide = max(layout.size[0] for _, layout in layouts)
    tall = sum(layout.size[1] + TITLE_ROOM for _, layout in layouts)
    figure = _figure(wide, tall)
    top = 0.0
    for words, layout in layouts:
        _draw(figure, words, layout, top, (wide, tall))
        top += layout.size[1] + TITLE_ROOM
    figure.savefig(file, format="png", dpi=DPI * SHARP, metadata={"Software": "isotherm"})


def write_pdf(file: IO[bytes], titled: Titled, palette: Palette) -> None:
    """Write a page for each drawing, as large as it is."""
    from matplotlib.backends.backend_pdf import PdfPages

    with PdfPages(file, metadata={"Creator": "isotherm", "CreationDate": None}) as pages:
        for *words, why in titled:
            layout = FlowLayout(why, palette)
            size = layout.size[0], layout.size[1] + TITLE_ROOM
            figure = _figure(*size)
            _draw(figure, words, layout, 0.0, size)
            pages.savefig(figure)


def _figure(wide: float, tall: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(wide / DPI, tall / DPI), facecolor=PAPER)


def _draw(
    figure: Any, words: list[str], layout: FlowLayout, top: float, size: tuple[float, float]
) -> None:
    """Draw a layout below its title, in a part of a figure."""
    from matplotlib.patches import Circle, PathPatch
    from matplotlib.path import Path

    wide, tall = layout.size[0], layout.size[1] + TITLE_ROOM
    axes = figure.add_axes([0, 1 - (top + tall) / size[1], wide / size[0], tall / size[1]])
    axes.set(xlim=(0, wide), ylim=(layout.size[1], -TITLE_ROOM))
    axes.axis("off")
    text = {"color": INK, "parse_math": False, "clip_on": False}
    title, note = words
    axes.text(16, -26, title, fontsize=14 * POINTS, fontweight="bold", **text)
    axes.text(16, -10, note, fontsize=11 * POINTS, **text)
    kinds = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    for line in layout.lines():
        (a, b), (c, d), half = line.start, line.stop, line.bend
        curve = Path([(a, b), (half, b), (half, d), (c, d)], kinds)
        look = {"edgecolor": fixed(line.number), "linewidth": line.width * POINTS, "alpha": 0.6}
        axes.add_patch(PathPatch(curve, facecolor="none", capstyle="butt", **look))
    for mark in layout.marks():
        passing = mark.kind.startswith("way")
        ring = {"it": "none", "seed": INK}.get(mark.kind, OTHER)
        style = (0, (2.5, 1.5)) if mark.kind.endswith("row") else "solid"
        axes.add_patch(
            Circle(
                mark.spot,
                mark.radius,
                facecolor=PAPER if passing else fixed(mark.number),
                edgecolor=ring,
                linewidth=(1.5 if passing else 2) * POINTS,
                linestyle=style,
                zorder=2,
            )
        )
        align = {-1: "right", 0: "center", 1: "left"}[SIDES.get(mark.kind, 0)]
        for name, x, y in mark.texts:
            axes.text(x, y, name, ha=align, fontsize=11 * POINTS, zorder=3, **text)
