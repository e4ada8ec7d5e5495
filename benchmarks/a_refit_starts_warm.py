"""Refitting after a few labels changed starts from the last temperatures.

The block model and the R-MAT graph with 5 % seeds; then ten more nodes get a label. The refit is
proven to the same tolerance as a fit from nothing.
"""

from __future__ import annotations

import copy
import time

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result
from isotherm import DirichletClassifier, Graph

CHANGED = 10


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    for name, (A, labels) in graphs.the_two(quick=quick):
        graph = Graph.from_matrix(A)
        known = graphs.seeds(labels, 0.05, np.random.default_rng(0))
        fitted = DirichletClassifier(tol=1e-4, warm_start=True).fit(graph, known)
        more = known.copy()
        found = np.random.default_rng(1).choice(np.flatnonzero(known < 0), CHANGED, replace=False)
        more[found] = labels[found]
        seconds = {"cold": np.inf, "warm": np.inf}
        models = {}
        for _ in range(3):
            for how in seconds:
                models[how] = copy.copy(fitted)
                models[how].warm_start = how == "warm"
                started = time.perf_counter()
                models[how].fit(graph, more)
                seconds[how] = min(seconds[how], time.perf_counter() - started)
        proven = models["warm"].solution_.certificate.bound
        result.add(
            graph=name,
            cold_s=seconds["cold"],
            warm_s=seconds["warm"],
            ratio=seconds["cold"] / seconds["warm"],
            cold_steps=models["cold"].n_iter_,
            warm_steps=models["warm"].n_iter_,
            proven_error=proven,
        )
        result.check(f"a warm refit is quicker on {name}", seconds["warm"] < seconds["cold"])
        result.check(f"and proven on {name}", proven <= 1e-4)
    return result
