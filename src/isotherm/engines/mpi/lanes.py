"""Rows of the core's, and how many columns a rank solves at once: as many as it has room for.

A rank may hold six arrays of its own nodes × classes in float64, beside its share of the graph.
Ghosts have rows of P, too, and where edges join nodes at random a rank of many has several times as
many ghosts as nodes. With fewer columns at once these rows are shorter; there are more steps then,
and each of them gathers less in one go.
"""

from __future__ import annotations

from isotherm.engines.blocks import LANES

WIDTHS = (4, 8, 12, 16)
LINE = 16  # float32 of a cache line: rows gathered at random should not lie in two
ARRAYS = 6
# Besides the columns: numbers, exit times, masks; of own nodes, what is beyond half of their rows.
BYTES_PER_OWN, BYTES_PER_GHOST = 28, 40


def width_for(lanes: int) -> int:
    """Numbers of a row of the core's that so many columns take."""
    return next(width for width in WIDTHS if width >= lanes)


def stride_within_lines(width: int) -> int:
    """The distance of rows of so many float32, none of which lies in two cache lines."""
    return width if LINE % width == 0 else LINE


def bytes_of_vectors(n_own: float, n_all: float, width: int) -> float:
    """What P, of all nodes, and V, D and R, of own ones, take in float32."""
    return 4 * (stride_within_lines(width) * n_all + 3 * width * n_own)


def lanes_within(
    n_own: float, n_all: float, *, n_classes: int, n_columns: int, n_beside: int = 0
) -> int:
    """How many columns at once a rank has room for.

    Parameters
    ----------
    n_own, n_all : float
        Nodes of the rank, and these with its ghosts.
    n_classes : int
        Of the problem.
    n_columns, n_beside : int
        Columns that are asked for, and those that are kept besides, of own nodes in float64.

    Examples
    --------
    A million nodes with edges at random, on one rank and on each of four:

    >>> lanes_within(1e6, 1e6, n_classes=10, n_columns=10)
    16
    >>> lanes_within(250e3, 995e3, n_classes=10, n_columns=10)
    8
    """
    held = BYTES_PER_OWN * n_own + BYTES_PER_GHOST * (n_all - n_own)
    room = 8 * n_own * (ARRAYS * n_classes - n_columns - n_beside) - held
    for lanes in (LANES, *WIDTHS[::-1]):
        if bytes_of_vectors(n_own, n_all, width_for(min(lanes, n_columns + 1))) <= room:
            return lanes
    return WIDTHS[0]
