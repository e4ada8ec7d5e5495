"""Beyond the graph, a fit holds at most six n × K arrays of float32 at its peak.

The graph itself takes 4 bytes per stored entry, and 8 per node for its degrees. Peak memory of a
fit over what the process held before it, as the system reports it, in units of n × K floats, each
in a process of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result, current_bytes, forget_peak, in_process, peak_bytes
from isotherm import DirichletClassifier, Graph

MOST = 6.0


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    for classes in (4, 8, 10, 16, 40):
        for tol in (1e-4, 1e-6):
            # Large enough for each array to be given back to the system when it is let go.
            edges = 1_000_000 if quick else 50_000_000
            found = in_process("benchmarks.memory_stays_within_six_arrays", edges, classes, tol)
            result.add(**found)
            if not quick:
                result.check(
                    f"{classes} classes, tol {tol:g}: {found['arrays']:.2f} arrays",
                    found["arrays"] <= MOST,
                )
    return result


def measured(edges: int, classes: int, tol: float) -> dict[str, Any]:
    """Fit once; what the peak was above what was there before."""
    source, target, n = graphs.planted(edges, classes)
    graph = Graph.from_edges(source, target, nodes=range(n))
    del source, target
    _ = graph.degrees  # the graph's own, found when they are first asked for
    truth = np.minimum(np.arange(n) // (n // classes), classes - 1)
    known = np.where(np.random.default_rng(0).random(n) < 0.05, truth, -1)
    small = Graph.from_edges([0, 1, 2], [1, 2, 3])
    DirichletClassifier().fit(small, {0: 0, 3: 1})  # whatever is loaded on first use
    forget_peak()
    before = current_bytes()
    model = DirichletClassifier(tol=tol).fit(graph, known)
    return {
        "nodes": n,
        "classes": classes,
        "tol": tol,
        "bytes_per_entry": graph.rows.ends.nbytes / len(graph.rows.ends),
        "peak_bytes": peak_bytes() - before,
        "arrays": (peak_bytes() - before) / (4 * n * classes),
        "proven_error": model.solution_.certificate.bound,
    }
