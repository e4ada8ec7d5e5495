"""Data frames, and attributes of other libraries' graphs, are taken as they are."""

import networkx as nx
import pandas as pd
import pyarrow as pa
import pytest

from isotherm import (
    DirichletClassifier,
    DirichletRegressor,
    Graph,
    GraphError,
    LabelError,
    MultiLabelDirichletClassifier,
)
from other_libraries import igraph_path, polars_frame

FRAMES = [pd.DataFrame, polars_frame, pa.table]
EDGES = {"sender": ["a", "b", "c", "d"], "receiver": ["b", "c", "d", "e"]}
PATH = Graph.from_edges("abcd", "bcde")


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_of_two_columns_is_an_edge_list(frame):
    graph = Graph.from_edges(frame(EDGES))
    assert (graph.names.tolist(), graph.n_edges) == (list("abcde"), 4)


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_are_found_by_name_among_others(frame):
    graph = Graph.from_edges(
        frame({"date": [1, 2], "source": ["a", "b"], "weight": [2.0, 3.0], "target": ["b", "c"]})
    )
    assert (graph.names.tolist(), graph.degrees.tolist()) == (list("abc"), [2.0, 5.0, 3.0])


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_are_not_guessed_among_several(frame):
    with pytest.raises(GraphError, match=r"'date', 'sender', 'receiver'\. Name them source"):
        Graph.from_edges(frame({"date": [1] * 4} | EDGES))


def test_one_column_is_no_edge_list():
    with pytest.raises(
        GraphError, match=r"target is missing; source is not a DataFrame: \[1, 2, 3\]"
    ):
        Graph.from_edges([1, 2, 3])


def test_a_frame_of_edges_is_told_from_a_matrix():
    with pytest.raises(GraphError, match=r"Graph\.from_edges\(frame\)"):
        DirichletClassifier().fit(pd.DataFrame(EDGES), {"a": 1})


@pytest.mark.parametrize("frame", FRAMES)
def test_labels_may_be_a_frame_of_nodes_and_labels(frame):
    known = {"a": "left", "e": "right"}
    table = frame({"account": list(known), "status": list(known.values())})
    expected = DirichletClassifier().fit_predict(PATH, known).tolist()
    assert DirichletClassifier().fit_predict(PATH, table).tolist() == expected
    more = frame({"seen": [1, 2], "label": list(known.values()), "node": list(known)})
    assert DirichletClassifier().fit_predict(PATH, more).tolist() == expected
    values = frame({"node": ["a", "e"], "value": [-2.0, 2.0]})
    assert DirichletRegressor().fit_predict(PATH, values).round(6).tolist() == [-2, -1, 0, 1, 2]


def test_a_frame_of_one_column_names_nodes_by_its_index():
    frame = pd.DataFrame({"label": [1, 2]}, index=["a", "e"])
    assert DirichletClassifier().fit_predict(PATH, frame).tolist() == [1, 1, 1, 2, 2]


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_that_says_two_things_of_a_node_is_in_conflict(frame):
    with pytest.raises(LabelError, match="conflicting seeds"):
        DirichletClassifier().fit(PATH, frame({"node": ["a", "a"], "label": ["x", "y"]}))


def test_columns_of_labels_are_not_guessed_among_several():
    with pytest.raises(LabelError, match=r"'a', 'b', 'c'. Name them node and label"):
        DirichletClassifier().fit(PATH, pd.DataFrame({"a": ["a"], "b": ["x"], "c": ["y"]}))


@pytest.mark.parametrize("frame", FRAMES)
def test_several_labels_of_a_node_may_be_several_rows(frame):
    table = frame({"node": ["a", "a", "e"], "label": ["red", "round", "blue"]})
    model = MultiLabelDirichletClassifier().fit(PATH, table)
    assert model.labels_[0] == ("red", "round")
    assert model.labels_[-1] == ("blue",)


def test_an_attribute_of_a_networkx_graph_holds_the_labels():
    club = nx.karate_club_graph()
    known = {node: label for node, label in club.nodes(data="club") if node in (0, 33)}
    for node in set(club) - set(known):
        del club.nodes[node]["club"]
    expected = DirichletClassifier().fit_predict(club, known).tolist()
    assert DirichletClassifier().fit_predict(club, "club").tolist() == expected


def test_an_attribute_of_an_igraph_graph_holds_the_labels():
    path = igraph_path(3)
    path.vs["side"] = ["left", None, "right"]
    assert DirichletClassifier().fit(path, "side").classes_.tolist() == ["left", "right"]
    path.vs["name"] = ["x", "y", "z"]
    assert DirichletClassifier().fit(path, "side").names_.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("path_graph", [nx.path_graph, igraph_path])
def test_an_attribute_that_no_node_has_is_named(path_graph):
    with pytest.raises(LabelError, match="no node of the graph has an attribute 'club'"):
        DirichletClassifier().fit(path_graph(3), "club")


def test_an_attribute_needs_a_graph_that_has_some():
    with pytest.raises(LabelError, match="this is a Graph"):
        DirichletClassifier().fit(PATH, "club")
