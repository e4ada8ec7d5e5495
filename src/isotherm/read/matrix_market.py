"""MatrixMarket files → Graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy

from isotherm.errors import FileError, GraphError
from isotherm.read.arrays import NODES_PER_ENTRY, graph_of_matrix
from isotherm.read.layout import WHITE_SPACE, Layout
from isotherm.read.options import TextOptions
from isotherm.read.report import shown
from isotherm.read.text_table import TextTable

if TYPE_CHECKING:
    from isotherm.graph import Graph
    from isotherm.read.report import ReadReport
    from isotherm.read.source import Source


def read_graph(source: Source, report: ReadReport) -> Graph:
    """The graph of a square matrix; nodes are named as the file counts them, from 1 on.

    SciPy's own reader is not for files of strangers: damaged ones can make it crash.
    """
    header = _Header.of(source)
    report.columns = ("row", "column", "value")[: 2 if header.field == "pattern" else 3]
    matrix = _coordinates(source, header, report)
    if header.symmetry == "symmetric":
        matrix = matrix + scipy.sparse.tril(matrix, k=-1).T + scipy.sparse.triu(matrix, k=1).T
    return graph_of_matrix(scipy.sparse.csr_array(matrix), source.name, first=1)


@dataclass(frozen=True)
class _Header:
    """The first lines of a MatrixMarket file: what it says of itself."""

    field: str
    symmetry: str
    n_nodes: int
    n_entries: int
    n_lines: int

    @classmethod
    def of(cls, source: Source) -> _Header:
        lines = source.recoded_head("utf-8").decode().split("\n")
        words = lines[0].lower().split()
        if len(words) != 5 or words[1] != "matrix" or words[2] not in ("coordinate", "array"):
            raise FileError(f"{source.name} is not a MatrixMarket file: {shown(lines[0])}")
        layout, field, symmetry = words[2:]
        if layout == "array":
            raise FileError(
                f"{source.name} has all numbers of a matrix (MatrixMarket array); only those that "
                "list its entries (MatrixMarket coordinate) are read: write it from a sparse "
                "matrix, or pass the matrix to Graph.from_matrix in Python"
            )
        known = ("pattern", "real", "double", "integer"), ("general", "symmetric")
        if field not in known[0] or symmetry not in known[1]:
            raise GraphError(
                f"{source.name}: the matrix must be real, and general or symmetric, got {field} "
                f"and {symmetry}"
            )
        at = next((k for k, line in enumerate(lines) if line.strip() and line[0] != "%"), 0)
        sizes = lines[at].split()
        if len(sizes) != 3 or not all(s.isdecimal() and len(s) < 16 for s in sizes):
            raise FileError(
                f"{source.name}, line {at + 1}: expected 3 sizes, got {shown(lines[at])}"
            )
        rows, columns, n_entries = map(int, sizes)
        if rows != columns:
            raise GraphError(
                f"{source.name}: an adjacency matrix must be square, got {rows} × {columns}"
            )
        # What is promised must agree with what the file can hold, before there is room for it.
        fits = source.path is None or source.size is None or n_entries <= source.size
        if not fits or not 0 < rows <= NODES_PER_ENTRY * (n_entries + 10_000):
            raise GraphError(
                f"{source.name} claims to have {rows} rows and {n_entries} entries: is it damaged?"
            )
        return cls(field, symmetry, rows, n_entries, at + 1)


def _coordinates(source: Source, header: _Header, report: ReadReport) -> scipy.sparse.csr_array:
    """A matrix given by its entries, one per line: row, column and value."""
    layout = Layout(WHITE_SPACE, report.columns, header.n_lines, None, header=False, sample=())
    table = TextTable(source, TextOptions(), layout=layout)
    parts = []
    for batch in table.batches(range(len(report.columns)), report, error=GraphError):
        try:
            i, j = (
                pc.cast(column, pa.int64()).to_numpy(zero_copy_only=False)
                for column in (batch.first, batch.second)
            )
        except pa.ArrowInvalid as error:
            raise GraphError(
                f"{source.name}: rows and columns must be whole numbers; {error}"
            ) from None
        parts.append((i, j, np.ones(len(i)) if batch.numbers is None else batch.numbers))
    if report.n_rows != header.n_entries:
        raise GraphError(
            f"{source.name} has {report.n_rows} entries but claims {header.n_entries}: is it cut "
            "off?"
        )
    i, j, values = (
        (np.concatenate(part) for part in zip(*parts, strict=True))
        if parts
        else 3 * (np.zeros(0, dtype=np.int64),)
    )
    n = header.n_nodes
    if len(i) and not (min(i.min(), j.min()) >= 1 and max(i.max(), j.max()) <= n):
        raise GraphError(
            f"{source.name}: an entry is outside the matrix of {n} rows; rows and columns count "
            "from 1"
        )
    return scipy.sparse.coo_array((values.astype(np.float64), (i - 1, j - 1)), shape=(n, n)).tocsr()
