"""Labels as they were given → classes, in an order of their own, and numbers of them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.errors import LabelError
from isotherm.graph.nodes import is_missing, list_to_column, number_objects

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNKNOWN = -1


def number_known(
    given: NDArray[np.generic],
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.generic]]:
    """Where labels are known, the number of each of these, and the classes."""
    if given.dtype.kind in "iufUSbmM":
        is_known = given != UNKNOWN if given.dtype.kind in "iuf" else given == given  # not NaT
        if given.dtype.kind == "f":
            is_known &= given == given  # not NaN
        (known,) = is_known.nonzero()
        labels = given[known]
        ordered = labels.copy()
        ordered.sort()
        classes = different(ordered)
        return known, classes.searchsorted(labels), classes
    items = given.tolist()
    if set(map(type, items)) == {str}:
        found, numbers = number_objects(items)
        return np.arange(len(items)), numbers, list_to_column(found).astype(str)
    places = [place for place, label in enumerate(items) if not _is_unknown(label)]
    # True is not 1: a key tells them apart.
    keys = [(_is_bool(items[place]), items[place]) for place in places]
    try:
        found, numbers = number_objects(keys, _in_order)
    except TypeError:
        raise _no_class(next(label for label in items if not _is_hashable(label))) from None
    classes = list_to_column([label for _, label in found])
    if found and all(type(label) is str for label in classes):
        classes = classes.astype(str)
    return np.array(places, dtype=np.intp), numbers, classes


def _in_order(keys: list[tuple[bool, Any]]) -> list[tuple[bool, Any]]:
    """Labels, and before each whether it is a bool, in an order that does not depend on theirs."""
    ordered = [(label, is_bool) for is_bool, label in keys]
    try:
        ordered.sort()
        is_order = all(a < b for a, b in pairwise(ordered))  # not so of sets, which compare, too
    except TypeError:
        is_order = False
    if not is_order:
        ordered.sort(key=lambda pair: (type(pair[0]).__name__, str(pair[0])))
    return [(is_bool, label) for label, is_bool in ordered]


def different(ordered: NDArray[Any]) -> NDArray[Any]:
    """The different ones of an array that is sorted.

    As `np.unique` has them; but that of NumPy 2.4 aborts a process that ends while a thread is
    in it, and takes several times as long on numbers.
    """
    is_first = np.empty(len(ordered), dtype=bool)
    is_first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def _is_hashable(label: object) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


def _no_class(label: object) -> LabelError:
    """What is wrong with a label that is several, or shares of several."""
    shown = f"{label!r:.60}"
    if isinstance(label, Mapping):
        return LabelError(
            f"labels must be hashable here, got shares of several, {shown}: fit takes these, but "
            "update does not. Give the node one label, or call fit again with all labels"
        )
    if isinstance(label, set | list | np.ndarray):
        return LabelError(
            f"labels must be hashable, got several of one node, {shown}, and this model gives each "
            "node one: use MultiLabelDirichletClassifier for several, or {label: share} for doubt"
        )
    return LabelError(f"labels must be hashable, got {shown} of type {type(label).__name__}")


def _is_bool(label: object) -> bool:
    return isinstance(label, bool | np.bool_)


def _is_unknown(label: object) -> bool:
    is_number = isinstance(label, int | float | np.number) and not _is_bool(label)
    return is_missing(label) or (is_number and bool(label == UNKNOWN))
