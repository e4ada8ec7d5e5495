"""Named data sets: graphs with known labels, bundled, cached, or fetched from the network.

`catalogue` says what there is, with checksums where they are known; `download` puts files into the
`cache`, and `formats` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from isotherm.datasets.bundled import BUNDLED, FOLDER
from isotherm.datasets.cache import RAW, VARIABLE, Cache, find_cache
from isotherm.datasets.catalogue import KNOWN, DatasetInfo
from isotherm.datasets.download import fetch_file
from isotherm.datasets.formats.labelled_graph import LabelledGraph
from isotherm.errors import DatasetError, ParameterError

if TYPE_CHECKING:
    import os

    from isotherm.datasets.download import Progress
    from isotherm.datasets.formats.arrays import Array
    from isotherm.graph import Graph

    Folder = str | os.PathLike[str] | None


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


def dataset_names(data_home: Folder = None) -> list[str]:
    """Names of all data sets: those known, and any other ``NAME.npz`` in the cache.

    Examples
    --------
    >>> dataset_names()[:4]
    ['karate', 'debian', 'cora', 'citeseer']
    """
    cache = find_cache(data_home)
    others = [] if cache is None else [name for name in cache.names() if name not in KNOWN]
    return [*KNOWN, *others]


def describe(name: str, data_home: Folder = None) -> DatasetInfo:
    """What is known of a data set, without loading it.

    Raises
    ------
    ParameterError
        If there is none of that name.

    Examples
    --------
    >>> describe("debian").bundled, describe("cora").paper
    (True, Counts(nodes=2708, edges=5278, classes=7))
    """
    if name not in dataset_names(data_home):
        raise ParameterError.unknown("data set", name, dataset_names(data_home))
    cache = find_cache(data_home)
    path = None
    if name not in BUNDLED and cache is not None and cache.path(name).is_file():
        path = cache.path(name)
    if name not in KNOWN:
        return DatasetInfo(name, title=name, source=f"the file {name}.npz", path=path)
    return replace(KNOWN[name], path=path)


def fetch_dataset(name: str, data_home: Folder = None, *, progress: Progress | None = None) -> Path:
    """Have a data set at hand: download what is missing, and check what is there.

    Parameters
    ----------
    name : str
    data_home : path, optional
        The folder of the cache; by default the environment variable ISOTHERM_DATA, or the
        platform's place for such things.
    progress : callable, optional
        Told the name of the file, the bytes so far and the bytes in all, as they come.

    Returns
    -------
    path : Path
        The file in the cache, or in the package for a bundled data set.

    Raises
    ------
    ParameterError
        If there is none of that name.
    DatasetError
        If it cannot be had; the message has the address, and the place to put the file by hand.
    """
    info = describe(name, data_home)
    if info.bundled:
        return Path(str(FOLDER / BUNDLED[name][1]))
    cache = _cache(info, data_home)
    if info.path is None:
        found = _make(info, cache, progress)
        try:
            cache.write(cache.path(name), found.to_bytes())
        except DatasetError:
            raise
        except OSError as error:
            raise DatasetError(f"cannot write {cache.path(name)}: {error}") from None
    else:
        _read(cache, info.path)
    return cache.path(name)


def load_dataset(name: str, data_home: Folder = None) -> Dataset:
    """Load a data set by name; it is downloaded if it is not here.

    Parameters
    ----------
    name : str
        One of `isotherm.datasets.dataset_names`.
    data_home : path, optional
        The folder of the cache; by default the environment variable ISOTHERM_DATA, or the
        platform's place for such things. Any ``NAME.npz`` there can be loaded.

    Raises
    ------
    ParameterError
        If there is none of that name.
    DatasetError
        If it cannot be downloaded, or its file is damaged; the message says what to do.

    Examples
    --------
    >>> from isotherm import load_dataset
    >>> load_dataset("karate").graph
    Graph(n_nodes=34, n_edges=78)
    """
    info = describe(name, data_home)
    if info.bundled:
        return Dataset(name, *BUNDLED[name][0](), source=info.source)
    cache = _cache(info, data_home)
    found = _read(cache, info.path or fetch_dataset(name, data_home))
    return Dataset(name, found.graph(), found.label_array(), source=info.source)


def _cache(info: DatasetInfo, data_home: Folder) -> Cache:
    cache = find_cache(data_home)
    if cache is None:
        raise DatasetError(
            f"there is no folder to keep {info.name!r} in. Run pip install 'isotherm[data]', which "
            f"chooses one and downloads {', '.join(info.addresses)}; or name a folder that has "
            f"{info.name}.npz with data_home (--data) or {VARIABLE}"
        )
    return cache


def _read(cache: Cache, path: Path) -> LabelledGraph:
    data = cache.read(path)
    try:
        return LabelledGraph.from_bytes(data)
    except DatasetError as error:
        raise DatasetError(f"{path} is not a data set for isotherm: {error}") from None


def _make(info: DatasetInfo, cache: Cache, progress: Progress | None) -> LabelledGraph:
    """A data set from its files, of which those missing are downloaded."""
    if info.read is None:
        raise DatasetError(
            f"{info.name} is not in the cache and cannot be downloaded: put {info.name}.npz into "
            f"{cache.folder}"
        )
    fresh = []
    for address, (file, pinned) in zip(info.addresses, info.files.items(), strict=True):
        path = cache.raw(file)
        if not path.is_file():
            fetch_file(address, path, cache, pinned=pinned, progress=progress)
            fresh.append(path)
    try:
        return info.read(
            {file: cache.read(cache.raw(file), pinned=pin) for file, pin in info.files.items()}
        )
    except DatasetError as error:
        # What was downloaded just now is no data set (an error page, perhaps): forget it, or
        # the right file would be refused tomorrow. Files put there by hand stay.
        for path in fresh:
            path.unlink()
            cache.record(path, None)
        raise DatasetError(
            f"{info.name} cannot be made from its files: {error}. They come from "
            f"{', '.join(info.addresses)} and belong in {cache.folder / RAW}; delete the wrong "
            "file there to download it again"
        ) from None
