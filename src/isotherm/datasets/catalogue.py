"""The data sets known by name: what they are, where they come from, how they are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from isotherm.datasets.formats import netset, planetoid, snap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from isotherm.datasets.formats.labelled_graph import LabelledGraph

    Reader = Callable[[Mapping[str, bytes]], LabelledGraph]

# Where the files of each site are. That of Planetoid is a commit, which cannot change.
BASES = {
    "netset": "https://netset.telecom-paris.fr/datasets_npz/",
    "planetoid": "https://raw.githubusercontent.com/kimiyoung/planetoid/"
    "af6abf468a772cc055bec88c52e4d6f51b7c37e3/data/",
    "snap": "https://snap.stanford.edu/data/",
}

# Of the files that do not change, as `sha256sum` writes them.
_CHECKSUMS = """\
58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d  ind.cora.graph
2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71  ind.cora.ally
41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad  ind.cora.ty
297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875  ind.cora.test.index
d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7  ind.citeseer.graph
f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95  ind.citeseer.ally
55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce  ind.citeseer.ty
2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4  ind.citeseer.test.index
5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9  ind.pubmed.graph
0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e  ind.pubmed.ally
ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd  ind.pubmed.ty
b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5  ind.pubmed.test.index
4b47acdb80197b085fe63c819c357ae488131ee904ed93d1b219a68b0f9e245f  email-Eu-core.txt.gz
e5abe5b4581a480032a63adcf2576c161785f45692642c6ebb0b1276f0f33669  email-Eu-core-department-labels.txt.gz
"""  # noqa: E501


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
    files : dict of str
        The SHA-256 of each file there, by name; None where it is not known beforehand.
    read : callable or None
        How the files become a graph.
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
    files: Mapping[str, str | None] = field(default_factory=dict)
    read: Reader | None = None
    paper: Counts | None = None
    bundled: bool = False
    path: Path | None = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where its files are on the network."""
        return () if self.site is None else tuple(BASES[self.site] + file for file in self.files)

    @property
    def check(self) -> str:
        """How a change of its files on the network would be noticed, in words."""
        if all(self.files.values()):
            return "by checksums that isotherm knows"
        return "on first use: the checksum of the first download is kept and later ones must match"

    @property
    def cached(self) -> bool:
        """Whether the cache has it."""
        return self.path is not None

    @property
    def is_here(self) -> bool:
        """Whether it can be loaded without the network."""
        return self.bundled or self.cached


_PLANETOID = (
    "Z. Yang, W. W. Cohen, R. Salakhutdinov, Revisiting semi-supervised learning with graph "
    "embeddings, ICML 2016, after P. Sen et al., Collective classification in network data, "
    "AI Magazine 29 (2008)"
)
_NETSET = "NetSet, a collection of graphs by T. Bonald and others, Télécom Paris; "


def _with_checksums(*files: str) -> dict[str, str | None]:
    known = {line.split()[1]: line.split()[0] for line in _CHECKSUMS.splitlines()}
    return {file: known.get(file) for file in files}


def _planetoid(title: str, paper: Counts, read: Reader = planetoid.read) -> DatasetInfo:
    name = title.lower()
    files = _with_checksums(*(f"ind.{name}.{part}" for part in planetoid.PARTS))
    return DatasetInfo(
        name, f"{title}: papers and citations", _PLANETOID, "planetoid", files, read, paper
    )


def _netset(title: str, of_what: str, source: str, paper: Counts) -> DatasetInfo:
    name = title.lower()
    files = _with_checksums(f"{name}_npz.tar.gz")
    return DatasetInfo(
        name, f"{title}: {of_what}", _NETSET + source, "netset", files, netset.read, paper
    )


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
    _planetoid("Citeseer", Counts(3_264, 4_536, 6), planetoid.read_citeseer),
    _planetoid("PubMed", Counts(19_717, 44_325, 3)),
    DatasetInfo(
        "email",
        "Email: members of a research institution who wrote to each other, by department",
        "SNAP, email-Eu-core; H. Yin, A. R. Benson, J. Leskovec, D. F. Gleich, Local higher-order "
        "graph clustering, KDD 2017",
        "snap",
        _with_checksums("email-Eu-core.txt.gz", "email-Eu-core-department-labels.txt.gz"),
        snap.read,
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
