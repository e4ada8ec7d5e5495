"""Beside the label propagation of igraph and of PyTorch Geometric, with accuracy.

igraph's ``community_label_propagation`` with the seeds' labels fixed, which gives every node the
commonest label around it until none changes, and PyTorch Geometric's ``LabelPropagation`` with its
usual 50 layers and α = 0.5, on the CPU with all threads; both from a graph in their own form.
isotherm from the SciPy matrix, temperatures certified to 1e-4. 5 % seeds. Whatever comes out; a
library that is not installed is left out.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result, fastest
from isotherm import DirichletClassifier
from isotherm.errors import IsothermWarning

REAL = ("pubmed", "fashion_mnist_knn10_graph")


def run(*, quick: bool) -> Result:
    """Measure all three on each graph."""
    result = Result(__doc__.splitlines()[0])
    labelled = {name: graphs.real(name) for name in REAL if name in graphs.real_names()}
    labelled["block model"] = graphs.block_model(10_000 if quick else 100_000)
    for name, (A, labels) in labelled.items():
        known = graphs.seeds(labels, 0.05, np.random.default_rng(0))
        free = (known < 0) & (labels >= 0)
        contestants = {
            who: run
            for who, prepare in CONTESTANTS.items()
            if (run := prepare(A, known)) is not None
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IsothermWarning)
            seconds = fastest(3, *contestants.values())
            for (who, run), took in zip(contestants.items(), seconds, strict=True):
                accuracy = float((np.asarray(run()) == labels)[free].mean())
                result.add(graph=name, who=who, seconds=took, accuracy=accuracy)
    return result


def by_isotherm(A, known):
    """Temperatures at equilibrium, centred."""
    return lambda: DirichletClassifier(tol=1e-4).fit(A, known).labels_


def by_igraph(A, known):
    """Majorities of neighbours, until no label changes."""
    try:
        import igraph
    except ImportError:
        return None
    upper = A.tocoo()
    edges = np.column_stack([upper.row, upper.col])[upper.row < upper.col]
    graph = igraph.Graph(n=A.shape[0], edges=edges)
    fixed, initial = (known >= 0).tolist(), known.tolist()

    def run():
        found = graph.community_label_propagation(initial=initial, fixed=fixed)
        community = np.array(found.membership)  # numbered anew: seeds tell which label it is
        label_of = np.full(community.max() + 1, -1)
        label_of[community[known >= 0]] = known[known >= 0]
        return label_of[community]

    return run


def by_torch_geometric(A, known):
    """Fifty sweeps of the normalised matrix."""
    try:
        import torch
        from torch_geometric.nn import LabelPropagation
    except ImportError:
        return None
    entries = A.tocoo()
    edges = torch.tensor(np.vstack([entries.row, entries.col]), dtype=torch.long)
    y = torch.tensor(np.maximum(known, 0))
    mask = torch.tensor(known >= 0)
    model = LabelPropagation(num_layers=50, alpha=0.5)

    def run():
        with torch.no_grad():
            return model(y, edges, mask=mask).argmax(dim=1).numpy()

    return run


CONTESTANTS = {
    "isotherm": by_isotherm,
    "igraph": by_igraph,
    "PyTorch Geometric": by_torch_geometric,
}
