"""300 million edges are built into a graph and solved in 3 GiB of memory; opening it takes no time.

30 million nodes, 4 classes. The edges are in a Parquet file, then in the saved graph, and never in
memory of the process: what counts is its anonymous memory at the peak, each step in a process of
its own. The same graph in memory is solved for comparison, with the file in the page cache. Reading
is compared at 100 million edges.

The files take 20 GB while it runs, in the folder that ISOTHERM_BENCHMARK_FILES names
or a temporary one; edges that are there already are used again. ISOTHERM_BENCHMARK_EDGES asks for
another number than 300 million.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import AnonymousPeak, Result, current_bytes, in_process
from isotherm import DirichletClassifier, Graph, read_graph
from isotherm.build import build_graph
from isotherm.graph.rows import Rows

EDGES = int(os.environ.get("ISOTHERM_BENCHMARK_EDGES", "300000000"))
CLASSES = 4
MOST = 3 << 30  # bytes of anonymous memory
TOL = 1e-4
MODULE = "benchmarks.edges_stay_on_disk"


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    edges = 1_000_000 if quick else EDGES
    given = os.environ.get("ISOTHERM_BENCHMARK_FILES")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(given or made)
        _measure_memory(result, folder, edges, quick=quick)
        _measure_reading(result, folder, edges // 3, quick=quick)
    result.note = f"measured with {edges:,} edges, reading with {edges // 3:,}"
    return result


def _measure_memory(result: Result, folder: Path, edges: int, *, quick: bool) -> None:
    path, limit = write_edges(folder, edges), (600 << 20 if quick else MOST)
    saved = str(folder / f"{edges}.iso")
    built = in_process(MODULE, "build", str(path), saved, limit)
    result.add(edges=edges, **built)
    solved = in_process(MODULE, "solve", saved, "", limit)
    result.add(edges=edges, **solved)
    within = in_process(MODULE, "solve in memory", saved, "", 0)
    result.add(edges=edges, **within)
    for one in (built, solved):
        gib = one["anonymous_bytes"] / 2**30
        result.check(f"{one['step']}: {gib:.2f} GiB of memory", one["anonymous_bytes"] <= limit)
    ratio = solved["seconds"] / within["seconds"]
    result.check(f"solved from the file in {ratio:.2f} times the time in memory", ratio <= 1.3)
    same = solved["fingerprint"] == within["fingerprint"]
    result.check("labels, margins and certified flags are the same, bit for bit", same)


def _measure_reading(result: Result, folder: Path, edges: int, *, quick: bool) -> None:
    path, saved = write_edges(folder, edges), str(folder / f"{edges}.iso")
    read = in_process(MODULE, "read", str(path), saved, 0)
    result.add(edges=edges, **read)
    opened = in_process(MODULE, "open", saved, "", 0)
    result.add(edges=edges, **opened)
    if quick:
        return
    ms, mb = 1e3 * opened["seconds"], opened["bytes"] / 1e6
    result.check(f"opened in {ms:.1f} ms and {mb:.1f} MB", ms < 50 and mb < 50)
    ratio = read["seconds"] / opened["ready_seconds"]
    result.check(f"ready {ratio:.0f} times sooner than from Parquet", ratio >= 5)


def write_edges(folder: Path, edges: int) -> Path:
    """A Parquet file of ten edges per node, half of them within the node's block."""
    path = folder / f"{edges}.parquet"
    if path.exists():
        return path
    rng, n, step = np.random.default_rng(2), edges // 10, 1_000_000
    size, kind = n // CLASSES, pa.int32()
    schema = pa.schema([("source", kind), ("target", kind)])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for first in range(0, edges, step):
            count = min(step, edges - first)
            i, j = rng.integers(0, n, (2, count), dtype=np.int32)
            within = rng.random(count) < 0.5
            j[within] = np.minimum(i[within] // size * size + j[within] % size, n - 1)
            writer.write_table(pa.table({"source": i, "target": j}))
    return path


def measured(step: str, path: str, other: str, limit: int) -> dict[str, Any]:
    """One step, in this process."""
    steps = {"build": _build, "read": _read, "open": _open}
    if step in steps:
        return {"step": step, **steps[step](path, other, limit)}
    return {"step": step, **_solve(path, limit)}


def _build(path: str, saved: str, limit: int) -> dict[str, Any]:
    with AnonymousPeak() as peak:
        started = time.perf_counter()
        build_graph([path], saved, memory=limit, force=True)
        return {"seconds": time.perf_counter() - started, "anonymous_bytes": peak.bytes}


def _solve(path: str, limit: int) -> dict[str, Any]:
    """Solve from the file, or, without a limit, from memory."""
    graph = read_graph(path)
    n = graph.n_nodes
    ids = np.random.default_rng(0).choice(n, n // 100, replace=False)
    block = np.minimum(ids // (n // CLASSES), CLASSES - 1)
    labels = dict(zip(map(str, ids.tolist()), block.tolist(), strict=True))
    for array in (graph.rows.start, graph.rows.ends):
        for first in range(0, len(array), 1 << 24):  # the file is in the page cache
            array[first : first + (1 << 24)].max()
    if not limit:
        rows = Rows(np.array(graph.rows.start), np.array(graph.rows.ends), None)
        graph = Graph(rows, graph.nodes)
    with AnonymousPeak() as peak:
        started = time.perf_counter()
        model = DirichletClassifier(tol=TOL, memory=limit or None).fit(graph, labels)
        seconds, most = time.perf_counter() - started, peak.bytes
    return {
        "seconds": seconds,
        "anonymous_bytes": most,
        "steps": int(model.n_iter_),
        "proven_error": float(model.solution_.certificate.bound),
        "fingerprint": f"{_hash(model.labels_)} {_hash(model.margins_)} {_hash(model.certified_)}",
    }


def _read(path: str, saved: str, _: int) -> dict[str, Any]:
    """From Parquet, and save it."""
    started = time.perf_counter()
    graph = read_graph(path)
    seconds = time.perf_counter() - started
    graph.save(saved, force=True)
    return {"seconds": seconds}


def _open(path: str, _: str, __: int) -> dict[str, Any]:
    """A saved graph: when it is open, and when its edges were looked at, once, to be used."""
    import isotherm.graph.saved
    import isotherm.read.load  # what reading any file loads  # noqa: F401

    before, started = current_bytes(), time.perf_counter()
    graph = read_graph(path)
    seconds, held = time.perf_counter() - started, current_bytes() - before
    _ = graph.rows.ends
    ready = time.perf_counter() - started
    return {"seconds": seconds, "bytes": held, "ready_seconds": ready}


def _hash(values: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]
