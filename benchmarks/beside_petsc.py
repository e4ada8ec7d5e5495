"""The petsc engine takes at most 1.5 times as long as a plain PETSc program for the same columns.

A block model of 100 000 nodes and a million edges, ten classes, 5 % seeds, on 1 and 2 ranks. The
plain program solves one column after the other by conjugate gradients with the diagonal, to the
loosest residual at which no temperature is off by more than 1e-6, which it could not know by
itself: the answer is at hand. The engine finds exit times as well and proves its temperatures.
Each is run five times in turn, and solves several times in each run; the fastest counts. Needs a
Python with petsc4py and isotherm, named by ISOTHERM_PETSC_PYTHON, and its mpiexec.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import graphs
from benchmarks.measure import Result
from benchmarks.ranks_share_the_work import ALLOWED, write
from isotherm import DirichletProblem, Graph, solve_dirichlet

CLASSES, RANKS, TOL = 10, (1, 2), 1e-6
MOST, ROUNDS, WARM = 1.5, 5, 3
PYTHON = "ISOTHERM_PETSC_PYTHON"


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    python = os.environ.get(PYTHON, sys.executable)
    has_petsc = [python, "-c", "import petsc4py, isotherm"]
    if subprocess.run(has_petsc, check=False, capture_output=True).returncode:
        result.note = f"Not measured: there is no petsc4py, and {PYTHON} does not say where."
        return result
    source, target, n = graphs.planted(10_000 if quick else 1_000_000, CLASSES)
    truth = np.minimum(np.arange(n) // (n // CLASSES), CLASSES - 1)
    seeds = np.flatnonzero(np.random.default_rng(0).random(n) < 0.05)
    with tempfile.TemporaryDirectory() as folder:
        edges, labels = write(Path(folder), source, target, seeds, truth[seeds])
        problem = saved_problem(Path(folder) / "problem.npz", source, target, n, seeds, truth)
        for ranks in RANKS:
            runs: dict[str, list[dict[str, Any]]] = {"engine": [], "plain program": []}
            for turn in range(1 if quick else ROUNDS):
                asked = json.dumps([edges, labels, str(Path(folder) / f"out-{ranks}-{turn}")])
                columns = str(Path(__file__).with_name("petsc_columns.py"))
                programs = ["-m", __name__, asked], [columns, problem, str(TOL)]
                for done, program in zip(runs.values(), programs, strict=True):
                    done.append(on_ranks(python, ranks, program))
            fastest = {who: min(done, key=lambda run: run["seconds"]) for who, done in runs.items()}
            for who, found in fastest.items():
                result.add(ranks=ranks, who=who, **found)
            ratio = fastest["engine"]["seconds"] / fastest["plain program"]["seconds"]
            if not quick:
                result.check(f"{ranks} ranks: {ratio:.2f} times as long", ratio <= MOST)
    return result


def saved_problem(path: Path, source: Any, target: Any, n: int, seeds: Any, truth: Any) -> str:
    """The equations of the free nodes, and their answer, in a file."""
    graph = Graph.from_edges(source, target, nodes=range(n))
    problem = DirichletProblem(graph, seeds, np.eye(CLASSES)[truth[seeds]])
    matrix = sparse.csr_array(sparse.diags_array(problem.diagonal) - problem.inner)
    answer = solve_dirichlet(graph, seeds, problem.values, tol=TOL / 1000)
    np.savez(
        path,
        start=matrix.indptr,
        ends=matrix.indices,
        numbers=matrix.data,
        sources=problem.sources,
        expected=answer.temperatures[problem.free],
    )
    return str(path)


def on_ranks(python: str, ranks: int, program: list[str]) -> dict[str, Any]:
    """What so many ranks printed; by the mpiexec that their petsc4py was built for."""
    command = ["/usr/bin/mpiexec", "-n", str(ranks), python, *program]
    ended = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | ALLOWED,
        cwd=Path(__file__).parents[1],
    )
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def measured(edges: str, labels: str, out: str) -> None:
    """As one rank of several: classify by the engine, and print what the solve took."""
    from isotherm.distributed import DistributedModel, Ranks, classify
    from isotherm.engines.mpi.session import SharedSession

    ranks, solve, took = Ranks.world(), SharedSession.solve, []

    def seen(*arguments: Any, **options: Any) -> Any:
        took.append(solve(*arguments, **options))
        return took[-1]

    SharedSession.solve = seen  # type: ignore[method-assign]
    model, fastest = DistributedModel(engine="petsc", tol=TOL), None
    for turn in range(WARM):
        took.clear()
        classify(edges, labels, f"{out}-{turn}", ranks=ranks, model=model)
        if fastest is None or took[0].seconds < fastest.seconds:
            fastest = took[0]
    if ranks.rank == 0 and fastest is not None:
        found = {
            "seconds": fastest.seconds,
            "steps": fastest.n_iter,
            "error": fastest.certificate.bound,
        }
        print(json.dumps(found))


if __name__ == "__main__":
    measured(*json.loads(sys.argv[1]))
