"""The estimators keep scikit-learn's contract."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_blobs, make_moons
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph
from sklearn.pipeline import make_pipeline

from isotherm import ConjugateGradient, DirichletClassifier, DirichletRegressor, Graph
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
    assert search.fit(kneighbors_graph(X, 8), labels).best_score_ > 0.9


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
