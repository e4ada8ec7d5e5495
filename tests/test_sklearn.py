"""The estimators keep scikit-learn's contract."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_blobs, make_moons
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph
from sklearn.pipeline import make_pipeline

from isotherm import (
    ConjugateGradient,
    DirichletClassifier,
    DirichletRegressor,
    Graph,
    IsothermWarning,
    LabelError,
)
from isotherm.classifier.model import FoundLater
from isotherm.decision import DECISIONS

ESTIMATORS = [DirichletClassifier(), DirichletRegressor()]


@pytest.fixture
def moons():
    X, y = make_moons(300, noise=0.08, random_state=0)
    return X, y


def few(y, rng, n=12):
    labels = np.full(len(y), -1)
    seeds = rng.choice(len(y), n, replace=False)
    labels[seeds] = y[seeds]
    return labels


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_parameters_are_only_stored_and_can_be_got_set_and_cloned(estimator):
    solver = ConjugateGradient(max_iter=7)
    changed = clone(estimator).set_params(leak=0.5, tol=1e-3, solver=solver, unreached="zero")
    assert changed.get_params()["solver"] is solver
    copy = clone(changed)
    assert copy.get_params() == changed.get_params()
    assert not any(name.endswith("_") for name in vars(copy))
    assert repr(changed).startswith(type(estimator).__name__)


def test_nonsense_parameters_are_stored_without_a_word():
    assert DirichletClassifier("nonsense", tol=-1).get_params()["decision"] == "nonsense"


def test_scikit_learn_knows_what_they_are():
    assert is_classifier(DirichletClassifier())
    assert is_regressor(DirichletRegressor())


def test_a_pipeline_after_nearest_neighbours_labels_two_moons(moons, rng):
    X, y = moons
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=8, mode="connectivity"), DirichletClassifier()
    )
    pipeline.fit(X, few(y, rng))
    assert np.mean(pipeline[-1].labels_ == y) > 0.95
    X_new, y_new = make_moons(200, noise=0.08, random_state=1)
    assert np.mean(pipeline.predict(X_new) == y_new) > 0.95
    assert np.allclose(pipeline.predict_proba(X_new).sum(axis=1), 1)
    assert pipeline.score(X_new, y_new) == np.mean(pipeline.predict(X_new) == y_new)


def test_a_pipeline_takes_pandas_labels_with_any_index(moons, rng):
    X, y = moons
    labels = few(y, rng)
    pipeline = make_pipeline(KNeighborsTransformer(mode="connectivity"), DirichletClassifier())
    expected = pipeline.fit_predict(X, labels)
    frame = pd.DataFrame(X, index=np.arange(300) + 1000)
    series = pd.Series(labels, index=frame.index)
    assert np.array_equal(pipeline.fit_predict(frame, series), expected)


def test_grid_search_over_decisions_in_a_pipeline():
    X, y = make_blobs(150, centers=3, cluster_std=0.8, random_state=0)
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=6, mode="connectivity"), DirichletClassifier()
    )
    search = GridSearchCV(pipeline, {"dirichletclassifier__decision": list(DECISIONS)}, cv=3)
    search.fit(X, y)
    assert search.best_score_ > 0.9
    assert set(search.cv_results_["param_dirichletclassifier__decision"]) == set(DECISIONS)


def test_grid_search_with_unknown_labels_scores_the_known_ones(rng):
    X, y = make_blobs(150, centers=3, cluster_std=0.8, random_state=0)
    labels = np.where(rng.random(150) < 0.4, y, -1)
    search = GridSearchCV(DirichletClassifier(), {"decision": ["plain", "centered"]}, cv=3)
    with pytest.warns(IsothermWarning, match="leave_one_out"):
        search.fit(kneighbors_graph(X, 8), labels)
    assert search.best_score_ > 0.9


def test_cross_validation_with_unknown_labels_is_warned_of_at_the_line_that_asks_for_it(rng):
    X, y = make_blobs(90, centers=3, cluster_std=0.8, random_state=0)
    A, labels = kneighbors_graph(X, 8), np.where(rng.random(90) < 0.5, y, -1)
    with pytest.warns(IsothermWarning, match="counts unknown labels as a class") as said:
        cross_val_score(DirichletClassifier(), A, labels, cv=3, scoring="f1_macro")
    assert [Path(one.filename).name for one in said] == ["test_sklearn.py"]  # once, for all folds


def test_cross_validation_with_all_labels_known_is_not_warned_of():
    X, y = make_blobs(90, centers=3, cluster_std=0.8, random_state=0)
    assert cross_val_score(DirichletClassifier(), kneighbors_graph(X, 8), y, cv=3).min() > 0.8


def test_leave_one_out_is_right_where_cross_validation_misleads(rng):
    truth = rng.integers(0, 5, 1000)
    ends = rng.integers(0, 1000, (2, 5000))
    kept = (truth[ends[0]] == truth[ends[1]]) | (rng.random(5000) < 0.15)
    graph = Graph.from_edges(*ends[:, kept], nodes=range(1000))
    labels = np.where(rng.random(1000) < 0.1, truth, -1)
    model = DirichletClassifier().fit(graph, labels)
    free = model.status_ == "predicted"
    right = np.mean(model.labels_[free] == truth[free])
    accuracy = model.leave_one_out().accuracy
    assert accuracy.low <= right <= accuracy.high
    with pytest.warns(IsothermWarning):
        scores = cross_val_score(
            DirichletClassifier(), graph.adjacency, labels, cv=5, scoring="f1_macro"
        )
    assert np.mean(scores) < right / 2


def test_grid_search_on_a_graph_cuts_rows_and_columns():
    X, y = make_blobs(150, centers=3, cluster_std=0.8, random_state=0)
    A = kneighbors_graph(X, 8)
    search = GridSearchCV(DirichletClassifier(), {"decision": ["plain", "centered"]}, cv=3)
    search.fit(A, y)
    assert search.best_score_ > 0.9
    assert cross_val_score(DirichletRegressor(), A, X[:, 0], cv=3).min() > 0.5


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_fitted_estimator_survives_pickling(estimator):
    path = Graph.from_edges("abc", "bcd")
    fitted = clone(estimator).fit(path, {"a": 0, "d": 1})
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301  # our own bytes
    assert np.array_equal(again.predict(), fitted.predict())
    assert np.array_equal(again.predict(np.eye(4)), fitted.predict(np.eye(4)))
    assert repr(again.solution_) == repr(fitted.solution_)


def test_a_graph_survives_pickling():
    graph = Graph.from_edges(["x", ("y", 1)], [("y", 1), 3])
    again = pickle.loads(pickle.dumps(graph))  # noqa: S301  # our own bytes
    assert again.names.tolist() == graph.names.tolist()
    assert (again.adjacency != graph.adjacency).nnz == 0


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_new_nodes_may_be_rows_of_any_sparse_matrix(estimator):
    fitted = clone(estimator).fit(Graph.from_edges("abc", "bcd"), {"a": 0, "d": 1})
    rows = sparse.csr_array(np.array([[0.0, 1.0, 2.0, 0.0]]))
    expected = fitted.predict(rows.toarray())
    for form in ("dok", "lil", "coo", "csc", "bsr", "dia"):
        assert np.array_equal(fitted.predict(rows.asformat(form)), expected)


def test_a_classifier_refuses_measurements_and_names_the_regressor():
    path = Graph.from_edges("abc", "bcd")
    with pytest.raises(LabelError, match=r"continuous, such as 0\.5: .*DirichletRegressor"):
        DirichletClassifier().fit(path, {"a": 0.5, "d": 1.0})
    assert DirichletClassifier().fit(path, {"a": 0.0, "d": 1.0}).classes_.tolist() == [0.0, 1.0]


def test_a_column_of_labels_is_one_label_per_node(moons, rng):
    X, y = moons
    A, labels = kneighbors_graph(X, 8), few(y, rng)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        found = DirichletClassifier().fit_predict(A, labels[:, np.newaxis])
    assert np.array_equal(found, DirichletClassifier().fit_predict(A, labels))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_names_and_notebooks_start_no_computation(estimator):
    fitted = clone(estimator).fit(Graph.from_edges("abc", "bcd"), {"a": 0, "d": 1})
    before = dict(vars(fitted))
    assert {"predict", "names_", "temperatures_"} <= set(dir(fitted))
    assert type(estimator).__name__ in fitted._repr_html_()
    assert vars(fitted) == before
    if isinstance(fitted, DirichletClassifier):
        assert "ranking_" in dir(fitted)  # though with two classes there is none
        assert fitted._later == FoundLater()


def test_votes_on_nodes_without_a_label_are_refused_by_name():
    both = [("one", DirichletClassifier()), ("other", DirichletClassifier("plain"))]
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4], nodes=range(6)).adjacency
    voting = VotingClassifier(both).fit(graph, [0, 0, 0, 1, 1, 1])
    with pytest.raises(LabelError, match=r"no heat reaches 1 of 6 nodes.*VotingClassifier"):
        voting.predict(graph)
    assert voting.predict(graph[:5]).tolist() == [0, 0, 0, 1, 1]
    assert VotingClassifier(both, voting="soft").fit(graph, [0, 0, 0, 1, 1, 1]).predict(graph).size
