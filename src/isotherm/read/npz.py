"""``.npz`` files → Graph: a matrix that SciPy saved, or a data set of isotherm's own format."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

from isotherm.errors import DatasetError, GraphError, LabelError
from isotherm.graph.weights import check_weights
from isotherm.read.arrays import SPARSE, read_npz, sparse_edges
from isotherm.read.labelled_graph import ARRAYS, LabelledGraph
from isotherm.read.matrix import graph_of_matrix, named_by_position
from isotherm.read.table import LabelRows

if TYPE_CHECKING:
    from collections.abc import Collection

    from isotherm.graph import Graph
    from isotherm.read.arrays import Array
    from isotherm.read.report import ReadReport
    from isotherm.read.source import Source
    from isotherm.read.table import Columns


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
