"""A small file of every format that is read: one weighted graph, and labels where it has them.

`SAMPLES` has the rows of `isotherm.read.formats.FORMATS` by name; a new format needs one.
"""

import io
import json
import sqlite3
import tempfile
from pathlib import Path

import networkx as nx
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from scipy import sparse

from isotherm import Graph

NODES = ["a", "b", "c", "alone"]
EDGES = [("a", "b", 1.0), ("b", "c", 2.5), ("c", "a", 4.0)]
DEGREES = {"a": 5.0, "b": 3.5, "c": 6.5}  # and 0 of "alone", where nodes are listed
LABELS = {"a": "red", "c": "blue"}
COUNTED = {"graph": {"0": 5.0, "1": 3.5, "2": 6.5}, "labels": {"0": "0", "2": "1"}}


def table():
    source, target, weight = zip(*EDGES, strict=True)
    return pa.table({"source": source, "target": target, "weight": weight})


def labels():
    return pa.table({"node": [*LABELS], "label": [*LABELS.values()]})


def records():
    return [{"source": a, "target": b, "weight": w} for a, b, w in EDGES]


def networkx_graph():
    graph = nx.Graph()
    graph.add_nodes_from(NODES)
    graph.add_weighted_edges_from(EDGES)
    nx.set_node_attributes(graph, LABELS, "class")
    return graph


def matrix():
    places = {node: k for k, node in enumerate(NODES)}
    i, j = zip(*((places[a], places[b]) for a, b, _ in EDGES), strict=True)
    half = sparse.coo_array(([w for *_, w in EDGES], (i, j)), shape=(3, 3))
    return sparse.csr_array(half + half.T)


def written(write):
    """The bytes of what is written to a path, or to a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample"
        write(path)
        return path.read_bytes()


def arrow(options=None, *, stream=False):
    file = io.BytesIO()
    kind = pa.ipc.new_stream if stream else pa.ipc.new_file
    with kind(file, table().schema, options=options) as writer:
        writer.write_table(table())
    return file.getvalue()


def database(path):
    with sqlite3.connect(path) as opened:
        opened.execute("CREATE TABLE tx (source TEXT, target TEXT, weight REAL)")
        opened.executemany("INSERT INTO tx VALUES (?, ?, ?)", EDGES)
    opened.close()


def workbook(rows):
    file, book = io.BytesIO(), openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


def npz():
    file = io.BytesIO()
    sparse.save_npz(file, matrix())
    return file.getvalue()


def data_set():
    both = matrix()
    file = io.BytesIO()
    np.savez(file, indptr=both.indptr, indices=both.indices, labels=np.array([0, -1, 1]))
    return file.getvalue()


def text(rows, delimiter=","):
    return "".join(delimiter.join(map(str, row)) + "\n" for row in rows).encode()


def lines(generated):
    return ("\n".join(generated) + "\n").encode()


def gexf():
    return written(lambda path: nx.write_gexf(networkx_graph(), path))


def node_link():
    return json.dumps(nx.node_link_data(networkx_graph(), edges="links")).encode()


MATRIX_MARKET = b"%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 1\n3 2 2.5\n3 1 4\n"
HEADED = [("source", "target", "weight"), *EDGES]

# Edges; then labels in the same format, or None where it has none. The one file has both, where a
# format holds graphs.
SAMPLES = {
    "text": (text(HEADED), text([("node", "label"), *LABELS.items()])),
    "Parquet": (
        written(lambda path: pq.write_table(table(), path)),
        written(lambda path: pq.write_table(labels(), path)),
    ),
    "Arrow": (arrow(), None),
    "Arrow stream": (arrow(stream=True), None),
    "saved graph": (written(lambda path: Graph.from_networkx(networkx_graph()).save(path)), None),
    "MatrixMarket": (MATRIX_MARKET, None),
    "npz": (npz(), None),
    "GraphML": (lines(nx.generate_graphml(networkx_graph())),) * 2,
    "GEXF": (gexf(),) * 2,
    "GML": (lines(nx.generate_gml(networkx_graph())),) * 2,
    "networkx edge list": (lines(nx.generate_edgelist(networkx_graph())), None),
    "SQLite": (written(database), None),
    "Excel": (workbook(HEADED), workbook([("node", "label"), *LABELS.items()])),
    "JSON": (json.dumps(records()).encode(), json.dumps(LABELS).encode()),
    "JSON graph": (node_link(),) * 2,
}  # fmt: skip

# What is recognised and refused: its bytes, the ending of its name, and the end of what is said.
REFUSED = {
    "pickle": (b"\x80\x04]\x94.", "", "pickle, which can run any program"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(9), ".h5", "HDF5 file, .* save it"),
    "Pajek": (lines(nx.generate_pajek(networkx_graph())), ".net", "a Pajek file, .* save it"),
    "web page": (b"<!doctype html><p>", ".xls", "a web page, .* open it in a spreadsheet and save"),
    "other XML": (b"<?xml version='1.0'?><svg/>", ".xml", "neither <graphml> nor <gexf>"),
    "OpenDocument": (b"PK\x03\x04" + bytes(30), ".ods", "OpenDocument file, .* save it as .xlsx"),
    "old or encrypted Office file": (b"\xd0\xcf\x11\xe0" + bytes(9), ".xls", "save it as .xlsx"),
}  # fmt: skip
