"""The paper's eight graphs: where their files are, what they must be, and how they are fetched.

A file whose checksum is known is refused if it is another one. NetSet publishes none for its files:
what they become is compared with a checksum of the graph itself, where we have the graph, and with
the sizes in the paper's Table 1 in any case. Where these are all, `fetch` says so.
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from isotherm import DatasetError
from paper import sites
from paper.page import write
from paper.printed import TABLE1, title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paper.sites import Labelled

RAW = "raw"  # the folder of the files as they were downloaded
TIMEOUT = 30  # seconds without a byte

# Of files that do not change, as `sha256sum` writes them.
FILES = """\
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
# Of graphs: indptr, indices and labels as in `fingerprint`.
GRAPHS = {
    "polblogs": "d03fd28b4b6a40ec17de659c64366a6238fef06ee1b6a54e80bf9ac08c132636",
}


@dataclass(frozen=True)
class Source:
    """Where a graph comes from: the files of a site, and how they are read."""

    base: str
    files: tuple[str, ...]
    read: Callable[[Mapping[str, bytes]], Labelled]

    def checksum(self, file: str) -> str | None:
        """The SHA-256 of a file, where it is known."""
        return {line.split()[1]: line.split()[0] for line in FILES.splitlines()}.get(file)


def _planetoid(name: str, read: Callable[[Mapping[str, bytes]], Labelled]) -> Source:
    # A commit, which cannot change.
    base = (
        "https://raw.githubusercontent.com/kimiyoung/planetoid/"
        "af6abf468a772cc055bec88c52e4d6f51b7c37e3/data/"
    )
    return Source(base, tuple(f"ind.{name}.{part}" for part in sites.PLANETOID), read)


def _netset(name: str) -> Source:
    base = "https://netset.telecom-paris.fr/datasets_npz/"
    return Source(base, (f"{name}_npz.tar.gz",), sites.read_netset)


SOURCES = {
    "cora": _planetoid("cora", sites.read_planetoid),
    "citeseer": _planetoid("citeseer", sites.read_citeseer),
    "pubmed": _planetoid("pubmed", sites.read_planetoid),
    "email": Source(
        "https://snap.stanford.edu/data/",
        ("email-Eu-core.txt.gz", "email-Eu-core-department-labels.txt.gz"),
        sites.read_snap,
    ),
    "polblogs": _netset("polblogs"),
    "wikischools": _netset("wikischools"),
    "wikivitals": _netset("wikivitals"),
    "wikivitals+": _netset("wikivitals+"),
}


def fetch(name: str, folder: Path) -> Path:
    """Have the file of a graph, ``NAME.npz``, in a folder: it is downloaded if it is not there."""
    path = folder / f"{name}.npz"
    if path.exists():
        return path
    source = SOURCES[name]
    files = {file: _download(source, file, folder / RAW) for file in source.files}
    try:
        found = source.read(files)
        _compare(name, found)
    except Exception as error:  # files without a checksum may be damaged in any way
        raise DatasetError(
            f"{title_of(name)} is not what it was: {error}. Delete its files in {folder / RAW} to "
            f"download them again, or put a {name}.npz that you trust into {folder}"
        ) from error
    if name not in GRAPHS and None in map(source.checksum, source.files):
        warnings.warn(
            f"{title_of(name)}: no checksum is known, only its sizes in Table 1 were compared",
            stacklevel=2,
        )
    arrays = {
        "indptr": found.adjacency.indptr.astype(np.int32),
        "indices": found.adjacency.indices.astype(np.int32),
        "labels": found.labels.astype(np.int32),
    }
    if found.classes is not None:
        arrays["label_names"] = found.classes
    file = BytesIO()
    np.savez_compressed(file, **arrays)
    write(path, file.getvalue())
    return path


def fingerprint(found: Labelled) -> str:
    """The SHA-256 of a graph: indptr, sorted indices and labels as little-endian int64."""
    digest = hashlib.sha256()
    for array in (found.adjacency.indptr, found.adjacency.indices, found.labels):
        digest.update(array.astype("<i8").tobytes())
    return digest.hexdigest()


def _compare(name: str, found: Labelled) -> None:
    nodes, entries = found.adjacency.shape[0], found.adjacency.nnz
    sizes = nodes, entries // 2, len(np.unique(found.labels[found.labels >= 0]))
    if sizes != TABLE1[name]:
        raise DatasetError(f"nodes, edges, classes are {sizes}, in Table 1 {tuple(TABLE1[name])}")
    if GRAPHS.get(name, fingerprint(found)) != fingerprint(found):
        raise DatasetError(f"the graph's SHA-256 is {fingerprint(found)}, and was {GRAPHS[name]}")


def _download(source: Source, file: str, folder: Path) -> bytes:
    """A file of a site, which is kept; if its checksum is known it is no other."""
    known = source.checksum(file)
    address = source.base + file
    try:
        import pooch
    except ImportError:
        raise DatasetError(
            f"pooch is not installed: pip install pooch, or save {address} as {folder / file}"
        ) from None
    pooch.get_logger().setLevel("ERROR")
    try:
        path = pooch.retrieve(
            address,
            known and f"sha256:{known}",
            fname=file,
            path=folder,
            downloader=pooch.HTTPDownloader(timeout=TIMEOUT),
        )
    except (OSError, ValueError) as error:  # what requests raises are OSErrors
        said = getattr(error.args[0], "reason", error) if error.args else error  # of urllib3: short
        why, advice = str(said).rpartition("): ")[2], f"you can also save it as {folder / file}"
        raise DatasetError(f"could not download {address}: {why}; {advice}") from None
    return Path(path).read_bytes()
