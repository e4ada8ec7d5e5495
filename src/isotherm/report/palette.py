"""Classes → colours, the same on every page of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.colours import COLOURS, colour_numbers

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

N_COLOURS = len(COLOURS)  # `templates/style.css` has them, for light and dark


def colour(number: int) -> str:
    """A colour of the stylesheet by its number; grey if there is none of that number.

    Examples
    --------
    >>> colour(0), colour(-1), colour(99)
    ('var(--c0)', 'var(--other)', 'var(--other)')
    """
    return f"var(--c{number})" if 0 <= number < N_COLOURS else "var(--other)"


class Palette:
    """The colour of each class.

    The twelve classes with the most seeds have a colour, in the order of the classes; all others
    are grey. So colours depend on the labels that were given, and not on what was made of them:
    another page, decision or engine shows a class in the same colour.

    Examples
    --------
    >>> palette = Palette(["ant", "bee"], [3, 8])
    >>> palette.number("bee"), palette.colour("bee"), palette.colour("cow")
    (1, 'var(--c1)', 'var(--other)')
    """

    def __init__(self, classes: Sequence[Hashable], n_seeds: Sequence[int]) -> None:
        self._numbers = colour_numbers(classes, n_seeds)

    def number(self, label: Hashable) -> int:
        """The number of a class's colour, −1 without one."""
        return self._numbers.get(label, -1)

    def colour(self, label: Hashable) -> str:
        """The colour of a class, for a style or an attribute."""
        return colour(self.number(label))
