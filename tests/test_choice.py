"""What "auto" chooses, and the count of work that it goes by."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from isotherm import (
    ConjugateGradient,
    Direct,
    DirichletClassifier,
    DirichletProblem,
    Graph,
    solve_dirichlet,
)
from isotherm.engines import ENGINES
from isotherm.errors import ParameterError
from isotherm.solvers import choose_solvers, fill
from isotherm.solvers.fill import elimination_order
from isotherm.solvers.operator import ReferenceOperator
from oracle import dense_temperatures, grid, random_graph


def star(n_leaves):
    return Graph.from_edges(np.zeros(n_leaves, dtype=int), 1 + np.arange(n_leaves))


def path(n_edges):
    return Graph.from_edges(np.arange(n_edges), 1 + np.arange(n_edges))


def caterpillar(n_spine, n_leaves=3):
    spine = np.arange(n_spine)
    leaves = n_spine + 1 + np.arange(n_spine * n_leaves)
    return Graph.from_edges(
        np.concatenate([spine, np.repeat(spine, n_leaves)]), np.concatenate([spine + 1, leaves])
    )


def broom(n):
    handle = np.arange(n)
    return Graph.from_edges(
        np.concatenate([handle, np.full(n, n)]),
        np.concatenate([handle + 1, n + 1 + np.arange(n)]),
    )


def clique_with_tail(n_clique, n_tail):
    i, j = np.triu_indices(n_clique, 1)
    tail = n_clique - 1 + np.arange(n_tail)
    return Graph.from_edges(np.concatenate([i, tail]), np.concatenate([j, tail + 1]))


def bipartite_star(n_hubs, n_leaves):
    leaves = n_hubs + np.arange(n_leaves)
    return Graph.from_edges(np.repeat(np.arange(n_hubs), n_leaves), np.tile(leaves, n_hubs))


def isolated_edges(n):
    return Graph.from_edges(2 * np.arange(n), 2 * np.arange(n) + 1, nodes=range(2 * n))


def tree(rng, n, more_edges=0):
    """Each node hangs from an earlier one; some further edges, and weights."""
    child = np.arange(1, n)
    parent = (rng.random(n - 1) * child).astype(int)
    source = np.concatenate([child, rng.integers(0, n, more_edges)])
    target = np.concatenate([parent, rng.integers(0, n, more_edges)])
    return Graph.from_edges(source, target, rng.uniform(0.5, 2, len(source)), nodes=range(n))


def first_choice(graph, seeds=(0,)):
    problem = DirichletProblem(graph, np.array(seeds), np.ones(len(seeds)))
    return next(choose_solvers("auto", problem))


# --- the count ------------------------------------------------------------------------------------


def filled(matrix, nodes):
    """Neighbours that each node has when it is eliminated, by the definition."""
    around = [set(np.flatnonzero(row)) - {i} for i, row in enumerate(matrix.toarray())]
    counts = []
    for v in nodes:
        counts.append(len(around[v]))
        for u in around[v]:
            around[u] |= around[v] - {u}
            around[u].discard(v)
    return np.array(counts)


@pytest.mark.parametrize("degree", [1, 2, 4, 12])
def test_the_count_is_that_of_elimination_by_its_definition(rng, degree):
    for _ in range(5):
        matrix = random_graph(rng, 60, degree=degree).adjacency
        order = elimination_order(matrix)
        counts = filled(matrix, order.nodes)
        assert sorted(order.nodes) == list(range(60))
        assert order.entries == counts.sum() + 60
        assert order.work == (counts**2).sum()


@pytest.mark.parametrize("more_edges", [0, 20, 300])
def test_the_count_is_the_size_of_the_factor_that_is_made(rng, more_edges):
    graph = tree(rng, 4_000, more_edges)
    problem = DirichletProblem(graph, np.array([5]), np.array([1.0]))
    order = elimination_order(problem.inner)
    bound = Direct().bind(ReferenceOperator(problem, 1e-6))
    assert bound.factors.lu.L.nnz == bound.factors.lu.U.nnz == order.entries


@pytest.mark.parametrize(
    "graph",
    [star(3_000), caterpillar(800), broom(1_500), isolated_edges(1_500)],
    ids=["star", "caterpillar", "broom", "isolated edges"],
)
def test_a_tree_fills_in_no_more_than_its_paths_do(graph):
    order = elimination_order(graph.adjacency)
    # A node within a path joins its two neighbours, which takes the place of one of its edges.
    assert order.entries <= graph.n_nodes + 2 * graph.n_edges
    assert order.work <= 4 * graph.n_nodes


def test_a_clique_is_counted_in_full():
    order = elimination_order(clique_with_tail(40, 0).adjacency)
    assert (order.entries, order.work) == (40 * 41 // 2, sum(c * c for c in range(40)))


def test_counting_stops_as_soon_as_the_limit_is_passed(monkeypatch):
    rounds = []
    going = fill._going
    monkeypatch.setattr(fill, "_going", lambda *args: rounds.append(1) or going(*args))
    matrix = grid(60, 60).adjacency
    assert elimination_order(matrix) is not None
    in_full = len(rounds)
    rounds.clear()
    assert elimination_order(matrix, most_work=100 * matrix.nnz) is None
    assert 0 < len(rounds) < in_full / 2


def test_nothing_is_left_to_eliminate_without_nodes():
    order = elimination_order(sparse.csr_array((0, 0)))
    assert (len(order.nodes), order.entries, order.work) == (0, 0, 0)


# --- the choice -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "graph",
    [
        star(5_000),
        path(5_000),
        caterpillar(2_000),
        broom(3_000),
        clique_with_tail(100, 5_000),
        isolated_edges(3_000),
    ],
    ids=["star", "path", "caterpillar", "broom", "clique with tail", "isolated edges"],
)
def test_auto_factorises_in_the_order_it_counted(graph):
    seeds = np.arange(0, graph.n_nodes, 2) if graph.n_edges * 2 == graph.n_nodes else [1]
    chosen = first_choice(graph, seeds)
    assert isinstance(chosen, Direct)
    assert chosen._order is not None


@pytest.mark.parametrize(
    "graph",
    [grid(60, 60), bipartite_star(10, 2_000), clique_with_tail(300, 200)],
    ids=["grid", "bipartite star", "clique with a short tail"],
)
def test_auto_takes_steps_where_factors_would_fill_up_or_steps_are_few(graph):
    assert first_choice(graph) == ConjugateGradient()


def test_what_looks_like_paths_but_fills_up_is_left_to_steps(rng):
    # Every edge of a well-connected graph subdivided six times: nearly all nodes lie in paths.
    n, m, parts = 2_000, 6_000, 6
    ends = rng.integers(0, n, (2, m))
    inner = n + np.arange(m * parts).reshape(m, parts)
    chain = np.concatenate([ends[:1].T, inner, ends[1:].T], axis=1)
    graph = Graph.from_edges(chain[:, :-1].ravel(), chain[:, 1:].ravel())
    assert first_choice(graph) == ConjugateGradient()


def test_an_order_for_another_graph_is_refused():
    solver = Direct(_order=elimination_order(path(5).adjacency))
    with pytest.raises(ParameterError, match="6 nodes, but 3 are free"):
        solve_dirichlet(path(3), [0], [1.0], solver=solver)


def test_the_direct_solver_never_asks_superlu_to_order_a_star(monkeypatch):
    asked = []
    splu = linalg.splu
    monkeypatch.setattr(
        linalg, "splu", lambda *args, **how: asked.append(how["permc_spec"]) or splu(*args, **how)
    )
    for solver in ("auto", "direct"):
        solve_dirichlet(star(5_000), [1, 2], [0.0, 1.0], tol=1e-3, solver=solver, engine="scipy")
    assert asked == ["NATURAL", "NATURAL"]


# --- the answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_temperatures_on_a_path_lie_on_a_straight_line(engine):
    n = 20_000
    solution = solve_dirichlet(path(n), [0, n], [0.0, 1.0], engine=engine)
    # The core eliminates a path by itself.
    assert solution.solver == ("cg" if engine == "native" else "direct")
    assert np.abs(solution.temperatures[:, 0] - np.linspace(0, 1, n + 1)).max() <= 1e-6


@pytest.mark.parametrize("engine", ENGINES)
def test_a_hub_has_the_mean_temperature_of_its_seeds(engine):
    seeds = np.arange(1, 1_001)
    values = np.linspace(-1, 3, 1_000) ** 3
    T = solve_dirichlet(star(20_000), seeds, values, engine=engine).temperatures[:, 0]
    free = np.setdiff1d(np.arange(20_001), seeds)
    assert np.abs(T[free] - values.mean()).max() <= 1e-6


@pytest.mark.parametrize("engine", ENGINES)
def test_all_of_a_clique_is_as_warm_as_the_seed_in_it_but_for_what_its_tail_takes(engine):
    # Unit weights: k nodes joined to each other and to a hot one, the last to a tail of m edges
    # with a cold end. From the hot node to the last lead k − 1 ways of two edges and one of one:
    # a conductance of 1 + (k − 1) / 2. The other edges carry nothing.
    k, m = 60, 4_000
    graph = clique_with_tail(k + 1, m)
    last = k + m
    T = solve_dirichlet(graph, [0, last], [1.0, 0.0], engine=engine).temperatures[:, 0]
    current = 1 / (m + 1 / (1 + (k - 1) / 2))
    tail = current * np.arange(m, -1, -1)
    assert np.abs(T[k:] - tail).max() <= 1e-6
    assert np.abs(T[1:k] - (1 + T[k]) / 2).max() <= 1e-6


def test_free_ends_of_isolated_edges_have_the_temperature_of_their_seeds():
    n = 3_000
    labels = np.full(2 * n, -1)
    labels[::2] = np.arange(n) % 2
    model = DirichletClassifier("plain").fit(isolated_edges(n), labels)
    assert (model.labels_[1::2] == labels[::2]).all()


def test_an_order_of_elimination_changes_no_temperature(rng):
    graph = tree(rng, 2_500, 60)
    seeds, values = np.array([3, 700, 2_400]), np.array([1.0, -2.0, 0.5])
    solution = solve_dirichlet(graph, seeds, values, engine="scipy")
    assert solution.solver == "direct"
    exact = dense_temperatures(graph, seeds, values)
    assert np.abs(solution.temperatures - exact).max() <= 1e-6
