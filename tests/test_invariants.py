"""What must hold on every graph: the invariants of diffusion, on graphs drawn by hypothesis."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from isotherm import DirichletClassifier, Graph, solve_dirichlet
from isotherm.decision import DECISIONS

TOL = 1e-6


@st.composite
def graphs(draw, max_nodes=16):
    """A small weighted graph: self loops, isolated nodes, several components are all likely."""
    n = draw(st.integers(2, max_nodes))
    node = st.integers(0, n - 1)
    weight = st.sampled_from([0.01, 0.5, 1.0, 1.0, 3.0, 100.0])
    edges = draw(st.lists(st.tuples(node, node, weight), max_size=3 * n))
    source, target, weights = zip(*edges, strict=True) if edges else ((), (), ())
    return Graph.from_edges(
        np.array(source, dtype=int), np.array(target, dtype=int), weights, nodes=range(n)
    )


@st.composite
def problems(draw):
    """A graph and labels with at least one seed, at most four classes."""
    graph = draw(graphs())
    labels = draw(
        st.lists(st.integers(-1, 3), min_size=graph.n_nodes, max_size=graph.n_nodes).filter(
            lambda found: max(found) >= 0
        )
    )
    return graph, np.array(labels)


decisions = st.sampled_from(list(DECISIONS))


@given(problems(), st.floats(0, 2), st.integers(0, 2**31))
def test_temperatures_stay_within_the_boundary_values(problem, leak, seed):
    graph, labels = problem
    seeds = np.flatnonzero(labels >= 0)
    values = np.random.default_rng(seed).normal(size=(len(seeds), 2))
    T = solve_dirichlet(graph, seeds, values, leak=leak).temperatures
    low, high = values.min(axis=0), values.max(axis=0)
    if leak > 0:
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    reached = ~np.isnan(T[:, 0])
    assert (T[reached] >= low).all()
    assert (T[reached] <= high).all()


@given(problems())
def test_classes_sum_to_one_on_reached_nodes(problem):
    c = DirichletClassifier().fit(*problem)
    reached = c.status_ != "unreached"
    assert np.allclose(c.temperatures_[reached].sum(axis=1), 1, atol=len(c.classes_) * TOL)


@given(problems(), st.integers(0, 2**31), decisions)
def test_renaming_nodes_permutes_the_answer(problem, seed, decision):
    graph, labels = problem
    order = np.random.default_rng(seed).permutation(graph.n_nodes)
    renamed = Graph.from_matrix(graph.adjacency[order][:, order])
    before = DirichletClassifier(decision).fit(graph, labels)
    after = DirichletClassifier(decision).fit(renamed, labels[order])
    assert np.allclose(after.temperatures_, before.temperatures_[order], atol=TOL, equal_nan=True)
    assert np.array_equal(after.labels_, before.labels_[order])
    assert np.array_equal(after.status_, before.status_[order])


@given(problems(), st.sampled_from([1e-12, 0.3, 7.0, 1e9]), decisions)
def test_scaling_all_weights_changes_nothing(problem, factor, decision):
    graph, labels = problem
    before = DirichletClassifier(decision).fit(graph, labels)
    after = DirichletClassifier(decision).fit(Graph.from_matrix(graph.adjacency * factor), labels)
    assert np.allclose(after.temperatures_, before.temperatures_, atol=TOL, equal_nan=True)
    sure = (before.status_ != "tie") & (after.status_ != "tie")
    assert np.array_equal(after.labels_[sure], before.labels_[sure])


@given(problems())
def test_merging_the_seeds_of_a_class_changes_nothing(problem):
    graph, labels = problem
    # All seeds of a class become one node; the free nodes follow.
    group = np.where(labels >= 0, labels, 4 + np.arange(graph.n_nodes))
    kept, where = np.unique(group, return_inverse=True)
    onto = np.equal.outer(where, np.arange(len(kept))).astype(float)
    merged = Graph.from_matrix(onto.T @ graph.adjacency.toarray() @ onto)
    before = DirichletClassifier().fit(graph, labels)
    after = DirichletClassifier().fit(merged, np.where(kept < 4, kept, -1))
    free = labels < 0
    assert np.allclose(
        after.temperatures_[where[free]], before.temperatures_[free], atol=TOL, equal_nan=True
    )


@given(problems(), st.lists(st.sampled_from([0.5, 2.0, 30.0]), min_size=16, max_size=16))
def test_self_loops_and_edges_between_seeds_carry_no_heat(problem, weights):
    graph, labels = problem
    extra = np.diag(weights[: graph.n_nodes])
    seed = labels >= 0
    extra[np.ix_(seed, seed)] += 1.0
    before = DirichletClassifier().fit(graph, labels)
    # Between seeds of two components an edge makes both reached, as they were already.
    more = Graph.from_matrix(graph.adjacency.toarray() + extra)
    after = DirichletClassifier().fit(more, labels)
    assert np.allclose(after.temperatures_, before.temperatures_, atol=TOL, equal_nan=True)


@given(problems(), decisions, st.sampled_from([0.0, 0.01, 1.0]))
def test_a_fit_always_ends_in_a_defined_result(problem, decision, leak):
    graph, labels = problem
    c = DirichletClassifier(decision, leak=leak).fit(graph, labels)
    n, K = graph.n_nodes, len(c.classes_)
    reached = c.status_ != "unreached"
    assert c.temperatures_.shape == c.scores_.shape == (n, K)
    assert np.isfinite(c.scores_[reached]).all()
    assert set(c.labels_[reached]) <= set(c.classes_)
    assert (c.labels_[~reached] == -1).all()
    assert np.array_equal(c.labels_[labels >= 0], labels[labels >= 0])
    assert np.allclose(c.predict_proba().sum(axis=1), 1)
    assert (c.certified_ | (c.status_ == "tie")).all()
    assert (c.margins_[c.certified_ & (c.status_ == "predicted")] > 0).all()


@given(problems(), st.floats(0.01, 1))
def test_a_leak_only_cools(problem, leak):
    graph, labels = problem
    without = DirichletClassifier().fit(graph, labels).temperatures_
    with_leak = DirichletClassifier(leak=leak).fit(graph, labels).temperatures_
    reached = ~np.isnan(without[:, 0])
    assert (with_leak[reached] <= without[reached] + 2 * TOL).all()


@given(problems())
def test_equilibrium_balances_the_heat_at_every_free_node(problem):
    graph, labels = problem
    c = DirichletClassifier().fit(graph, labels)
    free = (c.status_ == "predicted") | (c.status_ == "tie")
    assume(free.any())
    T = np.nan_to_num(c.temperatures_)
    flow = graph.adjacency @ T - graph.degrees[:, np.newaxis] * T  # equation (1)
    assert (np.abs(flow[free]) <= 2 * TOL * graph.degrees[free, np.newaxis]).all()


@pytest.mark.parametrize("decision", DECISIONS)
def test_symmetric_classes_are_treated_alike(decision):
    # A barbell is its own mirror image: swapping the labels mirrors the answer.
    graph = Graph.from_edges([0, 0, 1, 2, 3, 3, 4, 6, 5], [1, 2, 2, 6, 4, 5, 5, 3, 6])
    mirror = np.array([3, 4, 5, 0, 1, 2, 6])
    A = graph.adjacency.toarray()
    symmetric = Graph.from_matrix((A + A[np.ix_(mirror, mirror)]) / 2)
    one = DirichletClassifier(decision).fit(symmetric, {0: "x", 3: "y"})
    two = DirichletClassifier(decision).fit(symmetric, {0: "y", 3: "x"})
    sure = one.status_ == "predicted"
    assert np.array_equal(one.labels_[sure], two.labels_[mirror][sure])
