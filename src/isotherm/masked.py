"""Masked arrays of NumPy: what is masked is unknown, absent, or refused by name."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from isotherm.errors import GraphError


def has_masked(values: Any) -> bool:
    """Whether it is a masked array with an entry that is masked."""
    if type(values) is np.ndarray:  # as most are
        return False
    ma = sys.modules.get("numpy.ma")  # slow to load, and there wherever an array is masked
    return ma is not None and isinstance(values, ma.MaskedArray) and ma.is_masked(values)


def refuse_masked(values: Any, what: str, error: type[Exception] = GraphError) -> None:
    """Raise an error if some of the values are masked."""
    if has_masked(values):
        masked = int(np.ma.getmaskarray(values).sum())
        raise error(
            f"{what}: {masked} of {values.size} entries are masked; leave these out, or fill "
            "them in"
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
