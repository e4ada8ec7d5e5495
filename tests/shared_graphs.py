"""Graphs in part files, and what one machine makes of them, for the tests of many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from isotherm import BlockModel, DirichletClassifier, read_graph, read_labels, write_predictions
from isotherm.distributed.ownership import share_of
from isotherm.engines.mpi.share import SharedProblem
from isotherm.read.edges import Growing


class Case(NamedTuple):
    edges: str
    labels: str
    folder: object


def write_case(folder, source, target, labels, *, weight=None, n_parts=5):
    """A case of edges, as Parquet files, and a mapping of labels."""
    (folder / "parts").mkdir(parents=True)
    columns = {"source": list(map(str, source)), "target": list(map(str, target))}
    if weight is not None:
        columns["weight"] = np.asarray(weight, dtype=float)
    table = pa.table(columns)
    cuts = np.linspace(0, len(table), n_parts + 1).astype(int)
    for k in range(n_parts):
        part = table.slice(cuts[k], cuts[k + 1] - cuts[k])
        pq.write_table(part, folder / "parts" / f"part-{k}.parquet")
    known = pa.table(
        {"node": list(map(str, labels)), "label": pa.array(list(labels.values()), pa.string())}
    )
    pq.write_table(known, folder / "labels.parquet", row_group_size=3)
    return Case(str(folder / "parts"), str(folder / "labels.parquet"), folder)


def a_case(folder, *, seed=0, weighted=False, n_seeds=25, n_parts=5):
    """A block model with some nodes that no heat reaches."""
    rng = np.random.default_rng(seed)
    graph, truth = BlockModel([50, 60, 70], 0.2, 0.04).sample(rng)
    matrix = graph.adjacency.tocoo()
    upper = matrix.row <= matrix.col
    source, target = matrix.row[upper], matrix.col[upper]
    source, target = np.append(source, [900, 901]), np.append(target, [901, 902])
    weight = rng.uniform(0.5, 2.0, len(source)) if weighted else None
    seeds = rng.choice(graph.n_nodes, n_seeds, replace=False)
    labels = {int(i): f"block {truth[i]}" for i in seeds}
    return write_case(folder, source, target, labels, weight=weight, n_parts=n_parts)


def by_node(path):
    """The rows of predictions by node."""
    rows = pq.read_table(path).to_pylist()
    found = {row.pop("node"): row for row in rows}
    assert len(found) == len(rows)
    return found


def of_one_machine(case, **model):
    """What a single machine says."""
    graph = read_graph(case.edges)
    clf = DirichletClassifier(**model).fit(graph, read_labels(case.labels, graph))
    path = case.folder / "one.parquet"
    write_predictions(clf, path, force=True, temperatures=True)
    return by_node(path)


def assert_same(found, expected, *, within=3e-6):
    """The same labels, status and certified flags; numbers as close as they are proven."""
    assert found.keys() == expected.keys()
    for node, row in expected.items():
        for name, value in row.items():
            other = found[node][name]
            if isinstance(value, float) and name != "probability":
                assert abs(other - value) <= within, (node, name)
            elif isinstance(value, float):
                assert abs(other - value) <= 2e-4, (node, name)
            else:
                assert other == value, (node, name)


def share_out(graph, ranks, bounds=None):
    """The share that a rank has of a graph which is in the memory of all of them."""
    n, rows = graph.n_nodes, graph.rows
    if bounds is None:
        bounds = np.linspace(0, n, ranks.size + 1).astype(np.int64)
    first, last = bounds[ranks.rank], bounds[ranks.rank + 1]
    row = np.repeat(np.arange(last - first, dtype=np.int32), np.diff(rows.start[first : last + 1]))
    entries = slice(rows.start[first], rows.start[last])
    weights = None if rows.weights is None else growing(rows.weights[entries])
    column = growing(rows.ends[entries].astype(np.int64))
    return share_of(ranks, bounds, growing(row), column, weights)


def growing(values):
    found = Growing(values.dtype)
    found.extend(values)
    return found


def shared_problem(graph, ranks, boundary, values, leak=0.0, bounds=None):
    """The problem that a rank has a share of."""
    share = share_out(graph, ranks, bounds)
    own = (boundary >= share.first) & (boundary < share.first + share.n_own)
    return SharedProblem(share, boundary[own] - share.first, values[own], leak)
