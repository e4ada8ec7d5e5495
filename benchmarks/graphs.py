"""The graphs that the claims are about: made here, or read where they lie."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from isotherm import BlockModel, Graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

REAL = Path(os.environ.get("ISOTHERM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))

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
    """One of the real graphs."""
    with np.load(REAL / f"{name}.npz", allow_pickle=False) as data:
        indptr, indices, labels = data["indptr"], data["indices"], data["labels"]
    n = len(indptr) - 1
    ones = np.ones(len(indices))
    return sparse.csr_matrix((ones, indices, indptr), shape=(n, n)), labels.astype(np.int64)


def real_names() -> list[str]:
    """Names of the real graphs that are there."""
    return sorted(path.stem for path in REAL.glob("*.npz"))


def seeds(labels: NDArray[np.int64], share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Labels of a share of the nodes, at least one per class; −1 at the others."""
    known = (rng.random(len(labels)) < share) & (labels >= 0)
    for k in np.unique(labels[labels >= 0]):
        known[rng.choice(np.flatnonzero(labels == k))] = True
    return np.where(known, labels, -1)
