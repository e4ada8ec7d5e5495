"""The graphs that the claims are about: made here, or read from a folder.

``python -m benchmarks.graphs`` fetches the real ones that can be fetched, and says of each other
where it comes from and what its file must hold. Claims about one that is not there are left out.
"""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from isotherm import BlockModel, Graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]


class RealGraph(NamedTuple):
    """What its file must hold, and where it comes from if `paper.graphs` does not fetch it.

    The checksum is the SHA-256 of indptr, sorted indices and labels, as little-endian int64.
    """

    checksum: str
    origin: str = ""


REAL_GRAPHS = {
    "cora": RealGraph("ea9fe7bde4ba82b32be1f3466ebb80714e28ad375478f75972933106e914c4ef"),
    "citeseer": RealGraph("3280e1ef5b6fa24ef3b6694ff95437c526c1e52ea774f1680db9b5d415286596"),
    "pubmed": RealGraph("9547e7abf40f8154f0310546cd5fcc17783996ee03b4fe6112503def6bb565e7"),
    "email": RealGraph("2c44d9a2c6df095764df4d212c4dfe81d82e041f275e3a8b3def8262a4e80a10"),
    "polblogs": RealGraph("d03fd28b4b6a40ec17de659c64366a6238fef06ee1b6a54e80bf9ac08c132636"),
    "amazon_photo": RealGraph(
        "04dd8770310c92d22dfe5c97e28cd76b3f972265a8b7cbb8bb03a36cdf3e06f6",
        "photo articles of Amazon bought together, by category (O. Shchur and others, 2018), is "
        "datasets/amazon_photo.npz of github.com/EdisonLeeeee/GraphData with each link both ways",
    ),
    "lastfm_asia": RealGraph(
        "017f9dd9b6b4813a5365963fada062666c8c32478c412dc72f5c2fe29041d64b",
        "friendships of LastFM's users in Asia, by country (B. Rozemberczki, R. Sarkar, 2020), is "
        "snap.stanford.edu/data/feather-lastfm-social.html with each friendship both ways",
    ),
    "fashion_mnist_knn10_graph": RealGraph(
        "74c213dc851f196fdef44e5b36265ea8f367f7e096eb56a99864f9aac5bdb497",
        "each of the 70 000 images of Fashion-MNIST (H. Xiao and others, 2017), those to train "
        "with first, is joined to the ten nearest by Euclidean distance, both ways",
    ),
    "wikischools2007": RealGraph(
        "1a720731966f5b6065d26299f7cefbbc1645742a89e7e3a1d3490957ac1edb5c",
        "articles of Wikipedia for Schools of 2007 and links, by subject, is an earlier graph of "
        "the paper's authors; we know of no address",
    ),
}


def _folder() -> Path:
    """Where the real graphs are, ``NAME.npz``: as the tests have it."""
    named, beside = os.environ.get("ISOTHERM_SHARED_DATA"), ROOT.parent / "shared" / "data"
    return Path(named) if named else beside if beside.is_dir() else ROOT / "paper-data"


REAL = _folder()

Labelled = tuple[sparse.csr_matrix, "NDArray[np.int64]"]


def block_model(n: int = 1_000_000, degree: float = 20, classes: int = 10) -> Labelled:
    """A stochastic block model, neighbours ten times as likely within a block."""
    ratio = 10
    q = degree / (n / classes * ratio + n * (classes - 1) / classes)
    model = BlockModel([n // classes] * classes, ratio * q, q)
    graph, labels = model.sample(np.random.default_rng(0))
    return sparse.csr_matrix(graph.adjacency), labels


def rmat(scale: int = 18, edges: int = 4_000_000, classes: int = 10) -> Labelled:
    """An R-MAT graph with the parameters of Graph500; labels at random."""
    rng = np.random.default_rng(1)
    source = np.zeros(edges, dtype=np.int64)
    target = np.zeros(edges, dtype=np.int64)
    for _ in range(scale):
        u = rng.random(edges)
        source = 2 * source + (u >= 0.76)
        target = 2 * target + (((u >= 0.57) & (u < 0.76)) | (u >= 0.95))
    kept = source != target
    graph = Graph.from_edges(source[kept], target[kept], nodes=range(2**scale))
    return sparse.csr_matrix(graph.adjacency), rng.integers(0, classes, 2**scale)


def the_two(*, quick: bool) -> Iterator[tuple[str, Labelled]]:
    """The graphs that most claims are about, or small ones like them, by name."""
    yield "block model", block_model(100_000 if quick else 1_000_000)
    yield "R-MAT", rmat(*(15, 500_000) if quick else (18, 4_000_000))


def grid(side: int) -> Graph:
    """A square grid."""
    i = np.arange(side * side, dtype=np.int32).reshape(side, side)
    source = np.concatenate([i[:-1].ravel(), i[:, :-1].ravel()])
    return Graph.from_edges(source, np.concatenate([i[1:].ravel(), i[:, 1:].ravel()]))


def planted(
    edges: int, classes: int, per_node: int = 10
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """An edge list of ten edges per node, or so many, half of them within the node's block."""
    rng, n = np.random.default_rng(2), edges // per_node
    source = np.empty(edges, dtype=np.int32)
    target = np.empty(edges, dtype=np.int32)
    size, step = n // classes, 1_000_000
    for first in range(0, edges, step):
        some = slice(first, min(first + step, edges))
        count = some.stop - some.start
        i = rng.integers(0, n, count, dtype=np.int32)
        j = rng.integers(0, n, count, dtype=np.int32)
        within = rng.random(count) < 0.5
        j[within] = np.minimum(i[within] // size * size + j[within] % size, n - 1)
        source[some], target[some] = i, j
    return source, target, n


def real(name: str) -> Labelled:
    """One of the real graphs, if it is the right one."""
    with np.load(REAL / f"{name}.npz", allow_pickle=False) as data:
        indptr, indices, labels = data["indptr"], data["indices"], data["labels"]
    n = len(indptr) - 1
    matrix = sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(n, n))
    found = checksum(matrix, labels)
    if found != REAL_GRAPHS[name].checksum:
        raise ValueError(
            f"{REAL / name}.npz is not the graph that the claims are about: its checksum is "
            f"{found}, not {REAL_GRAPHS[name].checksum}"
        )
    return matrix, labels.astype(np.int64)


def checksum(matrix: sparse.csr_matrix, labels: NDArray[np.integer]) -> str:
    """See `RealGraph`."""
    rows = matrix.sorted_indices()
    digest = hashlib.sha256()
    for array in (rows.indptr, rows.indices, labels):
        digest.update(array.astype("<i8").tobytes())
    return digest.hexdigest()


@cache
def real_names() -> list[str]:
    """Names of the real graphs that are there; the others are said, once."""
    there = sorted(name for name in REAL_GRAPHS if (REAL / f"{name}.npz").is_file())
    missing = [name for name in REAL_GRAPHS if name not in there]
    if missing:
        print(
            f"left out, since {REAL} does not have them: {', '.join(missing)}; python -m "
            "benchmarks.graphs says how to get them",
            file=sys.stderr,
        )
    return there


def seeds(labels: NDArray[np.int64], share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Labels of a share of the nodes, at least one per class; −1 at the others."""
    known = (rng.random(len(labels)) < share) & (labels >= 0)
    for k in np.unique(labels[labels >= 0]):
        known[rng.choice(np.flatnonzero(labels == k))] = True
    return np.where(known, labels, -1)


def draw_seeds(
    labels: NDArray[np.int64], share: float, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Nodes drawn among those of known label: this share of all nodes."""
    known = np.flatnonzero(labels >= 0)
    return np.sort(rng.choice(known, max(1, round(share * len(labels))), replace=False))


def main() -> int:
    """Fetch what can be fetched; say where the other graphs come from. 1 if some are missing."""
    from isotherm import DatasetError
    from paper.graphs import SOURCES, fetch

    missing = 0
    for name, graph in REAL_GRAPHS.items():
        path = REAL / f"{name}.npz"
        try:
            if name in SOURCES:
                fetch(name, REAL)
            if path.is_file():
                real(name)
                print(path)
                continue
            said = (
                f"{graph.origin}. Put it there as docs/datasets.md says; its checksum must be "
                f"{graph.checksum}"
            )
        except (DatasetError, ValueError, OSError) as error:
            said = str(error)
        missing += 1
        print(f"{path} is not there: {said}", file=sys.stderr)
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main())
