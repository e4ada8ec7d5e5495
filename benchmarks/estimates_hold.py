"""What `isotherm estimate` says comes about: memory within 1.5 times, time within 3.

Each job is estimated, then done by ``isotherm classify`` in a process of its own, whose memory at
the peak is what the system reports of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Result
from benchmarks.reading_is_fast import write_files
from isotherm.estimate import estimate_job
from isotherm.job import Job

SIZES = (300_000, 3_000_000, 10_000_000)


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    for edges in SIZES[:1] if quick else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            csv, parquet, labels = write_files(Path(folder), edges)
            for path in (csv, parquet):
                compare(result, edges, path, labels, Path(folder) / "out.csv")
    return result


def compare(result: Result, edges: int, path: Path, labels: Path, out: Path) -> None:
    """Estimate a job, do it, and set the one beside the other."""
    told = estimate_job(Job(str(path), str(labels)))
    command = [sys.executable, "-m", "isotherm", "classify", str(path), str(labels)]
    # By a small process in between: the memory of one's own counts in that of a child.
    code = (
        "import resource, subprocess, sys, time; t = time.perf_counter(); "
        "subprocess.run(sys.argv[1:], check=True); "
        "print(time.perf_counter() - t, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, *command, "-o", str(out), "--force"],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, peak = map(float, run.stdout.split())
    memory = round(1024 * peak)
    result.add(
        format=path.suffix[1:],
        edges=edges,
        nodes_told=told.nodes,
        counted=told.exact,
        memory_told=told.memory,
        memory=memory,
        seconds_told=told.seconds,
        seconds=seconds,
    )
    size = f"{edges:,} edges from {path.suffix[1:]}"
    times = max(told.memory / memory, memory / told.memory)
    result.check(f"memory of {size} within {times:.2f} times", times <= 1.5)
    times = max(told.seconds / seconds, seconds / told.seconds)
    result.check(f"time of {size} within {times:.2f} times", times <= 3)
