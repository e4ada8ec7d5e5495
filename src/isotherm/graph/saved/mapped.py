"""A saved graph, opened: nothing is read but the header, the rest is mapped.

What a file holds is not trusted. Opening looks at the header and the sizes; the arrays of edges are
looked at in full when they are first asked for, once, so that no position leads outside of another
array; names likewise. Checksums are for `isotherm build --check`, and for a file whose times have
changed since it was opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.graph.rows import Rows
from isotherm.graph.saved.faults import fault_within
from isotherm.graph.saved.file import open_file
from isotherm.graph.saved.header import changed
from isotherm.graph.saved.names import SavedNodes
from isotherm.read_only import cached_property

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.graph.saved.file import SavedFile, Steady


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
        return self._checked().start

    @property
    def ends(self) -> NDArray[np.int32]:
        """See `Rows`."""
        return self._checked().ends

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """See `Rows`."""
        return self._checked().weights

    def look(self) -> None:
        """See `Rows`."""
        self.file.look()

    def steady(self) -> Steady:
        """See `Rows`."""
        return self.file.steady()

    def _checked(self) -> Rows:
        """The arrays, as they were when the file was opened."""
        self.look()
        return self._sound

    @cached_property
    def _sound(self) -> Rows:
        """The arrays, after a look at all of them.

        Raises
        ------
        FileError
            If they are not those of a symmetric matrix with its degrees and self loops.
        """
        for name in ("starts", "ends", "weights"):
            if name in self.file.header.parts:
                self.file.expect(name)
        with self.steady():
            part = self.file.part
            rows = Rows(part("starts"), part("ends"), self.file.optional("weights"))
            fault = fault_of(rows)
            if fault is None and not same_sums(rows, self.sums()):
                fault = "the degrees do not match the edges"
            if fault is None and rows.n_loops() != self.n_loops():
                fault = "the number of self loops does not match"
        if fault is not None:
            raise changed(self.file.path, fault)
        return rows

    def sums(self) -> NDArray[np.float64]:
        """Sum of each row: the degrees."""
        return self.file.part("degrees")

    def near(self, nodes: NDArray[np.intp]) -> Rows:
        """See `Rows`; unless all of the file was looked at before, only these rows are."""
        if "_sound" in vars(self):
            return self
        return self.file.rows_of(nodes)

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
    fault = fault_within(rows, rows.n_nodes)
    if fault is not None:
        return fault
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
