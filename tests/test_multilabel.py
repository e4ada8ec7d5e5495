"""MultiLabelDirichletClassifier: each label is a two-class problem of its own."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph
from sklearn.pipeline import make_pipeline

from isotherm import (
    DirichletClassifier,
    Graph,
    LabelError,
    MultiLabelDirichletClassifier,
    ParameterError,
    Sweeps,
    UnknownNode,
)
from isotherm.classifier.two_classes import leads_left_out, with_all_heat
from isotherm.decision import DECISIONS, Means, scores
from isotherm.trust.calibrate import calibration_error
from oracle import dense_temperatures, exact_temperatures, grid, random_graph

PATH = Graph.from_edges([0, 1, 2], [1, 2, 3])
# Two triangles joined by an edge, and a pair apart.
TRIANGLES = Graph.from_edges("abcxyzcu", "bcayzxxv")
KNOWN = {"a": {"red", "round"}, "y": {"blue"}, "z": {"blue", "round"}}


def random_indicator(rng, n, n_seeds, n_labels):
    """Rows of −1 but at seeds; each label at some seeds and not at others."""
    Y = np.full((n, n_labels), -1)
    seeds = rng.choice(n, n_seeds, replace=False)
    Y[seeds] = rng.random((n_seeds, n_labels)) < 0.4
    Y[seeds[0]], Y[seeds[1]] = 0, 1
    return Y


# --- what it computes -----------------------------------------------------------------------------


@pytest.mark.parametrize("leak", [0.0, 0.2])
@pytest.mark.parametrize("unreached", ["abstain", "zero"])
@pytest.mark.parametrize("decision", DECISIONS)
def test_each_label_is_a_classifier_of_two_classes(rng, decision, leak, unreached):
    for _ in range(3):
        graph = random_graph(rng, 40, degree=2.5)
        Y = random_indicator(rng, 40, 10, 4)
        how = {"leak": leak, "unreached": unreached, "tol": 1e-9}
        model = MultiLabelDirichletClassifier(decision, **how).fit(graph, Y)
        new = rng.random((5, 40)) * (rng.random((5, 40)) < 0.1)
        new[-1] = 0
        reached = model.status_ != "unreached"
        for k in range(4):
            one = DirichletClassifier(decision, **how).fit(graph, Y[:, k])
            alike = {"atol": 1e-7, "equal_nan": True}
            lead = one.scores_[:, 1] - one.scores_[:, 0]
            assert np.allclose(model.temperatures_[:, k], one.temperatures_[:, 1], **alike)
            assert np.isclose(model.mean_temperatures_[k], one.mean_temperatures_[1])
            assert np.allclose(model.scores_[:, k], lead, **alike)
            assert np.array_equal(model.indicator_[reached, k], one.labels_[reached] == 1)
            assert np.array_equal(model.certified_[reached, k], one.certified_[reached])
            warm = model._new_scores(new)[1] > 0
            assert np.array_equal(model.predict(new)[warm, k], one.predict(new)[warm] == 1)
        assert not model.predict(new)[-1].any()


@pytest.mark.parametrize("decision", ["centered", "standard", "ratio"])
def test_centering_gives_a_label_where_it_is_warmer_than_its_mean(rng, decision):
    graph = random_graph(rng, 60, degree=5)
    model = MultiLabelDirichletClassifier(decision).fit(graph, random_indicator(rng, 60, 12, 5))
    free = (model.status_ == "predicted")[:, np.newaxis] & model.certified_
    assert free.sum() > 100
    above = model.temperatures_ > model.mean_temperatures_
    assert np.array_equal(model.indicator_[free], above[free])


def exact_leads(graph, Y, decision, leak):
    """Having a label against not having it, by dense solves."""
    seeds, free = np.flatnonzero(Y[:, 0] >= 0), Y[:, 0] < 0
    S = []
    for held in (Y[seeds], 1 - Y[seeds]):
        T = dense_temperatures(graph, seeds, held, leak)
        means = Means(T.mean(axis=0), T[free].mean(axis=0), held.mean(axis=0))
        S.append(scores(T, means, decision))
    return S[0] - S[1]


@pytest.mark.parametrize("leak", [0.0, 0.5])
@pytest.mark.parametrize("decision", DECISIONS)
def test_what_is_certified_is_so_at_the_exact_equilibrium(rng, decision, leak):
    shares = []
    for sweeps in (10, 15, 20, 30):
        graph = Graph.from_matrix(random_graph(rng, 30, degree=3).adjacency.toarray() + 0.01)
        Y = random_indicator(rng, 30, 8, 4)
        lead, free = exact_leads(graph, Y, decision, leak), Y[:, 0] < 0
        fine = MultiLabelDirichletClassifier(decision, leak=leak).fit(graph, Y)
        assert np.allclose(fine.scores_, lead, atol=1e-4)
        rough = MultiLabelDirichletClassifier(decision, leak=leak, solver=Sweeps(sweeps), tol=1e-12)
        with pytest.warns(ConvergenceWarning):
            rough.fit(graph, Y)
        for model in (fine, rough):
            proven = model.certified_[free]
            assert np.array_equal(model.indicator_[free][proven], lead[free][proven] > 0)
            shares.append(proven.mean())
    assert min(shares[::2]) > 0.9  # a few are ties
    assert 0.1 < np.mean(shares[1::2]) < 1


def test_certified_signs_are_those_of_rational_arithmetic(rng):
    A = random_graph(rng, 12, degree=3, weighted=False).adjacency.toarray()
    graph = Graph.from_matrix(A + np.eye(12, k=1) + np.eye(12, k=-1))  # connected
    Y = random_indicator(rng, 12, 5, 3)
    seeds = np.flatnonzero(Y[:, 0] >= 0)
    T = exact_temperatures(graph, seeds, Y[seeds].astype(float))
    means = [sum(column) / 12 for column in zip(*T, strict=True)]
    model = MultiLabelDirichletClassifier().fit(graph, Y)
    for i, row in enumerate(T):
        for k, t in enumerate(row):
            if Y[i, 0] < 0:
                assert not model.certified_[i, k] or model.indicator_[i, k] == (t > means[k])
                assert model.certified_[i, k] == (abs(t - means[k]) > 2e-6)


def test_a_label_too_close_to_tell_is_not_certified_and_not_given():
    model = MultiLabelDirichletClassifier().fit(Graph.from_edges([0, 1], [1, 2]), {0: {"x"}, 2: []})
    assert model.certified_.ravel().tolist() == [True, False, True]
    assert model.indicator_.ravel().tolist() == [True, False, False]


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("leak", [0.0, 0.3])
def test_labels_of_all_seeds_or_of_none_need_no_decision(decision, leak):
    model = MultiLabelDirichletClassifier(decision, leak=leak)
    model.fit(TRIANGLES, np.array([[1, 0, 1], [1, 0, 0]] + [[-1] * 3] * 6))
    reached = model.status_ != "unreached"
    assert model.indicator_[reached][:, :2].tolist() == [[True, False]] * 6
    assert not model.indicator_[~reached].any()
    assert model.certified_[:, :2].all()
    assert set(model.scores_[reached, 0]) == {np.inf}
    assert set(model.scores_[reached, 1]) == {-np.inf}
    assert model.predict_proba()[:, :2].tolist() == [[1.0, 0.0]] * 8
    assert model.predict(np.eye(8)[:1])[0, :2].tolist() == [True, False]


def test_fitted_attributes_fit_together():
    model = MultiLabelDirichletClassifier().fit(TRIANGLES, KNOWN)
    assert model.names_.tolist() == list("abcuvxyz")
    assert model.classes_.tolist() == ["blue", "red", "round"]
    assert model.status_.tolist() == [
        "seed", "predicted", "predicted", "unreached", "unreached", "predicted", "seed", "seed",
    ]  # fmt: skip
    assert model.labels_.tolist() == [
        ("red", "round"), ("red", "round"), ("red", "round"), None, None, ("blue",), ("blue",),
        ("blue", "round"),
    ]  # fmt: skip
    assert not model.indicator_[3:5].any()
    assert np.isnan(model.temperatures_[3:5]).all()
    assert np.isnan(model.scores_[3:5]).all()
    assert np.array_equal(model.fit_predict(TRIANGLES, KNOWN), model.indicator_)
    assert model.n_iter_ == model.solution_.n_iter


def test_nodes_that_no_heat_reaches_have_no_label_under_either_rule():
    zero = MultiLabelDirichletClassifier(unreached="zero").fit(TRIANGLES, KNOWN)
    assert zero.labels_[3:5].tolist() == [None, None]
    assert (zero.temperatures_[3:5] == 0).all()
    assert not zero.predict()[3:5].any()
    assert not zero.predict(np.eye(8)[3:5])[:, :].any()
    assert np.allclose(zero.mean_temperatures_, np.mean(zero.temperatures_, axis=0))


# --- labels of all kinds --------------------------------------------------------------------------

SETS = [["x", "y"], None, [], ["y"]]
TABLE = np.array([[1, 1], [-1, -1], [0, 0], [0, 1]])


@pytest.mark.parametrize(
    "labels",
    [
        {0: {"x", "y"}, 2: set(), 3: {"y"}},
        {0: ["x", "y", "x"], 1: None, 2: (), 3: frozenset("y")},
        {0: np.array(["x", "y"]), 1: np.nan, 2: np.array([]), 3: np.array(["y"])},
        pd.Series({3: ["y"], 0: ["x", "y"], 2: []}),
        SETS,
        tuple(SETS),
        np.array(SETS, dtype=object),
        [("x", "y"), float("nan"), (), ("y",)],
        pd.DataFrame(TABLE, columns=["x", "y"]),
        pd.DataFrame(TABLE[[2, 0, 3]], columns=["x", "y"], index=[2, 0, 3]),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_collections_of_every_kind_are_taken(labels):
    model = MultiLabelDirichletClassifier("plain").fit(PATH, labels)
    assert model.classes_.tolist() == ["x", "y"]
    assert model.status_.tolist() == ["seed", "predicted", "seed", "seed"]
    assert np.allclose(model.temperatures_, [[1, 1], [0.5, 0.5], [0, 0], [0, 1]])
    assert model.labels_.tolist()[2:] == [(), ("y",)]


@pytest.mark.parametrize(
    "labels",
    [
        TABLE,
        TABLE.astype(np.int8),
        np.where(TABLE < 0, np.nan, TABLE),
        np.where(TABLE < 0, None, TABLE),
        sparse.csr_array(TABLE),
        sparse.coo_matrix(TABLE),
    ],
    ids=lambda labels: f"{type(labels).__name__} of {labels.dtype}",
)
def test_indicators_of_every_kind_are_taken(labels):
    model = MultiLabelDirichletClassifier("plain").fit(PATH, labels)
    assert model.classes_.tolist() == [0, 1]
    assert np.allclose(model.temperatures_, [[1, 1], [0.5, 0.5], [0, 0], [0, 1]])
    everything = MultiLabelDirichletClassifier().fit_predict(PATH, TABLE == 1)
    assert np.array_equal(everything, TABLE == 1)


def test_labels_come_back_as_they_were_given():
    model = MultiLabelDirichletClassifier()
    assert model.fit(PATH, {0: {7, 2}, 3: {2}}).labels_[0] == (2, 7)
    assert model.fit(PATH, {0: [True, "b"], 3: [("t", 1)]}).labels_[0] == (True, "b")
    assert model.classes_.tolist() == [True, "b", ("t", 1)]


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ({0: "red"}, LabelError, "node 0 has 'red'; give a set"),
        (["red", None, None, None], LabelError, "; give a set, list or tuple"),
        ([0, 1, -1, -1], LabelError, "node 0 has 0; give a set"),
        ({0: {"x": 0.5}}, LabelError, "; give a set, list or tuple"),
        ({}, LabelError, "no seed"),
        ({0: None, 1: np.nan}, LabelError, "no seed"),
        ([None] * 4, LabelError, "no seed"),
        (np.full((4, 2), -1), LabelError, "no seed"),
        ({0: [], 1: set()}, LabelError, "no label: none of the seeds has one"),
        (np.zeros((4, 2)), LabelError, "no label: none of the seeds has one"),
        (np.zeros((4, 0)), LabelError, "no label: the indicator has no column"),
        ({9: ["x"]}, UnknownNode, "9"),
        ([["x"], None], LabelError, "2 labels for a graph of 4"),
        (np.ones((3, 2)), LabelError, "3 rows for a graph of 4 nodes"),
        (np.array([[1, 0], [0, 2], [0, 0], [1, 1]]), LabelError, "0 and 1 .*got 2"),
        (np.array([[1, 0], [0, 0.5], [0, 0], [1, 1]]), LabelError, "got 0.5"),
        (
            np.array([[1, 0], [0, -1], [0, 0], [1, 1]]),
            LabelError,
            r"row\(s\) \[1\].*partly unknown",
        ),
        (np.array([[1, 0], [0, np.nan], [0, 0], [1, 1]]), LabelError, "partly unknown"),
        (np.full((4, 2), "x"), LabelError, "numbers 0 and 1"),
        ({0: [["x"]]}, LabelError, "hashable"),
        ({0: ["x", None]}, LabelError, "node 0 include -1, None or NaN"),
        ({0: [3], 1: [-1]}, LabelError, "node 1 include -1"),
        pytest.param({"x", "y"}, LabelError, "a set has none", id="a set"),
        (7, LabelError, "must be a sequence"),
        (pd.Series([["x"], ["y"]], index=[0, 0]), LabelError, "conflict"),
    ],
    ids=lambda value: str(value)[:40].replace("\n", " "),
)
def test_bad_labels_get_a_clear_error_and_leave_an_earlier_fit(labels, error, message):
    model = MultiLabelDirichletClassifier().fit(PATH, {0: {"x"}, 3: {"y"}})
    with pytest.raises(error, match=message):
        model.fit(PATH, labels)
    assert model.classes_.tolist() == ["x", "y"]
    assert model.predict().shape == (4, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"decision": "auto"}, "unknown decision.*'centered'"),
        ({"leak": "auto"}, "leak must be"),
        ({"tol": 0}, "tol must be"),
        ({"unreached": "guess"}, "unknown rule for unreached nodes"),
        ({"solver": "magic"}, "unknown solver"),
    ],
    ids=str,
)
def test_bad_parameters_are_found_in_fit(parameters, message):
    with pytest.raises(ParameterError, match=message):
        MultiLabelDirichletClassifier(**parameters).fit(PATH, {0: {"x"}})


# --- probabilities --------------------------------------------------------------------------------


@pytest.mark.parametrize("leak", [0.0, 0.2])
@pytest.mark.parametrize("decision", DECISIONS)
def test_scores_of_seeds_left_out_are_those_of_fitting_without_them(rng, decision, leak):
    graph = random_graph(rng, 40, degree=4)
    Y = random_indicator(rng, 40, 12, 3)
    how = {"leak": leak, "tol": 1e-10}
    model = MultiLabelDirichletClassifier(decision, **how).fit(graph, Y)
    session = model.session().prepare(model.problem_)
    solution = with_all_heat(model.solution_, leaks=leak > 0)
    S, has = leads_left_out(session, solution, decision, tol=1e-10, abstain=True)
    seeds = np.flatnonzero(Y[:, 0] >= 0)
    assert np.array_equal(has, Y[seeds] == 1)
    for row, i in zip(S, seeds, strict=True):
        without = Y.copy()
        without[i] = -1
        again = MultiLabelDirichletClassifier(decision, **how).fit(graph, without)
        assert np.allclose(row, again.scores_[i], atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("decision", DECISIONS)
def test_probabilities_are_ordered_like_the_scores(rng, decision):
    graph = random_graph(rng, 80, degree=4)
    Y = random_indicator(rng, 80, 20, 3)
    model = MultiLabelDirichletClassifier(decision).fit(graph, Y)
    P, free = model.predict_proba(), model.status_ == "predicted"
    assert ((P >= 0) & (P <= 1)).all()
    for k in range(3):
        assert (np.diff(P[free, k][model.scores_[free, k].argsort()]) >= -1e-12).all()
    assert np.array_equal(P[Y[:, 0] >= 0], Y[Y[:, 0] >= 0])
    shares = (Y[Y[:, 0] >= 0] == 1).mean(axis=0)
    assert np.allclose(P[model.status_ == "unreached"], shares)
    rows = np.vstack([graph.adjacency.toarray()[free][:7], np.zeros(80)])
    new = model.predict_proba(rows)
    assert np.allclose(new[-1], shares)
    assert np.allclose(new[:-1], P[free][:7], atol=1e-3)


def test_probabilities_are_about_right(rng):
    n, centres = 1500, rng.random((3, 2))
    X = rng.random((n, 2))
    truth = np.hypot(*(X[:, np.newaxis] - centres).T).T + rng.normal(0, 0.1, (n, 3)) < 0.35
    Y = np.where((rng.random(n) < 0.15)[:, np.newaxis], truth, -1)
    A = kneighbors_graph(X, 8)
    free = Y[:, 0] < 0
    for decision in ("centered", "plain"):
        model = MultiLabelDirichletClassifier(decision).fit(A, Y)
        P, score = model.predict_proba()[free], model.scores_[free]
        assert calibration_error(P.ravel(), truth[free].ravel()) < 0.06
        bare = expit(score / np.std(score, axis=0))  # what calibration is to improve upon
        assert log_loss(truth[free].ravel(), P.ravel()) < log_loss(
            truth[free].ravel(), bare.ravel()
        )


def test_probabilities_need_no_solver_that_converges(rng):
    graph = grid(12, 12)
    Y = random_indicator(rng, 144, 12, 2)
    with pytest.warns(ConvergenceWarning) as caught:
        model = MultiLabelDirichletClassifier(solver=Sweeps(3)).fit(graph, Y)
    assert caught[0].filename == __file__
    P = model.predict_proba()
    assert ((P >= 0) & (P <= 1)).all()


def test_a_single_seed_has_probabilities_too():
    model = MultiLabelDirichletClassifier().fit(PATH, np.array([[1, 0]] + [[-1, -1]] * 3))
    assert model.predict_proba().tolist() == [[1.0, 0.0]] * 4


# --- scikit-learn's contract ----------------------------------------------------------------------


def test_parameters_are_only_stored_and_can_be_got_set_and_cloned():
    solver = Sweeps(7)
    changed = MultiLabelDirichletClassifier("nonsense", tol=-1).set_params(leak=0.5, solver=solver)
    copy = clone(changed)
    assert copy.get_params() == {
        "decision": "nonsense", "leak": 0.5, "tol": -1, "solver": solver, "engine": "auto",
        "threads": None, "memory": None, "unreached": "abstain",
    }  # fmt: skip
    assert not any(name.endswith("_") for name in vars(copy))
    assert is_classifier(copy)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_an_unfitted_classifier_says_so(method):
    with pytest.raises(NotFittedError):
        getattr(MultiLabelDirichletClassifier(), method)()
    for name in ("labels_", "scores_", "names_"):
        assert not hasattr(MultiLabelDirichletClassifier(), name)


@pytest.mark.parametrize("leak", [0.0, 0.2])
def test_a_fitted_classifier_survives_pickling(leak):
    fitted = MultiLabelDirichletClassifier(leak=leak).fit(TRIANGLES, KNOWN)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301  # our own bytes
    assert again.labels_.tolist() == fitted.labels_.tolist()
    assert np.array_equal(again.predict(np.eye(8)), fitted.predict(np.eye(8)))
    assert np.allclose(again.predict_proba(), fitted.predict_proba())


def test_the_score_is_subset_accuracy_over_the_known_rows():
    model = MultiLabelDirichletClassifier().fit(TRIANGLES, KNOWN)
    truth = model.predict().astype(int)
    truth[1] = 1 - truth[1]
    assert model.score(None, truth) == accuracy_score(truth, model.predict()) == 7 / 8
    truth[1] = -1
    assert model.score(None, truth) == 1.0
    truth[2, 0] = 1
    weights = np.arange(8)
    assert model.score(np.eye(8)[2:], truth[2:], weights[2:]) < 1.0
    assert np.isnan(model.score(None, np.full((8, 3), -1)))
    with pytest.raises(LabelError, match="shape"):
        model.score(None, truth[:, :2])


def test_pipelines_and_grid_search_work():
    X, Y = make_multilabel_classification(200, n_classes=3, n_features=5, random_state=0)
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=8, mode="connectivity"), MultiLabelDirichletClassifier()
    )
    grid_of = {"multilabeldirichletclassifier__decision": ["plain", "centered"]}
    search = GridSearchCV(pipeline, grid_of, cv=3).fit(X, Y)
    assert search.best_score_ > 0.3
    assert search.predict(X[:5]).shape == (5, 3)
    alone = GridSearchCV(MultiLabelDirichletClassifier(), {"leak": [0.0, 0.1]}, cv=3)
    assert alone.fit(kneighbors_graph(X, 8), Y).best_score_ > 0.3


@pytest.mark.parametrize("rows", [[[1, 0], [1, 0], [0, 1]], [(1, 0), (-1, -1), (0, 1)]])
def test_a_list_that_may_be_an_indicator_is_refused(rows):
    graph = Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(LabelError, match="may be an indicator"):
        MultiLabelDirichletClassifier().fit(graph, rows)
    MultiLabelDirichletClassifier().fit(graph, np.array(rows))
    MultiLabelDirichletClassifier().fit(graph, [{0, 1}, {1}, {0}])
