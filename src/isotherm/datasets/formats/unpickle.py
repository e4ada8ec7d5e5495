"""Old pickles → arrays and adjacency lists, without running what they ask for.

A pickle names functions to call. Here only a few names are understood, and even these are not
NumPy's own: they lead to plain records, from which arrays are built after a check. A hostile file
can do no more than fail.
"""

from __future__ import annotations

import pickle
import re
from collections import defaultdict
from io import BytesIO
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.datasets.formats.archives import MOST_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray
from isotherm.errors import DatasetError

_TYPE_CODE = re.compile(r"[biuf][1248]|O8?")


class _DType:
    """What a pickle says of an array's type."""

    def __init__(self, code: object = None, *_: object) -> None:
        self.code = code
        self.order: object = "|"

    def __setstate__(self, state: Any) -> None:
        self.order = state[1]

    def checked(self) -> np.dtype[np.generic]:
        """The type, if it is one of numbers or objects."""
        code, order = str(self.code), str(self.order)
        if not _TYPE_CODE.fullmatch(code) or order not in {"<", ">", "|", "="}:
            raise DatasetError(f"an array of type {order + code!r}, not of numbers or strings")
        return np.dtype(order + code if code[0] != "O" else "O")


class _Array:
    """What a pickle says of an array."""

    def __init__(self, *_: object) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def checked(self) -> NDArray[np.generic]:
        """The array, if shape, type and contents agree."""
        _, shape, dtype, by_column, contents = self.state
        kind = dtype.checked()
        size = prod(shape)
        if kind.hasobject:
            return strings(contents).reshape(shape)
        if isinstance(contents, str):  # Python 2 had one type for text and bytes
            contents = contents.encode("latin-1")
        if min(shape, default=0) < 0 or len(contents) != size * kind.itemsize:
            raise DatasetError(f"an array of shape {shape} with {len(contents)} bytes")
        flat = np.frombuffer(contents, dtype=kind).astype(kind.newbyteorder("="))
        return flat.reshape(shape, order="F" if by_column else "C")


# Nothing here can be changed by a pickle that names it: Python's own classes are closed, and
# the two records have a __setstate__, which fails on the class itself.
_UNDERSTOOD: dict[tuple[str, str], type] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _DType,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("collections", "defaultdict"): defaultdict,
    ("builtins", "list"): list,
    ("__builtin__", "list"): list,
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        if (module, name) not in _UNDERSTOOD:
            raise DatasetError(f"the pickle asks for {module}.{name}, which is not allowed")
        return _UNDERSTOOD[module, name]


def _read(data: bytes) -> object:
    try:
        return _Reader(BytesIO(data), encoding="latin-1").load()
    except DatasetError:
        raise
    except Exception as error:  # a damaged pickle can fail in any way at all
        raise DatasetError(f"damaged pickle: {error}") from None


def load_array(data: bytes) -> NDArray[np.generic]:
    """The array of numbers or strings that a pickle holds.

    Raises
    ------
    DatasetError
        A damaged pickle, or one of anything else.

    Examples
    --------
    >>> load_array(pickle.dumps(np.array([1, 2, 3]), protocol=4)).tolist()
    [1, 2, 3]
    >>> load_array(pickle.dumps(print))
    Traceback (most recent call last):
    ...
    isotherm.errors.DatasetError: the pickle asks for builtins.print, which is not allowed
    """
    found = _read(data)
    if not isinstance(found, _Array):
        raise DatasetError(f"a pickled {type(found).__name__}, where an array should be")
    try:
        return found.checked()
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DatasetError(f"damaged array in a pickle: {error}") from None


def load_neighbours(data: bytes) -> dict[int, list[int]]:
    """The dict {node: list of nodes} that a pickle holds.

    Raises
    ------
    DatasetError
        A damaged pickle, or one of anything else.
    """
    found = _read(data)
    if not isinstance(found, dict):
        raise DatasetError(f"a pickled {type(found).__name__}, where a dict should be")
    if not all(_is_node(node) and type(others) is list for node, others in found.items()):
        raise DatasetError("a pickled dict that is not {node: list of nodes}")
    if sum(map(len, found.values())) > MOST_BYTES // 8:  # one list may be there many times
        raise DatasetError("a pickled graph with too many edges")
    if not all(_is_node(other) for others in found.values() for other in others):
        raise DatasetError("a pickled graph with neighbours that are not node numbers")
    return dict(found)


def _is_node(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**31


def strings(items: object) -> NDArray[np.str_]:
    """A list of strings as an array.

    Raises
    ------
    DatasetError
        Something else, or strings that would take more room than a file may.
    """
    if not isinstance(items, list) or not all(type(item) is str for item in items):
        raise DatasetError("an array of objects that are not strings")
    longest = max(map(len, items), default=0)
    if longest * len(items) > MOST_BYTES // 4:  # an array gives each the room of the longest
        raise DatasetError(
            f"an array of {len(items)} strings of up to {longest} characters, which is too large"
        )
    return np.array(items, dtype=np.str_)
