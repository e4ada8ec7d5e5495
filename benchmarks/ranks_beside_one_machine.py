"""On two ranks PETSc takes at most twice the processor time of steps of our own.

A block model of a million nodes and ten million edges, 5 % seeds, and a grid of 1000² with 1000
seeds; ten classes, to an error of 1e-6, exit times and proof included, prepared from a saved graph.
PETSc on one, two and four ranks stands beside the native engine on one thread, and beside what
else would stay: conjugate gradients with the diagonal, in NumPy on the core's `Rows.multiply`, 16
columns at once, in one process, proven by the core. Processor seconds are those of all ranks
together, from their start. Needs isotherm_petsc and mpiexec.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import graphs, on_ranks
from benchmarks.measure import Result
from isotherm import DirichletProblem, Graph, SolveOptions, read_graph
from isotherm.engines import ENGINES
from isotherm.engines.native.proof import native_imbalance
from isotherm.solvers.certificate import prove

CLASSES, TOL = 10, 1e-6
PROGRAMS = (("native", 1), ("multiply", 1), ("petsc", 1), ("petsc", 2), ("petsc", 4))


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for name, graph in (
            (
                "block model",
                Graph.from_matrix(graphs.block_model(20_000 if quick else 1_000_000)[0]),
            ),
            ("grid", graphs.grid(100 if quick else 1000)),
        ):
            path = Path(folder) / f"{name.split()[0]}.iso"
            graph.save(path)
            del graph
            took = {}
            for who, ranks in PROGRAMS:
                found = measured(who, ranks, path)
                took[who, ranks] = found["processor"]
                result.add(graph=name, engine=who, ranks=ranks, **found)
            ratios.append(took["petsc", 2] / took["multiply", 1])
    mean = float(np.exp(np.mean(np.log(ratios))))
    result.note = f"Geometric mean over both graphs: {mean:.2f} times our own steps."
    result.check(f"{mean:.2f} times the processor time of our own steps", mean <= 2)
    return result


def measured(who: str, ranks: int, path: Path) -> dict[str, float]:
    """What a solve takes in processes of its own."""
    printed = on_ranks.run(ranks, "-m", "benchmarks.ranks_beside_one_machine", who, str(path))
    found = [json.loads(part + "}") for part in printed.split("}")[:-1]]  # of all ranks
    whole = max(found, key=len)
    return {**whole, "processor": sum(one["processor"] for one in found)}


def one(who: str, path: str) -> None:
    """Solve in this process, or as one of the ranks, and print what it took."""
    if who != "petsc":
        print(json.dumps(solve(who, path)))
        return
    from isotherm_petsc import serve

    began = time.process_time()
    with serve() as is_first:
        if is_first:
            found = solve(who, path)
    if is_first:
        print(json.dumps(found))
    else:  # all that this rank did was for the solve
        print(json.dumps({"processor": time.process_time() - began}))


def solve(who: str, path: str) -> dict[str, float]:
    """Seconds, processor seconds, steps and the bound of one solve; made ready beforehand."""
    graph = read_graph(path)
    rng = np.random.default_rng(0)
    share = 1000 if "grid" in path else 20  # of the nodes of a grid few are known: it is hard
    seeds = np.sort(rng.choice(graph.n_nodes, graph.n_nodes // share, replace=False))
    values = np.eye(CLASSES)[rng.integers(0, CLASSES, len(seeds))]
    problem = DirichletProblem(graph, seeds, values)
    began, clock = time.process_time(), time.perf_counter()
    if who == "multiply":
        steps, bound = by_multiply(problem)
    else:
        if who == "petsc":
            from isotherm_petsc import PetscEngine

            engine: Any = PetscEngine()
        else:
            engine = ENGINES[who]
        with engine.prepare(problem, SolveOptions(TOL, threads=1)) as session:
            solution = session.solve()
            steps, bound = solution.n_iter, solution.certificate.bound
    return {
        "processor": time.process_time() - began,
        "seconds": time.perf_counter() - clock,
        "steps": steps,
        "bound": bound,
    }


def by_multiply(problem: DirichletProblem) -> tuple[int, float]:
    """Conjugate gradients on all columns and the exit times, in float32; and their proof."""
    graph, free, k = problem.graph, problem.is_free, CLASSES
    degrees = graph.degrees
    unit = np.where(free, np.sqrt(degrees), 1.0).astype(np.float32)[:, np.newaxis]
    diagonal = np.where(free, degrees, 1.0).astype(np.float32)[:, np.newaxis]
    mask = free.astype(np.float32)[:, np.newaxis]
    X = np.zeros((graph.n_nodes, 16))
    X[problem.boundary, :k] = problem.values
    goals, steps, longest, rounds = np.full(16, np.inf), 0, 1.0, 0
    while True:
        R = (mask * (graph.adjacency @ X - diagonal * X)).astype(np.float32)
        R[:, k : k + 1] += mask * unit
        D, P, before = np.zeros_like(R), np.zeros_like(R), np.full(16, np.inf)
        first = np.abs(R / unit).max(axis=0)
        goals[k], goals[:k] = 0.1, TOL / (2 * longest)
        while True:
            levels = np.abs(R / unit).max(axis=0)
            moving = levels > goals
            if not moving.any() or (levels[moving] < 1e-5 * first[moving]).any() or steps > 9999:
                break
            Z = R / diagonal
            rz = np.einsum("ik,ik->k", R, Z, dtype=np.float64)
            P = Z + (np.where(moving, rz / before, 0.0)).astype(np.float32) * P
            V = mask * (diagonal * P - graph.rows.multiply(P))
            along = np.einsum("ik,ik->k", P, V, dtype=np.float64)
            alpha = np.divide(rz, along, out=np.zeros(16), where=moving & (along > 0))
            D += alpha.astype(np.float32) * P
            R -= alpha.astype(np.float32) * V
            before, steps = np.where(rz > 0, rz, np.inf), steps + 1
            if steps % 8 == 0:
                longest = max(longest, float((X[:, k] + D[:, k]).max()))
                goals[:k] = TOL / (2 * longest)
        X += D
        rounds += 1
        T = np.ascontiguousarray(np.clip(X[:, :k], 0.0, 1.0))
        h = np.where(free, X[:, k], 0.0)
        longest = max(float(h.max()), 1.0)
        bound = prove(problem, T, h, native_imbalance(problem, T, h, threads=1)).bound
        if bound <= TOL or steps > 9999 or rounds > 20:
            return steps, bound


if __name__ == "__main__":
    one(*sys.argv[1:])
