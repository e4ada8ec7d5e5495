"""
A saved graph, solved from the disk
===================================

Reading names and sorting edges takes longer than a solve. If you use a graph more than once, save
it to a file, which is then mapped: it opens in milliseconds, and its edges need not fit into
memory. ``isotherm build edges.parquet -o graph.iso --memory 4G`` makes such a file even if the
edges do not fit into memory.
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from isotherm import BlockModel, DirichletClassifier, Graph, read_graph

rng = np.random.default_rng(0)
graph, blocks = BlockModel([30_000] * 4, 4e-4, 4e-5).sample(rng)
edges = graph.adjacency.tocoo()
once = edges.row < edges.col
source, target = edges.row[once], edges.col[once]
print(f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges")

# %%
# The same graph is built from its edges, saved, and opened.


def seconds(work):
    started = time.perf_counter()
    found = work()
    return time.perf_counter() - started, found


path = Path(tempfile.mkdtemp()) / "graph.iso"
took = {}
took["built from edges"], built = seconds(lambda: Graph.from_edges(source, target))
took["saved"], _ = seconds(lambda: built.save(path))
took["opened"], opened = seconds(lambda: read_graph(path))
print(f"{path.stat().st_size / 1e6:.0f} MB")

# %%
# A classifier does not care where the graph is. ``memory`` is the most that the arrays of a solve
# may take. The edges do not count, and columns are solved a few at a time if necessary.

known = np.where(rng.random(graph.n_nodes) < 0.05, blocks, -1)
labels = dict(enumerate(known.tolist()))
seeds = {node: label for node, label in labels.items() if label >= 0}
in_memory = DirichletClassifier().fit(built, seeds)
from_disk = DirichletClassifier(memory=200 * 2**20).fit(opened, seeds)
same = np.array_equal(in_memory.labels_, from_disk.labels_)
apart = np.abs(in_memory.temperatures_ - from_disk.temperatures_).max()
print(f"the same labels: {same}; temperatures within {apart:.0e}, both proven to 1e-06")

# %%
# This is how long each took. When the edges are first used, each of them is checked once, so that a
# damaged file is not trusted; that is part of the first solve.

figure, axis = plt.subplots(figsize=(7, 2.4), layout="constrained")
axis.barh(list(took), list(took.values()), color="#4477aa")
axis.invert_yaxis()
axis.set_xscale("log")
axis.set_xlabel("seconds")
