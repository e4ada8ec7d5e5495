"""What NumPy masks is unknown, absent or refused by name; nobody takes it for data."""

import numpy as np
import pytest

from isotherm import (
    DirichletClassifier,
    DirichletProblem,
    DirichletRegressor,
    Graph,
    GraphError,
    LabelError,
    MultiLabelDirichletClassifier,
    ParameterError,
    solve_dirichlet,
)

INNER = [0, 1, 1, 1, 1, 0]  # all nodes of the path but its ends
ENDS = {0: 0, 5: 1}
PATH = Graph.from_edges(range(5), range(1, 6))


def masked(values, hidden):
    return np.ma.masked_array(values, mask=hidden)


@pytest.mark.parametrize(
    "labels",
    [
        masked([0, 1, 1, 1, 1, 1], INNER),
        masked([0.0, 1, 1, 1, 1, 1], INNER),
        masked(["0", "x", "x", "x", "x", "1"], INNER),
        masked([[0], [1], [1], [1], [1], [1]], [[k] for k in INNER]),
        masked([[1, 0], *[[0, 1]] * 5], [[k, k] for k in INNER]),
        [0, *[np.ma.masked] * 4, 1],
        {**ENDS, 3: np.ma.masked},
    ],
    ids=["ints", "floats", "texts", "column", "shares", "list", "mapping"],
)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_a_masked_label_is_unknown(labels):
    model = DirichletClassifier().fit(PATH, labels)
    assert len(model.classes_) == 2
    assert model.status_.tolist() == ["seed", *["predicted"] * 4, "seed"]


def test_a_masked_label_withdraws_one():
    model = DirichletClassifier().fit(PATH, {**ENDS, 1: 1})
    assert model.update({1: np.ma.masked}).labels_.tolist() == [0, 0, 0, 1, 1, 1]


def test_masked_values_and_label_sets_are_unknown():
    values = masked([0.0, 9, 9, 9, 9, 1], INNER)
    assert np.allclose(DirichletRegressor().fit(PATH, values).predict(), np.arange(6) / 5)
    sets = masked([[1, 0], *[[1, 1]] * 4, [0, 1]], [[k, k] for k in INNER])
    model = MultiLabelDirichletClassifier().fit(PATH, sets)
    assert model.status_.tolist() == ["seed", *["predicted"] * 4, "seed"]


def test_masked_labels_do_not_count_in_a_score():
    model = DirichletClassifier().fit(PATH, ENDS)
    assert model.score(np.eye(6)[[0, 5]], masked([0, 0], [0, 1])) == 1.0


def test_masked_entries_of_a_matrix_are_no_edges():
    weights = np.array([[0, 5.0, 0], [5.0, 0, 1], [0, 1, 0]])
    for hidden in (weights, np.where(weights == 5, np.nan, weights)):
        graph = Graph.from_matrix(masked(hidden, weights == 5))
        assert graph.adjacency.toarray().tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    model = DirichletClassifier().fit(PATH, ENDS)
    new = masked([[1.0, 0, 0, 0, 0, 50]], [[0, 0, 0, 0, 0, 1]])
    assert np.allclose(model.predict_proba(new), model.predict_proba(np.eye(6)[:1]))


def test_confidence_may_be_masked_only_where_there_is_no_label():
    some = masked([0.5] * 6, INNER)
    assert DirichletClassifier().fit(PATH, ENDS, some).seeds_.confidence.tolist() == [0.5, 0.5]
    with pytest.raises(ParameterError, match="got nan at node 0, where it is masked"):
        DirichletClassifier().fit(PATH, ENDS, masked([0.5] * 6, [1, 0, 0, 0, 0, 0]))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda one: Graph.from_edges(masked([0, 1], one), [1, 2]), GraphError),
        (lambda one: Graph.from_edges([0, 1], masked([1, 2], one)), GraphError),
        (lambda one: Graph.from_edges([0, 1], [1, 2], masked([5.0, 1], one)), GraphError),
        (lambda one: Graph.from_edges([0], [1], nodes=masked([0, 1], one)), GraphError),
        (lambda one: solve_dirichlet(PATH, masked([0, 5], one), [1.0, 0]), GraphError),
        (lambda one: solve_dirichlet(PATH, [0, 5], masked([1.0, 77], one)), LabelError),
        (lambda one: DirichletProblem(PATH, masked([0, 5], one), np.ones(2)), LabelError),
        (
            lambda one: DirichletClassifier().fit(
                PATH, masked([[1.0, 0]] * 6, [one, *[[1, 1]] * 4, [0, 0]])
            ),
            LabelError,
        ),
        (
            lambda one: (
                DirichletClassifier()
                .fit(PATH, ENDS)
                .score(np.eye(6)[[0, 5]], [0, 1], masked([1.0, 1], one))
            ),
            GraphError,
        ),
    ],
    ids=["source", "target", "weight", "nodes", "held", "values", "problem", "shares", "sample"],
)
def test_what_cannot_do_without_a_masked_entry_is_refused_by_name(make, error):
    with pytest.raises(error, match=r": 1 of \d+ entries are masked; leave these out"):
        make([0, 1])
    make([0, 0])  # a mask of which nothing is masked


def test_a_masked_share_or_weight_in_a_mapping_is_refused_by_name():
    with pytest.raises(LabelError, match=r"shares of a distribution: 1 of 3 entries are masked"):
        DirichletClassifier().fit(PATH, {0: {"a": 1.0, "b": np.ma.masked}, 5: "b"})
    model = DirichletClassifier().fit(PATH, ENDS)
    with pytest.raises(GraphError, match="weights of a new node: 1 of 2 entries are masked"):
        model.predict({"new": {0: np.ma.masked, 1: 2.0}})


def test_gaps_in_columns_of_pandas_are_unknown_labels():
    pandas = pytest.importorskip("pandas")
    for labels in (
        pandas.array([0, None, None, None, None, 1], dtype="Int64"),
        pandas.Series([0, None, None, None, None, 1], dtype="Int64"),
        pandas.array(["x", None, None, None, None, "y"], dtype="string"),
    ):
        model = DirichletClassifier().fit(PATH, labels)
        assert model.status_.tolist() == ["seed", *["predicted"] * 4, "seed"]
