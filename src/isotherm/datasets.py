"""Named data sets: graphs with known labels, which are bundled or are files of a folder."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.errors import DatasetError, ParameterError
from isotherm.graph import Graph
from isotherm.read.npz import LabelledGraph
from isotherm.read.unpacking import LARGEST_DATA_SET

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from isotherm.read.arrays import Array

    Folder = str | os.PathLike[str] | None
    Labelled = tuple[Graph, Array]

FOLDER = files("isotherm") / "data"


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph with the true label of every node.

    Attributes
    ----------
    name : str
    graph : Graph
    labels : array of shape (n,)
        Strings where the classes have names (None: unknown), else numbers (−1: unknown).
    source : str
        Where the data come from.
    """

    name: str
    graph: Graph
    labels: Array
    source: str


def dataset_names(folder: Folder = None) -> list[str]:
    """Names of the bundled data sets, and of each ``NAME.npz`` in a folder.

    Examples
    --------
    >>> dataset_names()
    ['karate', 'debian']
    """
    return [*BUNDLED, *(name for name in _files(folder) if name not in BUNDLED)]


def load_dataset(name: str, folder: Folder = None) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        One that comes with isotherm, ``"karate"`` or ``"debian"``, or that of a file in `folder`.
    folder : path, optional
        Where a file ``NAME.npz`` is; the arrays in it are described in docs/datasets.md.

    Raises
    ------
    ParameterError
        If there is none of that name.
    DatasetError
        If its file is damaged, or holds something else.

    Examples
    --------
    >>> from isotherm import load_dataset
    >>> load_dataset("karate").graph
    Graph(n_nodes=34, n_edges=78)
    """
    if name in BUNDLED:
        bundled = BUNDLED[name]
        return Dataset(name, *bundled.load(), source=bundled.source)
    path = _files(folder).get(name)
    if path is None:
        where = "and no folder was named" if folder is None else f"and {folder} has no {name}.npz"
        raise ParameterError(
            f"unknown data set {name!r}: {', '.join(map(repr, BUNDLED))} come with isotherm, "
            f"{where}"
        )
    found = _read(path)
    return Dataset(name, found.graph(), found.label_array(), source=f"the file {path.name}")


def _files(folder: Folder) -> dict[str, Path]:
    """The data sets of a folder, sorted by name."""
    if folder is None:
        return {}
    paths = sorted(Path(folder).glob("[!.]*.npz"))
    return {path.stem: path for path in paths if path.is_file()}


def _read(path: Path) -> LabelledGraph:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_DATA_SET + 1)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror or error}") from None
    if len(data) > LARGEST_DATA_SET:
        raise DatasetError(f"{path} is larger than a data set may be, {LARGEST_DATA_SET:,} bytes")
    try:
        return LabelledGraph.from_bytes(data)
    except DatasetError as error:
        raise DatasetError(f"{path} is not a data set for isotherm: {error}") from None


def karate() -> Labelled:
    """Zachary's karate club: 34 members, 78 friendships, two factions."""
    with (FOLDER / "karate_edges.csv").open() as lines:
        edges = np.loadtxt(lines, dtype=np.int64, delimiter=",", skiprows=1)
    with (FOLDER / "karate_clubs.csv").open() as lines:
        clubs = np.loadtxt(lines, dtype=str, delimiter=",", skiprows=1)
    return Graph.from_edges(edges[:, 0], edges[:, 1]), clubs[:, 1]


def debian() -> Labelled:
    """Debian's packages, by section; made by ``scripts/debian_packages.py``."""
    found = LabelledGraph.from_bytes((FOLDER / "debian.npz").read_bytes())
    return found.graph(), found.label_array()


class Bundled(NamedTuple):
    """What is known of a data set without loading it."""

    load: Callable[[], Labelled]
    title: str
    source: str


BUNDLED = {
    "karate": Bundled(
        karate,
        "Zachary's karate club: members and friendships, by faction",
        "W. W. Zachary, An information flow model for conflict and fission in small "
        "groups, Journal of Anthropological Research 33 (1977), 452–473",
    ),
    "debian": Bundled(
        debian,
        "Debian 12: packages and their dependencies, by section",
        "the package index of Debian 12.15 (bookworm), main, amd64, of 11 July 2026",
    ),
}
