"""Ranks share the work: one costs about what the native engine does, two take less time than one.

A block model of a million nodes, ten classes, 5 % seeds, in eight part files. Each number of ranks
reads, solves, judges and writes it by mpiexec, a thread on each; the native engine solves the same
problem with one thread, in a process that is as new. These two are compared by the time of the
processor. All are run three times in turn; the fastest counts. Memory is that of a rank at its
peak, next to 1.5 times its share of the graph (4 bytes an entry, 8 a node) and six arrays of its
nodes × classes in float64, beyond what the process has without a graph: that is measured, too.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import graphs
from benchmarks.measure import Result
from isotherm import Graph
from isotherm.dirichlet import DirichletProblem
from isotherm.distributed.cost import cost
from isotherm.engines.native import NativeEngine
from isotherm.solvers import SolveOptions

CLASSES = 10
RANKS = (1, 2, 4)
ROUNDS = 3
ALLOWED = {  # more ranks than processors, also as root
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMP_NUM_THREADS": "1",
}


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    source, target, n = graphs.planted(100_000 if quick else 10_000_000, CLASSES)
    truth = np.minimum(np.arange(n) // (n // CLASSES), CLASSES - 1)
    seeds = np.flatnonzero(np.random.default_rng(0).random(n) < 0.05)
    graph = Graph.from_edges(source, target, nodes=range(n))
    rounds = 1 if quick else ROUNDS
    native = min(in_a_new_process(graph, seeds, truth[seeds]) for _ in range(rounds))
    result.add(ranks="native engine", nodes=n, edges=len(source), processor=native)
    with tempfile.TemporaryDirectory() as folder:
        edges, labels = write(Path(folder), source, target, seeds, truth[seeds])
        del source, target
        bare = without_a_graph(Path(folder) / "bare", rounds)
        solving, processor = {}, {}
        runs = {ranks: list[dict[str, Any]]() for ranks in RANKS}
        for _ in range(rounds):
            for ranks in RANKS:
                runs[ranks].append(on_ranks(ranks, edges, labels, Path(folder) / "out"))
        for ranks in RANKS:
            found = min(runs[ranks], key=lambda run: run["seconds"]["solving"])
            solving[ranks] = found["seconds"]["solving"]
            processor[ranks] = min(run["processor"] for run in runs[ranks])
            entries, own = max(found["entries"]), n / ranks
            share = 1.5 * (4 * entries + 8 * own) + 6 * 8 * own * CLASSES
            blocks = cost(n, graph.n_edges, CLASSES, ranks).blocks
            model = cost(n, graph.n_edges, CLASSES, ranks, steps=found["steps"] // blocks)
            memory = max(max(run["memory"]) for run in runs[ranks])
            result.add(
                ranks=ranks,
                steps=found["steps"],
                blocks_of_columns=blocks,
                **found["seconds"],
                memory=memory,
                memory_by_model=model.memory,
                without_a_graph=bare[ranks],
                allowed=share + bare[ranks],
                sent_a_step=found["sent_a_step"],
                sent_by_model=model.sent,
                processor=processor[ranks],
                processor_a_step=found["processor_a_step"],
                processor_by_model=model.computing,
                imbalance=max(found["entries"]) * ranks / sum(found["entries"]),
            )
            if not quick:
                result.check(f"{ranks} ranks: memory", memory <= share + bare[ranks])
    result.note = (
        f"Other work was going on: {os.getloadavg()[0]:.0f} processes waited for "
        f"{os.cpu_count()} processors at the end. What waits for others suffers most from that."
    )
    if not quick:
        ratio = processor[1] / native
        result.check(f"1 rank takes {ratio:.2f} times the native engine's processor", ratio <= 1.5)
        gain = solving[1] / solving[2]
        result.check(f"2 ranks are {gain:.2f} times as fast as 1", gain >= 1.5)
    return result


def in_a_new_process(*arguments: Any) -> float:
    """The same by a copy of this process, whose memory is as new as that of a rank."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return float(pool.apply(native_seconds, arguments))


def native_seconds(graph: Graph, seeds: Any, codes: Any) -> float:
    """Of a processor, for a solve on one thread."""
    values = np.eye(CLASSES)[codes]

    began = time.process_time()
    with NativeEngine(1).prepare(DirichletProblem(graph, seeds, values), SolveOptions()) as session:
        session.solve()
    return time.process_time() - began


def write(folder: Path, source: Any, target: Any, seeds: Any, codes: Any) -> tuple[str, str]:
    """The graph and its labels in part files."""
    (folder / "parts").mkdir()
    for k in range(8):
        some = slice(k, None, 8)
        table = pa.table({"source": source[some], "target": target[some]})
        pq.write_table(table, folder / "parts" / f"part-{k}.parquet")
    labels = pa.table({"node": seeds, "label": [f"class {k}" for k in codes]})
    pq.write_table(labels, folder / "labels.parquet")
    return str(folder / "parts"), str(folder / "labels.parquet")


def without_a_graph(folder: Path, rounds: int) -> dict[int, int]:
    """Bytes of a rank that has next to no graph, for each number of ranks; the least counts."""
    folder.mkdir()
    ring = np.arange(100)
    edges, labels = write(folder, ring, (ring + 1) % 100, ring[::10], ring[::10] // 50)
    runs = {ranks: [on_ranks(ranks, edges, labels, folder / "out") for _ in range(rounds)]
            for ranks in RANKS}  # fmt: skip
    return {ranks: min(max(run["memory"]) for run in some) for ranks, some in runs.items()}


def on_ranks(ranks: int, edges: str, labels: str, out: Path) -> dict[str, Any]:
    """What so many ranks took."""
    beside = Path(sys.executable).parent
    mpiexec = shutil.which("mpiexec", path=f"{beside}{os.pathsep}{os.environ['PATH']}")
    if mpiexec is None:
        raise SystemExit("there is no mpiexec: pip install 'isotherm[mpi]'")
    command = [mpiexec, "-n", str(ranks), sys.executable, "-m", "benchmarks.one_rank"]
    shutil.rmtree(out, ignore_errors=True)
    asked = json.dumps([edges, labels, str(out)])
    ended = subprocess.run(
        [*command, asked], check=True, capture_output=True, text=True, env=os.environ | ALLOWED
    )
    found: dict[str, Any] = json.loads(ended.stdout)
    return found
