"""What a user says of a file, in place of what would be found by looking."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field

from isotherm.errors import ParameterError
from isotherm.read.unpacking import UnpackLimit

ON_ERROR = ("raise", "skip")


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

    Raises
    ------
    ParameterError
        An `on_error` or an encoding that there is not.
    """

    delimiter: str | None = None
    header: bool | None = None
    comment: str | None = None
    encoding: str = "utf-8"
    on_error: str = "raise"
    unpacking: UnpackLimit = field(default_factory=UnpackLimit)

    def __post_init__(self) -> None:
        if self.on_error not in ON_ERROR:
            raise ParameterError.unknown("on_error", self.on_error, ON_ERROR)
        try:
            codecs.lookup(self.encoding)
            " ".encode(self.encoding)
        except (LookupError, UnicodeError, ValueError):
            raise ParameterError(f"there is no text encoding {self.encoding!r}") from None
