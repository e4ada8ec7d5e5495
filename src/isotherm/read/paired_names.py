"""Two names of columns that make a pair: ``sender_account`` and ``receiver_account``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

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
_TELLING = {
    "source", "target", "src", "dst", "from", "to", "sender", "receiver", "recipient", "payer",
    "payee", "debtor", "creditor", "origin", "destination", "caller", "callee", "von", "nach",
    "follower", "followee", "citing", "cited",
}  # fmt: skip


def names_ends(cells: Sequence[str]) -> bool:
    """Whether the cells of a line name the two ends of edges, rather than being nodes.

    Examples
    --------
    >>> names_ends(["Sender No.", "Receiver No."]), names_ends(["user1", "user2"])
    (True, False)
    """
    pair = find_pair(cells)
    return pair is not None and all(_TELLING & set(_words(cells[k])) for k in pair)


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
