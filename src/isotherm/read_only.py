"""Arrays that nobody can write to: what is proven of them stays true."""

from __future__ import annotations

from typing import Any

import numpy as np


def read_only(value: Any) -> Any:
    """An array, or those in a tuple, as a view that cannot be written to; others as they are.

    Examples
    --------
    >>> read_only(np.arange(3)).flags.writeable
    False
    """
    if isinstance(value, np.ndarray):
        if not value.flags.writeable:
            return value
        value = value.view()
        value.flags.writeable = False
    elif isinstance(value, tuple):
        parts = [read_only(part) for part in value]
        return value._make(parts) if hasattr(value, "_make") else tuple(parts)
    return value


def seal(thing: object) -> None:
    """Make the arrays that are attributes of an object read-only."""
    own = vars(thing)
    own.update({name: read_only(value) for name, value in own.items()})


class Sealed:
    """An object whose arrays are read-only, also after it was copied or pickled."""

    def __post_init__(self) -> None:
        seal(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        seal(self)
