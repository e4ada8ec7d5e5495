"""Weights as people write them: ``1,234.50``, ``1.234,50 €``, ``$12``.

A comma may be that of a decimal number or one between thousands, and so may a point. By default a
point is the decimal one, and what could be read in two ways is refused: the user tells.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.read.options import NumberOptions
from isotherm.read.report import shown
from isotherm.read_only import cached_property

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST = 200  # characters of a number with a sign of currency
_BLANKS = " \u00a0\u202f"
_SIGNS = "$€£¥₹₽₩₺₿₫₴₦฿₪"
_CODES = (
    "USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|BRL|MXN|ZAR|RUB|TRY|KRW|SGD"
)
_LETTERS = f"{_SIGNS}A-Za-złčK"
_CURRENCY = f"(?:US|C|A|R|HK|S)?[{_SIGNS}]|{_CODES}|kr\\.?|Fr\\.|zł|Kč"
_EDGES = (
    f"^[{_BLANKS}]*(?:(?:{_CURRENCY})[{_BLANKS}]*)?|(?:[{_BLANKS}]*(?:{_CURRENCY}))?[{_BLANKS}]*$"
)
_PLAIN = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_FOUND, _AROUND = re.compile(_CURRENCY), re.compile(_EDGES)


def currency_of(text: str) -> str | None:
    """The sign of currency in a text.

    Examples
    --------
    >>> currency_of("12,50 €"), currency_of("12")
    ('€', None)
    """
    found = _FOUND.search(text)
    return found[0] if found else None


@dataclass(frozen=True)
class NumberParser:
    """Texts → numbers, by what the user says of them.

    Examples
    --------
    >>> from isotherm.read.options import NumberOptions
    >>> NumberParser(NumberOptions()).parse(pa.array(["12", "$1,234.50", "1,234"])).tolist()
    [12.0, 1234.5, nan]
    >>> NumberParser(NumberOptions(",")).parse(pa.array(["1.234,5 €", "1.234", "1.5"])).tolist()
    [1234.5, 1234.0, nan]
    """

    options: NumberOptions

    def parse(self, texts: pa.Array) -> NDArray[np.float64]:
        """The numbers of texts, of shape (n,); NaN where one is none, or could be two."""
        bare = pc.replace_substring_regex(texts, _EDGES, "")
        fits = pc.fill_null(pc.match_substring_regex(bare, f"^(?:{self._pattern})$"), False)
        bare = pc.if_else(fits, bare, "nan")
        bare = pc.replace_substring_regex(bare, f"[{re.escape(self._separators)}]", "")
        if self.options.decimal == ",":
            bare = pc.replace_substring(bare, ",", ".")
        values = pc.cast(bare, pa.float64())
        return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)

    def currencies(self, texts: pa.Array) -> set[str]:
        """The signs of currency in some texts."""
        signs = pc.replace_substring_regex(texts, f"^[^{_LETTERS}]*|[^{_LETTERS}]*$", "")
        return {sign for sign in map(currency_of, pc.unique(signs).drop_null().to_pylist()) if sign}

    def parse_one(self, text: str) -> float:
        """The number of a text, finite and not negative; the same without Arrow."""
        value = self._value(text)
        if math.isnan(value):
            raise ValueError(f"a weight must be a number, got {shown(text)}{self._hint(text)}")
        if not 0 <= value < math.inf:
            raise ValueError(f"a weight must be ≥ 0, got {shown(text)}")
        return value

    def _value(self, text: str) -> float:
        if self._expression.fullmatch(text):  # as nearly all are
            bare = text
        elif len(text) > LONGEST:  # blanks in the middle are looked at again and again
            return math.nan
        else:
            bare = _AROUND.sub("", text)
        if not self._expression.fullmatch(bare):
            return math.nan
        kept = "".join(letter for letter in bare if letter not in self._separators)
        return float(kept.replace(",", "."))

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        return re.compile(self._pattern)

    @cached_property
    def _separators(self) -> str:
        """What may stand between thousands."""
        if self.options.thousands is not None:
            return _BLANKS if self.options.thousands == " " else self.options.thousands
        return f"{_BLANKS}'’" + ("." if self.options.decimal == "," else ",")

    @cached_property
    def _pattern(self) -> str:
        """Of a number without its currency."""
        point = re.escape(self.options.decimal)
        between = f"[{re.escape(self._separators)}]"
        plain = _PLAIN if self.options.decimal == "." else _PLAIN.replace(r"\.", ",")
        grouped = f"[+-]?[0-9]{{1,3}}(?:{between}[0-9]{{3}})+(?:{point}[0-9]+)?"
        if self.options.decimal == "." and self.options.thousands is None:
            # 1,234 may be 1.234: only 1,234.5, with both, is clear.
            others = f"[{re.escape(self._separators.replace(',', ''))}]"
            grouped = (
                f"[+-]?[0-9]{{1,3}}(?:,[0-9]{{3}})+\\.[0-9]+"
                f"|[+-]?[0-9]{{1,3}}(?:{others}[0-9]{{3}})+(?:\\.[0-9]+)?"
            )
        return f"{plain}|{grouped}"

    def _hint(self, text: str) -> str:
        """How the user could tell that it is a number."""
        found = []
        for option, told in (
            ("--decimal ,", NumberOptions(",")),
            ("--thousands ,", NumberOptions(".", ",")),
        ):
            value = NumberParser(told)._value(text)
            if told != self.options and not math.isnan(value):
                found.append(f"with {option} it is {value:g}")
        return f" ({', '.join(found)})" if found else ""
