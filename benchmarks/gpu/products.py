"""The product inside a step: bytes moved, against the device's copy bandwidth.

A product reads an index and a row of directions for each entry (16 bytes: 8 columns of half
precision), and writes a row of 32 bytes for each node. In random order each such row is a sector of
32 bytes of the device's memory, of which half is used, unless it is found in the cache (L2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy

from benchmarks.gpu import graphs
from benchmarks.measure import Result
from isotherm import SolveOptions
from isotherm.engines.cuda import CudaEngine
from isotherm.engines.cuda.kernels import THREADS, _flag, _name
from isotherm.engines.cuda.records import nodes_record, rows_record
from isotherm.solvers.method import Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from isotherm import Graph
    from isotherm.engines.cuda.method import Run

ROUNDS = 20


def run(*, quick: bool) -> Result:
    """Measure."""
    result = Result(__doc__.splitlines()[0])
    copy = copy_speed(1 << (24 if quick else 30))
    result.add(what="copy", gb_per_s=copy / 1e9)
    sizes = [(10_000, 200_000)] if quick else [(1_000_000, 20_000_000), (20_000_000, 1_000_000_000)]
    for n, entries in sizes:
        graph, labels = graphs.block_model(n, entries, 7)
        for order in ("blocks", "random"):
            if order == "random":
                graph = graphs.shuffled(graph)
            seconds, others = product_time(graph, labels)
            count = len(graph.rows.ends)
            bytes_used = count * (4 + 16) + n * (8 + 16 + 32)
            sectors = count * (4 + 32) + n * (8 + 32 + 32)
            result.add(
                order=order,
                nodes=n,
                entries=count,
                product_ms=1e3 * seconds,
                rest_of_step_ms=1e3 * others,
                gb_per_s=bytes_used / seconds / 1e9,
                of_copy=bytes_used / seconds / copy,
                sectors_of_copy=sectors / seconds / copy,
            )
    return result


def copy_speed(count: int) -> float:
    """Bytes read and written a second."""
    a, b = cupy.ones(count, cupy.float32), cupy.empty(count, cupy.float32)
    return 8 * count / timed(lambda: cupy.copyto(b, a))


def product_time(graph: Graph, labels: Any) -> tuple[float, float]:
    """Seconds of a product with 8 lanes, and of all else in a step."""
    problem = graphs.problem_of(graph, graphs.seeds_of(labels))
    session = CudaEngine().prepare(problem, SolveOptions(1e-4, "cg"))
    session.solve()
    operator = session.operator
    device, nodes, rows = operator.device, operator.nodes, operator.rows
    method = operator.method(next(session._chosen()))
    X = method.start(problem, 1e-4, None)
    with device.at_work("measuring"):
        next(iter(method.iterate(X, 1e-4, Watch())))
        run_: Run = method._current()
        v = run_._enter(0, X).vectors
        kernels = device.kernels
        kernels.begin(rows, nodes, v, None, cold=True)
        kernels._step(rows, nodes, v)
        whole = timed(lambda: kernels._step(rows, nodes, v))
        launches = list(kernels._launches(rows))
        functions = kernels._functions(rows, v)
        dots = v.room("pMp", 1, cupy.float64)

        def product() -> None:
            for chunk, part, blocks in launches:
                name = (
                    f"product<{v.width}, {part.group}, {_name(v.P.dtype)}, {_flag(rows.weighted)}>"
                )
                functions[name]((blocks,), (THREADS,), (
                    rows_record(rows, nodes, chunk, part), nodes_record(nodes), v.P, v.V, dots,
                ))  # fmt: skip

        seconds = timed(product)
    session.close()
    return seconds, whole - seconds


def timed(work: Callable[[], object]) -> float:
    """Seconds, by the device's own clock."""
    work()
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    begin.record()
    for _ in range(ROUNDS):
        work()
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(begin, end) / 1e3 / ROUNDS
