"""Two classes cost less than half of what sixteen do, and one column a third.

The time of a step, with the exit times in it, on an R-MAT graph of 2^17 nodes and 1 M edges, 5 %
seeds, without weights and with: two classes at most 0.45 of sixteen, one column whose exit times
are known at most 0.35. It is the difference of many steps and few, so that what comes before the
first does not count.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result, fastest
from isotherm import Graph
from isotherm.dirichlet import DirichletProblem
from isotherm.engines import NativeEngine
from isotherm.solvers import SolveOptions
from isotherm.solvers.cg import ConjugateGradient
from isotherm.solvers.method import Watch

STEPS = 10, 50
COLUMNS = {  # how many, and whether the exit times are known
    "sixteen classes": (16, False),
    "five classes": (5, False),
    "two classes": (2, False),
    "one column": (1, True),
}
MOST = {"two classes": 0.45, "one column": 0.35}


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    A, _ = graphs.rmat(*(14, 100_000) if quick else (17, 1_000_000))
    for weighted in (False, True):
        if weighted:
            A = A.copy()
            rng = np.random.default_rng(3)
            A.data = rng.uniform(0.5, 2.0, A.nnz)
            A = A.maximum(A.T)
        graph = Graph.from_matrix(A)
        makers = [steps_of(graph, columns, known=known) for columns, known in COLUMNS.values()]
        runs = [partial(make, steps) for make in makers for steps in STEPS]
        seconds = np.diff(np.reshape(fastest(5 if quick else 30, *runs), (-1, 2)))[:, 0].tolist()
        for name, took in zip(COLUMNS, seconds, strict=True):
            ratio = took / seconds[0]
            ns = 1e9 * took / (STEPS[1] - STEPS[0]) / A.nnz
            result.add(columns=name, weighted=weighted, ns_per_entry=ns, of_sixteen=ratio)
            if name in MOST:
                what = f"{name}{' with weights' if weighted else ''}: {ratio:.2f} of sixteen"
                result.check(f"{what}, at most {MOST[name]}", ratio <= MOST[name])
    return result


def steps_of(graph, columns, *, known):
    """What makes so many steps as it is told; `known`: the exit times are."""
    rng = np.random.default_rng(4)
    seeds = np.flatnonzero(rng.random(graph.n_nodes) < 0.05)
    codes = rng.integers(0, max(columns, 2), len(seeds))
    values = np.eye(max(columns, 2))[codes][:, :columns]
    problem = DirichletProblem(graph, seeds, values)
    method = (
        NativeEngine().prepare(problem, SolveOptions(1e-4)).operator.method(ConjugateGradient())
    )
    X = method.start(problem, 1e-4, None)
    if known:  # as after a solve
        for _ in method.iterate(X, 1e-4, Watch()):
            pass
        method.certify(X)
        X = method.start(problem, 1e-4, None)
    (block,), (steering,) = method.run.blocks, method.run.steerings
    if block.exits == known:
        raise RuntimeError("the exit times are not as they should be")
    return lambda steps: steering.make_steps(X, steps)
