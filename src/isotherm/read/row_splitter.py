"""Where the rows of a text end: at line breaks outside of quotation marks (RFC 4180).

A mark opens a cell only at its beginning; within the cell two of them stand for one. So the marks
of most files open and close by turns, which is checked all at once; where they do not, as in
``12" pipe``, cells are looked at one by one.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARK, LINE_FEED, CARRIAGE_RETURN = (ord(letter) for letter in '"\n\r')


class RowSplitter:
    r"""Splits text with one delimiter, or one of several, into rows.

    Without a delimiter quotation marks are letters like others. Where it is not known yet, a mark
    may be a letter, too: then only `closed` cells count, with a mark before a delimiter or the end
    of the line.

    Examples
    --------
    >>> RowSplitter(",").rows(b'a,"one\ntwo"\nb,c')
    [b'a,"one\ntwo"', b'b,c']
    """

    def __init__(
        self, delimiters: str, comment: str | None = None, *, closed: bool = False
    ) -> None:
        self.has_marks, self._closed = bool(delimiters), closed
        self._comment = comment.encode() if comment else None
        between = re.escape(delimiters).encode() + b"\r\n"
        cell = rb'"(?:(?<=[%b]")|(?<=\A"))[^"]*+(?:""[^"]*+)*+' % between
        cell += rb'"(?=[%b]|\Z)' % between if closed else rb'(?P<end>"?)'
        remark = [rb"(?P<remark>%b[^\n]*)" % re.escape(self._comment)] if self._comment else []
        self._expression = re.compile(b"|".join([cell, *remark]))
        self._opening = re.compile(rb'(?<=[%b])"(?=[^"%b])' % (between, between))
        self._may_precede = np.zeros(256, dtype=bool)
        self._may_precede[[*delimiters.encode(), MARK, LINE_FEED, CARRIAGE_RETURN]] = True

    def edges(self, text: bytes) -> NDArray[np.int64]:
        """Where cells in marks begin and end, by turns; the last of an odd number goes on."""
        if not self.has_marks:
            return np.zeros(0, dtype=np.int64)
        letters = np.frombuffer(text, np.uint8)
        found = np.flatnonzero(letters == MARK)
        opening = found[::2]
        opening = opening[opening > 0]
        simple = not self._closed and (self._comment is None or self._comment not in text)
        if simple and self._may_precede[letters[opening - 1]].all():
            return found
        edges: list[int] = []
        for match in self._expression.finditer(text):
            if match.lastgroup != "remark":
                is_open = not self._closed and not match["end"]
                edges += [match.start()] if is_open else [match.start(), match.end() - 1]
        return np.array(edges, dtype=np.int64)

    def rows(self, text: bytes) -> list[bytes]:
        """Rows, the last of which may go on."""
        if not self.has_marks or b'"' not in text:
            return text.split(b"\n")
        ends = [-1, *row_ends(text, self.edges(text))[0].tolist(), len(text)]
        return [text[a + 1 : b] for a, b in pairwise(ends)]

    def from_outside(self, piece: bytes) -> bytes:
        """The rest of a piece of a file from where it is outside of marks; empty if not clear."""
        match = self._opening.search(piece)
        return piece[piece.rfind(b'"', 0, match.start()) + 1 :] if match else b""

    def without_comments(self, text: bytes) -> bytes:
        """The same lines without what does not count."""
        if self._comment is None or self._comment not in text:
            return text
        if not self.has_marks or b'"' not in text:
            return b"\n".join(line.partition(self._comment)[0] for line in text.split(b"\n"))
        return self._expression.sub(
            lambda match: b"" if match.lastgroup == "remark" else match[0], text
        )


def row_ends(text: bytes, edges: NDArray[np.int64]) -> tuple[NDArray[np.int64], bool]:
    """Where rows end: at line breaks that are in none of these cells; and whether any are."""
    letters = np.frombuffer(text, np.uint8)
    breaks = np.flatnonzero(letters == LINE_FEED)
    within = _are_within(breaks, edges)
    some = bool(within.any())
    if not some and b"\r" in text:
        some = bool(_are_within(np.flatnonzero(letters == CARRIAGE_RETURN), edges).any())
    return breaks[~within], some


def _are_within(places: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray(np.searchsorted(edges, places) % 2 == 1)
