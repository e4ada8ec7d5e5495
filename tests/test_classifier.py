"""DirichletClassifier: Algorithm 1, its attributes, and its manners."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from isotherm import DirichletClassifier, Graph, Sweeps
from isotherm.decision import DECISIONS
from isotherm.errors import GraphError, LabelError, ParameterError
from oracle import dense_temperatures, grid, one_hot, random_graph, random_seeds
from other_libraries import igraph_path

# Two triangles joined by an edge, and a pair apart.
TRIANGLES = Graph.from_edges("abcxyzcu", "bcayzxxv")
SEEDS = {"a": "left", "y": "right"}


def algorithm_1(graph, labels):
    """Algorithm 1 line by line, with a dense solver: labels of the free nodes."""
    n, S = graph.n_nodes, np.flatnonzero(labels >= 0)
    K = labels.max() + 1
    delta = np.zeros((n, K))
    for k in range(K):
        T = np.zeros(n)
        for i in S:
            if labels[i] == k:
                T[i] = 1
        T = dense_temperatures(graph, S, T[S])[:, 0]
        delta[:, k] = T - T.sum() / n
    return delta


def test_scores_and_labels_are_those_of_algorithm_1(rng):
    for _ in range(20):
        A = random_graph(rng, 30, degree=3).adjacency.toarray() + 0.01  # connected
        graph = Graph.from_matrix(A)
        labels = random_seeds(rng, graph, 8, 3)
        labels[rng.choice(np.flatnonzero(labels < 0), 3, replace=False)] = [0, 1, 2]
        delta = algorithm_1(graph, labels)
        classifier = DirichletClassifier().fit(graph, labels)
        assert np.allclose(classifier.scores_, delta, atol=1e-6)
        # A node joined to all others alike has the mean temperature in every class: a tie.
        clear = classifier.status_ == "predicted"
        assert np.array_equal(classifier.labels_[clear], delta[clear].argmax(axis=1))
        tied = delta[classifier.status_ == "tie"]
        assert (np.abs(tied) < 1e-12).all()


def test_fitted_attributes_fit_together(rng):
    graph = random_graph(rng, 60, degree=3)
    labels = random_seeds(rng, graph, 10, 4)
    c = DirichletClassifier().fit(graph, labels)
    has = ~c.solution_.unreached
    assert np.array_equal(c.classes_, np.unique(labels[labels >= 0]))
    assert np.allclose(c.mean_temperatures_, c.temperatures_[has].mean(axis=0))
    assert np.allclose(c.scores_[has], c.temperatures_[has] - c.mean_temperatures_)
    top = np.sort(c.scores_[has], axis=1)
    assert np.allclose(c.margins_[has], top[:, -1] - top[:, -2])
    assert np.array_equal(c.status_ == "seed", labels >= 0)
    assert np.array_equal(c.status_ == "unreached", ~has)
    assert np.array_equal(c.labels_[labels >= 0], labels[labels >= 0])
    assert c.n_iter_ == c.solution_.n_iter
    assert np.array_equal(c.predict(), c.labels_)


def test_seeds_of_a_class_may_be_merged_into_one():
    # Joining all seeds of a class into a single node changes nothing for the others.
    graph = Graph.from_edges([0, 1, 2, 3, 4, 5, 1], [2, 3, 3, 4, 5, 6, 4])
    apart = DirichletClassifier().fit(graph, {0: "x", 1: "x", 6: "y"})
    merged = Graph.from_edges([0, 0, 2, 3, 4, 5, 0], [2, 3, 3, 4, 5, 6, 4])
    together = DirichletClassifier().fit(merged, {0: "x", 6: "y"})
    assert np.allclose(apart.temperatures_[2:], together.temperatures_[1:], atol=1e-12)


@pytest.mark.parametrize(
    "graph",
    [
        nx.path_graph(4),
        lambda: igraph_path(4),
        nx.to_numpy_array(nx.path_graph(4)),
        nx.to_scipy_sparse_array(nx.path_graph(4)),
        sparse.coo_matrix(nx.to_numpy_array(nx.path_graph(4))),
        nx.to_numpy_array(nx.path_graph(4)).tolist(),
        Graph.from_edges([0, 1, 2], [1, 2, 3]),
    ],
    ids=["networkx", "igraph", "dense", "csr_array", "coo_matrix", "lists", "Graph"],
)
@pytest.mark.parametrize("labels", [{0: "x", 3: "y"}, ["x", None, None, "y"]], ids=str)
def test_fit_takes_graphs_and_labels_of_every_kind(graph, labels):
    graph = graph() if callable(graph) else graph
    assert DirichletClassifier().fit_predict(graph, labels).tolist() == ["x", "x", "y", "y"]


# --- defined results in odd cases -----------------------------------------------------------------


def test_with_one_class_all_reached_nodes_get_it():
    c = DirichletClassifier().fit(TRIANGLES, {"a": "only"})
    assert c.labels_.tolist() == ["only"] * 3 + [None] * 2 + ["only"] * 3
    assert c.certified_.all()
    assert np.isinf(c.margins_[c.status_ != "unreached"]).all()
    assert np.array_equal(c.predict_proba(), np.ones((8, 1)))


@pytest.mark.parametrize("decision", DECISIONS)
def test_with_one_class_and_a_leak_every_decision_still_gives_it(decision):
    c = DirichletClassifier(decision, leak=0.1, unreached="zero").fit(TRIANGLES, {"a": "only"})
    assert set(c.labels_.tolist()) == {"only"}


@pytest.mark.parametrize("decision", DECISIONS)
def test_when_every_node_is_a_seed_labels_are_those_given(decision):
    labels = [0, 1, 1, 0]
    c = DirichletClassifier(decision).fit(nx.path_graph(4), labels)
    assert c.labels_.tolist() == labels
    assert set(c.status_) == {"seed"}
    assert c.certified_.all()
    assert np.isfinite(c.scores_).all()


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_class_whose_seeds_touch_only_seeds_is_no_trouble(decision):
    # 0 - 1 - 2 - 3 - 4: class "shut" is node 0, shut in by seed 1.
    c = DirichletClassifier(decision).fit(nx.path_graph(5), {0: "shut", 1: "x", 4: "y"})
    assert np.isfinite(c.scores_).all()
    assert (c.temperatures_[[2, 3], c.classes_.tolist().index("shut")] == 0).all()
    assert c.labels_[[0, 1, 4]].tolist() == ["shut", "x", "y"]


@pytest.mark.parametrize("decision", DECISIONS)
def test_isolated_seeds_and_components_without_seeds(decision):
    graph = Graph.from_edges([0, 1, 4], [1, 2, 5], nodes=range(7))
    c = DirichletClassifier(decision).fit(graph, {0: 0, 2: 1, 3: 2})
    assert c.status_[[0, 2, 3]].tolist() == ["seed"] * 3
    assert c.status_[4:].tolist() == ["unreached"] * 3
    assert c.status_[1] in {"predicted", "tie"}
    assert c.labels_[[0, 2, 3, 4, 5, 6]].tolist() == [0, 1, 2, -1, -1, -1]


def test_more_classes_than_free_nodes():
    star = nx.star_graph(6)
    c = DirichletClassifier().fit(star, {i: f"leaf {i}" for i in range(1, 7)})
    assert c.status_[0] == "tie"
    assert c.labels_[0] == "leaf 1"  # the first of those that may be the warmest
    assert not c.certified_[0]


def test_a_tie_is_reported_and_does_not_depend_on_the_order_of_nodes(rng):
    ring = nx.cycle_graph(8)
    for _ in range(10):
        names = rng.permutation(8)
        graph = nx.relabel_nodes(ring, dict(enumerate(names.tolist())))
        shuffled = nx.Graph()
        shuffled.add_nodes_from(rng.permutation(8).tolist())
        shuffled.add_edges_from(graph.edges)
        c = DirichletClassifier().fit(shuffled, {int(names[0]): "x", int(names[4]): "y"})
        nodes = list(shuffled)
        halfway = [nodes.index(names[2]), nodes.index(names[6])]
        assert c.status_[halfway].tolist() == ["tie", "tie"]
        assert c.labels_[halfway].tolist() == ["x", "x"]
        assert not c.certified_[halfway].any()


def test_a_tie_goes_to_the_warmest_of_the_classes_in_question():
    # Shut in by node 1, "in" has no heat; by the mean over free nodes both classes score 0.
    c = DirichletClassifier("partial").fit(nx.path_graph(5), {0: "in", 1: "out", 4: "out"})
    assert c.status_[2:4].tolist() == ["tie", "tie"]
    assert c.labels_[2:4].tolist() == ["out", "out"]


@pytest.mark.parametrize("solver", ["direct", "cg", "sweeps", "elimination"])
def test_exact_ties_are_ties_for_every_solver(solver):
    c = DirichletClassifier(solver=solver).fit(nx.path_graph(5), {0: "x", 4: "y"})
    assert c.status_.tolist() == ["seed", "predicted", "tie", "predicted", "seed"]


# --- unreached nodes ------------------------------------------------------------------------------


def test_unreached_nodes_abstain_and_are_left_out_of_the_means():
    c = DirichletClassifier().fit(TRIANGLES, SEEDS)
    apart = c.status_ == "unreached"
    assert TRIANGLES.names[apart].tolist() == ["u", "v"]
    assert c.labels_[apart].tolist() == [None, None]
    assert np.isnan(c.temperatures_[apart]).all()
    assert np.isnan(c.scores_[apart]).all()
    assert c.certified_[apart].all()
    assert np.isclose(c.mean_temperatures_.sum(), 1)


def test_an_isolated_node_changes_no_other_label(rng):
    graph = random_graph(rng, 40, degree=3)
    labels = random_seeds(rng, graph, 8, 3)
    more = Graph.from_matrix(sparse.block_diag([graph.adjacency, np.zeros((5, 5))]))
    before = DirichletClassifier().fit(graph, labels)
    after = DirichletClassifier().fit(more, np.concatenate([labels, [-1] * 5]))
    assert np.array_equal(before.labels_, after.labels_[:40])
    assert np.allclose(before.mean_temperatures_, after.mean_temperatures_)


def test_unreached_nodes_at_zero_count_in_the_means():
    c = DirichletClassifier(unreached="zero").fit(TRIANGLES, SEEDS | {"b": "left"})
    apart = c.status_ == "unreached"
    assert apart.sum() == 2
    assert (c.temperatures_[apart] == 0).all()
    assert np.allclose(c.mean_temperatures_, c.temperatures_.mean(axis=0))
    assert c.labels_[apart].tolist() == ["right", "right"]  # the class with the smaller mean
    assert np.allclose(c.scores_[apart], -c.mean_temperatures_)


def test_the_rule_for_unreached_nodes_must_exist():
    with pytest.raises(ParameterError, match="'abstain', 'zero'"):
        DirichletClassifier(unreached="guess").fit(TRIANGLES, SEEDS)


# --- new nodes ------------------------------------------------------------------------------------


def test_a_new_node_takes_the_weighted_mean_of_its_neighbours():
    c = DirichletClassifier().fit(TRIANGLES, SEEDS)
    rows = np.zeros((3, 8))
    a, b, x, y = TRIANGLES.positions(["a", "b", "x", "y"])
    rows[0, [a, b]] = 1.0
    rows[1, [x, y]] = [5.0, 0.5]
    rows[2, [a, y]] = [1.0, 3.0]
    for new in (rows, sparse.csr_array(rows), sparse.coo_matrix(rows)):
        assert c.predict(new).tolist() == ["left", "right", "right"]
    T = rows @ np.nan_to_num(c.temperatures_) / rows.sum(axis=1, keepdims=True)
    assert np.allclose(c._extend(rows), T)


def test_a_new_node_like_a_fitted_one_gets_its_label(rng):
    graph = random_graph(rng, 50, degree=4)
    labels = random_seeds(rng, graph, 10, 3)
    for leak in (0.0, 0.2):
        c = DirichletClassifier(leak=leak).fit(graph, labels)
        free = c.status_ == "predicted"
        assert np.array_equal(c.predict(graph.adjacency)[free], c.labels_[free])
        assert np.allclose(
            c.predict_proba(graph.adjacency)[free], c.predict_proba()[free], atol=1e-5
        )


def test_a_new_node_without_heat_abstains():
    c = DirichletClassifier().fit(TRIANGLES, SEEDS)
    rows = np.zeros((2, 8))
    rows[1, TRIANGLES.positions(["u"])] = 1.0
    assert c.predict(rows).tolist() == [None, None]
    assert np.allclose(c.predict_proba(rows), 0.5)
    assert c.predict(np.zeros((0, 8))).shape == (0,)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ones((1, 5)), r"X has 5 features, .* expecting 8 .*each fitted node"),
        (TRIANGLES, r"rows of a matrix of weights.*shape \(\)"),
        (np.full((1, 8), 1e308), "add up to infinity"),
        (-np.ones((1, 8)), "Negative"),
        (np.full((1, 8), np.nan), "NaN"),
        (np.ones(8), r"rows of a matrix.*shape \(8,\)"),
    ],
)
def test_bad_rows_get_a_clear_error(rows, message):
    with pytest.raises(GraphError, match=message):
        DirichletClassifier().fit(TRIANGLES, SEEDS).predict(rows)


def test_changing_parameters_or_answers_after_a_fit_changes_nothing_in_it():
    c = DirichletClassifier(leak=0.1).fit(TRIANGLES, SEEDS)
    rows = np.eye(8)
    labels, new = c.predict(), c.predict_proba(rows)
    labels[:] = "spoilt"
    c.set_params(decision="nonsense", leak=5.0, unreached="zero")
    assert "spoilt" not in c.predict()
    assert np.array_equal(c.predict_proba(rows), new)


def test_a_score_leaves_out_nodes_whose_label_is_unknown():
    c = DirichletClassifier().fit(TRIANGLES, SEEDS)
    truth = ["left", "right", "left", None, None, "right", None, "right"]
    assert c.score(None, truth) == 4 / 5
    assert c.score(np.eye(8), truth, sample_weight=[1, 0, 1, 1, 1, 1, 1, 1]) == 1.0
    assert np.isnan(c.score(None, [None] * 8))


# --- probabilities --------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", DECISIONS)
def test_probabilities_sum_to_one_and_rise_with_the_score(decision, rng):
    graph = random_graph(rng, 80, degree=4)
    c = DirichletClassifier(decision).fit(graph, random_seeds(rng, graph, 15, 4))
    P, has = c.predict_proba(), c.status_ != "unreached"
    assert np.allclose(P.sum(axis=1), 1)
    assert (P >= 0).all()
    warmer = c.scores_[has][:1] + np.array([0.1, 0, 0, 0])
    assert c.calibration_(warmer)[0, 0] > c.calibration_(c.scores_[has][:1])[0, 0]


def test_probabilities_of_unreached_nodes_are_the_class_shares_of_the_seeds():
    c = DirichletClassifier().fit(TRIANGLES, {"a": "left", "b": "left", "y": "right"})
    assert np.allclose(c.predict_proba()[c.status_ == "unreached"], [2 / 3, 1 / 3])


# --- errors and warnings --------------------------------------------------------------------------


def test_a_solve_that_misses_tol_warns_with_the_honest_bound():
    with pytest.warns(ConvergenceWarning, match="proven to .* only, not to tol"):
        c = DirichletClassifier(solver=Sweeps(10)).fit(grid(12, 12), {0: "x", 143: "y"})
    assert c.solution_.certificate.bound > 1e-6
    assert not c.certified_.all()
    uncertified = ~c.certified_
    assert set(c.status_[uncertified]) == {"predicted"}


def test_the_warning_points_at_the_call_of_fit():
    for method in ("fit", "fit_predict"):
        call = getattr(DirichletClassifier(solver=Sweeps(1)), method)
        with pytest.warns(ConvergenceWarning) as caught:
            call(grid(5, 5), {0: "x", 24: "y"})
        assert caught[0].filename == __file__


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_an_unfitted_classifier_says_so(method):
    with pytest.raises(NotFittedError):
        getattr(DirichletClassifier(), method)()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"decision": "auto?"}, "unknown decision.*'centered'"),
        ({"solver": "magic"}, "unknown solver.*'cg'"),
        ({"engine": "steam"}, "unknown engine.*'scipy'"),
        ({"tol": 0}, "tol must be"),
        ({"tol": -1.0}, "tol must be"),
        ({"leak": -1}, "leak must be"),
        ({"leak": "auto?"}, "leak must be"),
        ({"unreached": "guess"}, "unknown rule for unreached nodes.*'abstain', 'zero'"),
    ],
    ids=str,
)
def test_bad_parameters_are_found_in_fit_and_nothing_is_lost(parameters, message):
    classifier = DirichletClassifier().fit(TRIANGLES, SEEDS)
    before = classifier.labels_
    classifier.set_params(**parameters)
    with pytest.raises(ParameterError, match=message):
        classifier.fit(TRIANGLES, {"a": 1, "b": 2, "c": 3})
    assert classifier.labels_ is before
    assert classifier.classes_.tolist() == ["left", "right"]
    assert (classifier.status_ == "seed").sum() == 2
    assert classifier.solution_.temperatures.shape == (8, 2)


def test_bad_labels_leave_an_earlier_fit_as_it_was():
    classifier = DirichletClassifier().fit(TRIANGLES, SEEDS)
    with pytest.raises(LabelError):
        classifier.fit(TRIANGLES, [1, 2, 3])
    assert classifier.classes_.tolist() == ["left", "right"]
    assert len(classifier.predict()) == 8


def test_soft_boundary_values_are_averages_of_hard_ones(rng):
    from isotherm import solve_dirichlet

    graph = random_graph(rng, 30, degree=5)
    seeds, _ = one_hot(random_seeds(rng, graph, 5, 5))
    soft = rng.dirichlet(np.ones(3), 5)
    T = solve_dirichlet(graph, seeds, soft).temperatures
    hard = solve_dirichlet(graph, seeds, np.eye(5)).temperatures
    assert np.allclose(T, hard @ soft, atol=1e-6, equal_nan=True)
