"""Arrays that nobody can write to: what is proven of them stays true."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from isotherm.compiled import core

Found = TypeVar("Found")


def read_only(value: Found) -> Found:
    """An array, or those in a tuple, as a view that cannot be written to; others as they are.

    Examples
    --------
    >>> read_only(np.arange(3)).flags.writeable
    False
    """
    view: Any = _read_only(value) if core is None else core.read_only(value, np.ndarray)
    found: Found = view
    return found


def seal(thing: object) -> None:
    """Make the arrays that are attributes of an object read-only."""
    own = vars(thing)
    if core is None:
        own.update({name: _read_only(value) for name, value in own.items()})
    else:
        core.seal(own, np.ndarray)


def _read_only(value: Any) -> Any:
    """`read_only` without the core."""
    if isinstance(value, np.ndarray) and value.flags.writeable:
        view = value[...]
        view.setflags(write=False)
        return view
    if isinstance(value, tuple):
        parts = [_read_only(part) for part in value]
        if any(new is not old for new, old in zip(parts, value, strict=True)):
            return value._make(parts) if hasattr(value, "_make") else tuple(parts)
    return value


class Sealed:
    """An object whose arrays are read-only, also after it was copied or pickled."""

    def __post_init__(self) -> None:
        seal(self)

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))  # of one moment: another thread may keep more while this is copied

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        seal(self)


if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801  # named as in functools
        """Without the lock of Python 3.11, which a child forked meanwhile would await for ever."""

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            return vars(instance).setdefault(self.attrname, self.func(instance))


if TYPE_CHECKING:
    cached_array = cached_property
else:

    class cached_array(cached_property):  # noqa: N801  # named as in functools
        """A cached property whose array, or tuple of arrays, is read-only."""

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            return vars(instance).setdefault(self.attrname, read_only(self.func(instance)))
