"""``.npz`` files → Graph: a matrix that SciPy saved, or a data set of isotherm's own format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from isotherm.datasets.formats.arrays import read_npz, read_sparse, unpacked_size
from isotherm.datasets.formats.labelled_graph import LabelledGraph
from isotherm.errors import GraphError, IsothermError, LabelError
from isotherm.graph.weights import check_weights
from isotherm.read.matrix import graph_of_matrix, named_by_position
from isotherm.read.table import LabelRows

if TYPE_CHECKING:
    from isotherm.graph import Graph
    from isotherm.read.report import ReadReport
    from isotherm.read.source import Source
    from isotherm.read.table import Columns


def read_graph(source: Source, report: ReadReport) -> Graph:
    """The graph of a matrix that SciPy saved, or of a data set of isotherm's own format."""
    data, most = _npz(source)
    try:
        if "format" in read_npz(data, {"format"}, most=most):
            n, i, j, weights = read_sparse(data, most=most)
            check_weights(weights)
            shape = (n, n)
            matrix = scipy.sparse.coo_array(
                (weights.astype(np.float64), (i, j)), shape=shape
            ).tocsr()
            report.columns = ("row", "column", "value")
            report.n_rows = len(i)
            return graph_of_matrix(matrix, source.name, first=0)
        found = LabelledGraph.from_bytes(data, most=most)
    except IsothermError as error:
        raise GraphError(f"{source.name}: {error}") from None
    report.columns = ("indptr", "indices")
    report.n_rows = found.adjacency.nnz
    graph = found.graph()
    return graph if graph.has_names else named_by_position(graph, first=0)


def read_labels(source: Source, _: Columns, report: ReadReport) -> LabelRows:
    """Node ids and labels of a data set of isotherm's own format."""
    data, most = _npz(source)
    try:
        found = LabelledGraph.from_bytes(data, most=most)
    except IsothermError as error:
        raise LabelError(f"{source.name}: {error}") from None
    graph = found.graph()
    nodes = graph if graph.has_names else named_by_position(graph, first=0)
    report.columns = ("labels",)
    known = np.flatnonzero(found.labels >= 0)
    labels = [str(label) for label in found.label_array()[known].tolist()]
    return LabelRows(nodes.nodes.as_texts().take(known), labels)


def _npz(source: Source) -> tuple[bytes, int]:
    """The contents of an ``.npz`` file, and the bytes it unpacks to, which are not too many."""
    data = source.everything().read()
    unpacked = unpacked_size(data)
    source.check_unpacked(unpacked)
    return data, unpacked
