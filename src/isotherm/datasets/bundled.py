"""The data sets that are part of the package."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.graph import Graph
from isotherm.read.labelled_graph import LabelledGraph

if TYPE_CHECKING:
    from collections.abc import Callable

    from isotherm.read.arrays import Array

    Labelled = tuple[Graph, Array]

FOLDER = files("isotherm") / "data"


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
