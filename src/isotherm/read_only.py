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
    found: Found = _read_only(value)
    return found


def seal(thing: object) -> None:
    """Make the arrays that are attributes of an object read-only."""
    _seal(vars(thing))


def plain_read_only(value: Any) -> Any:
    """`read_only` without the core."""
    if isinstance(value, np.ndarray) and value.flags.writeable:
        view = value[...]
        view.setflags(write=False)
        return view
    if isinstance(value, tuple):
        parts = [plain_read_only(part) for part in value]
        if any(new is not old for new, old in zip(parts, value, strict=True)):
            return value._make(parts) if hasattr(value, "_make") else tuple(parts)
    return value


def plain_seal(values: dict[str, Any]) -> None:
    """`seal` without the core, of an object's attributes."""
    values.update({name: plain_read_only(value) for name, value in values.items()})


_read_only: Any = plain_read_only if core is None else core.read_only
_seal: Any = plain_seal if core is None else core.seal


class Sealed:
    """An object whose arrays are read-only, also after it was copied or pickled."""

    __post_init__ = seal

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
