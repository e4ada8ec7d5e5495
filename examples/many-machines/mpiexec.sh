#!/usr/bin/env bash
# Many processes on one machine: mpiexec.sh [FOLDER OF THE PROGRAMS] [RANKS]
#
# Makes a small graph, saves it from part files, labels it on some ranks, and shows what was written.
# The programs are those of an environment with isotherm_petsc; MPIEXEC names another mpiexec.
set -euo pipefail
programs=${1:+$1/}
ranks=${2:-4}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${programs}python" - "$work" << 'PYTHON'
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from isotherm import BlockModel

folder = Path(sys.argv[1])
rng = np.random.default_rng(0)
graph, blocks = BlockModel([300, 300, 400], 0.05, 0.005).sample(rng)
edges = graph.adjacency.tocoo()
(folder / "parts").mkdir()
for k in range(6):
    rows = slice(k, None, 6)
    table = pa.table({"source": edges.row[rows], "target": edges.col[rows]})
    pq.write_table(table, folder / "parts" / f"part-{k}.parquet")
seeds = rng.choice(graph.n_nodes, 50, replace=False)
labels = pa.table({"node": seeds, "label": [f"block {blocks[i]}" for i in seeds]})
pq.write_table(labels, folder / "labels.parquet")
PYTHON

# What Open MPI must be told to run as root, or more ranks than processors.
set -a
# shellcheck source=open_mpi.env
source "$(dirname "$0")/open_mpi.env"
set +a
"${programs}isotherm" build "$work/parts" -o "$work/graph.iso"
"${MPIEXEC:-${programs}mpiexec}" -n "$ranks" "${programs}python" -m isotherm_petsc classify "$work/graph.iso" \
  "$work/labels.parquet" -o "$work/labelled.parquet" --model paper
ls "$work"
