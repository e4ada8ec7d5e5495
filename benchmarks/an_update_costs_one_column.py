"""One more label after a fit costs one column, whatever the number of classes.

The block model and the R-MAT graph with 10 classes and 5 % seeds, and a grid of 300 × 300 with 20
seeds, where the factor made for the fit is kept. Labels are given one after the other, each to a
node that had none and that heat reaches; what comes out is proven like a fit, and is that of
fitting again.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result
from isotherm import DirichletClassifier, Graph, IsothermWarning

MOST = {"block model": 0.25, "R-MAT": 0.25, "grid": 0.1}  # of the time of a fit
UPDATES = 5
TOL = 1e-4


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    rng = np.random.default_rng(0)
    cases = [
        (name, Graph.from_matrix(A), labels, graphs.seeds(labels, 0.05, rng))
        for name, (A, labels) in graphs.the_two(quick=quick)
    ]
    side = 60 if quick else 300
    labels = rng.integers(0, 2, side * side)
    known = np.full(side * side, -1)
    some = rng.choice(side * side, 20, replace=False)
    known[some] = labels[some]
    cases.append(("grid", graphs.grid(side), labels, known))
    for name, graph, truth, given in cases:
        race(result, name, graph, truth, given)
    return result


def race(result, name, graph, truth, known):
    """Time a fit, and updates of one label each."""
    fits, updates = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsothermWarning)
        for _ in range(3):
            model = DirichletClassifier(tol=TOL)
            started = time.perf_counter()
            model.fit(graph, known)
            fits.append(time.perf_counter() - started)
        rng = np.random.default_rng(1)
        steps, known = [], known.copy()
        # A node without edges would cost next to nothing.
        for node in rng.choice(model.problem_.free, UPDATES, replace=False).tolist():
            known[node] = truth[node]
            started = time.perf_counter()
            model.update({node: truth[node]})
            updates.append(time.perf_counter() - started)
            steps.append(model.n_iter_)
        again = DirichletClassifier(tol=TOL).fit(graph, known)
    proven = model.solution_.certificate.bound
    both = model.certified_ & again.certified_
    ratio = min(updates) / min(fits)
    result.add(
        graph=name,
        fit_s=min(fits),
        update_s=min(updates),
        ratio=ratio,
        slowest_s=max(updates),
        fit_steps=again.n_iter_,
        update_steps=max(steps),
        proven_error=proven,
    )
    most = MOST[name]
    result.check(f"an update takes {ratio:.2f} ≤ {most} of a fit on {name}", ratio <= most)
    result.check(f"and is proven on {name}", proven <= TOL)
    same = bool((model.labels_ == again.labels_)[both].all())
    result.check(f"with the certified labels of fitting again on {name}", same)
