"""What a user says of a file, in place of what would be found by looking."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field

from isotherm.errors import ParameterError
from isotherm.read.unpacking import UnpackLimit

ON_ERROR = ("raise", "skip")
IDS = ("exact", "normalised")
OF_HOST_NAMES = ("idna", "punycode")  # encodings that Python has, but no text


@dataclass(frozen=True)
class NumberOptions:
    """How weights are written.

    Attributes
    ----------
    decimal : {".", ","}
    thousands : str or None
        What stands between thousands; None is whatever cannot be taken for something else.

    Raises
    ------
    ParameterError
        If these are no such marks, or the same.
    """

    decimal: str = "."
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise ParameterError.unknown("decimal", self.decimal, (".", ","))
        if self.thousands is None:
            return
        if self.thousands not in (".", ",", " ", "'", "_"):
            raise ParameterError.unknown("thousands", self.thousands, (".", ",", " ", "'", "_"))
        if self.thousands == self.decimal:
            raise ParameterError(
                f"decimal and thousands are both {self.decimal!r}: they must be different"
            )


@dataclass(frozen=True)
class TextOptions:
    """How to read a file. The first four are about text, the others about any format.

    Attributes
    ----------
    delimiter, comment : str or None
    header : bool or None
    encoding : str
    on_error : {"raise", "skip"}
        What to do with malformed rows.
    unpacking : UnpackLimit
        How much the file may unpack to.
    numbers : NumberOptions
        How weights are written.
    ids : {"exact", "normalised"}
        Whether ids that differ by case, blanks or leading zeros are the same.
    bipartite : bool
        Whether the two ends of edges have ids of their own.
    merge_case, keep_placeholders : bool
        Whether labels that differ by case are one class, and whether words such as "N/A" are.
    table : str or None
        The table, the query or the sheet, of a file that has several.
    results_as_labels : bool
        Whether guesses are labels, too, where the labels are a result of isotherm.

    Raises
    ------
    ParameterError
        An `on_error`, an encoding or a kind of `ids` that there is not.
    """

    delimiter: str | None = None
    header: bool | None = None
    comment: str | None = None
    encoding: str = "utf-8"
    on_error: str = "raise"
    unpacking: UnpackLimit = field(default_factory=UnpackLimit)
    numbers: NumberOptions = field(default_factory=NumberOptions)
    ids: str = "exact"
    bipartite: bool = False
    merge_case: bool = False
    keep_placeholders: bool = False
    results_as_labels: bool = False
    table: str | None = None

    def __post_init__(self) -> None:
        if self.on_error not in ON_ERROR:
            raise ParameterError.unknown("on_error", self.on_error, ON_ERROR)
        if self.ids not in IDS:
            raise ParameterError.unknown("ids", self.ids, IDS)
        try:
            " ".encode(self.encoding)
            known = codecs.lookup(self.encoding).name not in OF_HOST_NAMES
        except (LookupError, ValueError):
            known = False
        if not known:
            raise ParameterError(
                f"there is no text encoding {self.encoding!r}; try utf-8, latin-1 or utf-16"
            )
