"""How large the classes are, before and after: a table with bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.report.palette import colour
from isotherm.report.tables import Bars, Cell, Table
from isotherm.report.words import counted, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_CLASSES = 30
NOTE = "Outlined bars: seeds. Full bars: all labelled nodes, seeds included."


def size_table(
    what: str, groups: Sequence[tuple[Cell, int, int]], totals: tuple[int, int]
) -> Table:
    """The largest classes, and all others as one.

    Parameters
    ----------
    what : str
        What a row is: a class or a label.
    groups : sequence of (Cell, int, int)
        The name of each with its seeds and its nodes, the largest first.
    totals : pair of int
        Of which the shares are taken: of seeds, and of nodes.
    """
    shown, others = list(groups[:MOST_CLASSES]), groups[MOST_CLASSES:]
    if others:
        many = f"{what}es" if what.endswith("s") else f"{what}s"
        name = Cell(counted(len(others), f"other {what}", f"other {many}"), colour(-1))
        shown.append((name, sum(before for _, before, _ in others), sum(n for *_, n in others)))
    n_before, n_after = (max(total, 1) for total in totals)
    most = max(max(before / n_before, after / n_after) for _, before, after in shown)
    rows = []
    for name, before, after in shown:
        shares = before / n_before, after / n_after
        bars = Bars(shares[0] / most, shares[1] / most, name.colour)
        numbers = f"{before:,}", percent(shares[0]), f"{after:,}", percent(shares[1])
        rows.append((name, bars, *numbers))
    columns = (what, "", "seeds", "share", "labelled", "share")
    return Table(f"Size of each {what}", columns, rows, [NOTE])
