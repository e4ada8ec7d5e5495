"""What "auto" takes grows with the edges, whatever the shape of the graph.

Shapes on which some solver is far from linear: hubs (stars, brooms, bipartite stars), long paths
(also with leaves, or hanging from a clique), grids, very many components. Two seeds and unit
weights, or 5 % seeds and weights between 0.1 and 10; two classes, tol 1e-6 and 1e-10; with the core
and without it. From 62 500 to a million edges the time per edge grows by at most 2: time of the
processors, all threads together, which other programs disturb least.
"""

from __future__ import annotations

import math
import time
import warnings
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result
from isotherm import DirichletClassifier, Graph
from isotherm.engines import ENGINES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Edges = tuple[NDArray[np.intp], NDArray[np.intp]]

SIZES = (62_500, 1_000_000)
TOLERANCES = {"native": (1e-6, 1e-10), "scipy": (1e-6,)}
HUBS = 10
MOST = 2  # growth of the time per edge


def star(m: int) -> Edges:
    """One hub, m leaves."""
    return np.zeros(m, dtype=int), 1 + np.arange(m)


def bipartite_star(m: int) -> Edges:
    """Ten hubs, each joined to all of m / 10 leaves."""
    leaves = HUBS + np.arange(m // HUBS)
    return np.repeat(np.arange(HUBS), len(leaves)), np.tile(leaves, HUBS)


def path(m: int) -> Edges:
    """A path of m edges."""
    return np.arange(m), 1 + np.arange(m)


def caterpillar(m: int) -> Edges:
    """A path with three leaves at each node."""
    spine = np.arange(m // 4)
    leaves = 1 + len(spine) + np.arange(3 * len(spine))
    return joined((spine, spine + 1), (np.repeat(spine, 3), leaves))


def broom(m: int) -> Edges:
    """A path with a star at its end."""
    half = m // 2
    bristles = half + 1 + np.arange(m - half)
    return joined(path(half), (np.full(m - half, half), bristles))


def clique_with_tail(m: int) -> Edges:
    """Half of the edges in a clique, the others in a path that hangs from it."""
    c = math.isqrt(m)
    tail = c - 1 + np.arange(m - c * (c - 1) // 2)
    return joined(np.triu_indices(c, 1), (tail, tail + 1))


def grid(m: int) -> Edges:
    """A square grid."""
    upper = graphs.grid(math.isqrt(m // 2)).adjacency.tocoo()
    return upper.row, upper.col


def isolated_edges(m: int) -> Edges:
    """Pairs of nodes."""
    return 2 * np.arange(m), 2 * np.arange(m) + 1


def joined(*parts: Edges) -> Edges:
    """The edges of all parts."""
    source, target = zip(*parts, strict=True)
    return np.concatenate(source), np.concatenate(target)


SHAPES: list[Callable[[int], Edges]] = [
    star,
    bipartite_star,
    path,
    caterpillar,
    broom,
    clique_with_tail,
    grid,
    isolated_edges,
]


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    for make in SHAPES:
        for few in (True, False):
            cases = [labelled(make, m // 50 if quick else m, few=few) for m in SIZES]
            for engine in ENGINES:
                if engine == "scipy" and make is grid and few:
                    continue  # the diagonal alone takes steps as the side
                for tol in TOLERANCES[engine]:
                    race(result, make.__name__.replace("_", " "), cases, few, engine, tol)
    result.note = (
        "without the core a grid with two seeds was not run: steps grow with its side there"
    )
    return result


def race(result, name, cases, few, engine, tol):
    """Time a fit of the smaller and of the larger graph."""
    model = DirichletClassifier(tol=tol, engine=engine)

    def least(rounds: int, graph: Graph, known: NDArray[np.intp]) -> float:
        seconds = []
        for _ in range(rounds):
            started = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # there is a column for what float64 cannot prove
                model.fit(graph, known)
            seconds.append(time.process_time() - started)
        return min(seconds)

    small, large = least(4, *cases[0]), least(2, *cases[1])
    edges = [graph.n_edges for graph, _ in cases]
    growth = (large / edges[1]) / (small / edges[0])
    solution = model.solution_
    result.add(
        shape=name,
        seeds="two" if few else "5 %",
        engine=engine,
        tol=tol,
        solver=solution.solver,
        small_s=small,
        large_s=large,
        edges=edges[1],
        steps=solution.n_iter,
        ns_per_edge=large / edges[1] * 1e9,
        growth=growth,
        proven_error=solution.certificate.bound,
    )
    what = f"{name}, {'two' if few else '5 %'} seeds, {engine}, {tol:g}"
    result.check(f"time per edge grows by at most {MOST}: {what}", growth <= MOST)


def labelled(make: Callable[[int], Edges], m: int, *, few: bool) -> tuple[Graph, NDArray[np.intp]]:
    """A graph of some m edges, and two classes of seeds."""
    rng = np.random.default_rng(0)
    source, target = make(m)
    weights = None if few else 10 ** rng.uniform(-1, 1, len(source))
    n = int(max(source.max(), target.max())) + 1
    graph = Graph.from_edges(source, target, weights, nodes=range(n))
    seeds = np.array([1, n - 1])
    if not few:
        seeds = rng.choice(n, n // 20, replace=False)
    known = np.full(n, -1)
    known[seeds] = np.arange(len(seeds)) % 2
    return graph, known
