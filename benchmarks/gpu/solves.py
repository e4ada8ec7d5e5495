"""Solve and proof on a GPU, against all processors of the same machine.

The graph is on the device; what is timed is `prepare` and `solve`: the exit times, the temperatures
to 1e-4, their proof, and both arrays back in the memory of the host. And a whole fit from a SciPy
matrix, copies included. Medians.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from scipy import sparse

from benchmarks.gpu import graphs
from benchmarks.measure import Result
from isotherm import DirichletClassifier, NativeEngine, SolveOptions
from isotherm.engines.cuda import CudaEngine

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from isotherm import DirichletProblem
    from isotherm.engines.engine import Engine

TOL = 1e-4
# Name, graph, and the most seconds aimed at.
WORK = {
    "block model, 20 M entries": (lambda: graphs.block_model(1_000_000, 20_000_000, 8), 0.025),
    "R-MAT 2^22, 64 M edges": (lambda: graphs.rmat(22, 64_000_000, 10), 0.25),
    "block model, 1 G entries": (lambda: graphs.block_model(20_000_000, 1_000_000_000, 8), 0.8),
}
SMALL = {"block model, 200 k entries": (lambda: graphs.block_model(10_000, 200_000, 8), 9.0)}


def run(*, quick: bool) -> Result:
    """Measure the work."""
    result = Result(__doc__.splitlines()[0])
    for name, (make, most) in (SMALL if quick else WORK).items():
        graph, labels = make()
        problem = graphs.problem_of(graph, graphs.seeds_of(labels))
        rounds = 9 if len(graph.rows.ends) < 1 << 28 else 3
        first = CudaEngine().prepare(problem, SolveOptions(TOL))
        first.solve()  # compiles; and its graph stays on the device
        on_gpu = median(rounds, lambda problem=problem: solved(CudaEngine(), problem))
        on_host = median(
            max(1, rounds // 3), lambda problem=problem: solved(NativeEngine(), problem)
        )
        solution = first.solve()
        result.add(
            graph=name,
            nodes=graph.n_nodes,
            entries=len(graph.rows.ends),
            classes=problem.n_columns,
            steps=solved(CudaEngine(), problem),
            ms=1e3 * on_gpu,
            native_ms=1e3 * on_host,
            times_faster=on_host / on_gpu,
            again_ms=1e3 * median(rounds, first.solve),
            bound=solution.certificate.bound,
        )
        result.check(f"{name}: {1e3 * on_gpu:.0f} ms, at most {1e3 * most:.0f}", on_gpu <= most)
        if not quick:
            ratio = on_host / on_gpu
            result.check(f"{name}: {ratio:.1f} times faster than native, at least 8", ratio >= 8)
        if len(graph.rows.ends) < 1 << 25:
            fit = median(5, fit_of(sparse.csr_array(graph.adjacency), graphs.seeds_of(labels)))
            result.add(graph=name, what="fit from a SciPy matrix", ms=1e3 * fit)
            result.check(f"{name}: fit in {1e3 * fit:.0f} ms, at most 250", fit <= 0.25)
        first.close()
    return result


def fit_of(matrix: sparse.csr_array, seeds: NDArray[np.int64]) -> Callable[[], object]:
    """A whole fit."""
    return lambda: DirichletClassifier(tol=TOL, engine="cuda").fit(matrix, seeds)


def solved(engine: Engine, problem: DirichletProblem) -> int:
    """One solve from nothing; its steps."""
    with engine.prepare(problem, SolveOptions(TOL)) as session:
        return session.solve().n_iter


def median(rounds: int, work: Callable[[], object]) -> float:
    """Seconds."""
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)
