"""
Many processes share a graph
============================

A graph that is too large for one machine comes in part files. Each process (a rank) reads some of
them and owns some of the nodes; labels and their proof are those of one machine. On a cluster the
scheduler starts the same line; here it runs as two processes on one computer.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from isotherm import BlockModel, DirichletClassifier

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
graph, blocks = BlockModel([300, 300, 400], 0.05, 0.005).sample(rng)
edges = graph.adjacency.tocoo()
for k in range(6):
    rows = slice(k, None, 6)
    part = pa.table({"source": edges.row[rows], "target": edges.col[rows]})
    pq.write_table(part, folder / f"part-{k}.parquet")
seeds = rng.choice(graph.n_nodes, 50, replace=False)
names = [f"block {blocks[node]}" for node in seeds]
pq.write_table(pa.table({"node": seeds, "label": names}), folder / "labels.parquet")

# %%
# The line is ``mpiexec -n 2 isotherm classify part-*.parquet labels.parquet -o out``.
# The variables allow Open MPI to run more processes than there are processors.

command = [Path(sys.executable).with_name("mpiexec"), "-n", "2", sys.executable, "-m", "isotherm"]
parts = sorted(folder.glob("part-*.parquet"))
files = [*parts, folder / "labels.parquet", "-o", folder / "out", "-q"]
allowed = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
subprocess.run([*command, "classify", *files], check=True, env=os.environ | allowed)
print(sorted(path.name for path in (folder / "out").iterdir()))

# %%
# There is one part file per rank, and ``_SUCCESS`` once all are complete. Together they say what
# one machine says.

written = [pq.read_table(path) for path in sorted((folder / "out").glob("*.parquet"))]
found = {}
for table in written:
    found |= dict(zip(table["node"].to_pylist(), table["label"].to_pylist(), strict=True))
model = DirichletClassifier().fit(graph, dict(zip(seeds.tolist(), names, strict=True)))
alone = {str(node): label for node, label in zip(model.names_, model.labels_, strict=True)}
same = sum(label == alone[str(node)] for node, label in found.items())
print(f"{same} of {len(found)} labels are the same")

# %%
# Rows are shared out so that each rank has the same number of edges, not the same number of nodes.

degrees = {str(node): degree for node, degree in zip(graph.names, graph.degrees, strict=True)}
entries = [sum(degrees[str(node)] for node in table["node"].to_pylist()) for table in written]
figure, axes = plt.subplots(1, 2, figsize=(7, 2.6), layout="constrained")
for axis, title, sizes in zip(
    axes, ("nodes", "entries"), ([len(table) for table in written], entries), strict=True
):
    axis.bar([f"rank {k}" for k in range(len(sizes))], sizes, color=["#4477aa", "#ee6677"])
    axis.set_title(title)
