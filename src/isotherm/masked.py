"""Masked arrays of NumPy: what is masked is unknown, absent, or refused by name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Sequence


def has_masked(values: Any) -> bool:
    """Whether it is a masked array with an entry that is masked."""
    if type(values) is np.ndarray:  # as most are
        return False
    ma = sys.modules.get("numpy.ma")  # slow to load, and there wherever an array is masked
    return ma is not None and isinstance(values, ma.MaskedArray) and ma.is_masked(values)


def refuse_masked(values: Any, what: str, error: type[Exception] = GraphError) -> None:
    """Raise an error if some of the values are masked."""
    if has_masked(values):
        raise _are_masked(what, int(np.ma.getmaskarray(values).sum()), values.size, error)


def refuse_masked_items(items: Sequence[Any], what: str, error: type[Exception]) -> None:
    """The same of a list, some of whose items may be `numpy.ma.masked`."""
    ma = sys.modules.get("numpy.ma")
    masked = 0 if ma is None else sum(item is ma.masked for item in items)
    if masked:
        raise _are_masked(what, masked, len(items), error)


def _are_masked(what: str, masked: int, total: int, error: type[Exception]) -> Exception:
    return error(
        f"{what}: {masked} of {total} entries are masked; leave these out, or fill them in"
    )


def with_none(values: Any) -> Any:
    """The values, None where they are masked."""
    if not has_masked(values):
        return values
    objects = np.ma.getdata(values).astype(object)
    objects[np.ma.getmaskarray(values)] = None
    return objects


def with_nan(values: Any) -> Any:
    """Numbers, NaN where they are masked."""
    return values.astype(np.float64).filled(np.nan) if has_masked(values) else values
