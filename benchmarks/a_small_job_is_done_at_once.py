"""A small job is done at once: ``isotherm classify`` of 1 000 edges within 0.6 s, start to exit.

A process of its own each time, with its modules compiled beforehand as an installation has them.
Beside it, what it takes to load scikit-learn, which the command line does without.
"""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import isotherm
from benchmarks import graphs
from benchmarks.measure import Result

CLASSES = 3


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    compileall.compile_dir(Path(isotherm.__file__).parent, quiet=1)
    rounds = 3 if quick else 10
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        files = ("edges.csv", "labels.csv", "-o", "out.csv", "--force")
        job = least(rounds, folder, "-m", "isotherm", "classify", *files)
        library = least(rounds, folder, "-c", "import sklearn.base")
    result.add(what="classify", seconds=job)
    result.add(what="import sklearn.base", seconds=library)
    result.check(f"classify of 1 000 edges in {job:.2f} s ≤ 0.6 s", job <= 0.6)
    return result


def least(rounds: int, folder: str, *arguments: str) -> float:
    """Least seconds of a Python process."""
    best = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            check=True,
            capture_output=True,
            env=os.environ | {"OMP_NUM_THREADS": "2"},
        )
        best = min(best, time.perf_counter() - started)
    return best


def write_files(folder: Path) -> None:
    """A planted partition of 1 000 edges whose nodes have names, and the labels of every fifth."""
    source, target, n = graphs.planted(1_000, CLASSES)
    edges = zip(source.tolist(), target.tolist(), strict=True)
    text = "".join(f"user-{i},user-{j}\n" for i, j in edges)
    (folder / "edges.csv").write_text("source,target\n" + text, encoding="utf-8")
    known = [(i, min(i // (n // CLASSES), CLASSES - 1)) for i in range(0, n, 5)]
    text = "".join(f"user-{i},class {label}\n" for i, label in known)
    (folder / "labels.csv").write_text("node,label\n" + text, encoding="utf-8")
