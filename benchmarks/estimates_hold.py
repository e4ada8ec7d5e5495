"""What `isotherm estimate` says comes about: memory within 1.3 times, time within 3.

Each job is estimated, then done by ``isotherm classify``, each in a process of its own, whose
memory at the peak is what the system reports of it. The graphs differ in size and density, the jobs
in classes (2 to 58), engine and model.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.measure import Result
from benchmarks.reading_is_fast import CLASSES, write_files

SIZES = (300_000, 3_000_000)
MOST_MEMORY, MOST_TIME = 1.3, 3.0
BLOCKS = 58


class Task(NamedTuple):
    """A graph of blocks, as many labels as there are classes, and how they are used."""

    nodes: int
    edges: int
    classes: int
    engine: str
    model: str
    weighted: bool = False

    def __str__(self) -> str:
        size = f"{self.nodes:,} nodes, {self.edges:,} edges, {self.classes} classes"
        return f"{size}, {self.model} on {self.engine}" + (", weighted" if self.weighted else "")


ENGINES_AND_MODELS = (("native", "paper"), ("native", "stacked"), ("scipy", "paper"))
GRID = [
    Task(20_000, 100_000, classes, engine, model)
    for classes in (58, 2)
    for engine, model in ENGINES_AND_MODELS
]
GRID += [
    Task(50_000, 3_000_000, 10, "scipy", "paper"),
    Task(150_000, 1_000_000, 40, "native", "paper"),
    Task(20_000, 100_000, 10, "scipy", "stacked"),
    Task(150_000, 1_000_000, 10, "native", "paper", weighted=True),
]


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    for task in GRID[:1] if quick else GRID:
        with tempfile.TemporaryDirectory() as folder:
            edges, labels = write_task(Path(folder), task)
            options = ["--engine", task.engine, "--model", task.model]
            found = compare(edges, labels, options)
            result.add(format="csv", **task._asdict(), **found)
            check(result, str(task), found, timed=False)
    for edges in SIZES[:1] if quick else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            csv, parquet, labels = write_files(Path(folder), edges)
            for path in (csv, parquet):
                found = compare(path, labels, [])
                task = Task(edges // 10, edges, CLASSES, "auto", "auto")
                result.add(format=path.suffix[1:], **task._asdict(), **found)
                check(result, f"{edges:,} edges from {path.suffix[1:]}", found, timed=True)
    return result


def write_task(folder: Path, task: Task) -> tuple[Path, Path]:
    """Edges, most of them inside blocks, and the labels of one node in 21."""
    rng = np.random.default_rng(task.nodes)
    source, target = rng.integers(0, task.nodes, (2, task.edges))
    inside = (target // BLOCKS * BLOCKS + source % BLOCKS) % task.nodes
    target = np.where(rng.random(task.edges) < 0.7, inside, target)
    edges, labels = folder / "edges.csv", folder / "labels.csv"
    rows = [f"node{a},node{b}" for a, b in zip(source.tolist(), target.tolist(), strict=True)]
    if task.weighted:
        weights = rng.random(task.edges).round(4).tolist()
        rows = [f"{row},{weight}" for row, weight in zip(rows, weights, strict=True)]
    head = "source,target,weight" if task.weighted else "source,target"
    edges.write_text("\n".join([head, *rows, ""]), encoding="ascii")
    known = [f"node{k},class{k % BLOCKS % task.classes}" for k in range(0, task.nodes, 21)]
    labels.write_text("\n".join(["node,label", *known, ""]), encoding="ascii")
    return edges, labels


def compare(edges: Path, labels: Path, options: list[str]) -> dict[str, float]:
    """Estimate a job, do it, and set the one beside the other."""
    isotherm, files = [sys.executable, "-m", "isotherm"], [str(edges), str(labels), *options]
    code = (
        "import sys; from isotherm.cli import app; from isotherm import estimate as e; "
        "from isotherm.report import terminal as t; "
        "t.estimate_lines = lambda one: [f'{one.nodes} {one.memory} {one.seconds}']; "
        "sys.argv[0] = 'isotherm'; app()"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, "estimate", *files], capture_output=True, text=True, check=True
    )
    nodes, told_memory, told_seconds = map(float, told.stdout.split())
    # By a small process in between: the memory of one's own counts in that of a child.
    code = (
        "import resource, subprocess, sys, time; t = time.perf_counter(); "
        "subprocess.run(sys.argv[1:], check=True); "
        "print(time.perf_counter() - t, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    out = ["-o", str(edges.with_name("out.csv")), "--force"]
    run = subprocess.run(
        [sys.executable, "-c", code, *isotherm, "classify", *files, *out],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, peak = map(float, run.stdout.split())
    return {
        "nodes_told": round(nodes),
        "memory_told": round(told_memory),
        "memory": round(1024 * peak),
        "seconds_told": told_seconds,
        "seconds": seconds,
    }


def check(result: Result, what: str, found: dict[str, float], *, timed: bool) -> None:
    """Hold what was told against what came about."""
    for name, most in (("memory", MOST_MEMORY), *([("seconds", MOST_TIME)] if timed else [])):
        ratio = found[f"{name}_told"] / found[name]
        times = max(ratio, 1 / ratio)
        result.check(f"{name} of {what}: told {ratio:.2f} times", times <= most)
