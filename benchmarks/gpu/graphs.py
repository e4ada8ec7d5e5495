"""Large graphs, made on the GPU itself: a billion entries take seconds there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from isotherm import DirichletProblem, Graph
from isotherm.graph.rows import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEEDED = 0.05  # of all nodes


def block_model(n: int, entries: int, classes: int) -> tuple[Graph, NDArray[np.int64]]:
    """Blocks of equal size, neighbours ten times as likely within one; labels of all nodes."""
    rng, size, ratio = cupy.random.default_rng(0), n // classes, 10
    source = rng.integers(0, n, entries // 2)
    target = rng.integers(0, n, entries // 2)
    inside = rng.random(entries // 2) < ratio / (ratio + classes - 1)
    block = cupy.minimum(source // size, classes - 1)
    target = cupy.where(inside, block * size + target % size, target)
    return graph_of(source, target, n), np.minimum(np.arange(n) // size, classes - 1)


def rmat(scale: int, edges: int, classes: int) -> tuple[Graph, NDArray[np.int64]]:
    """An R-MAT graph with the parameters of Graph500; labels at random."""
    rng = cupy.random.default_rng(1)
    source, target = (cupy.zeros(edges, cupy.int64) for _ in range(2))
    for _ in range(scale):
        u = rng.random(edges)
        source = 2 * source + (u >= 0.76)
        target = 2 * target + (((u >= 0.57) & (u < 0.76)) | (u >= 0.95))
    labels = np.random.default_rng(1).integers(0, classes, 2**scale)
    return graph_of(source, target, 2**scale), labels


def graph_of(source: Any, target: Any, n: int) -> Graph:
    """An unweighted graph: both directions, sorted, each edge once, no loops."""
    keep = source != target
    source, target = source[keep], target[keep]
    keys = cupy.concatenate([source * n + target, target * n + source])
    del source, target, keep
    keys.sort()
    first = cupy.ones(len(keys), dtype=bool)
    first[1:] = keys[1:] != keys[:-1]
    keys = keys[first]
    start = cupy.searchsorted(keys, cupy.arange(n + 1, dtype=cupy.int64) * n).get()
    ends = (keys % n).astype(cupy.int32).get()
    del keys, first
    cupy.get_default_memory_pool().free_all_blocks()
    return Graph(Rows(start.astype(np.int64), ends, None))


def shuffled(graph: Graph) -> Graph:
    """The same graph with its nodes in random order."""
    n = graph.n_nodes
    place = cupy.asarray(np.random.default_rng(2).permutation(n))
    start = cupy.asarray(graph.rows.start)
    entries = cupy.arange(len(graph.rows.ends), dtype=cupy.int64)
    source = place[cupy.searchsorted(start, entries, side="right") - 1]
    return graph_of(source, place[cupy.asarray(graph.rows.ends)], n)


def seeds_of(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The labels of the nodes that are seeds, −1 of the others."""
    known = np.random.default_rng(3).random(len(labels)) < SEEDED
    return np.where(known, labels, -1)


def problem_of(graph: Graph, seeds: NDArray[np.int64]) -> DirichletProblem:
    """One column for each class."""
    boundary = np.flatnonzero(seeds >= 0)
    return DirichletProblem(graph, boundary, np.eye(seeds.max() + 1)[seeds[boundary]])
