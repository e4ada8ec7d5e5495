"""What a column of a table holds, by its cells and its name: ids, or what can be no id."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})( .*)?"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
_AMOUNT = re.compile(r"[^\w\s.,]?\s?[-+(]?\s?\d[\d.,' \u00a0\u202f]*\)?\s?(\w{3}|[^\w\s.,])?")
_FRACTION = re.compile(r"[.,](?!0+\b)\d+$|[^\d.,'+() \u00a0\u202f\w-]")
_NUMBERED = re.compile(r"(\D*)(\d{1,18})")
_OF_ROWS = {"index", "row", "rowid", "rownumber", "unnamed0", "lineno", "line", "txnid", "edgeid"}
_FIRST_SECOND, _LAST_SECOND = 10**9, 2 * 10**9  # since 1970: the years 2001 to 2033
MOSTLY = 0.9


def why_no_ids(name: str, cells: Sequence[str]) -> str:
    """What a column holds that can be no id of a node; empty where it may hold ids.

    Parameters
    ----------
    name : str
        Of the column; empty where the file has none.
    cells : sequence of str
        Some of its cells, in their order.

    Examples
    --------
    >>> why_no_ids("booked", ["11.10.2025", "12.10.2025"])
    'dates'
    >>> why_no_ids("paid", ["$12.50", "$1,300.00"]), why_no_ids("no", ["T01", "T02", "T03"])
    ('amounts', 'row numbers')
    >>> why_no_ids("payer", ["00017", "00004", "00017"])
    ''
    """
    filled = [cell for cell in cells if cell]
    if not filled:
        return "empty cells" if cells else ""
    if _mostly(_DATE, filled) or _seconds(filled):
        return "dates"
    if _mostly(_AMOUNT, filled) and any(_FRACTION.search(cell) for cell in filled):
        return "amounts"
    if len(filled) == len(cells) and (plain(name) in _OF_ROWS or _counts_up(filled)):
        return "row numbers"
    return ""


def share_of_common(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of the values of a column that another has, too; of the one with fewer.

    Columns of one value only, such as a currency, have none in common with any other.

    Examples
    --------
    >>> share_of_common(["a", "b", "c"], ["b", "c"])
    1.0
    """
    first, second = set(one) - {""}, set(other) - {""}
    if len(first) < 2 or len(second) < 2:
        return 0.0
    return len(first & second) / min(len(first), len(second))


def plain(name: str) -> str:
    """A name of a column in lower case, letters and digits only."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _mostly(expression: re.Pattern[str], cells: Sequence[str]) -> bool:
    return sum(map(bool, map(expression.fullmatch, cells))) >= MOSTLY * len(cells)


def _seconds(cells: Sequence[str]) -> bool:
    """Whether these are times in seconds since 1970, in their order."""
    if len(cells) < 3 or not all(len(cell) == 10 and cell.isdecimal() for cell in cells):
        return False
    times = [int(cell) for cell in cells]
    in_order = all(a <= b for a, b in pairwise(times))
    return in_order and times[0] >= _FIRST_SECOND and times[-1] <= _LAST_SECOND


def _counts_up(cells: Sequence[str]) -> bool:
    """Whether each cell is the one before plus one: T07, T08, T09."""
    found = [_NUMBERED.fullmatch(cell) for cell in cells]
    if len(cells) < 3 or None in found:
        return False
    parts = [(match[1], int(match[2])) for match in found if match]
    return all(a[0] == b[0] and a[1] + 1 == b[1] for a, b in pairwise(parts))
