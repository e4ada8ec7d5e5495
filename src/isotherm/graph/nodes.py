"""Node ids of any kind → positions 0 … n − 1, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.errors import GraphError, UnknownNode
from isotherm.graph.texts import find_texts
from isotherm.masked import refuse_masked
from isotherm.read_only import Sealed, cached_array, cached_property, read_only

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

SHOWN = 5  # how many offending ids an error message lists


class NodeIndex(Sealed):
    """The ids of the nodes, in the order of their positions.

    Parameters
    ----------
    ids : array of shape (n,), Arrow array of texts, or int
        The ids, all different; an int n stands for the ids 0 … n − 1, which are not stored. An
        array is copied: they are not the caller's any more.
    given : bool
        Whether somebody chose these ids, or they are just the positions in a matrix.

    Examples
    --------
    >>> nodes = NodeIndex(np.array(["ada", "bob"], dtype=object))
    >>> nodes.positions(["bob", "ada"]).tolist()
    [1, 0]
    """

    def __init__(self, ids: Any, *, given: bool = True) -> None:
        self._ids: Any = read_only(ids.copy()) if isinstance(ids, np.ndarray) else ids
        self.given = given

    def __len__(self) -> int:
        return self._ids if isinstance(self._ids, int) else len(self._ids)

    @property
    def are_positions(self) -> bool:
        """Whether the ids are 0 … n − 1."""
        return isinstance(self._ids, int)

    @property
    def are_texts(self) -> bool:
        """Whether the ids are kept as texts of Arrow, without a look at them."""
        return self.texts is not None

    @property
    def texts(self) -> Any:
        """The ids as an Arrow array, where they are kept as one; else None."""
        return self._ids if hasattr(self._ids, "to_pylist") else None

    def same_as(self, other: NodeIndex) -> bool:
        """Whether these are the same ids in the same order."""
        if self._ids is other._ids:
            return True
        if self.texts is not None and other.texts is not None:
            return bool(self.texts.equals(other.texts))
        return np.array_equal(self.ids, other.ids)

    def as_texts(self) -> Any:
        """The ids, written out, as an Arrow array of texts."""
        import pyarrow as pa

        if self.texts is not None:
            return self.texts
        if self.ids.dtype.kind in "iu":
            return pa.array(self.ids).cast(pa.large_string())
        return pa.array([str(node) for node in self.ids.tolist()], pa.large_string())

    def find_texts(self, wanted: Any) -> NDArray[np.intp]:
        """Positions of the nodes whose ids, written out, are these texts of Arrow; −1: no such."""
        return find_texts(wanted, self.as_texts())

    def ids_of(self, texts: Sequence[str]) -> list[Any]:
        """The ids that, written out, are these texts; texts that are no node's as they are."""
        if self.are_texts:
            return list(texts)
        import pyarrow as pa

        places = self.find_texts(pa.array(texts, pa.large_string())).tolist()
        own = self.ids[places].tolist()
        return [own[k] if place >= 0 else texts[k] for k, place in enumerate(places)]

    @cached_array
    def ids(self) -> NDArray[np.generic]:
        """The ids as an array of shape (n,)."""
        if self.texts is not None:
            return np.asarray(self.texts.to_numpy(zero_copy_only=False), dtype=object)
        return np.arange(self._ids) if isinstance(self._ids, int) else self._ids

    @cached_property
    def _position_of(self) -> dict[Hashable, int]:
        return {node: position for position, node in enumerate(self.ids.tolist())}

    def positions(self, nodes: Iterable[Hashable]) -> NDArray[np.intp]:
        """Positions of the given ids.

        Raises
        ------
        UnknownNode
            If some are not nodes of the graph.
        """
        column = as_column(nodes, "nodes")
        found = self.find(column)
        if (found < 0).any():
            raise self._unknown(column[found < 0].tolist(), len(column))
        return found

    def find(self, column: NDArray[np.generic]) -> NDArray[np.intp]:
        """Positions of the given ids, −1 for those that are not nodes of the graph.

        Raises
        ------
        UnknownNode
            If some could not be the id of a node.
        """
        if self.are_positions and column.dtype.kind in "iu":
            numbers = column.astype(np.intp, copy=False)
            return np.where((numbers >= 0) & (numbers < len(self)), numbers, -1)
        if self.texts is not None and all(type(node) is str for node in column.tolist()):
            import pyarrow as pa

            return find_texts(pa.array(column.tolist(), self.texts.type), self.texts)
        position_of = self._position_of
        try:
            return np.fromiter((position_of.get(i, -1) for i in column.tolist()), np.intp)
        except TypeError as error:
            raise UnknownNode(f"node ids must be hashable: {error}") from None

    def numbers(self, columns: Sequence[NDArray[np.generic]]) -> bool:
        """Whether the ids are 0 … n − 1 and all in these columns are among them."""
        return self.are_positions and all(
            column.dtype.kind in "iu"
            and (len(column) == 0 or (column.min() >= 0 and column.max() < len(self)))
            for column in columns
        )

    def _unknown(self, missing: Sequence[object], total: int) -> UnknownNode:
        shown = ", ".join(map(repr, missing[:SHOWN])) + (", …" if len(missing) > SHOWN else "")
        own = ", ".join(repr(node) for node in self.ids[:3].tolist())
        return UnknownNode(
            f"{len(missing)} of {total} nodes are not in the graph: {shown} "
            f"(the graph has {len(self)} nodes, such as {own}; ids must also match in type)"
        )


def as_column(values: Any, what: str) -> NDArray[np.generic]:
    """One column of ids or labels as a 1-d array, its elements as they were given.

    Takes arrays, lists and the columns of pandas, polars and pyarrow. A list that mixes types
    becomes an object array, where `np.asarray` would turn everything into strings.
    """
    if isinstance(values, set | frozenset):
        raise GraphError(f"{what} must be in a fixed order, and a set has none: pass a list")
    refuse_masked(values, what)
    if hasattr(values, "__array__"):
        column = np.asarray(values)
        if column.dtype.kind == "f" and _are_whole(values):
            items = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
            column = list_to_column(items)
    else:
        try:
            items = list(values)
        except TypeError:
            raise GraphError(f"{what} must be a sequence, got {type(values).__name__}") from None
        column = list_to_column(items)
    if column.ndim != 1:
        raise GraphError(f"{what} must have one dimension, got {column.ndim}")
    return column


def _are_whole(values: Any) -> bool:
    """Whether a column is one of whole numbers, with gaps if its array is one of floats."""
    kind = getattr(values, "dtype", getattr(values, "type", ""))
    return "int" in str(kind).lower()


def list_to_column(items: list[Any]) -> NDArray[np.generic]:
    """Numbers of one kind as an array of it, everything else as an array of objects."""
    types = {type(item) for item in items}
    if types and all(issubclass(kind, int | float | np.number | np.bool_) for kind in types):
        kinds = {np.dtype(kind).kind for kind in types}
        column = np.array(items)
        if kinds == {column.dtype.kind}:  # whole numbers beyond int64 would become floats
            return column
    column = np.empty(len(items), dtype=object)
    column[:] = items
    return column


def encode(
    columns: Sequence[NDArray[np.generic]], nodes: NDArray[np.generic] | None = None
) -> tuple[NodeIndex, list[NDArray[np.generic]]]:
    """Number the ids found in `columns`; return the index and each column as positions.

    Columns that are positions already come back as they are, whatever type of integer.

    Ids are sorted where they can be compared and kept in order of first appearance otherwise.
    With `nodes`, these are the nodes, in this order, and every id must be one of them.

    Examples
    --------
    >>> index, (source, target) = encode([np.array([7, 3]), np.array([3, 5])])
    >>> index.ids.tolist(), source.tolist(), target.tolist()
    ([3, 5, 7], [2, 0], [0, 1])
    """
    if nodes is not None:
        index = _given(nodes)
        if index.numbers(columns):
            return index, list(columns)
        try:
            return index, [index.positions(column) for column in columns]
        except UnknownNode as error:
            raise GraphError(f"an edge names a node outside `nodes`: {error}") from None
    if all(column.dtype.kind in "iu" for column in columns):
        return _encode_integers(columns)
    ids = (
        np.concatenate(columns)
        if _alike(columns)
        else np.concatenate([column.astype(object) for column in columns])
    )
    if ids.dtype.kind in "USfbmM":
        if ids.dtype.kind in "fmM" and (ids != ids).any():
            raise _missing_id(int(np.flatnonzero(ids != ids)[0]), columns)
        found, codes = np.unique(ids, return_inverse=True)
    else:
        found, codes = _encode_objects(ids, columns)  # type: ignore[assignment]  # ids as well
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return NodeIndex(found), np.split(codes.astype(np.intp, copy=False), ends)


def _alike(columns: Sequence[NDArray[np.generic]]) -> bool:
    """Whether the columns can be joined without changing what the ids are."""
    kinds = {column.dtype.kind for column in columns}
    joined = np.result_type(*columns).kind if kinds <= set("iuf") else None
    return len(kinds) == 1 or joined in kinds


def _given(nodes: NDArray[np.generic]) -> NodeIndex:
    if nodes.dtype.kind in "iu" and np.array_equal(nodes, np.arange(len(nodes))):
        return NodeIndex(len(nodes))
    index = NodeIndex(nodes)
    if nodes.dtype.kind not in "iubUS" and any(map(is_missing, nodes.tolist())):
        raise GraphError("`nodes` has a missing id (None or NaN): give each node one")
    try:
        distinct = len(index._position_of)
    except TypeError as error:
        raise GraphError(f"node ids must be hashable: {error}") from None
    if distinct != len(nodes):
        raise GraphError(
            f"`nodes` has {len(nodes)} entries but only {distinct} different ids: name each node "
            "once"
        )
    return index


def _encode_integers(
    columns: Sequence[NDArray[np.generic]],
) -> tuple[NodeIndex, list[NDArray[np.generic]]]:
    """Number integer ids; in linear time where they lie close together."""
    total = sum(map(len, columns))
    if total == 0:
        return NodeIndex(0), list(columns)
    low = min(int(column.min()) for column in columns if len(column))
    high = max(int(column.max()) for column in columns if len(column))
    if high - low > 4 * total + 1000:
        found, codes = np.unique(np.concatenate(columns), return_inverse=True)
        return NodeIndex(found), np.split(codes, np.cumsum([len(c) for c in columns])[:-1])
    present = np.zeros(high - low + 1, dtype=bool)
    for column in columns:
        present[_minus(column, low)] = True
    if low == 0 and present.all():
        return NodeIndex(len(present)), list(columns)
    rank = np.cumsum(present) - 1
    ids = np.flatnonzero(present).astype(np.result_type(*columns))
    return NodeIndex(ids + ids.dtype.type(low)), [rank[_minus(c, low)] for c in columns]


def _minus(column: NDArray[np.generic], low: int) -> NDArray[np.generic]:
    """Differences that fit an index, computed without overflow."""
    if low == 0:
        return column
    wide = column.dtype if column.dtype.itemsize == 8 else np.dtype(np.int64)
    return (column.astype(wide, copy=False) - wide.type(low)).astype(np.intp, copy=False)


def _encode_objects(
    ids: NDArray[np.generic], columns: Sequence[NDArray[np.generic]]
) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    """Number arbitrary hashable ids."""
    try:
        found, codes = number_objects(ids.tolist())
    except TypeError as error:
        raise GraphError(f"node ids must be hashable: {error}") from None
    for code, node in enumerate(found):
        if is_missing(node):
            raise _missing_id(int(np.flatnonzero(codes == code)[0]), columns)
    return list_to_column(found), codes


def number_objects(
    items: Sequence[Hashable], in_order: Callable[[list[Any]], list[Any]] = sorted
) -> tuple[list[Any], NDArray[np.intp]]:
    """The different items, and the number of each item among them.

    They are put in order where they can be compared, else in that of first appearance.

    Raises
    ------
    TypeError
        If an item is not hashable.
    """
    first: dict[Hashable, int] = {}
    codes = np.fromiter((first.setdefault(item, len(first)) for item in items), np.intp)
    try:
        ordered = in_order(list(first))
    except TypeError:
        ordered = list(first)
    rank = np.empty(len(first), dtype=np.intp)
    rank[[first[item] for item in ordered]] = np.arange(len(first))
    return ordered, rank[codes]


def _missing_id(at: int, columns: Sequence[NDArray[np.generic]]) -> GraphError:
    return GraphError(
        f"edge {at % len(columns[0])} has a missing node id (None or NaN): fill it in, or leave "
        "the edge out"
    )


def is_missing(value: object) -> bool:
    """Whether a value stands for "not there": None, NaN, NaT, pandas' NA or NumPy's mask."""
    if value is None or type(value).__name__ in {"NAType", "NaTType", "MaskedConstant"}:
        return True
    return isinstance(value, float | np.floating) and bool(value != value)
