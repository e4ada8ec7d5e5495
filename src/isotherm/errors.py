"""Every exception class of the package but `isotherm.NotConverged`, which carries a solution."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class IsothermError(Exception):
    """Base of all errors raised on purpose by this package."""


class GraphError(IsothermError, ValueError):
    """The input is not a graph: wrong shape, wrong weights, wrong node ids."""


class WeightTypeError(GraphError, TypeError):
    """A weight is something else than a number."""


class FileError(IsothermError, OSError):
    """A file cannot be read or written: missing, cut off, not in a format that is known."""


class LabelError(IsothermError, ValueError):
    """The labels or boundary values cannot be used: none, wrong length, in conflict."""


class UnknownNode(LabelError):
    """A label or boundary value names a node that the graph does not have."""


class ParameterError(IsothermError, ValueError):
    """A parameter has a value outside its range or names something that does not exist."""

    @classmethod
    def unknown(cls, kind: str, name: object, known: Iterable[str]) -> ParameterError:
        """Error for a `name` that is not one of the `known` ones."""
        return cls(f"unknown {kind} {name!r}; choose one of: {', '.join(map(repr, known))}")


class NotEnoughMemory(IsothermError, MemoryError):
    """The work would take more memory than is free; it was not begun."""


class MissingLibrary(IsothermError, ImportError):
    """What was asked for needs a library that is not installed."""


class DeviceError(IsothermError, RuntimeError):
    """A GPU cannot be used: there is none, its driver is too old, or it has failed."""


class DatasetError(IsothermError, OSError):
    """A data set cannot be had: not downloaded, not what was recorded, not well-formed."""


class IsothermWarning(UserWarning):
    """Something in the input that a user may not expect; the work goes on."""


class NoAnswer(IsothermWarning):
    """A classifier of another library failed, in a comparison that goes on without it."""


class SessionError(IsothermError, RuntimeError):
    """A session is used in a way it cannot be: closed, in two threads, before it has solved."""
