"""An adjacency matrix → Graph, its nodes named by their position."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.errors import GraphError
from isotherm.graph import Graph
from isotherm.graph.nodes import NodeIndex
from isotherm.graph.rows import rows_from_matrix
from isotherm.graph.weights import as_csr

if TYPE_CHECKING:
    from scipy import sparse


def graph_of_matrix(matrix: sparse.csr_array, name: str, *, first: int) -> Graph:
    """The graph of a matrix in the file `name`; its nodes are counted from `first` on."""
    try:
        return named_by_position(Graph(rows_from_matrix(as_csr(matrix))), first=first)
    except GraphError as error:
        raise GraphError(f"{name}: {error}") from None


def named_by_position(graph: Graph, *, first: int) -> Graph:
    """The same with positions, counted from `first` on and written out, as ids."""
    numbers = pa.array(np.arange(first, first + graph.n_nodes))
    return Graph(graph.rows, NodeIndex(pc.cast(numbers, pa.large_string())))
