"""What the names and the cells of columns tell: roles, pairs of names, and what can be no id."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = {
    "source": {"source", "src", "from", "node1", "start", "fromnodeid", "sourceid", "fromid"},
    "target": {"target", "dst", "dest", "to", "node2", "end", "tonodeid", "targetid", "toid"},
    "node": {"node", "id", "nodeid", "vertex", "name", "key"},
    "label": {"label", "labels", "class", "category", "group", "community"},
    "weight": {"weight", "weights"},
}
_ALL_NAMES = set().union(*NAMES.values())
_HEADERS = {"source", "target", "node", "nodeid", "label", "labels", "class", "category", "weight"}

NEVER_IDS = ("dates", "amounts")  # while nodes may be numbered like rows, or come once each
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

_PAIRS = {
    ("source", "target"), ("source", "destination"), ("source", "dest"), ("src", "dst"),
    ("src", "dest"), ("src", "tgt"), ("src", "target"), ("from", "to"), ("start", "end"),
    ("sender", "receiver"), ("sender", "recipient"), ("sender", "beneficiary"),
    ("payer", "payee"), ("debtor", "creditor"), ("buyer", "seller"), ("origin", "destination"),
    ("orig", "dest"), ("caller", "callee"), ("follower", "followee"), ("follower", "followed"),
    ("citing", "cited"), ("parent", "child"), ("head", "tail"), ("subject", "object"),
    ("left", "right"), ("von", "nach"), ("u", "v"), ("i", "j"), ("a", "b"), ("1", "2"),
    ("one", "two"), ("first", "second"),
}  # fmt: skip
_OF_IDS = {"", "id", "node", "node id", "key", "id node", "vertex"}
# What stands beside an id rather than being one: taken only where there is nothing else.
_BESIDE = {"name", "label", "title", "type", "date", "time", "year", "country", "city", "currency",
           "amount", "balance", "weight", "age", "lat", "lon", "port"}  # fmt: skip
_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")
# Words that are hardly ever ids themselves, so that a line with such a pair names columns.
_TELLING_WORDS = {
    "source", "target", "src", "dst", "from", "to", "sender", "receiver", "recipient", "payer",
    "payee", "debtor", "creditor", "origin", "destination", "caller", "callee", "von", "nach",
    "follower", "followee", "citing", "cited",
}  # fmt: skip


def is_number(text: str) -> bool:
    """Whether a cell is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # which Python takes for a digit


def is_header(first: list[str], others: list[tuple[str, ...]], wanted: list[str]) -> bool:
    """Whether the first row holds names of columns."""
    if wanted and any(text in first for text in wanted):
        return True
    if any(is_number(cell) for cell in first if cell):
        return False
    names = {plain(cell) for cell in first}
    if names & _HEADERS or len(names & _ALL_NAMES) > 1:
        return True
    # Words above a column of numbers, dates or amounts.
    return names_ends(first) or any(
        cells
        and (all(map(is_number, cells)) or why_no_ids("", cells) in NEVER_IDS)
        and why_no_ids("", [first[k]]) not in NEVER_IDS
        for k in range(len(first))
        if (cells := [row[k] for row in others if k < len(row)])
    )


def why_no_ids(name: str, cells: Sequence[str]) -> str:
    """What a column holds that can be no id of a node; empty where it may hold ids.

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


def names_ends(cells: Sequence[str]) -> bool:
    """Whether the cells of a line name the two ends of edges, rather than being nodes.

    Examples
    --------
    >>> names_ends(["Sender No.", "Receiver No."]), names_ends(["user1", "user2"])
    (True, False)
    """
    pair = find_pair(cells)
    return pair is not None and all(_TELLING_WORDS & set(_words(cells[k])) for k in pair)


def stands_beside(name: str) -> bool:
    """Whether a column is named like what comes with an id: a name, a date, a currency."""
    return bool(_BESIDE & set(_words(name)))


def is_named_like_ids(name: str, other: str) -> bool:
    """Whether a pair of names leaves no doubt: ``from``, ``to``; ``source_id``, ``target_id``."""
    rest = _rest(_words(name), _words(other))
    return rest is not None and _rank(rest) == 0


def find_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """Positions of the one pair among names of columns; None where there is none, or several.

    Of several the pair that is named like ids, or like nothing else, comes first; names, dates and
    the like of the two ends come last.

    Examples
    --------
    >>> find_pair(["date", "sender_account", "receiver_account", "amount"])
    (1, 2)
    >>> find_pair(["fromName", "fromId", "toName", "toId"])
    (1, 3)
    >>> find_pair(["from_bank", "from_account", "to_bank", "to_account"])
    """
    words = [_words(name) for name in names]
    ranked: dict[int, list[tuple[int, int]]] = {}
    for i, one in enumerate(words):
        for j, other in enumerate(words):
            rest = _rest(one, other) if i != j else None
            if rest is not None:
                ranked.setdefault(_rank(rest), []).append((i, j))
    best = ranked[min(ranked)] if ranked else []
    return best[0] if len(best) == 1 else None


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _rest(one: list[str], other: list[str]) -> list[str] | None:
    """What two names have in common, where they differ by one word and are a pair by it."""
    if len(one) != len(other):
        return None
    differ = [k for k, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
    if len(differ) != 1 or (one[differ[0]], other[differ[0]]) not in _PAIRS:
        return None
    rest = one[: differ[0]] + one[differ[0] + 1 :]
    return None if not rest and one[0].isdecimal() else rest  # 1 and 2 alone only count columns


def _rank(rest: list[str]) -> int:
    if _BESIDE & set(rest):
        return 2
    return 0 if " ".join(rest) in _OF_IDS else 1
