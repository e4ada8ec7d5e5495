"""Reading is fast: ten million edges with names from CSV and Parquet, and labels for all of them.

`read_graph` against scikit-network's ``from_csv`` and networkx's ``read_edgelist``, each in a
process of its own, imports apart; the memory at the peak against that of the finished graph and
its names. And ``isotherm classify``, start to finish, against a script with pandas and
scikit-network that does the same job: read both files, label every node by ten sweeps, write CSV.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result, current_bytes, forget_peak, in_process, peak_bytes

CLASSES = 10
MODULE = "benchmarks.reading_is_fast"

SCRIPT = """
import sys
import numpy as np
import pandas as pd
from scipy import sparse
from sknetwork.classification import DiffusionClassifier

edges_path, labels_path, out = sys.argv[1:]
edges = pd.read_csv(edges_path, header=None, dtype=str)
codes, names = pd.factorize(pd.concat([edges[0], edges[1]], ignore_index=True))
n, m = len(names), len(edges)
ones = np.ones(m, dtype=bool)
adjacency = sparse.csr_matrix((ones, (codes[:m], codes[m:])), shape=(n, n))
adjacency = (adjacency + adjacency.T).astype(bool)
known = pd.read_csv(labels_path, dtype=str)
label_codes, classes = pd.factorize(known["label"], sort=True)
labels = np.full(n, -1)
labels[pd.Index(names).get_indexer(known["node"])] = label_codes
model = DiffusionClassifier()
found = model.fit_predict(adjacency, labels)
best = model.predict_proba().max(axis=1)
table = pd.DataFrame({"node": names, "label": classes[found], "probability": best})
table.to_csv(out, index=False)
"""


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(Path(folder), 100_000 if quick else 10_000_000)
        csv, parquet, labels = map(str, files)
        ours = {}
        for kind, path in (("CSV", csv), ("Parquet", parquet)):
            runs = [in_process(MODULE, "isotherm", path) for _ in range(3)]
            ours[kind] = best = min(runs, key=lambda found: found["seconds"])
            result.add(reader="isotherm", format=kind, **best)
            times = best["peak_bytes"] / best["finished_bytes"]
            result.check(f"{kind}: at its peak {times:.2f} times the finished graph", times <= 3)
        for name, least in (("scikit-network", 10), ("networkx", 30)):
            found = in_process(MODULE, name, csv)
            result.add(reader=name, format="CSV", **found)
            for kind, own in ours.items():
                ratio = found["seconds"] / own["seconds"]
                result.check(
                    f"{kind}: {least} times faster than {name}: {ratio:.0f}", ratio >= least
                )
        race(result, csv, labels, Path(folder), rounds=1 if quick else 2)
    return result


def race(result: Result, csv: str, labels: str, folder: Path, rounds: int) -> None:
    """``isotherm classify`` against pandas and scikit-network, start to finish."""
    (folder / "same_job.py").write_text(SCRIPT, encoding="utf-8")
    out = str(folder / "out.csv")
    commands = {
        "isotherm classify": [
            sys.executable, "-m", "isotherm", "classify", csv, labels, "-o", out, "--force",
            "--model", "paper",
        ],
        "pandas + scikit-network": [
            sys.executable, str(folder / "same_job.py"), csv, labels, out,
        ],
    }  # fmt: skip
    seconds = dict.fromkeys(commands, np.inf)
    for _ in range(rounds):
        for name, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, check=True)
            seconds[name] = min(seconds[name], time.perf_counter() - started)
    for name, taken in seconds.items():
        result.add(job=name, seconds=taken)
    ours, theirs = seconds.values()
    result.check(f"classify is 3 times faster: {theirs / ours:.1f}", theirs / ours >= 3)


def write_files(folder: Path, edges: int) -> tuple[Path, Path, Path]:
    """A planted partition whose nodes have names, as CSV without a header and as Parquet."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    source, target, n = graphs.planted(edges, CLASSES)
    rng = np.random.default_rng(0)
    names = pa.array([f"user-{number}" for number in rng.permutation(9 * n)[:n].tolist()])
    table = pa.table({"source": names.take(source), "target": names.take(target)})
    pq.write_table(table, folder / "edges.parquet")
    options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
    pa.csv.write_csv(table, folder / "edges.csv", options)
    truth = np.minimum(np.arange(n) // (n // CLASSES), CLASSES - 1)
    known = np.flatnonzero(rng.random(n) < 0.05)
    rows = (f"{names[i]},class {truth[i]}\n" for i in known.tolist())
    (folder / "labels.csv").write_text("node,label\n" + "".join(rows), encoding="utf-8")
    return folder / "edges.csv", folder / "edges.parquet", folder / "labels.csv"


def measured(reader: str, path: str) -> dict[str, Any]:
    """Read once: seconds, and memory beyond what was there before."""
    if reader == "isotherm":
        return _ours(path)
    if reader == "networkx":
        import networkx as nx

        return _timed(lambda: nx.read_edgelist(path, delimiter=","))
    from sknetwork.data import from_csv

    return _timed(lambda: from_csv(path, delimiter=","))


def _timed(read: Any) -> dict[str, Any]:
    forget_peak()
    before = current_bytes()
    started = time.perf_counter()
    found = read()
    seconds = time.perf_counter() - started
    del found
    return {"seconds": seconds, "peak_bytes": peak_bytes() - before}


def _ours(path: str) -> dict[str, Any]:
    from isotherm import read_graph

    with tempfile.TemporaryDirectory() as folder:  # whatever is loaded on first use
        small = Path(folder) / "small.csv"
        small.write_text("a,b\nb,c\n", encoding="utf-8")
        read_graph(small)
    import pyarrow.parquet  # noqa: F401

    forget_peak()
    before = current_bytes()
    started = time.perf_counter()
    graph = read_graph(path)
    seconds = time.perf_counter() - started
    peak = peak_bytes() - before
    rows = graph.rows
    finished = sum(array.nbytes for array in (rows.start, rows.ends, graph.degrees))
    finished += graph.nodes.texts.nbytes
    return {
        "seconds": seconds,
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "peak_bytes": peak,
        "finished_bytes": finished,
    }
