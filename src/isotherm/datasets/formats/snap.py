"""SNAP: an edge list and a list of labels, both of two whole numbers a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.datasets.formats.archives import gunzip
from isotherm.datasets.formats.labelled_graph import LabelledGraph
from isotherm.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_MOST_DIGITS = 18  # any such number fits int64


def read_numbers(data: bytes, name: str, columns: int) -> NDArray[np.int64]:
    r"""Lines of whole numbers, as an array of shape (lines, columns).

    Empty lines and those that start with # do not count.

    Raises
    ------
    DatasetError
        With the number of the first line that is not so.

    Examples
    --------
    >>> read_numbers(b"# nodes\n0 1\n0 2\n", "pairs.txt", 2).tolist()
    [[0, 1], [0, 2]]
    """
    rows = []
    for number, line in enumerate(data.splitlines(), start=1):
        fields = line.split()
        if not fields or line.startswith(b"#"):
            continue
        if len(fields) != columns or not all(
            field.isdigit() and len(field) <= _MOST_DIGITS for field in fields
        ):
            shown = line[:60].decode("latin-1")
            raise DatasetError(
                f"{name}, line {number}: expected {columns} whole number(s), got {shown!r}"
            )
        rows.append([int(field) for field in fields])
    return np.array(rows, dtype=np.int64).reshape(-1, columns)


def read(files: Mapping[str, bytes]) -> LabelledGraph:
    """The graph of an edge list and a list of labels, given in this order.

    The nodes are those that have a label.

    Raises
    ------
    DatasetError
        Malformed lines; a node labelled twice; an edge to a node without a label.
    """
    (edges_name, edges_data), (labels_name, labels_data) = files.items()
    edges = read_numbers(gunzip(edges_data), edges_name, 2)
    nodes, labels = read_numbers(gunzip(labels_data), labels_name, 2).T
    if len(np.unique(nodes)) != len(nodes):
        raise DatasetError(f"{labels_name}: a node has two labels")
    order = np.argsort(nodes)
    strangers = ~np.isin(edges, nodes)
    if strangers.any():
        raise DatasetError(
            f"{edges_name}: an edge names node {edges[strangers][0]}, which has no label in "
            f"{labels_name}"
        )
    source, target = np.searchsorted(nodes[order], edges).T
    return LabelledGraph.from_edges(len(nodes), source, target, labels=labels[order])
