"""Who calls: where warnings point to, and whether it is cross-validation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

# Whose lines say nothing to the user who wrote none of them.
LIBRARIES = ("isotherm", "sklearn", "joblib", "networkx")
CROSS_VALIDATION = "sklearn.model_selection._validation"
VOTING = "sklearn.ensemble._voting"


def depth_of_caller() -> int:
    """How far up the stack the first caller outside of libraries is; warnings point there."""
    for depth, frame in enumerate(_frames(), start=1):
        if _module(frame).partition(".")[0] not in LIBRARIES:
            return depth
    return 1


def line_of_caller() -> tuple[str, int]:
    """The file and the line that warnings point to."""
    frames = list(_frames())
    outside = (frame for frame in frames if _module(frame).partition(".")[0] not in LIBRARIES)
    frame = next(outside, frames[0])
    return frame.f_code.co_filename, frame.f_lineno


def is_called_by(module: str) -> bool:
    """Whether a module has called, such as scikit-learn's cross-validation."""
    return module in sys.modules and any(_module(frame) == module for frame in _frames())


def _frames() -> Iterator[FrameType]:
    """The caller's caller, and so on."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
