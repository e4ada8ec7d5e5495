"""Leave-one-out costs its columns: 500 seeds take less than 20 times a fit with 20 columns.

On PubMed, both to the same tolerance, side by side. And a fit that chooses the decision and the
leak costs less than one and a half times what leave-one-out does for each of the leaks.
"""

from __future__ import annotations

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result, fastest
from isotherm import DirichletClassifier, Graph, solve_dirichlet
from isotherm.trust.choose import LEAKS

SEEDS, COLUMNS = 500, 20
MOST_PER_LEAK = 1.5  # leave-one-outs of the same seeds


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    name = "pubmed"
    if name not in graphs.real_names():
        return result
    A, labels = graphs.real(name)
    graph = Graph.from_matrix(A)
    rng = np.random.default_rng(0)
    seeds = np.sort(rng.choice(np.flatnonzero(labels >= 0), SEEDS, replace=False))
    known = np.full(len(labels), -1)
    known[seeds] = labels[seeds]
    for tol in (1e-4, 1e-6):
        model = DirichletClassifier(tol=tol).fit(graph, known)
        values = np.equal.outer(np.arange(SEEDS) % COLUMNS, np.arange(COLUMNS)).astype(float)
        chooser = DirichletClassifier("auto", leak="auto", tol=tol)
        left, fit, auto = fastest(
            1 if quick else 3,
            model.leave_one_out,
            lambda tol=tol, values=values: solve_dirichlet(graph, seeds, values, tol=tol),
            lambda chooser=chooser: chooser.fit(graph, known),
        )
        per_leak = auto / len(LEAKS) / left
        result.add(
            graph=name, tol=tol, leave_one_out_s=left, fit_s=fit, ratio=left / fit, auto_s=auto
        )
        what = f"auto to {tol:g} in {per_leak:.2f} leave-one-outs per leak < {MOST_PER_LEAK}"
        result.check(what, per_leak < MOST_PER_LEAK)
        result.check(f"500 seeds to {tol:g} in {left / fit:.1f} fits < 20", left / fit < 20)
    return result
