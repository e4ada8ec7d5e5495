"""isotherm does what the paper says: `paper/algorithm1.py` is the paper, in NumPy and SciPy."""

import ast
import inspect

import numpy as np
import pytest

from isotherm import (
    BlockModel,
    DirichletClassifier,
    Graph,
    NotConverged,
    Sweeps,
    load_dataset,
    solve_dirichlet,
)
from oracle import random_graph
from paper import algorithm1 as paper

DRAWS = range(200)


def draw(number):
    """A connected graph with weights, seeds of every class, and their labels."""
    rng = np.random.default_rng(number)
    n, classes = int(rng.integers(8, 60)), int(rng.integers(2, 5))
    scattered = random_graph(rng, n, degree=rng.uniform(1, 6)).adjacency.toarray()
    path = np.diag(rng.uniform(0.1, 1, n - 1), 1)
    graph = Graph.from_matrix(scattered + path + path.T)
    seeds = rng.permutation(n)[: classes + int(rng.integers(0, n // 4))]
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, len(seeds) - classes)])
    return graph, seeds, y


def hot(seeds, y, k, n):
    T = np.zeros(n)
    T[seeds] = y == k
    return T


@pytest.mark.parametrize("number", DRAWS)
def test_temperatures_are_those_of_equation_4(number):
    graph, seeds, y = draw(number)
    found = solve_dirichlet(graph, seeds, np.equal.outer(y, range(y.max() + 1)), tol=1e-10)
    for k in range(y.max() + 1):
        expected = paper.dirichlet(graph.adjacency, seeds, hot(seeds, y, k, graph.n_nodes))
        assert np.abs(found.temperatures[:, k] - expected).max() <= 1e-9


@pytest.mark.parametrize("number", DRAWS)
def test_labels_are_those_of_algorithm_1(number):
    graph, seeds, y = draw(number)
    known = np.full(graph.n_nodes, -1)
    known[seeds] = y
    model = DirichletClassifier(tol=1e-10).fit(graph, known)
    clear = model.margins_ > 1e-9  # a tie is broken by the last digits
    expected = paper.algorithm1(graph.adjacency, seeds, y)
    np.testing.assert_array_equal(model.labels_[clear], expected[clear])
    assert clear.mean() > 0.9


@pytest.mark.parametrize("times", [0, 1, 2, 5, 10])
def test_sweeps_are_iterations_of_equation_3(times):
    for number in DRAWS[:20]:
        graph, seeds, y = draw(number)
        T = hot(seeds, y, 0, graph.n_nodes)
        try:
            found = solve_dirichlet(graph, seeds, T[seeds], solver=Sweeps(times))
        except NotConverged as error:
            found = error.solution
        expected = paper.iterate(graph.adjacency, seeds, T, times)
        assert np.abs(found.temperatures[:, 0] - expected).max() <= 1e-12


def blocks(number):
    rng = np.random.default_rng(number)
    sizes = rng.integers(2, 30, rng.integers(2, 6))
    seeds = np.array([rng.integers(1, size) for size in sizes])
    q = rng.uniform(0.01, 1)
    return sizes, seeds, q * rng.uniform(1.01, 10), q


@pytest.mark.parametrize("number", DRAWS)
def test_lemma_1_is_what_the_block_model_says(number):
    sizes, seeds, p, q = blocks(number)
    model = BlockModel(sizes, p, q)
    for k in range(len(sizes)):
        T, mean = paper.lemma1(sizes, seeds, p, q, k)
        np.testing.assert_allclose(model.temperatures(seeds)[:, k], T, rtol=1e-11)
        assert model.mean_temperatures(seeds)[k] == pytest.approx(mean, rel=1e-11)


@pytest.mark.parametrize("number", DRAWS[:40])
def test_lemma_1_and_theorem_1_hold_on_the_graph_itself(number):
    sizes, counts, p, q = blocks(number)
    model = BlockModel(sizes, p, q)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    seeds = np.concatenate([np.arange(a, a + s) for a, s in zip(first, counts, strict=True)])
    A, block = model.expected_graph().adjacency, model.labels
    for k in range(len(sizes)):
        T = paper.dirichlet(A, seeds, hot(seeds, block[seeds], k, len(block)))
        free, mean = paper.lemma1(sizes, counts, p, q, k)
        last = first + sizes - 1  # a free node of each block
        np.testing.assert_allclose(T[last], free, atol=1e-12)
        assert T.mean() == pytest.approx(mean, abs=1e-12)
    np.testing.assert_array_equal(paper.algorithm1(A, seeds, block[seeds]), block)


def test_the_karate_club_is_as_in_figure_1():
    club = load_dataset("karate")
    seeds = np.array([0, 33])
    classes, y = np.unique(club.labels[seeds], return_inverse=True)
    model = DirichletClassifier().fit(club.graph, dict(zip(seeds, club.labels[seeds], strict=True)))
    expected = paper.algorithm1(club.graph.adjacency, seeds, y)
    assert model.labels_.tolist() == classes[expected].tolist()
    assert (classes[expected] == club.labels).sum() == 33


def test_the_paper_stands_alone():
    tree = ast.parse(inspect.getsource(paper))
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported == {"typing", "numpy", "scipy"}
