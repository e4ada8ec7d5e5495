"""Planetoid: neighbours and one-hot labels as pickles of Python 2, and a list of test nodes.

Of the files of a set, ``ind.NAME.…``, four are read: ``graph`` (the neighbours of each node),
``ally`` (labels of the first nodes), ``ty`` (labels of the test nodes) and ``test.index`` (which
nodes these are, in the order of ``ty``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from isotherm.datasets.formats.labelled_graph import LabelledGraph
from isotherm.datasets.formats.snap import read_numbers
from isotherm.datasets.formats.unpickle import load_array, load_neighbours
from isotherm.errors import DatasetError
from isotherm.labels import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

T = TypeVar("T")
PARTS = ("graph", "ally", "ty", "test.index")


def read(files: Mapping[str, bytes]) -> LabelledGraph:
    """The graph of the four files, given in the order of `PARTS`.

    Raises
    ------
    DatasetError
        Damaged files, pickles of anything else, numbers that do not fit together.
    """
    graph, ally, ty, test = files
    neighbours = _named(graph, load_neighbours, files)
    first = _classes(ally, files)
    tested = _classes(ty, files)
    places = read_numbers(files[test], test, 1)[:, 0]
    if len(places) != len(tested):
        raise DatasetError(f"{test} has {len(places)} nodes, but {ty} has {len(tested)} labels")

    source = np.repeat(
        np.fromiter(neighbours, np.int64), [len(others) for others in neighbours.values()]
    )
    target = np.fromiter((i for others in neighbours.values() for i in others), np.int64)
    n = 1 + max(int(part.max(initial=-1)) for part in (source, target, places))
    n = max(n, len(first), 1 + max(neighbours, default=-1))
    if n > len(neighbours) + len(first) + len(tested):
        raise DatasetError(f"{graph} or {test} names node {n - 1}, but the files have fewer nodes")
    labels = np.full(n, UNKNOWN, dtype=np.int64)
    labels[: len(first)] = first
    labels[places] = tested
    return LabelledGraph.from_edges(n, source, target, labels=labels)


def read_citeseer(files: Mapping[str, bytes]) -> LabelledGraph:
    """Citeseer as in the paper: without its self loops, then without nodes left alone.

    Fifteen nodes are in the graph but in no other file: they have neither a label nor words, and
    are no papers of the collection.
    """
    whole = read(files)
    known = whole.labels != UNKNOWN
    edges = whole.adjacency.tocoo()
    source, target = edges.coords
    kept = known[source] & known[target] & (source != target)
    nodes, ends = np.unique([source[kept], target[kept]], return_inverse=True)
    source, target = ends.reshape(2, -1)
    return LabelledGraph.from_edges(len(nodes), source, target, labels=whole.labels[nodes])


def _named(name: str, read_file: Callable[[bytes], T], files: Mapping[str, bytes]) -> T:
    try:
        return read_file(files[name])
    except DatasetError as error:
        raise DatasetError(f"{name}: {error}") from None


def _classes(name: str, files: Mapping[str, bytes]) -> NDArray[np.int64]:
    """The class of each one-hot row; −1 for a row of zeros."""
    rows = _named(name, load_array, files)
    if rows.ndim != 2 or rows.dtype.kind not in "biuf" or rows.shape[1] == 0:
        raise DatasetError(f"{name}: labels of type {rows.dtype}, shape {rows.shape}")
    if (np.count_nonzero(rows, axis=1) > 1).any():
        raise DatasetError(f"{name}: a node with two labels")
    return np.where(rows.any(axis=1), rows.argmax(axis=1), UNKNOWN).astype(np.int64)
