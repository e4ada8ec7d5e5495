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
    """How weights are written."""

    decimal: str = "."
    thousands: str | None = None  # whatever cannot be taken for something else

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
    """How to read a file, see `isotherm.read_graph` and `isotherm.read_labels`."""

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
