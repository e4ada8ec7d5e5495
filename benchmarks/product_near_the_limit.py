"""The product with many columns runs near the limit of the memory.

Bytes that a product with 16 columns must move (one row per entry, the indices, the result) per
second, against a copy of long arrays on as many threads, against SciPy and, where sparse_dot_mkl is
installed, against MKL. A row has 64 bytes of float32 with MKL, 128 of float64 with SciPy, and 32
with isotherm, whose directions are of half precision and whose result is float32. With two columns,
as for two classes, isotherm's rows are 8 bytes of float32, and the indices half as much.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result, fastest
from isotherm import DirichletProblem, Graph, NativeEngine, SolveOptions
from isotherm.compiled import core, n_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy import sparse

LANES = 16  # the exit times are one of them
# Of a row that goes in, and of one that comes out.
BYTES = {
    "isotherm": (32, 64),
    "isotherm, 2 columns": (8, 8),
    "SciPy, float64": (128, 128),
    "MKL, float32": (64, 64),
}


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    copy = copy_speed(1 << (24 if quick else 28))
    result.add(what="copy", gb_per_s=copy / 1e9)
    for name, (A, _) in graphs.the_two(quick=quick):
        contestants = {"isotherm": by_isotherm(A, LANES), "SciPy, float64": by_scipy(A, np.float64)}
        mkl = by_mkl(A)
        if mkl is not None:
            contestants["MKL, float32"] = mkl
        contestants["isotherm, 2 columns"] = by_isotherm(A, 2)
        seconds = fastest(5, *contestants.values())
        for who, took in zip(contestants, seconds, strict=True):
            row, out = BYTES[who]
            moved = A.nnz * (row + 4) + A.shape[0] * (row + out + 8)
            result.add(
                what=who,
                graph=name,
                entries=A.nnz,
                ms=took * 1e3,
                gb_per_s=moved / took / 1e9,
                of_copy=moved / took / copy,
            )
        result.check(f"faster than SciPy on {name}", seconds[0] < seconds[1])
        if mkl is not None:
            ratio = seconds[2] / seconds[0]
            result.check(f"no slower than MKL on {name}: {ratio:.2f}", ratio >= 1)
    return result


def copy_speed(count: int) -> float:
    """Bytes read and written per second by copying floats on all threads."""
    threads = n_threads()
    a, b = np.ones(count, np.float32), np.zeros(count, np.float32)
    parts = [slice(k * count // threads, (k + 1) * count // threads) for k in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        (took,) = fastest(
            7, lambda: list(pool.map(lambda part: np.copyto(b[part], a[part]), parts))
        )
    return 8 * count / took


def by_isotherm(A: sparse.csr_matrix, lanes: int) -> Callable[[], object]:
    """The product inside a step."""
    graph = Graph.from_matrix(A)
    seeds = np.flatnonzero(graph.degrees)[:100]
    values = np.random.default_rng(0).random((100, lanes - 1))
    problem = DirichletProblem(graph, seeds, values)
    operator = NativeEngine().prepare(problem, SolveOptions(1e-4)).operator
    columns = np.zeros(lanes - 1), np.ones(lanes - 1)
    steering = core.Steering(
        operator.prepared(peeling=False),
        core.ExitTimes(np.zeros(graph.n_nodes)),
        first=0,
        columns=lanes - 1,
        with_exits=True,
        hidden=False,
        sources=None,
        low=columns[0],
        high=columns[1],
        max_steps=1,
        preconditioner="diagonal",
    )
    X = problem.start(np.float32)
    X[problem.is_unreached] = 0
    steering.make_steps(X, 1)
    return steering.multiply


def by_scipy(A: sparse.csr_matrix, dtype: type) -> Callable[[], object]:
    """SciPy's product, on the one thread it has."""
    M, X = A.astype(dtype), np.ones((A.shape[0], LANES), dtype)
    return lambda: M @ X


def by_mkl(A: sparse.csr_matrix) -> Callable[[], object] | None:
    """MKL's product."""
    try:
        from sparse_dot_mkl import dot_product_mkl
    except (ImportError, OSError):
        return None
    M, X = A.astype(np.float32), np.ones((A.shape[0], LANES), np.float32)
    return lambda: dot_product_mkl(M, X)
