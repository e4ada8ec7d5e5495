"""Every solver on every engine passes the same tests. A new one joins by a line in a table."""

import os
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from every_engine import EVERY_ENGINE
from isotherm import (
    ConjugateGradient,
    Direct,
    DirichletProblem,
    Elimination,
    Graph,
    NotConverged,
    Sweeps,
    solve_dirichlet,
)
from isotherm.engines import ENGINES
from isotherm.equilibrium import solve
from isotherm.errors import LabelError, ParameterError, UnknownNode
from isotherm.solvers import SOLVERS, SolveOptions, choose_solvers
from isotherm.solvers.cg import PlainConjugateGradient
from isotherm.solvers.direct import Dense, Factors
from isotherm.solvers.method import Reached
from isotherm.solvers.operator import ReferenceOperator
from oracle import dense_temperatures, grid, random_graph
from other_libraries import igraph_path

TABLE = [
    pytest.param(solver, *engine.values, marks=engine.marks, id=f"{solver}-{engine.id}")
    for solver in ["auto", *SOLVERS]
    for engine in EVERY_ENGINE
]
every_pair = pytest.mark.parametrize(("solver", "engine"), TABLE)


def close_to(solution, expected, tol):
    error = np.abs(solution.temperatures - expected)
    assert np.array_equal(np.isnan(expected), np.isnan(solution.temperatures))
    return np.nanmax(error, initial=0.0) <= tol


# --- hand-solved ----------------------------------------------------------------------------------


@every_pair
def test_temperatures_fall_linearly_along_a_path(solver, engine):
    path = Graph.from_edges(range(10), range(1, 11))
    solution = solve_dirichlet(path, [0, 10], [1.0, 0.0], solver=solver, engine=engine)
    assert close_to(solution, np.linspace(1, 0, 11)[:, np.newaxis], 1e-6)


@every_pair
def test_a_ring_is_two_paths(solver, engine):
    ring = Graph.from_edges(range(8), [*range(1, 8), 0])
    solution = solve_dirichlet(ring, [0, 4], [1.0, 0.0], solver=solver, engine=engine)
    expected = np.array([[1, 0.75, 0.5, 0.25, 0, 0.25, 0.5, 0.75]]).T
    assert close_to(solution, expected, 1e-6)


@every_pair
def test_the_centre_of_a_star_takes_the_weighted_mean_of_its_leaves(solver, engine):
    star = Graph.from_edges([0] * 4, [1, 2, 3, 4], [1.0, 2.0, 3.0, 5.0])
    solution = solve_dirichlet(star, [1, 2, 3], [6.0, -3.0, 2.0], solver=solver, engine=engine)
    assert close_to(solution, np.array([[1.0, 6, -3, 2, 1]]).T, 1e-6)


@every_pair
def test_a_leak_cools_a_node_by_the_closed_form(solver, engine):
    pair = Graph.from_edges([0], [1])
    solution = solve_dirichlet(pair, [0], [1.0], leak=0.25, solver=solver, engine=engine)
    assert close_to(solution, np.array([[1.0], [0.8]]), 1e-6)


# --- dense reference ------------------------------------------------------------------------------


@every_pair
@pytest.mark.parametrize("leak", [0.0, 0.1])
def test_temperatures_are_those_of_a_dense_solve(solver, engine, leak, rng):
    for _ in range(20):
        graph = random_graph(rng, 40)
        seeds = rng.choice(40, 4, replace=False)
        values = rng.normal(size=(4, 3))
        solution = solve_dirichlet(graph, seeds, values, leak=leak, solver=solver, engine=engine)
        assert close_to(solution, dense_temperatures(graph, seeds, values, leak), 1e-6)
        assert np.nanmax(solution.error_bound) <= 1e-6


@every_pair
def test_an_empty_column_stays_zero_and_spoils_no_other(solver, engine):
    # Seed 0 touches only seed 1: its column has a right-hand side of zeros.
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    seeds, values = [0, 1, 4], np.eye(3)
    solution = solve_dirichlet(graph, seeds, values, solver=solver, engine=engine)
    assert (solution.temperatures[[2, 3], 0] == 0).all()
    assert close_to(solution, dense_temperatures(graph, seeds, values), 1e-6)


@every_pair
def test_a_tight_tolerance_is_met(solver, engine, rng):
    graph = random_graph(rng, 60, degree=4)
    seeds, values = np.array([0, 1, 2]), np.eye(3)
    solution = solve_dirichlet(graph, seeds, values, tol=1e-10, solver=solver, engine=engine)
    assert close_to(solution, dense_temperatures(graph, seeds, values), 1e-10)


@every_pair
def test_temperatures_at_seeds_are_exactly_those_given(solver, engine, rng):
    graph = random_graph(rng)
    values = rng.normal(size=(5, 2)) * 1e3
    solution = solve_dirichlet(graph, range(5), values, solver=solver, engine=engine, tol=1e-3)
    assert np.array_equal(solution.temperatures[:5], values)
    assert (solution.error_bound[:5] == 0).all()


@every_pair
def test_when_every_node_is_a_seed_there_is_nothing_to_solve(solver, engine):
    solution = solve_dirichlet(np.ones((3, 3)), range(3), range(3), solver=solver, engine=engine)
    assert solution.temperatures.ravel().tolist() == [0, 1, 2]
    assert (solution.n_iter, solution.residual, solution.error_bound.max()) == (0, 0, 0)


@every_pair
def test_unreached_nodes_have_no_temperature(solver, engine):
    graph = Graph.from_edges([0, 2], [1, 3], nodes=range(5))
    solution = solve_dirichlet(graph, [0], [1.0], solver=solver, engine=engine)
    assert solution.unreached.tolist() == [False, False, True, True, True]
    assert np.isnan(solution.temperatures[2:]).all()
    assert np.isnan(solution.error_bound[2:]).all()


@pytest.mark.parametrize("solver", ["cg", "direct"])
def test_a_slow_graph_is_solved_to_tolerance(solver):
    graph = grid(60, 60)
    seeds, values = [0, 3599, 1700], np.eye(3)
    solution = solve_dirichlet(graph, seeds, values, solver=solver)
    assert close_to(solution, dense_temperatures(graph, seeds, values), 1e-6)


# --- how they get there ---------------------------------------------------------------------------


def test_a_dense_matrix_and_sparse_factors_solve_alike(rng):
    for weighted in (False, True):
        graph = random_graph(rng, 60, 150, weighted=weighted)
        problem = DirichletProblem(graph, np.arange(5), rng.random((5, 3)), leak=0.1)
        R = rng.random((problem.n_free, 3))
        dense, sparse = Dense(problem), Factors(problem, None)
        np.testing.assert_allclose(dense.solve(R), sparse.solve(R), rtol=1e-12)


def test_a_dense_matrix_that_is_singular_gains_nothing():
    path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    dense = Dense(DirichletProblem(path, np.array([0]), np.ones((1, 1))))
    dense.matrix[:] = 0.0  # as by weights that underflow
    assert (dense.solve(np.ones((3, 1))) == 0).all()


@pytest.mark.slow
def test_pivots_that_cancel_do_not_end_the_process():
    # A case that the fuzzer found: SuperLU read what it had not written, which is seen best where
    # memory is not zero to begin with.
    command = [sys.executable, "-m", "tests.fuzz", "--case", "3693324807005184"]
    root = Path(__file__).parent.parent
    for filled_with in ("1", "85", "165"):
        env = os.environ | {"MALLOC_PERTURB_": filled_with}
        run = subprocess.run(command, cwd=root, env=env, capture_output=True, check=False)
        assert run.returncode == 0


def test_a_column_at_its_target_is_frozen_while_others_move():
    # One column too weak to matter, one that takes its time, one without any heat.
    path = Graph.from_edges(range(40), range(1, 41))
    values = np.array([[1e-9, 0, 0], [0, 1, 0]])
    problem = DirichletProblem(path, np.array([0, 40]), values)
    X = problem.start()
    method = PlainConjugateGradient(ReferenceOperator(problem, 1e-6), max_iter=100)
    frozen_at = {}
    for step, level in enumerate(method.relax(X, 1e-8, None)):
        for column in np.flatnonzero(level <= 1e-8).tolist():
            _, kept = frozen_at.setdefault(column, (step, X[:, column].copy()))
            assert np.array_equal(X[:, column], kept)
    assert frozen_at[0][0] == frozen_at[2][0] == 0
    assert frozen_at[1][0] > 10


def test_a_solver_that_believes_itself_is_refined_until_the_certificate_agrees():
    class Boaster:
        """Goes nine tenths of the way each time and says it has arrived."""

        name = "boaster"

        def bind(self, operator):
            method = Direct().bind(operator)
            exact = operator.problem.start()
            list(method.relax(exact, 1e-16, None))

            def boast(X, tol, watch):  # noqa: ARG001
                X += 0.9 * (exact - X)
                yield Reached(1, 0.0)

            method.iterate = boast
            return method

    solution = solve_dirichlet(grid(6, 6), [0, 35], [1.0, 0.0], solver=Boaster())
    assert close_to(solution, dense_temperatures(grid(6, 6), [0, 35], [1.0, 0.0]), 1e-6)
    assert 6 <= solution.n_iter <= 12


# --- what a solve reports -------------------------------------------------------------------------


def test_a_solution_says_who_did_the_work(rng):
    solution = solve_dirichlet(random_graph(rng), [0], [1.0], solver="cg", engine="scipy")
    assert (solution.solver, solution.engine) == ("cg", "scipy")
    assert solution.n_iter > 0
    assert solution.seconds > 0
    assert 0 <= solution.residual <= 1e-6
    assert "solver='cg', engine='scipy'" in repr(solution)


def test_conjugate_gradients_need_at_most_one_step_per_distinct_eigenvalue():
    complete = np.ones((20, 20)) - np.eye(20)
    solution = solve_dirichlet(complete, [0, 1], [1.0, 0.0], solver="cg")
    assert solution.n_iter <= 2


def test_a_fixed_number_of_sweeps_is_the_papers_fixed_point(rng):
    graph = random_graph(rng, 20, degree=5)
    seeds, values = np.array([0, 1]), np.eye(2)
    P = graph.adjacency.toarray() / graph.degrees[:, np.newaxis]
    T = np.zeros((20, 2))
    T[seeds] = values
    for _ in range(7):  # equation (3), as one would write it down
        T = P @ T
        T[seeds] = values
    with pytest.raises(NotConverged) as failure:
        solve_dirichlet(graph, seeds, values, solver=Sweeps(7))
    assert failure.value.solution.n_iter == 7
    assert close_to(failure.value.solution, np.where(np.isnan(T), 0, T), 1e-14)


@pytest.mark.parametrize("solver", [Sweeps(10), Sweeps(max_iter=5), ConjugateGradient(max_iter=5)])
def test_a_solve_that_misses_tol_raises_and_carries_an_honest_solution(solver):
    graph = grid(15, 15)
    exact = dense_temperatures(graph, [0, 224], np.eye(2))
    with pytest.raises(NotConverged, match=r"not to tol = 1\.0e-06") as failure:
        solve_dirichlet(graph, [0, 224], np.eye(2), solver=solver)
    partial = failure.value.solution
    error = np.abs(partial.temperatures - exact).max(axis=1)
    assert (error <= partial.error_bound).all()
    assert 1e-6 < partial.error_bound.max() <= 1 + 1e-15
    assert partial.n_iter == (solver.n if isinstance(solver, Sweeps) and solver.n else 5)


def test_a_tolerance_beyond_float64_is_refused_with_the_bound_reached(rng):
    graph = random_graph(rng, 30, degree=6)
    with pytest.raises(NotConverged) as failure:
        solve_dirichlet(graph, [0, 1], [0.0, 1.0], tol=1e-18)
    assert failure.value.solution.certificate.bound < 1e-10


def test_a_failed_solve_survives_pickling():
    import pickle

    with pytest.raises(NotConverged) as failure:
        solve_dirichlet(grid(9, 9), [0, 5], [1.0, 0.0], solver=Sweeps(1), tol=1e-3)
    again = pickle.loads(pickle.dumps(failure.value))  # noqa: S301  # our own bytes
    assert str(again) == str(failure.value)
    assert again.solution.n_iter == 1


# --- choice and input -----------------------------------------------------------------------------


def auto(graph):
    return list(choose_solvers("auto", DirichletProblem(graph, np.array([0]), np.array([1.0]))))


def test_auto_takes_the_direct_solver_for_small_graphs_and_cg_for_large():
    assert auto(grid(14, 14)) == [Direct(), Elimination()]
    assert auto(grid(30, 30)) == [ConjugateGradient(), Direct(), Elimination()]
    assert auto(grid(60, 60)) == [ConjugateGradient(), Direct()]
    assert auto(grid(120, 120)) == [ConjugateGradient()]


def test_auto_takes_the_direct_solver_for_long_paths_and_trees():
    n = 20_000
    path = Graph.from_edges(range(n), range(1, n + 1))
    tree = Graph.from_edges((np.arange(1, n) - 1) // 2, np.arange(1, n))
    assert auto(path) == auto(tree) == [Direct()]
    T = solve_dirichlet(path, [0, n], [0.0, 1.0]).temperatures[:, 0]
    assert np.abs(T - np.linspace(0, 1, n + 1)).max() <= 1e-6


def test_free_nodes_apart_do_not_hide_a_core_that_would_fill_up():
    # A grid, and twice as many leaves of one of its nodes, which is the seed.
    core = grid(110, 110).adjacency.tocoo()
    leaves = core.shape[0] + np.arange(2 * core.shape[0])
    graph = Graph.from_edges(
        np.concatenate([core.row, 0 * leaves]), np.concatenate([core.col, leaves])
    )
    assert auto(graph) == [ConjugateGradient()]


def test_auto_falls_back_where_its_first_choice_fails(monkeypatch):
    monkeypatch.setattr(
        ConjugateGradient, "bind", lambda _, operator: PlainConjugateGradient(operator, max_iter=3)
    )
    graph = grid(40, 40)
    assert solve_dirichlet(graph, [0], [1.0], leak=0.01, engine="scipy").solver == "direct"


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        ("solver", "'auto', 'direct', 'cg', 'sweeps', 'elimination'"),
        ("engine", ", ".join(map(repr, ["auto", *ENGINES, "cuda"]))),
    ],
)
@pytest.mark.parametrize("name", ["magic", 3, None])
def test_an_unknown_solver_or_engine_is_told_which_exist(kind, known, name):
    with pytest.raises(ParameterError, match=f"unknown {kind} {name!r}; choose one of: {known}"):
        solve_dirichlet(np.ones((2, 2)), [0], [1.0], **{kind: name})


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sweeps(-1),
        lambda: Sweeps(2.5),
        lambda: Sweeps(max_iter=0),
        lambda: ConjugateGradient(max_iter=-1),
        lambda: ConjugateGradient(max_iter=True),
        lambda: Direct(max_iter=0),
    ],
)
def test_a_bad_number_of_steps_gets_a_clear_error(make):
    with pytest.raises(ParameterError, match=r"must be a whole number ≥ \d, got"):
        make()


def test_a_solver_class_instead_of_a_solver_gets_a_clear_error():
    with pytest.raises(ParameterError, match=r"unknown solver.*'cg'"):
        solve_dirichlet(np.ones((2, 2)), [0], [1.0], solver=ConjugateGradient)


@pytest.mark.parametrize("tol", [0, -1e-6, np.nan, np.inf, "small", None, True])
def test_a_bad_tolerance_gets_a_clear_error(tol):
    with pytest.raises(ParameterError, match="tol must be a number > 0"):
        solve_dirichlet(np.ones((2, 2)), [0], [1.0], tol=tol)


def test_the_boundary_may_be_names_or_a_mask():
    path = Graph.from_edges("abc", "bcd")
    by_name = solve_dirichlet(path, ["a", "d"], [1.0, 0.0])
    by_mask = solve_dirichlet(path, np.array([True, False, False, True]), [1.0, 0.0])
    assert np.array_equal(by_name.temperatures, by_mask.temperatures)


@pytest.mark.parametrize("path_graph", [nx.path_graph, igraph_path])
def test_graphs_of_other_libraries_are_taken_as_they_are(path_graph):
    expected = solve_dirichlet(Graph.from_edges([0, 1], [1, 2]), [0], [2.0]).temperatures
    found = solve_dirichlet(path_graph(3), [0], [2.0]).temperatures
    assert np.array_equal(found, expected)


def test_a_mask_of_the_wrong_length_or_an_unknown_node_is_an_error():
    with pytest.raises(LabelError, match="mask of 2 entries for a graph of 3"):
        solve_dirichlet(np.ones((3, 3)), [True, False], [1.0])
    with pytest.raises(UnknownNode, match=r"1 of 2 nodes are not in the graph: 7"):
        solve_dirichlet(np.ones((3, 3)), [0, 7], [1.0, 0.0])


def test_a_purpose_served_ends_a_solve_early():
    graph = grid(20, 20)
    problem = DirichletProblem(graph, np.array([0, 399]), np.eye(2))
    options = SolveOptions(solver="cg")
    full = solve(problem, options)
    early = solve(problem, options, stop=lambda _, proof: proof.bound / 0.1)
    assert early.n_iter < full.n_iter
    assert 1e-6 < early.certificate.bound < 0.1


def test_a_refit_after_one_that_proved_nothing_starts_afresh():
    # The first problem is beyond what can be proven; the second must not suffer from it.
    path = Graph.from_edges(range(300), range(1, 301), np.r_[1e-200, np.ones(298), 1e200])
    with pytest.raises(NotConverged) as failure:
        solve_dirichlet(path, [0, 300], [1.0, 0.0], solver="cg")
    plain = Graph.from_edges(range(300), range(1, 301))
    again = solve_dirichlet(plain, [0, 300], [1.0, 0.0], solver="cg", start=failure.value.solution)
    assert again.certificate.bound <= 1e-6
    assert np.allclose(again.temperatures[:, 0], np.linspace(1, 0, 301), atol=1e-6)


def test_elimination_has_room_for_many_seeds():
    # Their weights stay sparse: dense, those of a thousand free nodes would take 8 GB a million.
    n_free, n_seeds = 10, 200_000
    source = np.arange(n_seeds) % n_free
    star = Graph.from_edges(source, n_free + np.arange(n_seeds))
    seeds = n_free + np.arange(n_seeds)
    values = (np.arange(n_seeds) // n_free % 2).astype(float)
    solution = solve_dirichlet(star, seeds, values, solver="elimination")
    assert np.allclose(solution.temperatures[:n_free], 0.5)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("solver", ["cg", "sweeps", "direct"])
@pytest.mark.parametrize("garbage", [np.inf, -np.inf, np.nan, 1e300])
def test_a_start_from_garbage_does_no_harm(engine, solver, garbage):
    path = Graph.from_edges(range(10), range(1, 11))
    start = np.full((11, 1), garbage)
    found = solve_dirichlet(path, [0, 10], [1.0, 0.0], solver=solver, engine=engine, start=start)
    assert np.allclose(found.temperatures[:, 0], np.linspace(1, 0, 11), atol=1e-6)
