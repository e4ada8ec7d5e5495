"""A saved graph, opened: nothing is read but the header, the rest is mapped.

What a file holds is not trusted. Opening looks at the header and the sizes; the arrays of edges are
looked at in full when they are first asked for, once, so that no position leads outside of another
array; names likewise. Checksums are for `isotherm build --check`.
"""

from __future__ import annotations

import json
import mmap
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.errors import FileError
from isotherm.graph.nodes import NodeIndex
from isotherm.graph.rows import Rows
from isotherm.graph.saved.header import PAGE, Header, changed, unpack
from isotherm.graph.saved.lookup import Table, find_numbers, find_texts
from isotherm.graph.texts import texts_of
from isotherm.memory import free_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph

_TYPES = {  # of entries; others are bytes
    "starts": "i8",
    "ends": "i4",
    "weights": "f8",
    "degrees": "f8",
    "name_starts": "i8",
    "name_numbers": "i8",
    "lookup": "i4",
}


@dataclass(frozen=True, eq=False)
class SavedFile:
    """A file that is mapped, for reading only.

    Attributes
    ----------
    path : str
        Absolute.
    header : Header
    memory : mmap
    """

    path: str
    header: Header
    memory: mmap.mmap

    def part(self, name: str) -> NDArray[Any]:
        """An array of the file; its pages come when they are used."""
        place, kind = self.header.parts[name], np.dtype(_TYPES.get(name, "u1"))
        count = place.size // kind.itemsize
        return np.frombuffer(self.memory, dtype=kind, count=count, offset=place.offset)

    def optional(self, name: str) -> NDArray[Any] | None:
        """The same, or None if the file has no such part."""
        return self.part(name) if name in self.header.parts else None

    def expect(self, name: str) -> None:
        """Tell the system that a part will be read soon, and from its beginning to its end.

        It is fetched at once where there is room for it, else piece by piece, ahead of its use.
        """
        place = self.header.parts[name]
        if not hasattr(mmap, "MADV_WILLNEED") or not place.size:
            return
        free = free_memory()
        fits = free is None or 2 * place.size <= free
        advice = mmap.MADV_WILLNEED if fits else mmap.MADV_SEQUENTIAL
        self.memory.madvise(advice, place.offset, place.size)

    @property
    def sides(self) -> tuple[str, str] | None:
        """Of a bipartite graph; see `Graph`."""
        if "sides" not in self.header.parts:
            return None
        try:
            first, second = json.loads(self.part("sides").tobytes())
        except (ValueError, TypeError, RecursionError):
            raise changed(self.path, "its sides") from None
        return str(first), str(second)

    def __reduce__(self) -> tuple[Any, ...]:
        return _same_file, (self.path, self.header.pack())


def open_graph(path: str | os.PathLike[str]) -> Graph:
    """A graph that was saved; see `isotherm.Graph.save`.

    Raises
    ------
    FileError
        A file that cannot be read, or that is no saved graph, or not all of one.
    """
    from isotherm.graph import Graph

    file = open_file(path)
    return Graph(MappedRows(file), SavedNodes(file), file.sides)


def open_file(path: str | os.PathLike[str]) -> SavedFile:
    """Map a file; see `open_graph`."""
    name = os.fspath(path)
    try:
        with Path(name).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            header = unpack(file.read(PAGE), size, name)
            memory = mmap.mmap(file.fileno(), header.n_bytes, access=mmap.ACCESS_READ)
    except OSError as error:
        raise FileError(f"{name} cannot be read: {error.strerror or error}") from None
    return SavedFile(str(Path(name).absolute()), header, memory)


def _same_file(path: str, header: bytes) -> SavedFile:
    """A file that was open when an object was pickled."""
    file = open_file(path)
    if file.header.pack() != header:
        raise FileError(
            f"{path} has been replaced by another graph since it was pickled: pickle it again"
        )
    return file


class MappedRows(Rows):
    """Rows whose arrays are in a file."""

    is_mapped: ClassVar[bool] = True

    def __init__(self, file: SavedFile) -> None:
        object.__setattr__(self, "file", file)

    file: SavedFile

    @property
    def n_nodes(self) -> int:
        """Number of rows."""
        return self.file.header.n_nodes

    @property
    def n_entries(self) -> int:
        """Number of entries."""
        return self.file.header.n_entries

    @property
    def has_weights(self) -> bool:
        """Whether entries have weights other than 1."""
        return "weights" in self.file.header.parts

    @property
    def start(self) -> NDArray[np.int64]:
        """See `Rows`."""
        return self._sound.start

    @property
    def ends(self) -> NDArray[np.int32]:
        """See `Rows`."""
        return self._sound.ends

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """See `Rows`."""
        return self._sound.weights

    @cached_property
    def _sound(self) -> Rows:
        """The arrays, after a look at all of them.

        Raises
        ------
        FileError
            If they are not those of a symmetric matrix with its degrees.
        """
        for name in ("starts", "ends", "weights"):
            if name in self.file.header.parts:
                self.file.expect(name)
        rows = Rows(self.file.part("starts"), self.file.part("ends"), self.file.optional("weights"))
        fault = fault_of(rows)
        if fault is None and not same_sums(rows, self.sums()):
            fault = "the degrees do not match the edges"
        if fault is not None:
            raise changed(self.file.path, fault)
        return rows

    def sums(self) -> NDArray[np.float64]:
        """Sum of each row: the degrees."""
        return self.file.part("degrees")

    def n_loops(self, _: int = 0) -> int:
        """Number of nodes with a self loop."""
        return self.file.header.n_loops

    def __reduce__(self) -> tuple[Any, ...]:
        return MappedRows, (self.file,)


def fault_of(rows: Rows) -> str | None:
    """What keeps rows from being those of a graph; None if nothing does.

    No entry of an array is used as a position before it was seen to be one.
    """
    start, n_entries = rows.start, len(rows.ends)
    if start[0] != 0 or start[-1] != n_entries or (start[1:] < start[:-1]).any():
        return "rows do not follow each other"
    if core is not None:
        found = core.inspect(start, rows.ends, rows.weights, n_threads())
        if not found["sorted"]:
            return "rows are not sorted, or name a node outside the graph"
        if found["faulty"] or found["zeros"]:
            return "weights are not all above 0 and finite"
        return None if found["symmetric"] else "an edge is stored in one direction only"
    return _slow_fault(rows)


def _slow_fault(rows: Rows) -> str | None:
    """The same without the core; rows are known to follow each other."""
    n = rows.n_nodes
    for first, last in rows.blocks():
        some = slice(rows.start[first], rows.start[last])
        ends = rows.ends[some].astype(np.int64)
        own = np.repeat(np.arange(first, last), np.diff(rows.start[first : last + 1]))
        outside = len(ends) and (ends.min() < 0 or ends.max() >= n)
        if outside or (np.diff(own * n + ends) <= 0).any():
            return "rows are not sorted, or name a node outside the graph"
        weights = None if rows.weights is None else rows.weights[some]
        if weights is not None and not ((weights > 0) & (weights < np.inf)).all():
            return "weights are not all above 0 and finite"
    matrix = rows.matrix()
    same = abs(matrix - matrix.T).nnz == 0
    return None if same else "an edge is stored in one direction only"


def same_sums(rows: Rows, degrees: NDArray[np.float64]) -> bool:
    """Whether these are the degrees; a block at a time where rows have no weights."""
    if rows.weights is not None:
        return bool(np.array_equal(rows.sums(), degrees))
    step = 1 << 20
    return all(
        np.array_equal(np.diff(rows.start[k : k + step + 1]), degrees[k : k + step])
        for k in range(0, rows.n_nodes, step)
    )


class SavedNodes(NodeIndex):
    """Ids of nodes that are in a file."""

    def __init__(self, file: SavedFile) -> None:
        self.file = file
        self.given = file.header.given
        slots = file.optional("lookup")
        self._table = None if slots is None or core is None else Table(file.header.key, slots)

    def __len__(self) -> int:
        return self.file.header.n_nodes

    @property
    def are_positions(self) -> bool:
        return self.file.header.names == "positions"

    @property
    def are_texts(self) -> bool:
        return self.file.header.names == "texts"

    @cached_property
    def _ids(self) -> Any:
        kind = self.file.header.names
        if kind == "positions":
            return self.file.header.n_nodes
        return self.file.part("name_numbers") if kind == "numbers" else self._sound_texts()

    def _sound_texts(self) -> Any:
        """Texts as an Arrow array, after a look at all of them."""
        import pyarrow as pa

        starts, data = self.file.part("name_starts"), self.file.part("name_bytes")
        try:
            texts = texts_of(starts, data)
            texts.validate(full=True)
        except pa.ArrowException:
            raise changed(self.file.path, "its names") from None
        return texts

    def find(self, column: NDArray[np.generic]) -> NDArray[np.intp]:
        """See `NodeIndex.find`."""
        kind = self.file.header.names
        if self._table is None or kind == "positions":
            return super().find(column)
        if kind == "numbers" and column.dtype.kind in "iu" and column.dtype != np.uint64:
            numbers = self.file.part("name_numbers")
            return find_numbers(column.astype(np.int64), numbers, self._table)
        if kind == "texts" and all(type(node) is str for node in column.tolist()):
            import pyarrow as pa

            try:
                return self.find_texts(pa.array(column.tolist(), pa.large_string()))
            except UnicodeEncodeError:  # one that is in no file
                pass
        return super().find(column)

    def find_texts(self, wanted: Any) -> NDArray[np.intp]:
        """See `NodeIndex.find_texts`."""
        if self._table is None or self.file.header.names != "texts":
            return super().find_texts(wanted)
        starts, data = self.file.part("name_starts"), self.file.part("name_bytes")
        return find_texts(wanted, starts, data, self._table)

    def __reduce__(self) -> tuple[Any, ...]:
        return SavedNodes, (self.file,)
