"""One label more, and seeds left out one at a time: on a GPU and on all processors."""

from __future__ import annotations

import numpy as np

from benchmarks import graphs as host_graphs
from benchmarks.gpu import graphs
from benchmarks.gpu.solves import median
from benchmarks.measure import Result
from isotherm import DirichletClassifier, Graph


def run(*, quick: bool) -> Result:
    """Measure."""
    result = Result(__doc__.splitlines()[0])
    made = {}
    if (host_graphs.REAL / "pubmed.npz").exists():
        matrix, labels = host_graphs.real("pubmed")
        made["PubMed"] = Graph.from_matrix(matrix), labels
    n, entries = (10_000, 200_000) if quick else (1_000_000, 20_000_000)
    made["block model"] = graphs.block_model(n, entries, 8)
    for name, (graph, labels) in made.items():
        rng = np.random.default_rng(4)
        seeds = np.full(len(labels), -1)
        known = rng.choice(len(labels), 500, replace=False)
        seeds[known] = labels[known]
        free = rng.permutation(np.flatnonzero(seeds < 0))
        for engine in ("cuda", "native"):
            classifier = DirichletClassifier(tol=1e-4, engine=engine, solver="cg")
            fit = median(3, lambda c=classifier, g=graph, s=seeds: c.fit(g, s))
            nodes = iter(free)

            def update(c=classifier, nodes=nodes, labels=labels) -> None:
                node = next(nodes)
                c.update({node: labels[node]})

            update()
            row = {"fit_ms": 1e3 * fit, "update_ms": 1e3 * median(9, update)}
            if graph.n_nodes < 1 << 18:
                row["leave_one_out_of_500_ms"] = 1e3 * median(3, classifier.leave_one_out)
            result.add(graph=name, engine=engine, **row)
    return result
