"""The data sets known by name: what they are, where they come from, how they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from isotherm.datasets import netset, planetoid, snap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from isotherm.read.packed import Packed

# Where the files of each site are.
BASES = {
    "netset": "https://netset.telecom-paris.fr/datasets_npz/",
    "planetoid": "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data/",
    "snap": "https://snap.stanford.edu/data/",
}


class Counts(NamedTuple):
    """Sizes in the paper's Table 1; a self loop is half an edge there (nnz // 2)."""

    nodes: int
    edges: int
    classes: int


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set without loading it.

    Attributes
    ----------
    name, title : str
    source : str
        Where the data come from: a publication, or the name of a file.
    site : str or None
        Which of `BASES` has the files; None if they are not on the network.
    files : tuple of str
        Names of the files there.
    paper : Counts or None
        The sizes in the paper's Table 1, if it is there.
    bundled : bool
        Whether it is part of the package.
    path : Path or None
        The file in the cache; None if it is not there.
    """

    name: str
    title: str
    source: str
    site: str | None = None
    files: tuple[str, ...] = ()
    paper: Counts | None = None
    bundled: bool = False
    path: Path | None = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where its files are on the network."""
        return () if self.site is None else tuple(BASES[self.site] + file for file in self.files)

    @property
    def cached(self) -> bool:
        """Whether the cache has it."""
        return self.path is not None

    @property
    def is_here(self) -> bool:
        """Whether it can be loaded without the network."""
        return self.bundled or self.cached

    @property
    def read(self) -> Callable[[Mapping[str, bytes]], Packed]:
        """How its files become a graph."""
        if self.name == "citeseer":
            return planetoid.read_citeseer
        readers = {"netset": netset.read, "planetoid": planetoid.read, "snap": snap.read}
        return readers[self.site or ""]


_PLANETOID = (
    "Z. Yang, W. W. Cohen, R. Salakhutdinov, Revisiting semi-supervised learning with graph "
    "embeddings, ICML 2016, after P. Sen et al., Collective classification in network data, "
    "AI Magazine 29 (2008)"
)
_NETSET = "NetSet, a collection of graphs by T. Bonald and others, Télécom Paris; "


def _planetoid(title: str, paper: Counts) -> DatasetInfo:
    name = title.lower()
    files = tuple(f"ind.{name}.{part}" for part in planetoid.PARTS)
    return DatasetInfo(
        name, f"{title}: papers and citations", _PLANETOID, "planetoid", files, paper
    )


def _netset(title: str, of_what: str, source: str, paper: Counts) -> DatasetInfo:
    name = title.lower()
    files = (f"{name}_npz.tar.gz",)
    return DatasetInfo(name, f"{title}: {of_what}", _NETSET + source, "netset", files, paper)


_ALL = (
    DatasetInfo(
        "karate",
        "Zachary's karate club: members and friendships, by faction",
        "W. W. Zachary, An information flow model for conflict and fission in small "
        "groups, Journal of Anthropological Research 33 (1977), 452–473",
        bundled=True,
    ),
    DatasetInfo(
        "debian",
        "Debian 12: packages and their dependencies, by section",
        "the package index of Debian 12.15 (bookworm), main, amd64, of 11 July 2026",
        bundled=True,
    ),
    _planetoid("Cora", Counts(2_708, 5_278, 7)),
    _planetoid("Citeseer", Counts(3_264, 4_536, 6)),
    _planetoid("PubMed", Counts(19_717, 44_325, 3)),
    DatasetInfo(
        "email",
        "Email: members of a research institution who wrote to each other, by department",
        "SNAP, email-Eu-core; H. Yin, A. R. Benson, J. Leskovec, D. F. Gleich, Local higher-order "
        "graph clustering, KDD 2017",
        "snap",
        ("email-Eu-core.txt.gz", "email-Eu-core-department-labels.txt.gz"),
        Counts(1_005, 16_385, 42),
    ),
    _netset(
        "PolBlogs",
        "political blogs and links, by leaning",
        "L. A. Adamic, N. Glance, The political blogosphere and the 2004 US election, LinkKDD 2005",
        Counts(1_490, 16_716, 2),
    ),
    _netset(
        "WikiSchools",
        "articles of Wikipedia for Schools and links, by subject",
        "Wikipedia for Schools",
        Counts(4_403, 100_329, 16),
    ),
    _netset(
        "WikiVitals",
        "vital articles of Wikipedia (level 4) and links, by subject",
        "English Wikipedia",
        Counts(10_011, 654_502, 11),
    ),
    _netset(
        "WikiVitals+",
        "vital articles of Wikipedia (level 5) and links, by subject",
        "English Wikipedia",
        Counts(45_179, 3_079_335, 11),
    ),
)

KNOWN = {info.name: info for info in _ALL}
