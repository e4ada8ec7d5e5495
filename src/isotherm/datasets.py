"""Named data sets: graphs with known labels, bundled with the package."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.errors import ParameterError
from isotherm.graph import Graph

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph with the true label of every node.

    Attributes
    ----------
    name : str
    graph : Graph
    labels : array of shape (n,)
    source : str
        Where the data come from.
    """

    name: str
    graph: Graph
    labels: NDArray[Any]
    source: str


def karate() -> Dataset:
    """Zachary's karate club: 34 members, 78 friendships, two factions."""
    folder = files("isotherm") / "data"
    with (folder / "karate_edges.csv").open() as lines:
        edges = np.loadtxt(lines, dtype=np.int64, delimiter=",", skiprows=1)
    with (folder / "karate_clubs.csv").open() as lines:
        clubs = np.loadtxt(lines, dtype=str, delimiter=",", skiprows=1)
    return Dataset(
        name="karate",
        graph=Graph.from_edges(edges[:, 0], edges[:, 1]),
        labels=clubs[:, 1],
        source="W. W. Zachary, An information flow model for conflict and fission in small "
        "groups, Journal of Anthropological Research 33 (1977), 452–473",
    )


DATASETS = {"karate": karate}


def load_dataset(name: str) -> Dataset:
    """Load a data set by name.

    Raises
    ------
    ParameterError
        If there is none of that name.

    Examples
    --------
    >>> from isotherm import load_dataset
    >>> load_dataset("karate").graph
    Graph(n_nodes=34, n_edges=78)
    """
    if name not in DATASETS:
        raise ParameterError.unknown("data set", name, DATASETS)
    return DATASETS[name]()
