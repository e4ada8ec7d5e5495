"""Edges and labels from text files."""

import gzip

import pytest

from isotherm import GraphError, LabelError, UnknownNode, read_graph, read_labels


def written(tmp_path, text, name="edges.csv"):
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("edges.csv", "a,b\nb,c\n"),
        ("edges.csv", "source,target\na,b\n\nb,c\n"),
        ("edges.csv", '"a",b\r\nb , c\r\n'),
        ("edges.tsv", "from\tto\na\tb\nb\tc\n"),
        ("edges.txt", "# made by hand\na b\n  b\t c\n"),
        ("edges.csv.gz", "Source,Target\na,b\nb,c"),
        ("edges", "a b\nb c"),
    ],
)
def test_edges_are_found_whatever_the_ending(tmp_path, name, text):
    graph = read_graph(written(tmp_path, text, name))
    assert graph.names.tolist() == ["a", "b", "c"]
    assert graph.degrees.tolist() == [1, 2, 1]


def test_ids_stay_as_they_are_written(tmp_path):
    graph = read_graph(written(tmp_path, "007,7\n7,#1\n"))
    assert sorted(graph.names.tolist()) == ["#1", "007", "7"]


def test_a_third_column_is_the_weight(tmp_path):
    graph = read_graph(written(tmp_path, "source,target,weight\na,b,0.5\nb,c,2\n"))
    assert graph.degrees.tolist() == [0.5, 2.5, 2.0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\nb\n", "line 2: an edge is two node ids and perhaps a weight, not 1"),
        ("a,b\n\nb,c,1,2\n", "line 3"),
        ("a,b,1\nb,c,heavy\n", "line 2: a weight is a number, not 'heavy'"),
        ("a,b,1\nb,c\n", "only 1 of 2 edges have a weight"),
        ("source,target\n", "no edges"),
        ("", "no edges"),
        ("a,b,-1\n", "negative"),
        ("a," + "b" * 200_000 + "\n", "cannot be read as text"),
    ],
)
def test_a_malformed_edge_list_is_refused_with_its_line(tmp_path, text, said):
    with pytest.raises(GraphError, match=said):
        read_graph(written(tmp_path, text))


def test_what_is_no_text_is_refused(tmp_path):
    with pytest.raises(GraphError, match="cannot be read as text"):
        read_graph(written(tmp_path, "a,b\n", "cut.csv.gz").rename(tmp_path / "x.csv"))
    path = written(tmp_path, "a,b\n" * 1000, "cut.csv.gz")
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(GraphError, match="cannot be read as text"):
        read_graph(path)
    with pytest.raises(FileNotFoundError):
        read_graph(tmp_path / "nowhere.csv")


def test_labels_go_by_node(tmp_path):
    graph = read_graph(written(tmp_path, "a,b\nb,c\n"))
    labels = read_labels(written(tmp_path, "node,label\na,red\nc,blue\na,red\n", "l.csv"), graph)
    assert labels == {"a": "red", "c": "blue"}


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("a,red\na,blue\n", LabelError, "line 2: node 'a' has two labels"),
        ("a\n", LabelError, "line 1"),
        ("node,label\n", LabelError, "no labels"),
        ("z,red\n", UnknownNode, "z"),
    ],
)
def test_labels_that_make_no_sense_are_refused(tmp_path, text, error, said):
    graph = read_graph(written(tmp_path, "a,b\n"))
    with pytest.raises(error, match=said):
        read_labels(written(tmp_path, text, "l.csv"), graph)
