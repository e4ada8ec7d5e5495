"""Sets of labels as users have them → seeds, and which of them has which label."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from isotherm.errors import LabelError
from isotherm.graph.nodes import as_column, is_missing, list_to_column
from isotherm.labels import UNKNOWN, ByNode, as_mapping, locate, number_classes
from isotherm.masked import with_nan
from isotherm.memory import check_room

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph

    # Positions of the seeds, whether each has each label, the labels.
    _Seeds = tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.generic]]


def read_label_sets(labels: Any, graph: Graph) -> _Seeds:
    """Positions of s seeds, whether each has each of L labels (s × L), and the labels.

    Parameters
    ----------
    labels : mapping or pandas Series {node: collection}, sequence, array of shape (n, L), ByNode
        See `MultiLabelDirichletClassifier.fit`.
    graph : Graph

    Raises
    ------
    LabelError
        No seed, no label at all, wrong length, no collections, an indicator of other than 0 and 1.
    UnknownNode
        Labels of a node that is not in the graph.

    Examples
    --------
    >>> from isotherm import Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> seeds, has, labels = read_label_sets({0: {"warm", "wet"}, 3: [], 1: None}, path)
    >>> seeds.tolist(), has.astype(int).tolist(), labels.tolist()
    ([0, 3], [[1, 1], [0, 0]], ['warm', 'wet'])
    """
    if hasattr(labels, "__array__") and not hasattr(labels, "ndim"):
        labels = np.asarray(labels)
    is_table = scipy.sparse.issparse(labels) or getattr(labels, "ndim", 1) == 2
    if isinstance(labels, ByNode):
        seeds, has, classes = _from_rows(labels, graph)
    else:
        seeds, has, classes = (_from_indicator if is_table else _from_sets)(labels, graph)
    if len(seeds) == 0:
        raise LabelError("no seed: the labels of every node are unknown; give some nodes theirs")
    if not has.any():
        raise LabelError("no label: none of the seeds has one; give at least one seed a label")
    return seeds, has, classes


def read_indicator(indicator: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows are known, and which entries are 1; for rows of 0 and 1, −1 or NaN if unknown."""
    if scipy.sparse.issparse(indicator):
        n, n_labels = indicator.shape
        check_room(n, n_labels, n, what="labels")
        indicator = indicator.toarray()
    try:
        values = np.asarray(with_nan(indicator), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise LabelError(f"an indicator must have numbers 0 and 1: {error}") from None
    if values.ndim != 2:
        raise LabelError(
            f"an indicator must have a row per node and a column per label, got shape "
            f"{values.shape}"
        )
    unknown = (values == UNKNOWN) | np.isnan(values)
    known = ~unknown.any(axis=1)
    mixed = np.flatnonzero(~known & ~unknown.all(axis=1))
    if len(mixed):
        raise LabelError(
            f"row(s) {mixed[:5].tolist()} of the indicator are partly unknown; fill a whole row "
            "with −1 or NaN or mask it, or none of it"
        )
    odd = values[known][~np.isin(values[known], [0, 1])]
    if len(odd):
        raise LabelError(
            f"an indicator must have 0 and 1 only (−1 or NaN where unknown), got {odd[0]:g}"
        )
    return known, values == 1


def _from_indicator(labels: Any, graph: Graph) -> _Seeds:
    known, has = read_indicator(labels)
    if has.shape[1] == 0:
        raise LabelError(
            f"no label: the indicator has no column (shape {has.shape}); give one per label"
        )
    positions = np.arange(len(has))
    classes: NDArray[np.generic] = np.arange(has.shape[1])
    by_node = None
    if hasattr(labels, "iloc"):  # a pandas DataFrame names its rows and columns
        classes = as_column(labels.columns, "columns")
        by_node = as_mapping(labels.iloc[:, 0], graph)
    if by_node is not None:
        positions = graph.positions(by_node[0])
    elif len(has) != graph.n_nodes:
        raise LabelError(
            f"an indicator of {len(has)} rows for a graph of {graph.n_nodes} nodes; give one row "
            "per node (-1 or NaN where unknown) or a mapping {node: labels}"
        )
    return positions[known], has[known], classes


def _from_rows(labels: ByNode, graph: Graph) -> _Seeds:
    """From a label a row, and several rows a node."""
    numbers, classes = number_classes(labels.labels)
    known = numbers != UNKNOWN
    seeds, rows = np.unique(graph.positions(labels.nodes)[known], return_inverse=True)
    check_room(graph.n_nodes, len(classes), len(seeds), what="labels")
    has = np.zeros((len(seeds), len(classes)), dtype=bool)
    has[rows, numbers[known]] = True
    return seeds, has, classes


def _from_sets(labels: Any, graph: Graph) -> _Seeds:
    if isinstance(labels, list | tuple) and _like_an_indicator(labels):
        raise LabelError(
            "a list of rows of 0 and 1 is ambiguous: it may be an indicator, or collections of the "
            "labels 0 and 1. Pass np.array(labels) for the first, sets for the second"
        )
    positions, given = locate(labels, graph)
    known = np.array([not is_missing(each) for each in given.tolist()], dtype=bool)
    seeds = positions[known]
    rows: list[int] = []
    all_labels: list[Any] = []
    for row, (i, own) in enumerate(zip(seeds.tolist(), given[known].tolist(), strict=True)):
        if not isinstance(own, Collection) or isinstance(own, str | bytes | Mapping):
            node = graph.names[[i]].tolist()[0]
            raise LabelError(
                f"Unknown label type: node {node!r} has {own!r}; give a set, list or tuple of "
                "labels, or None where they are unknown"
            )
        own = own.tolist() if isinstance(own, np.ndarray) else list(own)
        all_labels += own
        rows += [row] * len(own)
    numbers, classes = number_classes(list_to_column(all_labels))
    if (numbers == UNKNOWN).any():
        row = rows[int(np.flatnonzero(numbers == UNKNOWN)[0])]
        node = graph.names[[seeds[row]]].tolist()[0]
        raise LabelError(
            f"the labels of node {node!r} include -1, None or NaN, which is not a label; leave it "
            "out, or give None for the whole node if its labels are unknown"
        )
    check_room(graph.n_nodes, len(classes), len(seeds), what="labels")
    has = np.zeros((len(seeds), len(classes)), dtype=bool)
    has[rows, numbers] = True
    return seeds, has, classes


def _like_an_indicator(rows: list[Any] | tuple[Any, ...]) -> bool:
    """Whether all rows are lists of one length, two at least, of nothing but 0, 1 and −1."""
    lists = [row for row in rows if isinstance(row, list | tuple)]
    if len(lists) < len(rows) or len({len(row) for row in lists}) != 1 or len(lists[0]) < 2:
        return False
    return all(
        type(entry) in (int, float, bool) and entry in (0, 1, -1) for row in lists for entry in row
    )
