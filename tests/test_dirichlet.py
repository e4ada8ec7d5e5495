"""The split of a graph into boundary, free and unreached nodes, and back."""

import numpy as np
import pytest

from isotherm import DirichletProblem, Graph
from isotherm.dirichlet import Ties
from isotherm.errors import LabelError, ParameterError
from oracle import random_graph

# Two paths 0-1-2 and 3-4, and node 5 alone.
PIECES = Graph.from_edges([0, 1, 3], [1, 2, 4], nodes=range(6))


def test_boundary_free_and_unreached_nodes_are_every_node_once():
    problem = DirichletProblem(PIECES, np.array([2]), np.array([1.0]))
    assert problem.boundary.tolist() == [2]
    assert problem.free.tolist() == [0, 1]
    assert problem.unreached.tolist() == [3, 4, 5]


def test_heat_reaches_nodes_behind_other_seeds():
    path = Graph.from_edges(range(5), range(1, 6))
    problem = DirichletProblem(path, np.array([1, 2]), np.array([0.0, 1.0]))
    assert problem.unreached.size == 0


def test_the_blocks_are_those_of_equation_3(rng):
    graph = random_graph(rng, 25, degree=4)
    seeds = np.array([3, 7, 20])
    values = rng.normal(size=(3, 2))
    problem = DirichletProblem(graph, seeds, values, leak=0.25)
    A, F = graph.adjacency.toarray(), problem.free
    assert np.array_equal(problem.inner.toarray(), A[np.ix_(F, F)])
    assert np.allclose(problem.sources, A[np.ix_(F, seeds)] @ values, rtol=1e-14)
    assert np.allclose(problem.diagonal, 1.25 * A[F].sum(axis=1), rtol=1e-14)


def test_a_tie_is_a_term_of_the_diagonal_and_of_the_right_hand_side(rng):
    graph = random_graph(rng, 25, degree=4)
    ties = Ties(np.array([4, 9]), np.array([0.5, 3.0]), np.array([[1.0, 0.0], [0.25, 0.75]]))
    tied = DirichletProblem(graph, np.array([3]), np.array([[0.0, 1.0]]), leak=0.25, ties=ties)
    plain = DirichletProblem(graph, np.array([3]), np.array([[0.0, 1.0]]), leak=0.25)
    assert tied.free.tolist() == plain.free.tolist()
    at = np.searchsorted(tied.free, ties.nodes)
    assert (tied.diagonal - plain.diagonal)[at] == pytest.approx(ties.weights)
    assert (tied.sources - plain.sources)[at] == pytest.approx(ties.weights[:, None] * ties.values)
    assert tied.seeds.tolist() == [3, 4, 9]


def test_a_tie_alone_reaches_its_component():
    nobody = np.empty(0, dtype=np.intp)
    ties = Ties(np.array([1]), np.ones(1), np.ones((1, 1)))
    problem = DirichletProblem(PIECES, nobody, np.empty((0, 1)), ties=ties)
    assert problem.n_free > 0
    assert problem.is_free[1]


def test_a_start_has_the_boundary_values_and_none_at_unreached_nodes():
    problem = DirichletProblem(PIECES, np.array([2, 0]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert problem.start()[[0, 1, 2]].tolist() == [[3, 4], [0, 0], [1, 2]]
    assert np.isnan(problem.start()[3:]).all()
    warm = np.full((PIECES.n_nodes, 2), 2.5)
    assert problem.start(warm=warm)[[0, 1, 2]].tolist() == [[3, 4], [2.5, 2.5], [1, 2]]
    assert np.isnan(problem.start(warm=warm)[3:]).all()


def test_a_seed_given_twice_with_the_same_value_counts_once():
    problem = DirichletProblem(PIECES, np.array([2, 0, 2]), np.array([1.0, 0.0, 1.0]))
    assert problem.boundary.tolist() == [0, 2]
    assert problem.values.ravel().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("boundary", "values", "message"),
    [
        ([], [], "no seed"),
        ([0, 2], [1.0], "2 boundary nodes but values of shape"),
        ([0], [[[1.0]]], "values of shape"),
        ([0], np.empty((1, 0)), "values of shape"),
        ([0], [np.nan], "finite"),
        ([0], [np.inf], "finite"),
        ([0], ["warm"], "real numbers"),
        ([0, 2], [1e308, -1e308], r"must be within ±1e\+300, got 1e\+308"),
        ([0, 6], [1.0, 0.0], "no node at position 6"),
        ([0, -1], [1.0, 0.0], "no node at position -1"),
        ([0, 2, 0], [1.0, 0.0, 0.5], r"conflict.*\[0\]"),
    ],
)
def test_bad_seeds_get_a_clear_error(boundary, values, message):
    with pytest.raises(LabelError, match=message):
        DirichletProblem(PIECES, np.array(boundary, dtype=int), values)


def test_positions_must_be_whole_numbers():
    with pytest.raises(LabelError, match="whole numbers, got numbers of type float64"):
        DirichletProblem(PIECES, np.array([0.5]), np.array([1.0]))


@pytest.mark.parametrize("leak", [-0.1, np.nan, np.inf, "much", None, True])
def test_a_bad_leak_gets_a_clear_error(leak):
    with pytest.raises(ParameterError, match="leak must be a number ≥ 0"):
        DirichletProblem(PIECES, np.array([0]), np.array([1.0]), leak=leak)
