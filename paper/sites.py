"""Files of Planetoid, SNAP and NetSet → graphs with labels. Edges lose direction and weight."""

from __future__ import annotations

import gzip
import pickle
import tarfile
from collections import defaultdict
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from isotherm import DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Files = Mapping[str, bytes]

PLANETOID = ("graph", "ally", "ty", "test.index")  # the files that are read, ``ind.NAME.…``
NETSET = ("adjacency.npz", "labels.npy", "names_labels.npy")
MOST_BYTES = 2**30  # of a member of an archive: the largest has a tenth of this
UNKNOWN = -1


class Labelled(NamedTuple):
    """A symmetric 0/1 matrix, sorted; the class number of each node; names of the classes."""

    adjacency: Any
    labels: NDArray[np.int64]
    classes: NDArray[np.str_] | None = None


def labelled(n: int, source: Any, target: Any, labels: Any, classes: Any = None) -> Labelled:
    """From the two ends of each edge, in any direction, more than once or not."""
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    whole = sparse.coo_array((np.ones(len(ends[0])), ends), shape=(n, n)).tocsr()
    whole.sum_duplicates()
    whole.data[:] = 1.0
    return Labelled(whole, labels.astype(np.int64), classes)


def read_planetoid(files: Files) -> Labelled:
    """The graph of four files, in the order of `PLANETOID`.

    These are the neighbours of each node, one-hot labels of the first nodes and of the test nodes,
    all three as pickles of Python 2, and which nodes are tested, in the order of their labels.
    """
    graph, ally, ty, test = files.values()
    neighbours = _unpickle(graph)
    first, tested = (_classes(_unpickle(part)) for part in (ally, ty))
    places = np.loadtxt(BytesIO(test), dtype=np.int64)
    source = np.repeat(
        np.fromiter(neighbours, np.int64), [len(others) for others in neighbours.values()]
    )
    target = np.fromiter((i for others in neighbours.values() for i in others), np.int64)
    n = 1 + int(max(source.max(), target.max(), places.max(), len(first) - 1, max(neighbours)))
    labels = np.full(n, UNKNOWN)
    labels[: len(first)] = first
    labels[places] = tested
    return labelled(n, source, target, labels)


def read_citeseer(files: Files) -> Labelled:
    """Citeseer as in the paper: without its self loops, then without nodes left alone.

    Fifteen nodes are in the graph but in no other file: they have neither a label nor words, and
    are no papers of the collection.
    """
    whole = read_planetoid(files)
    known = whole.labels != UNKNOWN
    source, target = whole.adjacency.tocoo().coords
    kept = known[source] & known[target] & (source != target)
    nodes, ends = np.unique([source[kept], target[kept]], return_inverse=True)
    source, target = ends.reshape(2, -1)
    return labelled(len(nodes), source, target, whole.labels[nodes])


def _classes(rows: NDArray[Any]) -> NDArray[np.int64]:
    """The class of each one-hot row; −1 for a row of zeros."""
    return np.where(rows.any(axis=1), rows.argmax(axis=1), UNKNOWN)


def read_snap(files: Files) -> Labelled:
    """The graph of an edge list and a list of labels; the nodes are those that have a label."""
    edges, pairs = (
        np.loadtxt(BytesIO(_gunzip(data)), dtype=np.int64, ndmin=2) for data in files.values()
    )
    order = np.argsort(pairs[:, 0])
    nodes, labels = pairs[order].T
    source, target = np.searchsorted(nodes, edges).T
    return labelled(len(nodes), source, target, labels)


def _gunzip(data: bytes) -> bytes:
    """Unpack gzip data; some servers unpack such a file themselves."""
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def read_netset(files: Files) -> Labelled:
    """The graph of one archive of arrays, which is not extracted."""
    ((archive, data),) = files.items()
    members: dict[str, bytes] = {}
    with tarfile.open(fileobj=BytesIO(data), mode="r:gz") as tar:
        for member in tar:
            name = PurePosixPath(member.name).name
            if name in NETSET and member.isreg() and member.size <= MOST_BYTES:
                file = tar.extractfile(member)
                members[name] = b"" if file is None else file.read()
    for name in NETSET[:2]:
        if name not in members:
            raise DatasetError(f"{archive} has no {name}")
    matrix = sparse.load_npz(BytesIO(members["adjacency.npz"])).tocoo()
    labels = _array(members["labels.npy"])
    classes = _array(members["names_labels.npy"]) if "names_labels.npy" in members else None
    if labels.dtype.kind == "U":
        classes, labels = np.unique(labels, return_inverse=True)
    if classes is not None and labels.max(initial=0) >= len(classes):
        classes = None
    ends = (matrix.row.astype(np.int64), matrix.col.astype(np.int64))
    return labelled(matrix.shape[0], *ends, np.maximum(labels, UNKNOWN), classes)


def _array(data: bytes) -> NDArray[Any]:
    """An array of numbers or strings; strings may be stored as objects, which is a pickle."""
    stream = BytesIO(data)
    read = (np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0)
    _, _, dtype = read[np.lib.format.read_magic(stream)[0] - 1](stream)
    if dtype.hasobject:
        return np.array([str(name) for name in _unpickle(stream.read())])
    found: NDArray[Any] = np.load(BytesIO(data), allow_pickle=False)
    return found


class _Arrays(pickle.Unpickler):
    """Reads arrays and dicts of lists, and calls nothing else that a file names."""

    def find_class(self, module: str, name: str) -> Any:
        if module in ("numpy", "numpy.core.multiarray", "numpy._core.multiarray"):
            if name in ("ndarray", "dtype", "_reconstruct"):
                return super().find_class(module, name)
        elif (module, name) == ("collections", "defaultdict"):
            return defaultdict
        elif (module, name) in (("__builtin__", "list"), ("builtins", "list")):
            return list
        raise DatasetError(f"the pickle asks for {module}.{name}, which is not allowed")


def _unpickle(data: bytes) -> Any:
    return _Arrays(BytesIO(data), encoding="latin-1").load()
