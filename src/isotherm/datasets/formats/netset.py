"""NetSet: a tar archive of an adjacency matrix, labels and names, in NumPy's formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.datasets.formats.archives import tar_members
from isotherm.datasets.formats.arrays import read_npy, read_sparse
from isotherm.datasets.formats.labelled_graph import LabelledGraph
from isotherm.errors import DatasetError
from isotherm.labels import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from isotherm.datasets.formats.arrays import Array

_NEEDED = ("adjacency.npz", "labels.npy")
_OPTIONAL = ("names.npy", "names_labels.npy")


def read(files: Mapping[str, bytes]) -> LabelledGraph:
    """The graph of one archive; edges lose their direction and weight.

    Raises
    ------
    DatasetError
        A hostile or damaged archive, or one without matrix or labels.
    """
    ((archive, data),) = files.items()
    try:
        members = tar_members(data, (*_NEEDED, *_OPTIONAL))
    except DatasetError as error:
        raise DatasetError(f"{archive}: {error}") from None
    for name in _NEEDED:
        if name not in members:
            raise DatasetError(f"{archive}: no {name} in the archive")
    try:
        n, source, target, _ = read_sparse(members["adjacency.npz"])
    except DatasetError as error:
        raise DatasetError(f"{archive}, adjacency.npz: {error}") from None
    arrays = {name: _array(archive, name, members) for name in members if name.endswith(".npy")}
    labels, label_names = _numbered(arrays["labels.npy"], arrays.get("names_labels.npy"))
    return LabelledGraph.from_edges(
        n, source, target,
        labels=labels, names=arrays.get("names.npy"), label_names=label_names,
    )  # fmt: skip


def _array(archive: str, name: str, members: Mapping[str, bytes]) -> Array:
    try:
        return read_npy(members[name], objects=True)
    except DatasetError as error:
        raise DatasetError(f"{archive}, {name}: {error}") from None


def _numbered(labels: Array, label_names: Array | None) -> tuple[NDArray[np.int64], Array | None]:
    """Class numbers and the names of classes, from labels that are numbers or strings."""
    if labels.dtype.kind == "U":
        classes, numbers = np.unique(labels, return_inverse=True)
        return numbers.astype(np.int64), classes
    if labels.dtype.kind not in "biu" or labels.ndim != 1:
        raise DatasetError(f"labels.npy: labels of type {labels.dtype}, shape {labels.shape}")
    numbers = np.maximum(labels.astype(np.int64), UNKNOWN)
    fits = label_names is not None and numbers.max(initial=0) < len(label_names)
    return numbers, label_names if fits else None
