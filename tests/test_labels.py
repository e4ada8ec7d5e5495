"""Labels of every kind go in, and come out as they were."""

import enum
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from isotherm import DirichletClassifier, Graph
from isotherm.errors import LabelError, UnknownNode
from isotherm.labels import decode_labels, encode_labels
from other_libraries import polars_series

PATH = Graph.from_matrix(np.eye(4, k=1))  # 0 - 1 - 2 - 3, without names
NAMED = Graph.from_edges("abc", "bcd")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([0, 1, -1, -1], [0, 1]),
        (np.array([5, -1, -2, -1]), [-2, 5]),
        (np.array([3, 255, -1, -1], dtype=np.int16), [3, 255]),
        (["b", "a", None, None], ["a", "b"]),
        (np.array(["b", "a", "-1", ""]), ["", "-1", "a", "b"]),
        ([0.5, np.nan, 1.5, np.nan], [0.5, 1.5]),
        ([1.0, 0.0, np.nan, -1.0], [0.0, 1.0]),
        ([True, False, None, None], [False, True]),
        (np.array([True, False, True, False]), [False, True]),
        (["x", 1, None, np.nan], [1, "x"]),
        ([1, True, None, -1], [1, True]),
        ([(1, 2), (0, 1), None, None], [(0, 1), (1, 2)]),
        ([Colour.RED, Colour.BLUE, None, None], [Colour.BLUE, Colour.RED]),
        ([Level.HIGH, Level.LOW, None, None], [Level.LOW, Level.HIGH]),
        ([Fraction(1, 2), Fraction(1, 3), None, None], [Fraction(1, 3), Fraction(1, 2)]),
        (pd.Series(["b", None, "a", None], dtype="string"), ["a", "b"]),
        (pd.Series([2, None, 1, None], dtype="Int64"), [1, 2]),
        (pa.array([2, None, 1, None]), [1, 2]),
        (pd.Series(["b", None, "a", "b"], dtype="category"), ["a", "b"]),
        (pa.array(["b", None, "a", None]), ["a", "b"]),
        ({0: "b", 2: "a", 3: None}, ["a", "b"]),
        (pd.Series({3: "b", 1: "a"}), ["a", "b"]),
    ],
    ids=str,
)
def test_classes_come_back_as_they_were_given(labels, classes):
    codes, found = encode_labels(labels, PATH)
    assert found.tolist() == classes
    assert [type(label) for label in found.tolist()] == [type(label) for label in classes]
    decoded = decode_labels(codes, found).tolist()
    given = labels if isinstance(labels, dict | pd.Series) else list(labels)
    for node in range(4):
        if codes[node] >= 0:
            assert decoded[node] == getattr(given[node], "as_py", lambda x=given[node]: x)()


@pytest.mark.parametrize(
    ("labels", "classes"), [([2, None, 1, None], [1, 2]), (["b", None, "a", None], ["a", "b"])]
)
def test_classes_of_a_polars_column_come_back_as_they_were_given(labels, classes):
    test_classes_come_back_as_they_were_given(polars_series(labels), classes)


def test_unknown_labels_are_no_classes():
    codes, _ = encode_labels([0, 1, -1, None], PATH)
    assert codes.tolist() == [0, 1, -1, -1]
    codes, _ = encode_labels({1: "x", 2: float("nan")}, PATH)
    assert codes.tolist() == [-1, 0, -1, -1]


@pytest.mark.parametrize(
    ("classes", "nothing"),
    [
        (np.array([7, 8]), -1),
        (np.array([7, 8], dtype=np.uint8), -1),
        (np.array(["x", "y"]), None),
        (np.array([False, True]), None),
        (np.array(["x", 3], dtype=object), None),
    ],
)
def test_an_abstention_is_written_as_the_type_allows(classes, nothing):
    labels = decode_labels(np.array([1, -1]), classes).tolist()
    assert labels == [classes[1], nothing]


def test_labels_beyond_int64_stay_whole():
    labels = decode_labels(np.array([0, -1]), np.array([2**63 + 5], dtype=np.uint64))
    assert labels.tolist() == [2**63 + 5, None]


def test_dates_are_labels_too():
    days = np.array(["2024-01-02", "NaT", "2023-01-01", "NaT"], dtype="datetime64[ns]")
    codes, classes = encode_labels(days, PATH)
    assert codes.tolist() == [1, -1, 0, -1]
    decoded = decode_labels(codes, classes)
    assert decoded.dtype == days.dtype
    assert np.array_equal(decoded[[0, 2]], days[[0, 2]])
    assert np.isnat(decoded[[1, 3]]).all()


def test_a_series_with_text_index_on_an_unnamed_graph_is_read_by_position_at_once():
    n = 50_000
    path = Graph.from_matrix(sparse.eye_array(n, k=1))
    labels = pd.Series([0, 1] + [-1] * (n - 2), index=[f"row {i}" for i in range(n)])
    assert encode_labels(labels, path)[0][:3].tolist() == [0, 1, -1]


def test_an_abstention_among_floats_is_nan():
    labels = decode_labels(np.array([1, -1]), np.array([0.5, 1.5]))
    assert labels[0] == 1.5
    assert np.isnan(labels[1])


def test_without_abstentions_labels_keep_their_type():
    assert decode_labels(np.array([0, 1]), np.array([False, True])).dtype == bool
    assert decode_labels(np.array([0, 1]), np.array(["x", "y"])).dtype.kind == "U"


# --- which node a label is for --------------------------------------------------------------------


def test_a_mapping_and_a_series_name_their_nodes():
    for labels in ({"d": 1, "a": 0}, pd.Series([1, 0], index=["d", "a"])):
        assert encode_labels(labels, NAMED)[0].tolist() == [0, -1, -1, 1]


def test_a_full_series_on_an_unnamed_graph_is_read_by_position():
    # What a pipeline hands over after a train-test split: the index is that of the old table.
    labels = pd.Series([0, 1, -1, -1], index=[17, 3, 9, 40])
    assert encode_labels(labels, PATH)[0].tolist() == [0, 1, -1, -1]


def test_where_ids_were_given_a_series_always_goes_by_them():
    path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    labels = pd.Series([0, 1, -1, -1], index=[3, 2, 1, 0])
    assert encode_labels(labels, path)[0].tolist() == [-1, -1, 1, 0]
    with pytest.raises(UnknownNode, match="7"):
        encode_labels(pd.Series([0, 1, -1, -1], index=[0, 1, 2, 7]), path)


def test_a_series_that_can_be_read_in_two_ways_is_an_error():
    with pytest.raises(LabelError, match=r"to_dict\(\).*to_numpy\(\)"):
        encode_labels(pd.Series([0, 1, -1, -1], index=[3, 2, 1, 0]), PATH)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], "2 labels for a graph of 4 nodes"),
        ([0, 1, 1, 1, 1], "5 labels for a graph of 4 nodes"),
        ([-1, -1, -1, -1], "no seed"),
        ([None] * 4, "no seed"),
        ([np.nan] * 4, "no seed"),
        ({}, "no seed"),
        ({0: None}, "no seed"),
        ([[0], [1], [0], [1]], "hashable"),
        (np.zeros((4, 2)), "one dimension"),
        (5, "sequence"),
        (pd.Series(["x", "y"], index=[2, 2]), r"conflict.*\[2\]"),
    ],
    ids=str,
)
def test_bad_labels_get_a_clear_error(labels, message):
    with pytest.raises(LabelError, match=message):
        encode_labels(labels, PATH)


def test_a_node_labelled_twice_alike_is_no_conflict():
    labels = pd.Series(["x", "x", None], index=[2, 2, 2])
    assert encode_labels(labels, PATH)[0].tolist() == [-1, -1, 0, -1]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"a": 0, "z": 1}, r"1 of 2 nodes are not in the graph: 'z' \(.*such as 'a', 'b', 'c'"),
        ({1: 0}, "1 of 1 nodes are not in the graph: 1"),
        (dict.fromkeys(range(9), 0), "9 of 9 nodes are not in the graph: 0, 1, 2, 3, 4, …"),
    ],
    ids=str,
)
def test_a_label_for_an_unknown_node_is_an_error_that_names_it(labels, message):
    with pytest.raises(UnknownNode, match=message):
        encode_labels(labels, NAMED)


@pytest.mark.parametrize("several", [{"a", "b"}, ["a", "b"], ["a"]])
def test_several_labels_of_a_node_name_the_classifier_for_them(several):
    path = Graph.from_edges("abc", "bcd")
    with pytest.raises(LabelError, match="use MultiLabelDirichletClassifier"):
        DirichletClassifier().fit(path, {"a": several, "d": ["b"]})
    with pytest.raises(LabelError, match="use MultiLabelDirichletClassifier"):
        DirichletClassifier().fit(path, {"a": "a", "d": "b"}).update({"b": several})


def test_update_says_what_to_do_with_shares_of_several_labels():
    model = DirichletClassifier().fit(Graph.from_edges("abc", "bcd"), {"a": "a", "d": "b"})
    with pytest.raises(LabelError, match=r"\{'a': 1, 'b': 1\}.* call fit again"):
        model.update({"b": {"a": 1, "b": 1}})
