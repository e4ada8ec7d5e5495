"""The same device, other programs: cuSPARSE in the same algorithm, and label propagation.

Conjugate gradients with products by cuSPARSE (float32, all columns at once) until the temperatures
are within 1e-4, without a proof. PyTorch Geometric's `LabelPropagation`, 10 and 50 layers, by edge
index and by a sparse matrix: it stops there, at whatever error. isotherm solves to a proven 1e-4.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import cupy
import numpy as np
from cupyx.scipy import sparse

from benchmarks.gpu import graphs
from benchmarks.gpu.products import timed
from benchmarks.gpu.solves import median, solved
from benchmarks.measure import Result
from isotherm import SolveOptions
from isotherm.engines.cuda import CudaEngine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm import DirichletProblem, Graph


def run(*, quick: bool) -> Result:
    """Measure."""
    result = Result(__doc__.splitlines()[0])
    n, entries = (10_000, 200_000) if quick else (1_000_000, 20_000_000)
    graph, labels = graphs.block_model(n, entries, 8)
    seeds = graphs.seeds_of(labels)
    problem = graphs.problem_of(graph, seeds)
    kept = CudaEngine().prepare(problem, SolveOptions(1e-4))
    solution = kept.solve()
    ours = median(9, lambda: solved(CudaEngine(), problem))
    result.add(who="isotherm, proven to 1e-4", ms=1e3 * ours, steps=solution.n_iter)
    took, steps = by_cusparse(problem, solution.temperatures)
    result.add(who="CG with cuSPARSE, no proof", ms=1e3 * took, steps=steps)
    result.check(f"ahead of cuSPARSE: {took / ours:.1f}", took > ours)
    for layers in (10, 50):
        for kind, seconds in label_propagation(graph, seeds, layers).items():
            result.add(who=f"LabelPropagation, {layers} layers, {kind}", ms=1e3 * seconds)
            if layers >= solution.n_iter:
                result.check(
                    f"ahead of {layers} layers by {kind}: {seconds / ours:.1f}", seconds > ours
                )
    return result


def by_cusparse(problem: DirichletProblem, wanted: NDArray[Any]) -> tuple[float, int]:
    """Seconds and steps of plain conjugate gradients until X is within 1e-4 of what was proven."""
    graph, free = problem.graph, cupy.asarray(problem.is_free)[:, np.newaxis]
    matrix = sparse.csr_matrix(
        (
            cupy.ones(len(graph.rows.ends), cupy.float32),
            cupy.asarray(graph.rows.ends),
            cupy.asarray(graph.rows.start.astype(np.int32)),
        ),
        shape=(graph.n_nodes, graph.n_nodes),
    )
    diagonal = cupy.asarray(graph.degrees.astype(np.float32))[:, np.newaxis]
    start = cupy.asarray(np.nan_to_num(problem.start(np.float32)), order="F")
    exact = cupy.asarray(np.nan_to_num(wanted.astype(np.float32)))
    count = 0

    def solve(stop: int | None) -> None:
        nonlocal count
        X = start.copy(order="F")
        R = cupy.where(free, matrix @ X - diagonal * X, 0)
        P = R / diagonal
        rz = (R * P).sum(axis=0)
        for count in range(1, 200):
            MP = cupy.where(free, diagonal * P - matrix @ cupy.asfortranarray(P), 0)
            alpha = rz / (P * MP).sum(axis=0)
            X += alpha * P
            R -= alpha * MP
            Z = R / diagonal
            rz, before = (R * Z).sum(axis=0), rz
            P = Z + rz / before * P
            if count == stop or (stop is None and float(abs(X - exact).max()) <= 1e-4):
                return

    solve(None)
    steps = count
    return timed(lambda: solve(steps)), steps


def label_propagation(graph: Graph, seeds: NDArray[np.int64], layers: int) -> dict[str, float]:
    """Seconds by edge index and by sparse matrix; empty without PyTorch Geometric."""
    try:
        import torch
        from torch_geometric.nn import LabelPropagation
    except ImportError:
        return {}
    n = graph.n_nodes
    labels = torch.as_tensor(np.maximum(seeds, 0)).cuda()
    mask = torch.as_tensor(seeds >= 0).cuda()
    owners = np.repeat(np.arange(n), np.diff(graph.rows.start))
    index = torch.as_tensor(np.stack([graph.rows.ends.astype(np.int64), owners])).cuda()
    matrix = torch.sparse_csr_tensor(
        torch.as_tensor(graph.rows.start), torch.as_tensor(graph.rows.ends.astype(np.int64)),
        torch.ones(len(graph.rows.ends)), size=(n, n),
    ).cuda()  # fmt: skip
    model = LabelPropagation(num_layers=layers, alpha=0.9).cuda()
    found = {}
    for kind, edges in (("edge index", index), ("sparse matrix", matrix)):

        def work(edges: Any = edges) -> None:
            model(labels, edges, mask=mask)
            torch.cuda.synchronize()

        try:
            work()
        except Exception as error:
            print(f"{kind}: {error}")
            continue
        taken = []
        for _ in range(3):
            started = time.perf_counter()
            work()
            taken.append(time.perf_counter() - started)
        found[kind] = sorted(taken)[1]
    return found
