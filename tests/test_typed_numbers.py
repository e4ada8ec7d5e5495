"""Weights that are numbers in their file (workbooks, JSON, databases) stay those numbers."""

import json
import sqlite3

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from isotherm import Graph, GraphError, read_graph
from isotherm.read.load import load_labels
from isotherm.read.options import NumberOptions, TextOptions

NAMES = ("source", "target", "weight")
NUMBERS = [("a", "b", 1.234), ("b", "c", 12.125), ("c", "a", 3)]
MIXED = [("a", "b", 1.234), ("b", "c", "1.234,5"), ("c", "a", 3)]
ENDINGS = ("xlsx", "json", "jsonl", "db", "parquet", "arrow")


def write(path, rows, names=NAMES):
    """A table with cells of these types, or columns where a format has no others."""
    records = [dict(zip(names, row, strict=True)) for row in rows]
    if path.suffix == ".xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in (names, *rows):
            book.active.append(row)
        book.save(path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(records))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    elif path.suffix == ".db":
        base = sqlite3.connect(path)
        base.execute(f"CREATE TABLE e ({', '.join(names)})")
        base.executemany("INSERT INTO e VALUES (?, ?, ?)", rows)
        base.commit()
        base.close()
    else:
        columns = [[row[k] for row in rows] for k in range(3)]
        columns[2] = pa.array(columns[2], pa.float64())
        if path.suffix == ".arrow":  # as categories of pandas are stored
            columns[2] = columns[2].dictionary_encode()
            feather.write_feather(pa.table(columns, names), path)
        else:
            pq.write_table(pa.table(columns, names), path)
    return path


def weights(graph):
    index = {name: k for k, name in enumerate(graph.names.tolist())}
    dense = graph.adjacency.toarray()
    return [dense[index[one], index[other]] for one, other in ("ab", "bc", "ca")]


@pytest.mark.parametrize("numbers", [
    {}, {"decimal": ","}, {"thousands": ","}, {"decimal": ",", "thousands": "."}
])  # fmt: skip
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_number_in_a_cell_is_touched_by_no_option(tmp_path, ending, numbers):
    path = write(tmp_path / f"edges.{ending}", NUMBERS)
    assert weights(read_graph(path, **numbers)) == [1.234, 12.125, 3.0]


@pytest.mark.parametrize("ending", ENDINGS[:4])
def test_texts_among_numbers_are_read_cell_by_cell(tmp_path, ending):
    path = write(tmp_path / f"edges.{ending}", MIXED)
    assert weights(read_graph(path, decimal=",")) == [1.234, 1234.5, 3.0]
    with pytest.raises(GraphError, match=r"row 2: a weight must be a number"):
        read_graph(path)
    with pytest.warns(match="1 malformed row was left out"):
        assert read_graph(path, on_error="skip").n_edges == 2


@pytest.mark.parametrize("ending", ENDINGS[:4])
def test_cells_that_are_no_numbers_are_refused(tmp_path, ending):
    nothing = float("nan") if "json" in ending else None
    for odd in (nothing, "", "x", -0.5):
        path = tmp_path / f"edges.{ending}"
        path.unlink(missing_ok=True)
        write(path, [NUMBERS[0], ("b", "c", odd)])
        with pytest.raises(GraphError, match="row 2: a weight must be"):
            read_graph(path, decimal=",")


def test_a_truth_value_and_a_number_without_end_are_no_weights(tmp_path):
    path = tmp_path / "edges.json"
    for odd in ("true", "1" + 400 * "0", "[1]"):
        path.write_text(f'[{{"source": "a", "target": "b", "weight": {odd}}}]')
        with pytest.raises(GraphError, match="row 1: a weight must be"):
            read_graph(path)


def test_the_currency_of_texts_among_numbers_is_told(tmp_path):
    path = write(tmp_path / "edges.json", [("a", "b", 2), ("b", "c", "$12"), ("c", "a", "5 €")])
    with pytest.raises(GraphError, match="more than one currency"):
        read_graph(path)


def test_confidences_of_labels_stay_numbers_and_ids_stay_texts(tmp_path):
    graph = Graph.from_edges(["1.5", "7"], ["7", "x"])
    rows = [(1.5, "one", 1.234), (1.5, "other", 1.5), (7.0, "one", "1,3"), (7.0, "other", 1.25)]
    path = write(tmp_path / "labels.db", rows, ("node", "label", "sure"))
    options = TextOptions(numbers=NumberOptions(","))
    labels, _ = load_labels(path, graph, {"confidence": "sure"}, options)
    assert labels == {"1.5": "other", "7": "one"}
