"""The names of a saved graph: found by their table, or listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.compiled import core
from isotherm.errors import GraphError
from isotherm.graph.nodes import NodeIndex
from isotherm.graph.saved.header import changed
from isotherm.graph.saved.lookup import Table, find_numbers, find_texts, make_lookup, slow_lookup
from isotherm.graph.texts import texts_of
from isotherm.read_only import cached_property

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph.saved.file import SavedFile


class SavedNodes(NodeIndex):
    """Ids of nodes that are in a file."""

    def __init__(self, file: SavedFile) -> None:
        self.file = file
        self.given = file.header.given

    def __len__(self) -> int:
        return self.file.header.n_nodes

    @property
    def are_positions(self) -> bool:
        return self.file.header.names == "positions"

    @property
    def are_texts(self) -> bool:
        return self.file.header.names == "texts"

    @property
    def _ids(self) -> Any:
        self.file.look()
        return self._all

    @property
    def ids(self) -> NDArray[np.generic]:
        """See `NodeIndex`."""
        self.file.look()
        return super().ids

    @cached_property
    def _all(self) -> Any:
        kind = self.file.header.names
        if kind == "positions":
            return self.file.header.n_nodes
        sound = self._sound_file
        return sound.part("name_numbers") if kind == "numbers" else sound_texts(sound)

    @cached_property
    def _checked_table(self) -> Table | None:
        """The table that finds names, after a look at all of it."""
        slots = None if core is None else self.file.optional("lookup")
        if slots is None:
            return None
        return Table(self._sound_file.header.key, slots)

    @cached_property
    def _sound_file(self) -> SavedFile:
        """The file, after one look at all names."""
        check_names(self.file)
        return self.file

    @property
    def _table(self) -> Table | None:
        self.file.look()
        return self._checked_table

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


def sound_texts(file: SavedFile) -> Any:
    """Names that are texts as an Arrow array, after a look at all of them."""
    import pyarrow as pa

    try:
        texts = texts_of(file.part("name_starts"), file.part("name_bytes"))
        texts.validate(full=True)
    except pa.ArrowException:
        raise changed(file.path, "its names") from None
    return texts


def check_names(file: SavedFile, *, table: bool = False) -> None:
    """See that names, which are no mere positions, are all different, and found by their table.

    Without the core, which alone uses the table, that is looked at only if asked for.

    Raises
    ------
    FileError
        If they are not.
    """
    with file.steady():
        fault = _fault(file, core is not None or table)
    if fault is not None:
        raise changed(file.path, fault)


def _fault(file: SavedFile, table: bool) -> str | None:
    """What is wrong with the names; None if nothing is."""
    starts, slots = file.optional("name_starts"), file.optional("lookup")
    data = file.part("name_numbers" if starts is None else "name_bytes").view(np.uint8)
    if starts is not None and (
        starts[0] != 0 or starts[-1] != len(data) or (starts[1:] < starts[:-1]).any()
    ):
        return "its names"
    try:
        found = make_lookup(starts, data)
    except GraphError as error:
        return str(error)
    if found is None and (n_doubled := _n_doubled(file)):
        return f"{n_doubled:,} names of nodes occur more than once"
    if slots is None or not table:
        return None
    key, right = found or slow_lookup(starts, data)
    same = key == file.header.key and np.array_equal(right, slots)
    return None if same else "the table of names does not match"


def _n_doubled(file: SavedFile) -> int:
    """Names that are there once more, found without the core."""
    if file.header.names == "numbers":
        return file.header.n_nodes - len(np.unique(file.part("name_numbers")))
    return file.header.n_nodes - len(sound_texts(file).unique())
