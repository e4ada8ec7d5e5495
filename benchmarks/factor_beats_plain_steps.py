"""Where plain steps crawl, the factor that "auto" changes over to wins.

A grid of 1000 × 1000 with 20 seeds and the nearest-neighbour graph of Fashion-MNIST with 10, to
the same certified error, in one run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result, fastest
from isotherm import ConjugateGradient, Graph, solve_dirichlet

if TYPE_CHECKING:
    from isotherm import Solution

CLASSES = 10


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    race(result, "grid", graphs.grid(200 if quick else 1000), 20, rounds=1)
    name = "fashion_mnist_knn10_graph"
    if name in graphs.real_names():
        A, labels = graphs.real(name)
        race(result, name, Graph.from_matrix(A), 10, labels=labels, rounds=3)
    return result


def race(result, name, graph, n_seeds, *, labels=None, rounds):
    """Time "auto" against plain steps, at two tolerances."""
    rng = np.random.default_rng(0)
    if labels is None:
        labels = rng.integers(0, CLASSES, graph.n_nodes)
    chosen = [rng.choice(np.flatnonzero(labels == i % CLASSES)) for i in range(n_seeds)]
    seeds = np.unique(chosen)
    values = np.eye(CLASSES)[labels[seeds]]
    for tol in (1e-4, 1e-6):
        found: dict[str, Solution] = {}

        def solve(how: str, tol: float = tol, found: dict[str, Solution] = found) -> None:
            solver = ConjugateGradient(preconditioner=how)
            found[how] = solve_dirichlet(graph, seeds, values, tol=tol, solver=solver)

        auto, plain = fastest(
            rounds, lambda: solve("auto"), lambda: solve("diagonal"), warm_up=rounds > 1
        )
        result.add(
            graph=name,
            tol=tol,
            auto_s=auto,
            plain_s=plain,
            ratio=plain / auto,
            auto_steps=found["auto"].n_iter,
            plain_steps=found["diagonal"].n_iter,
            auto_proven=found["auto"].certificate.bound,
            plain_proven=found["diagonal"].certificate.bound,
        )
        result.check(f"auto beats plain steps on {name} to {tol:g}", auto < plain)
