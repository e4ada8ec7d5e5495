"""The native engine and the compiled core give what the slow, obvious code gives."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse

from isotherm import (
    ConjugateGradient,
    DirichletClassifier,
    DirichletProblem,
    DirichletRegressor,
    Graph,
    NativeEngine,
    compiled,
    solve_dirichlet,
)
from isotherm.classifier import verdict
from isotherm.decision import DECISIONS, sum_up
from isotherm.dirichlet import problem
from isotherm.engines.blocks import blocks_of
from isotherm.engines.native.engine import NativeOperator
from isotherm.equilibrium import solve
from isotherm.errors import GraphError, ParameterError
from isotherm.graph import rows
from isotherm.solvers import NotConverged, SolveOptions
from isotherm.solvers.certificate import Certificate
from oracle import dense_temperatures, grid, one_hot, random_graph, random_seeds

pytestmark = pytest.mark.any_version

core = pytest.importorskip("isotherm._core", reason="isotherm was built without its core")

SIMD = core.instruction_sets()


def without_core(monkeypatch, function, *arguments, **options):
    """What the same call gives where there is no core."""
    with monkeypatch.context() as patch:
        for module in (problem, rows, verdict):
            patch.setattr(module, "core", None)
        return function(*arguments, **options)


def same_graph(a, b):
    assert a.rows.longest == b.rows.longest
    assert np.array_equal(a.rows.start, b.rows.start)
    assert np.array_equal(a.rows.ends, b.rows.ends)
    assert (a.rows.weights is None) == (b.rows.weights is None)
    if a.rows.weights is not None:
        assert np.allclose(a.rows.weights, b.rows.weights, rtol=1e-14)
    return True


# --- building -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_edge_list_gives_the_graph_that_scipy_gives(dtype, weighted, rng, monkeypatch):
    for n, m in [(1, 3), (5, 40), (300, 2000), (5000, 3000)]:
        source, target = rng.integers(0, n, (2, m)).astype(dtype)
        weight = rng.integers(0, 4, m) / 3 if weighted else None
        build = (Graph.from_edges, source, target, weight)
        assert same_graph(
            Graph.from_edges(*build[1:], nodes=range(n)),
            without_core(monkeypatch, *build, nodes=range(n)),
        )


def test_the_sum_of_duplicate_weights_is_the_same_from_both_ends(rng):
    source, target = rng.integers(0, 20, (2, 5000))
    A = Graph.from_edges(source, target, rng.random(5000)).adjacency
    assert (A != A.T).nnz == 0


@pytest.mark.hostile
def test_ends_outside_the_graph_are_an_error():
    with pytest.raises(IndexError, match="outside the graph"):
        core.from_edges(3, np.array([0, 3]), np.array([1, 1]), None, 1)


@pytest.mark.filterwarnings("ignore::isotherm.AsymmetryWarning")  # of the unsorted one
@pytest.mark.parametrize("kind", ["clean", "weighted", "directed", "zeros", "unsorted", "doubled"])
def test_a_matrix_gives_the_graph_that_scipy_gives(kind, rng, monkeypatch):
    for n in (3, 60, 400):
        ends = tuple(rng.integers(0, n, (2, 5 * n)))
        A = sparse.coo_array((rng.random(5 * n), ends), shape=(n, n)).tocsr()
        if kind != "directed":
            A = (A + A.T).tocsr()
        if kind in ("clean", "directed"):
            A.data[:] = 1
        if kind == "zeros":
            A.data[::3] = 0
            A = (A + A.T).tocsr()
        if kind == "unsorted":
            A.indices[: A.indptr[1]] = A.indices[: A.indptr[1]][::-1]
            A = sparse.csr_array((A.data, A.indices, A.indptr), shape=A.shape)
        if kind == "doubled":
            A = A.tocoo()
            parts = [np.concatenate([part, part]) for part in (A.data, A.row, A.col)]
            A = sparse.coo_array((parts[0], (parts[1], parts[2])), shape=A.shape)
        assert same_graph(
            Graph.from_matrix(A), without_core(monkeypatch, Graph.from_matrix, A.copy())
        )


def test_one_missing_entry_among_many_makes_a_matrix_asymmetric(rng):
    A = random_graph(rng, 500, degree=8, weighted=False).adjacency.tolil()
    i, j = (int(k[7]) for k in A.nonzero())
    A[i, j] = 0
    A = sparse.csr_array(A)
    start = A.indptr.astype(np.int64)
    assert not core.inspect(start, A.indices, A.data, 2)["symmetric"]
    assert Graph.from_matrix(A).adjacency[i, j] == 1  # the union brings it back


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_a_bad_weight_among_many_is_found(bad, rng):
    A = random_graph(rng, 200, degree=8).adjacency.copy()
    A.data[A.nnz // 2] = bad
    with pytest.raises(GraphError, match="finite and ≥ 0; 1 of "):
        Graph.from_matrix(A)


@pytest.mark.hostile
def test_a_hostile_matrix_is_refused_and_not_read_out_of_bounds():
    A = sparse.csr_array(np.ones((3, 3)))
    A.indptr = np.array([0, 6, 3, 9], dtype=np.int32)
    with pytest.raises((IndexError, ValueError, GraphError)):
        Graph.from_matrix(A)
    far = np.array([0, 1, 99], dtype=np.int32)
    found = core.inspect(np.array([0, 1, 2, 3]), far, None, 1)
    assert not found["sorted"]


def test_zero_one_graphs_store_no_weights(rng):
    weights = random_graph(rng, 50).rows.weights
    assert weights is not None
    assert random_graph(rng, 50, weighted=False).rows.weights is None
    A = random_graph(rng, 50, weighted=False).adjacency
    for dtype in (bool, np.int8, np.float32, np.float64):
        assert Graph.from_matrix(A.astype(dtype)).rows.weights is None
    assert Graph.from_edges([0, 1], [1, 2], [1.0, 1.0]).rows.weights is None


def test_components_and_reach_are_those_of_scipy(rng, monkeypatch):
    graphs = [random_graph(rng, n, degree=d) for n in (10, 400) for d in (0.5, 1.0, 2.0, 5.0)]
    path = Graph.from_edges(np.arange(3000), np.arange(1, 3001))
    order = rng.permutation(3001)
    graphs += [path, Graph.from_matrix(path.adjacency[order][:, order]), grid(40, 40)]
    for graph in graphs:
        again = Graph(graph.rows)
        assert np.array_equal(
            graph.components, without_core(monkeypatch, lambda again=again: again.components)
        )
        seeds = rng.choice(graph.n_nodes, 3, replace=False)
        problem = DirichletProblem(graph, seeds, np.zeros(3))
        reached = np.isin(graph.components, graph.components[seeds])
        assert np.array_equal(problem.is_unreached, ~reached)


# --- solving --------------------------------------------------------------------------------------


@pytest.mark.parametrize("simd", SIMD)
@pytest.mark.parametrize("preconditioner", ["diagonal", "factor"])
def test_temperatures_are_those_of_a_dense_solve_on_every_instruction_set(
    simd, preconditioner, rng
):
    engine, solver = NativeEngine(_simd=simd), ConjugateGradient(preconditioner=preconditioner)
    for weighted in (False, True):
        for leak in (0.0, 0.2):
            for k in (1, 2, 3, 5, 9, 16, 20):
                graph = random_graph(rng, 80, degree=3, weighted=weighted)
                seeds = rng.choice(80, 6, replace=False)
                values = rng.normal(size=(6, k)) * 10 ** rng.uniform(-3, 3, k)
                exact = dense_temperatures(graph, seeds, values, leak)
                found = solve_dirichlet(
                    graph, seeds, values, leak=leak, engine=engine, solver=solver, tol=1e-8
                )
                error = np.abs(found.temperatures - exact).max(axis=1)
                assert np.nanmax(error - found.error_bound) <= 1e-12 * np.abs(values).max()


@pytest.mark.parametrize("k", [2, 3, 4, 7, 8, 15, 16, 17, 40])
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-9])
def test_classes_are_solved_with_a_bound_never_below_the_error(k, tol, rng):
    for weighted in (False, True):
        graph = random_graph(rng, 150, degree=4, weighted=weighted)
        labels = random_seeds(rng, graph, 3 * k, k)
        seeds, values = one_hot(labels)
        found = solve_dirichlet(graph, seeds, values, engine="native", solver="cg", tol=tol)
        assert found.temperatures.dtype == (np.float32 if tol >= 1e-5 else np.float64)
        exact = dense_temperatures(graph, seeds, values)
        error = np.abs(found.temperatures - exact).max(axis=1)
        assert np.nanmax(error - found.error_bound) <= 1e-13
        assert found.certificate.bound <= tol
        assert np.array_equal(found.temperatures[seeds], values)


@pytest.mark.parametrize("simd", SIMD)
@pytest.mark.parametrize("weighted", [False, True])
def test_one_column_of_many_rows_is_solved_in_half_precision_with_a_bound_all_the_same(
    simd, weighted, rng
):
    n, tol = 40_000, 1e-4  # more than 32,768 of them move
    ends = rng.integers(0, n, (2, 8 * n))
    graph = Graph.from_edges(*ends, rng.uniform(0.5, 2, 8 * n) if weighted else None)
    seeds = np.sort(rng.choice(graph.n_nodes, 2000, replace=False))
    values = rng.random((2000, 1))
    exact = solve_dirichlet(graph, seeds, values, tol=1e-9, engine="scipy", solver="cg")
    found = []
    for threads in (1, 2):
        engine, asked = NativeEngine(threads, simd), DirichletProblem(graph, seeds, values)
        with engine.prepare(asked, SolveOptions(tol, "cg")) as session:
            session.solve(rng.random((2000, 1)))  # from here on exit times are known
            found.append(session.solve())
        assert found[-1].certificate.bound <= tol
    one, two = (solution.temperatures for solution in found)
    assert np.array_equal(one, two, equal_nan=True)
    off = np.abs(one - exact.temperatures)[~exact.unreached, 0]
    assert (off <= found[0].error_bound[~exact.unreached] + 1e-9).all()


def test_hanging_trees_are_eliminated_exactly(rng):
    # A grid with a random tree hanging from every third node.
    ends = grid(12, 12).adjacency.tocoo()
    source, target = [ends.row], [ends.col]
    n = 144
    for root in range(0, 144, 3):
        size = int(rng.integers(1, 8))
        parents = [root] + [int(rng.choice([root, *range(n, n + i)])) for i in range(1, size)]
        source.append(np.array(parents))
        target.append(np.arange(n, n + size))
        n += size
    i, j = np.concatenate(source), np.concatenate(target)
    for weight in (None, rng.uniform(0.1, 2, len(i))):
        graph = Graph.from_edges(i, j, weight)
        for leak in (0.0, 0.1):
            seeds, values = np.array([0, 77, n - 1]), np.eye(3)
            exact = dense_temperatures(graph, seeds, values, leak)
            for tol in (1e-3, 1e-10):
                found = solve_dirichlet(
                    graph, seeds, values, leak=leak, solver="cg", engine="native", tol=tol
                )
                error = np.abs(found.temperatures - exact).max(axis=1)
                assert (error <= found.error_bound + 1e-13).all()
                assert found.certificate.bound <= tol
        problem = DirichletProblem(graph, seeds, values)
        prepared = NativeEngine().prepare(problem, SolveOptions()).operator.prepared()
        assert 100 < prepared.n_eliminated < n


def test_the_answer_does_not_depend_on_the_number_of_threads(rng):
    graph = Graph.from_edges(*rng.integers(0, 20_000, (2, 100_000)), rng.random(100_000))
    seeds, values = np.arange(500), rng.random((500, 5))
    found = [
        solve_dirichlet(graph, seeds, values, engine=NativeEngine(threads=threads))
        for threads in (1, 2, 5)
    ]
    for other in found[1:]:
        assert np.array_equal(found[0].temperatures, other.temperatures, equal_nan=True)
        assert np.array_equal(found[0].error_bound, other.error_bound, equal_nan=True)


@pytest.mark.parametrize("offset", [0.0, 0.5, 100.0, -7.0])
def test_the_steps_do_not_depend_on_the_zero_of_the_scale(offset, rng):
    graph = Graph.from_edges(*rng.integers(0, 5000, (2, 20_000)))
    values = rng.random(50) + offset
    found = solve_dirichlet(graph, range(50), values, solver="cg", engine="native", tol=1e-4)
    assert found.n_iter <= 25


@pytest.mark.hostile
def test_weights_beyond_the_range_of_float32_are_left_to_others():
    # A band: no node has so few neighbours that it is eliminated.
    i = np.repeat(np.arange(300), 4)
    j = i + np.tile(np.arange(1, 5), 300)
    band = Graph.from_edges(i, j, np.where(i < 150, 1e-40, 1.0))
    found = solve_dirichlet(band, [0, 303], [0.0, 1.0])
    assert found.solver != "cg"
    assert found.certificate.bound <= 1e-6
    with pytest.raises(NotConverged):
        solve_dirichlet(band, [0, 303], [0.0, 1.0], solver="cg", engine="native")


def test_a_path_is_all_eliminated_whatever_its_weights():
    path = Graph.from_edges(range(300), range(1, 301), [1e-40] * 150 + [1.0] * 150)
    found = solve_dirichlet(path, [0, 300], [0.0, 1.0], solver="cg", engine="native")
    assert found.certificate.bound <= 1e-6
    assert np.allclose(found.temperatures[150:, 0], 1.0)


def test_the_choice_of_columns_fits_the_lanes_of_the_core():
    for k in range(1, 70):
        for one_hot_values in (False, True):
            blocks = blocks_of(k, one_hot=one_hot_values)
            covered = [c for b in blocks for c in range(b.first, b.first + b.width)]
            assert covered == list(range(k))
            assert [b.exits for b in blocks] == [True] + [False] * (len(blocks) - 1)
            assert all(1 <= b.columns + b.exits <= 16 for b in blocks)


def test_a_graph_on_which_plain_steps_crawl_gets_a_factor(caplog):
    graph, seeds, values = grid(120, 120), [0, 7_000, 14_399], np.eye(3)
    with caplog.at_level("DEBUG", logger="isotherm"):
        auto = solve_dirichlet(graph, seeds, values, engine="native", solver="cg")
    assert "preconditioned by a factor" in caplog.text
    plain = solve_dirichlet(
        graph, seeds, values, engine="native", solver=ConjugateGradient(preconditioner="diagonal")
    )
    assert auto.n_iter < plain.n_iter / 3
    assert np.abs(auto.temperatures - plain.temperatures).max() <= 2e-6


def test_a_graph_on_which_plain_steps_do_well_gets_none(rng, caplog):
    graph = random_graph(rng, 3000, degree=10)
    with caplog.at_level("INFO", logger="isotherm"):
        solve_dirichlet(graph, range(100), rng.random(100), engine="native", solver="cg")
    assert "factor" not in caplog.text


def shuffled_kings_moves(rng, side):
    """Squares of a board joined to all eight around them, in no order."""
    name = rng.permutation(side * side).reshape(side, side)
    pairs = (
        (name[:, 1:], name[:, :-1]),
        (name[1:], name[:-1]),
        (name[1:, 1:], name[:-1, :-1]),
        (name[1:, :-1], name[:-1, 1:]),
    )
    source, target = (np.concatenate([pair[k].ravel() for pair in pairs]) for k in (0, 1))
    return Graph.from_edges(source, target, nodes=range(side * side))


@pytest.mark.parametrize("reduced", [True, False])
def test_rows_far_from_their_neighbours_are_put_next_to_them(reduced, rng, caplog, monkeypatch):
    if not reduced:  # as graphs of many millions of entries are not to begin with
        monkeypatch.setattr(NativeOperator, "eliminates", property(lambda _: False))
    graph = shuffled_kings_moves(rng, 370)
    seeds, values = one_hot(random_seeds(rng, graph, graph.n_nodes // 50, 10))
    found = {}
    for threads in (1, 2):
        with caplog.at_level("DEBUG", logger="isotherm"):
            found[threads] = solve_dirichlet(
                graph, seeds, values, engine=NativeEngine(threads=threads), tol=1e-4
            )
        assert caplog.text.count("rows put next to those of their neighbours") == threads
    assert np.array_equal(found[1].temperatures, found[2].temperatures)
    plain = ConjugateGradient(preconditioner="diagonal")
    as_they_are = solve_dirichlet(
        graph, seeds, values, engine="native", solver=plain, tol=1e-4
    ).temperatures
    assert np.abs(found[1].temperatures - as_they_are).max() <= 2e-4
    assert found[1].certificate.bound <= 1e-4


def test_rows_are_left_in_place_where_neighbours_are_near_or_rows_few(rng, caplog):
    side = 370
    square = np.arange(side * side).reshape(side, side)
    near = Graph.from_edges(
        np.concatenate([square[1:].ravel(), square[:, 1:].ravel(), square[1:, 1:].ravel()]),
        np.concatenate([square[:-1].ravel(), square[:, :-1].ravel(), square[:-1, :-1].ravel()]),
    )
    for graph in (near, shuffled_kings_moves(rng, 100)):
        seeds, values = one_hot(random_seeds(rng, graph, graph.n_nodes // 50, 10))
        with caplog.at_level("DEBUG", logger="isotherm"):
            solve_dirichlet(graph, seeds, values, engine="native", tol=1e-4)
    assert "neighbours" not in caplog.text


def test_a_factor_is_for_the_native_engine_only():
    with pytest.raises(ParameterError, match="needs engine='native'"):
        solve_dirichlet(
            grid(3, 3),
            [0],
            [1.0],
            engine="scipy",
            solver=ConjugateGradient(preconditioner="factor"),
        )
    with pytest.raises(ParameterError, match="unknown preconditioner 'amg'; choose one of: 'auto'"):
        ConjugateGradient(preconditioner="amg")


# --- starting from a previous answer --------------------------------------------------------------


@pytest.mark.parametrize("engine", ["native", "scipy"])
def test_a_warm_start_takes_fewer_steps_to_the_same_labels(engine, rng):
    graph = random_graph(rng, 4000, degree=8)
    labels = random_seeds(rng, graph, 200, 4)
    warm = DirichletClassifier(engine=engine, solver="cg", warm_start=True).fit(graph, labels)
    labels[np.flatnonzero(labels < 0)[:3]] = [0, 1, 2]
    cold = DirichletClassifier(engine=engine, solver="cg").fit(graph, labels)
    warm.fit(graph, labels)
    assert warm.n_iter_ < cold.n_iter_
    assert warm.solution_.certificate.bound <= 1e-6
    assert np.array_equal(warm.labels_[cold.certified_], cold.labels_[cold.certified_])
    assert np.nanmax(np.abs(warm.temperatures_ - cold.temperatures_)) <= 2e-6


def test_a_warm_start_survives_new_classes_lost_classes_and_other_graphs(rng):
    graph = random_graph(rng, 300, degree=5)
    model = DirichletClassifier(warm_start=True, solver="cg")
    for labels in ({0: "a", 1: "b"}, {0: "c", 1: "b", 2: "a"}, {5: "b", 7: "d"}):
        expected = DirichletClassifier(solver="cg").fit(graph, labels)
        model.fit(graph, labels)
        assert np.nanmax(np.abs(model.temperatures_ - expected.temperatures_)) <= 2e-6
    other = random_graph(rng, 200, degree=5)
    model.fit(other, {0: "a", 1: "b"})
    assert len(model.labels_) == 200


def test_a_regressor_and_a_plain_solve_start_warm_too(rng):
    graph = random_graph(rng, 2000, degree=8)
    model = DirichletRegressor(warm_start=True, solver="cg").fit(graph, {0: -3.0, 1: 5.0})
    before = model.n_iter_
    model.fit(graph, {0: -3.0, 1: 5.0})
    assert model.n_iter_ < before / 2
    first = solve_dirichlet(graph, [0, 1], [1.0, 2.0], solver="cg")
    again = solve_dirichlet(graph, [0, 1], [1.0, 2.0], solver="cg", start=first)
    array = solve_dirichlet(graph, [0, 1], [1.0, 2.0], solver="cg", start=first.temperatures[:, 0])
    assert again.n_iter < first.n_iter
    assert array.n_iter < first.n_iter
    columns = solve_dirichlet(graph, [0, 1], np.eye(2), solver="cg")
    crosswise = np.asfortranarray(columns.temperatures)
    again = solve_dirichlet(graph, [0, 1], np.eye(2), solver="cg", start=crosswise)
    assert again.n_iter < columns.n_iter
    with pytest.raises(ParameterError, match=r"start from must be numbers of shape \(2000, 1\)"):
        solve_dirichlet(graph, [0, 1], [1.0, 2.0], start=np.zeros((3, 1)))


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 5])
def test_ranges_of_values_are_those_of_numpy(k, rng, monkeypatch):
    graph = grid(5, 5)
    classes = np.eye(k)[rng.integers(0, k, 6)]
    two, none, other = classes.copy(), classes.copy(), classes.copy()
    two[2], none[3], other[4, 0] = 1.0, 0.0, -0.5
    for values in (classes, two, none, other, rng.normal(size=(6, k))):

        def found(values=values):
            asked = DirichletProblem(graph, np.arange(6), values)
            return [*asked.bounds, asked.one_hot]

        fast, slow = found(), without_core(monkeypatch, found)
        assert all(np.array_equal(a, b) for a, b in zip(fast, slow, strict=True))
        assert fast[2] == (values is classes or (k == 1 and values is two))


# --- judging --------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_verdicts_are_those_of_numpy(decision, dtype, rng, monkeypatch):
    for k in (1, 2, 3, 10):
        for size in (1e-9, 1e-3, 0.3):
            T = rng.dirichlet(np.ones(k), 500).astype(dtype)
            T[::50] = np.nan
            T[1::25] = T[1, :]
            T[2::25] = 1 / k  # ties
            seeds = np.where(rng.random(500) < 0.1, rng.integers(0, k, 500), -1)
            nodes = rng.random(500) * (seeds < 0)
            proof = Certificate(nodes, size * rng.random(k), np.ones(k), residual=0.1)
            arguments = (T, proof, seeds)
            options = {"decision": decision, "tol": 1e-3}
            fast = verdict.judge(*arguments, **options)
            slow = without_core(monkeypatch, verdict.judge, *arguments, **options)
            for name in ("codes", "certified", "status"):
                assert np.array_equal(getattr(fast, name), getattr(slow, name)), name
            assert np.allclose(fast.margins, slow.margins, equal_nan=True, rtol=1e-12)
            assert np.allclose(fast.means.all, slow.means.all)


@pytest.mark.parametrize("decision", DECISIONS)
def test_verdicts_on_some_of_the_nodes_go_by_sums_over_all(decision, rng, monkeypatch):
    T = rng.dirichlet(np.ones(3), 200)
    seeds = np.where(rng.random(200) < 0.2, rng.integers(0, 3, 200), -1)
    proof = Certificate(rng.random(200) * (seeds < 0), 1e-3 * rng.random(3), np.ones(3), 0.1)
    shares = np.array([0.5, 0.3, 0.2])

    def found(total):
        some = slice(0, 100)
        part = Certificate(proof.nodes[some], proof.columns, proof.spans, 0.1)
        options = {"decision": decision, "tol": 1e-3, "shares": shares, "total": total}
        return verdict.judge(T[some], part, seeds[some], **options)

    sums = sum_up(T, proof.nodes, seeds)

    def total(some):
        if np.ndim(some) == 0:
            return len(T)
        if np.shape(some) == (2, 3):
            return sums[0]
        return sums[1] if some.dtype == np.float64 else sums[2]

    fast, slow = found(total), without_core(monkeypatch, found, total)
    alone = verdict.judge(T, proof, seeds, decision=decision, tol=1e-3, shares=shares)
    for one in (fast, slow):
        assert np.allclose(one.means.all, alone.means.all)
        assert np.allclose(one.means.free, alone.means.free)
        for name in ("codes", "certified", "status"):
            assert np.array_equal(getattr(one, name), getattr(alone, name)[:100]), name
        assert np.allclose(one.margins, alone.margins[:100])


def test_an_error_that_is_no_number_proves_nothing():
    T = np.array([[0.9, 0.1], [0.2, 0.8], [1.0, 0.0]])
    proof = Certificate(np.array([1.0, 1.0, 0.0]), np.array([np.nan, 0.0]), np.ones(2), 0.0)
    found = verdict.judge(T, proof, np.array([-1, -1, 0]), decision="centered", tol=1e-3)
    assert found.certified.tolist() == [False, False, True]
    assert (found.status[:2] == 1).all()  # predicted, and no tie either


# --- being a good guest ---------------------------------------------------------------------------


def test_threads_are_as_asked_or_as_the_environment_says(monkeypatch):
    assert compiled.n_threads(3) == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "7,2")
    assert compiled.n_threads() == 7
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert 1 <= compiled.n_threads() <= os.cpu_count()
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert 1 <= compiled.n_threads() <= os.cpu_count()


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_a_bad_number_of_threads_is_an_error(threads):
    with pytest.raises(ParameterError, match="threads must be a whole number from 1 to 1024"):
        NativeEngine(threads=threads)


def test_an_unknown_instruction_set_is_an_error():
    with pytest.raises(ParameterError, match="unknown instruction set 'mmx'; choose one of: "):
        NativeEngine(_simd="mmx")


def test_without_the_core_the_native_engine_says_why(monkeypatch):
    from isotherm import engines
    from isotherm.engines.native import engine

    monkeypatch.setattr(engine, "core", None)
    monkeypatch.setattr(engines, "ENGINES", {"scipy": engines.ENGINES["scipy"]})
    with pytest.raises(ParameterError, match="installed without the core"):
        solve_dirichlet(grid(3, 3), [0], [1.0], engine="native")


def _solve_in_child(queue):
    graph = grid(60, 60)
    queue.put(
        float(solve_dirichlet(graph, [0, 3599], [0.0, 1.0], solver="cg").temperatures[1800, 0])
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own():
    fork = multiprocessing.get_context("fork")
    solve_dirichlet(grid(60, 60), [0], [1.0], solver="cg", engine=NativeEngine(threads=2))
    queue = fork.Queue()
    child = fork.Process(target=_solve_in_child, args=(queue,))
    child.start()
    assert 0 < queue.get(timeout=60) < 1
    child.join(60)
    assert child.exitcode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_while_threads_share_loops_can_share_its_own():
    """A lock that one of them holds at that moment is held in the child for good."""
    code = """
import os, signal, threading
import numpy as np
from isotherm import Graph, _core as core
rows = Graph.from_edges(*np.random.default_rng(0).integers(0, 20_000, (2, 20_000))).rows
def loop(threads=2):
    core.row_sums(rows.start, rows.ends, None, np.empty(rows.n_nodes), threads)
def go_on():
    while True:
        loop()
for _ in range(4):
    threading.Thread(target=go_on, daemon=True).start()
for _ in range(100):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        loop()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, "the child waits for a thread that it does not have"
os._exit(0)
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=100)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("preconditioner", ["diagonal", "factor"])
def test_ctrl_c_ends_a_long_solve_within_a_second(preconditioner):
    code = f"""
import numpy as np
from isotherm import ConjugateGradient, Graph, solve_dirichlet
i = np.arange(2_250_000).reshape(1500, 1500)
ends = [(i[:-1], i[1:]), (i[:, :-1], i[:, 1:])]
source, target = (np.concatenate([pair[k].ravel() for pair in ends]) for k in (0, 1))
graph = Graph.from_edges(source, target)
print("solving", flush=True)
solver = ConjugateGradient(preconditioner={preconditioner!r})
solve_dirichlet(graph, [0, 7], np.eye(2), solver=solver, tol=1e-12, engine="native")
"""
    run = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout.readline() == "solving\n"
    time.sleep(1.0)
    assert run.poll() is None
    sent = time.perf_counter()
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=30)
    assert time.perf_counter() - sent < 1.0 + 1.0  # the end of the process takes its time, too
    assert "KeyboardInterrupt" in errors


def test_a_solve_to_a_loose_tolerance_is_proven_in_float32(rng):
    graph = random_graph(rng, 2000, degree=6, weighted=False)
    labels = random_seeds(rng, graph, 100, 3)
    seeds, values = one_hot(labels)
    problem = DirichletProblem(graph, seeds, values)
    found = solve(problem, SolveOptions(1e-4, "cg"), engine="native")
    assert found.temperatures.dtype == np.float32
    exact = solve(problem, SolveOptions(1e-11, "cg"), engine="scipy")
    error = np.abs(found.temperatures - exact.temperatures).max(axis=1)
    assert np.nanmax(error - found.error_bound) <= 1e-11


def test_float32_that_cannot_hold_the_tolerance_goes_on_in_float64():
    # A long ladder: exit times are so long that the rounding of float32 shows.
    graph, seeds = grid(2, 3000), [0, 5999]
    found = solve_dirichlet(graph, seeds, np.eye(2), tol=2e-5, solver="cg", engine="native")
    assert found.certificate.bound <= 2e-5
    assert found.temperatures.dtype == np.float64


@pytest.mark.slow
def test_a_process_may_end_while_threads_are_solving(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        """
import threading, time
import numpy as np
from isotherm import DirichletClassifier, Graph
rng = np.random.default_rng(0)
graph = Graph.from_edges(*rng.integers(0, 30_000, (2, 100_000)), nodes=range(30_000))
labels = {i: i % 5 for i in range(0, 30_000, 100)}
def fit_for_ever():
    while True:
        DirichletClassifier().fit(graph, labels)
for _ in range(3):
    threading.Thread(target=fit_for_ever, daemon=True).start()
time.sleep(0.5)
"""
    )
    for _ in range(3):
        ended = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, check=False
        )
        assert (ended.returncode, ended.stderr) == (0, "")
