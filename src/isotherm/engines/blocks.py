"""Which columns are solved together, in rows of numbers side by side."""

from __future__ import annotations

from typing import NamedTuple

LANES = 16  # columns that are worked on at once


class Block(NamedTuple):
    """Columns that are solved together.

    Attributes
    ----------
    first, columns : int
        The first column and how many are iterated.
    exits : bool
        Whether the exit times are solved along with them.
    hidden : bool
        Whether one further column follows from the others.
    """

    first: int
    columns: int
    exits: bool
    hidden: bool

    @property
    def width(self) -> int:
        """Columns of the block, iterated or not."""
        return self.columns + self.hidden


def blocks_of(
    n_columns: int,
    *,
    one_hot: bool,
    exits: bool = True,
    apart: bool = False,
    lanes: int = LANES,
) -> list[Block]:
    """How columns are solved: with the exit times, if wanted, in one go if they fit.

    Else 16 at a time, or as many as `lanes` says. `apart`: if that makes no more blocks, each of
    them has exit times of its own, so that none must wait for those of the first.

    Examples
    --------
    >>> blocks_of(10, one_hot=True)
    [Block(first=0, columns=10, exits=True, hidden=False)]
    >>> blocks_of(8, one_hot=True)
    [Block(first=0, columns=7, exits=True, hidden=True)]
    >>> [block.columns for block in blocks_of(40, one_hot=True)]
    [15, 16, 9]
    >>> [block.columns for block in blocks_of(40, one_hot=True, exits=False)]
    [16, 16, 8]
    >>> [block.columns for block in blocks_of(10, one_hot=True, lanes=4)]
    [3, 4, 3]
    >>> [(block.columns, block.exits) for block in blocks_of(40, one_hot=True, apart=True)]
    [(15, True), (15, True), (10, True)]
    """
    fits = n_columns in (2, 4, 8, LANES) and n_columns <= lanes
    if exits and one_hot and fits:  # one more: rows twice as wide
        return [Block(0, n_columns - 1, exits=True, hidden=True)]
    first = lanes - exits
    blocks = [Block(0, min(n_columns, first), exits=exits, hidden=False)]
    if n_columns <= first:
        return blocks
    more = range(first, n_columns, lanes)
    each = range(0, n_columns, first) if exits and apart and first else more
    if len(each) == 1 + len(more):
        return [Block(k, min(first, n_columns - k), exits=True, hidden=False) for k in each]
    return blocks + [Block(k, min(lanes, n_columns - k), exits=False, hidden=False) for k in more]
