"""Columns of text → text inside XML: escaped, and without the characters that XML has not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.text_data import may_have

REPLACEMENT = "\ufffd"
# Of control characters XML has the tab and two ends of lines; these are written as numbers, since
# an attribute would else have blanks in their place.
_CONTROL = "".join(map(chr, [*range(9), 11, 12, *range(14, 32)]))
_FORBIDDEN = "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\ufffe\uffff]"
_WRITTEN = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
}


class XmlText:
    r"""Makes columns of text fit for XML, and counts those texts of which something is lost.

    Examples
    --------
    >>> text = XmlText()
    >>> text.escaped(pa.array(["a < b", None, "bell: \a"])).to_pylist(), text.n_replaced
    (['a &lt; b', None, 'bell: �'], 1)
    """

    def __init__(self) -> None:
        self.n_replaced = 0

    def replaced(self, column: pa.Array) -> pa.Array:
        """The same texts without the characters that XML has not."""
        texts = pc.cast(column, pa.large_string())
        n = pc.sum(is_replaced(texts)).as_py() or 0
        if n:
            self.n_replaced += n
            texts = pc.replace_substring_regex(texts, _FORBIDDEN, REPLACEMENT)
        return texts

    def escaped(self, column: pa.Array) -> pa.Array:
        """The same texts as XML writes them, in an element or an attribute."""
        texts = self.replaced(column)
        for character, written in _WRITTEN.items():
            if may_have(texts, character):
                texts = pc.replace_substring(texts, character, written)
        return texts

    def remark(self, format_name: str) -> str | None:
        """What was lost, in a sentence; None if nothing was."""
        if not self.n_replaced:
            return None
        return (
            f"{cells_have(self.n_replaced)} characters that {format_name} cannot hold; each is "
            f"written as {REPLACEMENT}"
        )


def cells_have(count: int) -> str:
    """The beginning of a sentence about so many cells."""
    return "1 cell has" if count == 1 else f"{count:,} cells have"


def is_replaced(texts: pa.Array) -> pa.Array:
    """Which texts have characters that XML has not."""
    if may_have(texts, _CONTROL) or not pc.all(pc.string_is_ascii(texts)).as_py():
        return pc.match_substring_regex(texts, _FORBIDDEN)
    return pa.array(np.zeros(len(texts), dtype=bool))
