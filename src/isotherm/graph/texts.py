"""Columns of text → numbers, without a Python object for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.compiled import core, n_threads

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


class TextNumbers:
    """Numbers the texts of Arrow columns, in the order in which they first appear.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers = TextNumbers()
    >>> numbers.encode(pa.array(["b", "a", "b"])).tolist()
    [0, 1, 0]
    >>> numbers.encode(pa.array(["c", "a"])).tolist(), numbers.texts().to_pylist()
    ([2, 1], ['b', 'a', 'c'])
    """

    def __init__(self) -> None:
        self._core = None if core is None else core.Names()
        self._known: Any = None

    def __len__(self) -> int:
        return len(self._core) if self._core is not None else len(self._known or ())

    def encode(self, column: pa.Array) -> NDArray[np.int32]:
        """The number of each text; there must be no gaps."""
        import pyarrow as pa

        if pa.types.is_dictionary(column.type):
            return self._encode_dictionary(column)
        if self._core is None:
            return self._encode_by_arrow(column)
        start, data = text_buffers(column)
        numbers = np.empty(len(column), dtype=np.int32)
        self._core.encode(start, data, numbers, n_threads())
        return numbers

    def texts(self) -> pa.Array:
        """All texts, by number."""
        import pyarrow as pa

        if self._core is None:
            return pa.array([], pa.large_string()) if self._known is None else self._known
        start, data = self._core.texts()
        parts = [None, pa.py_buffer(start), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.large_string(), len(start) - 1, parts)

    def _encode_dictionary(self, column: pa.DictionaryArray) -> NDArray[np.int32]:
        """Each different text but once; those that no row has are left out."""
        import pyarrow as pa

        indices = column.indices.to_numpy(zero_copy_only=False)
        used = np.zeros(len(column.dictionary), dtype=bool)
        used[indices] = True
        numbers = np.full(len(used), -1, dtype=np.int32)
        numbers[used] = self.encode(column.dictionary.filter(pa.array(used)))
        return np.asarray(numbers[indices])

    def _encode_by_arrow(self, column: pa.Array) -> NDArray[np.int32]:
        import pyarrow as pa
        import pyarrow.compute as pc

        coded = pc.dictionary_encode(column.cast(pa.large_string()))
        known = pa.array([], pa.large_string()) if self._known is None else self._known
        found = pc.index_in(coded.dictionary, value_set=known)
        new = coded.dictionary.filter(pc.is_null(found))
        numbers = pc.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(np.int32)
        numbers[numbers < 0] = np.arange(len(known), len(known) + len(new), dtype=np.int32)
        self._known = pa.concat_arrays([known, new])
        return np.asarray(numbers[coded.indices.to_numpy()])


def text_buffers(column: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Where each text starts, and the bytes."""
    import pyarrow as pa

    wide = np.int64 if pa.types.is_large_string(column.type) else np.int32
    _, offsets, data = column.buffers()
    if len(column) == 0:
        return np.zeros(1, dtype=wide), np.zeros(0, dtype=np.uint8)
    whole: NDArray[Any] = np.frombuffer(offsets, dtype=wide)
    start = whole[column.offset : column.offset + len(column) + 1]
    empty = np.zeros(0, dtype=np.uint8)
    return start, empty if data is None else np.frombuffer(data, dtype=np.uint8)


def text_column(values: Any) -> Any:
    """An Arrow array of the same texts; None if these are not a column of texts without gaps.

    Columns of pyarrow, polars and pandas (of its Arrow and string types) are texts if their type
    says so; what a list or an array of objects holds is not looked at.
    """
    kind = type(values).__module__.partition(".")[0]
    if kind == "polars" and hasattr(values, "to_arrow"):
        if str(values.dtype) not in {"String", "Utf8", "Categorical"} and not str(
            values.dtype
        ).startswith(("Categorical", "Enum")):
            return None
        values = values.to_arrow()
    elif kind == "pandas" and "string" in str(getattr(values, "dtype", "")):
        import pyarrow as pa

        values = pa.array(values)
    elif kind != "pyarrow":
        return None
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):  # of no or of several chunks, in some versions
            values = pa.concat_arrays(values.chunks) if values.num_chunks else None
    if values is None or not isinstance(values, pa.Array):
        return None
    inner = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if str(inner) == "string_view":
        values, inner = values.cast(pa.large_string()), pa.large_string()
    is_text = pa.types.is_string(inner) or pa.types.is_large_string(inner)
    return values if is_text and values.null_count == 0 else None


def find_texts(wanted: pa.Array, texts: pa.Array) -> NDArray[np.intp]:
    """The place of each text wanted among others, all different; −1 if it has none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> find_texts(pa.array(["c", "x", "c"]), pa.array(["a", "b", "c", "d"])).tolist()
    [2, -1, 2]
    """
    import pyarrow.compute as pc

    coded = wanted.dictionary_encode()
    # A table of those wanted: it is the smaller one, as a rule.
    found = pc.index_in(texts, value_set=coded.dictionary)
    places = np.full(len(coded.dictionary) + 1, -1, dtype=np.intp)  # the last is that of a gap
    is_there = found.is_valid().to_numpy(zero_copy_only=False)
    places[found.drop_null().to_numpy()] = np.flatnonzero(is_there)
    return np.asarray(places[pc.fill_null(coded.indices, -1).to_numpy()])


def text_order(texts: pa.Array) -> NDArray[np.int64]:
    """The positions of texts in increasing order, by code points as Python compares them."""
    import pyarrow.compute as pc

    return np.asarray(pc.array_sort_indices(texts).to_numpy(), dtype=np.int64)
