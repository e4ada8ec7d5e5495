"""Shapes and words → SVG. The only place where markup is made by code: all text is escaped here."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from isotherm.printable import printable

_ELEMENT = Markup("<{0}{1}>{2}</{0}>")
_ATTRIBUTE = Markup(' {}="{}"')
_NOTHING = Markup()


def element(tag: str, *inside: str, **attributes: str | float | None) -> Markup:
    """An element and what is inside it: text, which is escaped, or elements made by this function.

    Of attributes, ``stroke_width`` becomes ``stroke-width`` and ``class_`` ``class``; one that is
    None is left out. Numbers have two decimals at the most.

    Examples
    --------
    >>> print(element("text", "a < b", x=1.0, class_="mean", font_size=None))
    <text x="1" class="mean">a &lt; b</text>
    """
    written = (
        _ATTRIBUTE.format(name.rstrip("_").replace("_", "-"), _value(value))
        for name, value in attributes.items()
        if value is not None
    )
    return _ELEMENT.format(tag, _NOTHING.join(written), together(*inside))


def together(*parts: str) -> Markup:
    """Several elements, one after the other."""
    return _NOTHING.join(part if isinstance(part, Markup) else printable(part) for part in parts)


def picture(
    body: Markup,
    size: tuple[float, float],
    description: str,
    kind: str = "chart",
    *,
    style: str | None = None,
) -> Markup:
    """A whole picture, with a description for those who do not see it."""
    box = " ".join(map(_value, (0, 0, *size)))
    return element(
        "svg", body, class_=kind, viewBox=box, role="img", aria_label=description, style=style
    )


@dataclass(frozen=True)
class Frame:
    """The sides of a chart, and what is written along them."""

    left: float
    right: float
    upper: float
    lower: float

    def at(self, across: float, up: float) -> tuple[float, float]:
        """The place of two shares, of the width and of the height."""
        height = self.lower - self.upper
        return self.left + (self.right - self.left) * across, self.lower - height * up

    def level(self, y: float, name: str) -> Markup:
        """A line across, and its name."""
        line = element("line", class_="grid", x1=self.left, x2=self.right, y1=y, y2=y)
        return together(line, self.beside(y, name))

    def beside(self, y: float, name: str) -> Markup:
        """A word to the left of the chart."""
        return element("text", name, x=self.left - 5, y=y + 4, text_anchor="end")

    def below(self, x: float, name: str, room: float = 15, anchor: str = "middle") -> Markup:
        """A word below the chart."""
        return element("text", name, x=x, y=self.lower + room, text_anchor=anchor)


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return printable(value)
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"
