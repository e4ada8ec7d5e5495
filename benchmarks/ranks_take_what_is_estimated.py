"""What `isotherm estimate --ranks` says of memory comes about, within 1.5 times.

Jobs of ``isotherm classify`` with the paper's model, on 1, 2 and 4 ranks: block models of 300 000
and a million nodes with ten edges for each and 5 % seeds, and a grid of 500² with 500 seeds,
which needs the multigrid. A rank's memory is what it has of its own at its peak: mapped files can
be evicted. Edges of the block models lead anywhere, as the estimate takes it; those of a grid do
not. Needs isotherm_petsc and mpiexec.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result
from benchmarks.on_ranks import peaks
from isotherm import Graph, read_graph

CLASSES, MOST = 10, 1.5
HARD = 100  # steps to expect on a grid


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    sizes, side = ((20_000,), 100) if quick else ((300_000, 1_000_000), 500)
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            path = Path(folder) / f"{n}.iso"
            Graph.from_matrix(graphs.block_model(n)[0]).save(path)
            measure(result, f"block model of {n:,} nodes", path, n // 20, steps=20)
        path = Path(folder) / "grid.iso"
        graphs.grid(side).save(path)
        measure(result, f"grid of {side}²", path, side, steps=HARD)
    return result


def measure(result: Result, name: str, path: Path, n_seeds: int, *, steps: int) -> None:
    """Do a job on ranks, and set what it took beside what was told."""
    from isotherm_petsc.cost import memory_of_ranks

    graph, labels = read_graph(path), path.with_suffix(".csv")
    seeds = np.random.default_rng(0).choice(graph.n_nodes, n_seeds, replace=False)
    known = [f"{i},{i * CLASSES // graph.n_nodes}" for i in seeds.tolist()]
    labels.write_text("\n".join(["node,label", *known, ""]), encoding="ascii")
    job = ["classify", str(path), str(labels), "--model", "paper", "--force", "-o"]
    for ranks in (1, 2, 4):
        told = memory_of_ranks(graph.n_nodes, graph.n_edges, CLASSES, ranks, steps=steps)
        found = peaks(ranks, "-m", "isotherm_petsc", *job, str(path.with_suffix(".out.csv")))
        result.add(
            graph=name,
            ranks=ranks,
            first=found[0],
            first_told=told[0],
            others=found[1] if ranks > 1 else None,
            others_told=told[1] if ranks > 1 else None,
        )
        for who, one, other in zip(("first", "others"), found[:ranks], told, strict=False):
            times = other / one
            holds = 1 / MOST <= times <= MOST
            result.check(f"{name}, {ranks} ranks, {who}: told {times:.2f} times", holds)
