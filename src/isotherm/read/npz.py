"""``.npz`` files → Graph: a matrix that SciPy saved, or a data set of isotherm's own format.

The format of data sets, the bundled one too, is a ``.npz`` with

- ``indptr``, ``indices``: the symmetric 0/1 adjacency matrix in CSR form, self loops kept;
- ``labels``: the class number of each node, −1 where unknown;
- ``names`` (optional): the name of each node, strings;
- ``label_names`` (optional): the name of each class, strings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import scipy

from isotherm.errors import DatasetError, GraphError, LabelError
from isotherm.graph import Graph
from isotherm.graph.weights import check_weights
from isotherm.labels import UNKNOWN, decode_labels
from isotherm.read.arrays import (
    SPARSE,
    check_pointers,
    graph_of_matrix,
    named_by_position,
    read_npz,
    sparse_edges,
    write_npz,
)
from isotherm.read.table import LabelRows

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from isotherm.read.arrays import Array
    from isotherm.read.report import ReadReport
    from isotherm.read.source import Source
    from isotherm.read.table import Columns

_NEEDED = ("indptr", "indices", "labels")
_OPTIONAL = ("names", "label_names")
ARRAYS = (*_NEEDED, *_OPTIONAL)


def read_graph(source: Source, report: ReadReport) -> Graph:
    """The graph of a matrix that SciPy saved, or of a data set of isotherm's own format."""
    try:
        arrays = _arrays(source, {*SPARSE, *ARRAYS})
        if "format" in arrays:
            n, i, j, weights = sparse_edges(arrays)
            check_weights(weights)
            entries = (weights.astype(np.float64), (i, j))
            report.columns = ("row", "column", "value")
            report.n_rows = len(i)
            matrix = scipy.sparse.coo_array(entries, shape=(n, n)).tocsr()
            return graph_of_matrix(matrix, source.name, first=0)
        found = LabelledGraph.from_arrays(arrays)
    except (DatasetError, GraphError) as error:
        raise GraphError(f"{source.name}: {error}") from None
    report.columns = ("indptr", "indices")
    report.n_rows = found.adjacency.nnz
    return _named(found)


def read_labels(source: Source, _: Columns, report: ReadReport) -> LabelRows:
    """Node ids and labels of a data set of isotherm's own format."""
    try:
        found = LabelledGraph.from_arrays(_arrays(source, ARRAYS))
    except DatasetError as error:
        raise LabelError(f"{source.name}: {error}") from None
    report.columns = ("labels",)
    known = np.flatnonzero(found.labels >= 0)
    labels = [str(label) for label in found.label_array()[known].tolist()]
    return LabelRows(_named(found).nodes.as_texts().take(known), labels)


def _arrays(source: Source, wanted: Collection[str]) -> dict[str, Array]:
    checks = source.check_unpacked, source.check_room
    return read_npz(source.everything(), wanted, *checks, most=math.inf)


def _named(found: LabelledGraph) -> Graph:
    """The graph, its nodes named by position where they have no names."""
    graph = found.graph()
    return graph if graph.has_names else named_by_position(graph, first=0)


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """A graph with labels, as arrays that agree with each other."""

    adjacency: scipy.sparse.csr_array  # symmetric, all entries 1, sorted
    labels: NDArray[np.int64]  # −1 is unknown
    names: Array | None = None
    label_names: Array | None = None

    def __post_init__(self) -> None:
        n = self.adjacency.shape[0]
        if n == 0:
            raise DatasetError("a graph without nodes")
        if self.labels.shape != (n,) or self.labels.min(initial=0) < UNKNOWN:
            raise DatasetError(
                f"'labels' must be {n} numbers ≥ -1, got shape {self.labels.shape} with least "
                f"value {self.labels.min(initial=0)}"
            )
        if self.names is not None:
            _check_strings("names", self.names)
            if len(self.names) != n:
                raise DatasetError(f"{len(self.names)} 'names' for {n} nodes")
        if self.label_names is not None:
            _check_strings("label_names", self.label_names)
            most = int(self.labels.max(initial=UNKNOWN))
            if most >= len(self.label_names):
                raise DatasetError(
                    f"there is a label {most}, but only {len(self.label_names)} 'label_names'"
                )

    @classmethod
    def from_edges(
        cls,
        n_nodes: int,
        source: NDArray[np.int64],
        target: NDArray[np.int64],
        *,
        labels: NDArray[np.int64],
        names: Array | None = None,
        label_names: Array | None = None,
    ) -> LabelledGraph:
        """From the two ends of each edge, in any direction, more than once or not.

        Examples
        --------
        >>> zero, one = np.array([0]), np.array([1])
        >>> pair = LabelledGraph.from_edges(2, zero, one, labels=np.array([0, 1]))
        >>> pair.adjacency.toarray().tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        if len(labels) != n_nodes:  # before there is room for as many nodes as the file claims
            raise DatasetError(f"{len(labels)} labels for {n_nodes} nodes")
        ends = np.concatenate([source, target]), np.concatenate([target, source])
        if len(source) and not 0 <= ends[0].min() <= ends[0].max() < n_nodes:
            raise DatasetError(f"an edge names a node outside 0 … {n_nodes - 1}")
        whole = scipy.sparse.coo_array(
            (np.ones(len(ends[0])), ends), shape=(n_nodes, n_nodes)
        ).tocsr()
        whole.data[:] = 1.0
        return cls(whole, labels, names, label_names)

    @classmethod
    def from_bytes(cls, data: bytes) -> LabelledGraph:
        """From the contents of a file, which may unpack to `LARGEST_DATA_SET`."""
        return cls.from_arrays(read_npz(BytesIO(data), ARRAYS))

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> LabelledGraph:
        """From the arrays of a file, by name."""
        for key in _NEEDED:
            if key not in arrays:
                raise DatasetError(f"it has no array {key!r} (needed are {', '.join(_NEEDED)})")
            if arrays[key].ndim != 1 or arrays[key].dtype.kind not in "iu":
                dtype, shape = arrays[key].dtype, arrays[key].shape
                raise DatasetError(f"{key!r} must be whole numbers, got {dtype} of shape {shape}")
        adjacency = _checked_matrix(arrays["indptr"], arrays["indices"])
        names = (arrays.get(key) for key in _OPTIONAL)
        return cls(adjacency, arrays["labels"].astype(np.int64), *names)

    def to_bytes(self, *, small: bool = False) -> bytes:
        """The contents of a file; `small` takes more work to pack."""
        n_labels = int(self.labels.max(initial=0)) + 1
        arrays = {
            "indptr": self.adjacency.indptr.astype(np.int32),
            "indices": self.adjacency.indices.astype(np.int32),
            "labels": self.labels.astype(np.int8 if n_labels <= 128 else np.int32),
            "names": self.names,
            "label_names": self.label_names,
        }
        given = {key: array for key, array in arrays.items() if array is not None}
        return write_npz(given, small=small)

    def graph(self) -> Graph:
        """The graph; its node ids are the names, where there are names and all differ."""
        if self.names is None or len(np.unique(self.names)) != len(self.names):
            return Graph.from_matrix(self.adjacency)
        return Graph.from_matrix(self.adjacency, nodes=self.names)

    def label_array(self) -> Array:
        """The labels by name, where classes have names and all differ; else their numbers."""
        classes = self.label_names
        if classes is None or len(np.unique(classes)) != len(classes):
            return self.labels
        return decode_labels(self.labels, classes)


def _check_strings(key: str, array: Array) -> None:
    if array.ndim != 1 or array.dtype.kind != "U":
        raise DatasetError(f"{key!r} must be strings, got {array.dtype} of shape {array.shape}")


def _checked_matrix(indptr: Array, indices: Array) -> scipy.sparse.csr_array:
    """The adjacency matrix, if the two arrays are one."""
    n = len(indptr) - 1
    start = check_pointers(indptr)
    if start[-1] != len(indices):
        raise DatasetError(
            f"'indptr' ends with {start[-1]}, but 'indices' has {len(indices)} entries"
        )
    if len(indices) and not 0 <= indices.min() <= indices.max() < n:
        raise DatasetError(
            f"'indices' must be in 0 … {n - 1}, got {indices.min()} … {indices.max()}"
        )
    parts = (np.ones(len(indices)), indices.astype(np.int32), start.astype(np.int32))
    matrix = scipy.sparse.csr_array(parts, shape=(n, n))
    matrix.sum_duplicates()
    if matrix.nnz != len(indices):
        raise DatasetError("the adjacency matrix has the same entry twice")
    mirror = matrix.T.tocsr()
    mirror.sort_indices()
    if not np.array_equal(matrix.indptr, mirror.indptr) or not np.array_equal(
        matrix.indices, mirror.indices
    ):
        raise DatasetError("the adjacency matrix is not symmetric")
    return matrix
