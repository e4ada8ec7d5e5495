"""Nodes that come and go: warm starts by id, and labels of nodes that were not fitted."""

import numpy as np
import pytest

from isotherm import DirichletClassifier, DirichletRegressor, Graph
from isotherm import MultiLabelDirichletClassifier as MultiLabel
from isotherm.errors import GraphError, UnknownNode
from oracle import random_graph


def named(graph, names):
    """The part of a graph with these nodes, in this order, by their names."""
    A = graph.adjacency[names][:, names].tocoo()
    ids = np.array([f"n{i}" for i in names], dtype=object)
    return Graph.from_edges(ids[A.row], ids[A.col], A.data / 2, nodes=ids)


@pytest.mark.parametrize("engine", ["auto", "scipy"])
def test_a_warm_start_finds_nodes_by_their_ids(rng, engine):
    whole = random_graph(rng, 300, degree=6)
    before, now = rng.permutation(300)[:260], rng.permutation(300)[:270]
    labels = {f"n{i}": int(i % 3) for i in np.intersect1d(before, now)[:20]}
    how = {"engine": engine, "solver": "cg", "tol": 1e-8}
    warm = DirichletClassifier(warm_start=True, **how).fit(named(whole, before), labels)
    warm.fit(named(whole, now), labels)
    cold = DirichletClassifier(**how).fit(named(whole, now), labels)
    assert np.nanmax(np.abs(warm.temperatures_ - cold.temperatures_)) <= 2e-8
    assert warm.labels_.tolist() == cold.labels_.tolist()


def test_the_same_nodes_in_another_order_take_no_steps(rng):
    whole = random_graph(rng, 400, degree=8)
    labels = {f"n{i}": int(i % 2) for i in range(20)}
    model = DirichletClassifier(warm_start=True, solver="cg", engine="scipy", tol=1e-6)
    first = model.fit(named(whole, np.arange(400)), labels).n_iter_
    assert model.fit(named(whole, rng.permutation(400)), labels).n_iter_ < first / 4


def test_a_new_node_starts_from_the_mean_of_its_neighbours():
    path = Graph.from_edges("abcd", "bcde")
    model = DirichletClassifier(warm_start=True).fit(path, {"a": 0, "e": 1})
    longer = Graph.from_edges("abcdx", "bcdeb", nodes="abcdexy")
    start = model._previous(longer, model.solution_)
    assert start.temperatures[5] == pytest.approx(start.temperatures[1])
    assert start.temperatures[6].tolist() == [0, 0]


def test_new_nodes_are_named_by_their_neighbours():
    path = Graph.from_edges("abcd", "bcde")
    model = DirichletClassifier().fit(path, {"a": "left", "e": "right"})
    new = {"u": {"a": 1.0, "b": 3.0}, "v": {"d": 2.0}, "w": {}}
    rows = np.array([[1, 3, 0, 0, 0], [0, 0, 0, 2, 0], [0, 0, 0, 0, 0.0]])
    assert model.predict(new).tolist() == model.predict(rows).tolist() == ["left", "right", None]
    assert model.predict_proba(new) == pytest.approx(model.predict_proba(rows), abs=1e-12)
    values = DirichletRegressor().fit(path, {"a": 0.0, "e": 4.0})
    assert values.predict(new)[:2] == pytest.approx([0.75, 3.0])
    sets = MultiLabel().fit(path, {"a": {"x"}, "e": {"y"}})
    assert np.array_equal(sets.predict(new), sets.predict(rows))


@pytest.mark.parametrize(
    ("new", "error", "message"),
    [
        ({"u": {"q": 1.0}}, UnknownNode, "not in the graph: 'q'"),
        ({"u": {"a": "heavy"}}, GraphError, "must be numbers"),
        ({"u": {"a": -1.0}}, GraphError, "weight"),
    ],
)
def test_a_new_node_that_cannot_be_is_refused(new, error, message):
    model = DirichletClassifier().fit(Graph.from_edges("ab", "bc"), {"a": 0, "c": 1})
    with pytest.raises(error, match=message):
        model.predict(new)
