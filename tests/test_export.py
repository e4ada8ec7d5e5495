"""Results go on to pandas and networkx as plain Python objects, the same as in files."""

import sys
from io import BytesIO

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from isotherm import (
    DirichletClassifier,
    DirichletRegressor,
    Graph,
    MissingLibrary,
    MultiLabelDirichletClassifier,
    StackedDirichletClassifier,
    load_dataset,
    write_predictions,
)

PATH = Graph.from_edges("abcdx", "bcdey", [1.0, 2.0, 0.5, 1.0, 3.0])
KNOWN = {"a": "left", "e": "right"}
FITTED = {
    "one label": DirichletClassifier().fit(PATH, KNOWN),
    "several": MultiLabelDirichletClassifier().fit(PATH, {"a": {"x", "y"}, "e": {"y"}}),
    "values": DirichletRegressor().fit(PATH, {"a": -1.0, "e": 1.0}),
    "one class": DirichletClassifier().fit(PATH, {"a": "left"}),
}


def assert_same(one, other):
    one, other = (frame.astype(object).where(frame.notna(), None) for frame in (one, other))
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize("kind", [DirichletClassifier, StackedDirichletClassifier])
def test_a_frame_says_what_the_file_says(kind, tmp_path):
    club = load_dataset("karate")
    known = {node: club.labels[node] for node in (0, 1, 2, 3, 5, 7, 28, 30, 31, 32, 33, 29)}
    model = kind().fit(club.graph, known)
    write_predictions(model, tmp_path / "found.csv")
    written, frame = pd.read_csv(tmp_path / "found.csv"), model.to_frame()
    assert frame.columns.tolist() == written.columns.tolist()
    digits = {"probability": 4, "its_probability": 4, "margin": 6}
    assert_same(frame.round(digits), written)


def test_a_ranking_is_in_the_order_of_the_file(tmp_path):
    model = FITTED["one class"]
    write_predictions(model, tmp_path / "found.csv")
    frame = model.to_frame().round({"score": 6})
    assert_same(frame, pd.read_csv(tmp_path / "found.csv"))


def test_a_frame_keeps_ids_and_labels_as_they_are():
    model = DirichletClassifier().fit(Graph.from_edges([1, 2], [2, 3]), {1: 10, 3: 20})
    frame = model.to_frame()
    assert frame["node"].tolist() == [1, 2, 3]
    assert frame["label"].tolist() == model.labels_.tolist()


def test_values_come_with_the_error_that_is_proven():
    frame = FITTED["values"].to_frame()
    assert frame.columns.tolist() == ["node", "value", "error", "status", "certified"]
    assert (frame["error"].dropna() <= 1e-6).all()
    assert np.isnan(frame.loc[frame["node"] == "x", "value"]).all()


def test_several_labels_are_tuples():
    frame = FITTED["several"].to_frame().set_index("node")
    assert frame.loc["a", "labels"] == ("x", "y")
    assert frame.loc["a", "probabilities"] == (1.0, 1.0)
    assert frame.loc["x", "labels"] is None


@pytest.mark.parametrize("model", FITTED.values(), ids=FITTED)
def test_a_networkx_graph_can_be_written_and_read_again(model, tmp_path):
    graph = model.to_networkx()
    nx.write_graphml(graph, tmp_path / "found.graphml")
    again = nx.read_graphml(tmp_path / "found.graphml")
    assert dict(again.nodes(data=True)) == dict(graph.nodes(data=True))
    nx.write_gexf(graph, tmp_path / "found.gexf")


def test_labels_put_on_a_networkx_graph_can_be_written():
    model, graph = DirichletClassifier().fit(PATH, {"a": "x", "c": "y"}), nx.Graph()
    new = model.predict({"new": {"a": 1.0}})
    for labels in (model.labels_, model.predict(), model.labels_at(0.5), new):
        assert {type(label) for label in labels} <= {str, type(None)}
    known = {node: label for node, label in zip(model.names_, model.labels_, strict=True) if label}
    graph.add_nodes_from(known)
    nx.set_node_attributes(graph, known, "label")
    nx.write_graphml(graph, BytesIO())


@pytest.mark.parametrize("model", FITTED.values(), ids=FITTED)
def test_attributes_are_plain_python_objects(model):
    graph = model.to_networkx()
    kinds = {type(cell) for _, cells in graph.nodes(data=True) for cell in cells.values()}
    assert kinds <= {str, float, int, bool}
    assert {type(node) for node in graph} == {str}


def test_a_networkx_graph_has_the_same_edges_and_weights():
    again = Graph.from_networkx(FITTED["one label"].to_networkx())
    assert again.names.tolist() == PATH.names.tolist()
    assert (again.adjacency != PATH.adjacency).nnz == 0
    loops = Graph.from_edges([0, 0], [0, 1])
    found = DirichletClassifier().fit(loops, {0: "x"}).to_networkx()
    assert sorted(found.edges(data=True)) == [(0, 0, {}), (0, 1, {})]


def test_a_node_without_a_label_has_no_attribute_for_it():
    nodes = FITTED["one label"].to_networkx().nodes
    assert nodes["b"]["label"] == "left"
    assert nodes["x"] == {"status": "unreached", "certified": True}


@pytest.mark.parametrize(
    ("library", "method"), [("pandas", "to_frame"), ("networkx", "to_networkx")]
)
def test_a_library_that_is_missing_is_named(library, method, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        MissingLibrary, match=f"{method} needs {library}, which is not installed: pip install"
    ):
        getattr(FITTED["one label"], method)()
