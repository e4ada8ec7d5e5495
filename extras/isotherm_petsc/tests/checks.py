"""What holds on any number of ranks: run by mpiexec, each check is told on the first rank.

mpiexec -n 3 python checks.py FOLDER
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import isotherm
import stand_in
from isotherm import DirichletClassifier, Graph, SolveOptions, read_graph, solve_dirichlet
from isotherm.dirichlet import DirichletProblem, Ties
from isotherm.engines import choose_engine
from isotherm.engines.conformance import Conformance
from isotherm.errors import ParameterError, SessionError
from isotherm.solvers import Warm
from isotherm_petsc import PetscEngine, serve

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def saved(graph, folder):
    path = Path(folder) / "graph.iso"
    graph.save(path, force=True)
    return read_graph(path)


def a_graph(rng, n=120, *, weighted=False):
    """Two blocks, self loops, a component apart without seeds, and a node without edges."""
    i, j = rng.integers(0, n, (2, 4 * n))
    i, j = np.append(i, [n, n + 1]), np.append(j, [n + 1, n + 2])
    weights = rng.uniform(0.1, 10.0, len(i)) if weighted else None
    return Graph.from_edges(i, j, weights, nodes=range(n + 4))


def a_problem(graph, rng, k=3, leak=0.0, ties=None):
    seeds = np.sort(rng.choice(graph.n_nodes - 4, 12, replace=False))
    return DirichletProblem(graph, seeds, np.eye(k)[np.arange(12) % k], leak=leak, ties=ties)


def exact(problem):
    """By the package's own engine, from the same arrays in memory."""
    rows = problem.graph.rows
    graph = Graph(type(Graph.from_edges([0], [1]).rows)(rows.start, rows.ends, rows.weights))
    twin = DirichletProblem(
        graph, problem.boundary, problem.values, leak=problem.leak, ties=problem.ties
    )
    with choose_engine("auto", graph).prepare(twin, SolveOptions(1e-11)) as session:
        return session.solve()


def assert_within_bounds(found, expected):
    assert found.converged, found.shortfall
    np.testing.assert_array_equal(found.unreached, expected.unreached)
    off = np.abs(found.temperatures - expected.temperatures).max(axis=1)
    free = ~found.unreached
    assert (off[free] <= found.error_bound[free] + 1e-10).all(), (off - found.error_bound).max()


@check
def every_temperature_is_within_its_proven_bound(folder, rng):
    for weighted in (False, True):
        graph = saved(a_graph(rng, weighted=weighted), folder)
        for leak in (0.0, 0.1):
            for tol in (1e-3, 1e-9):
                problem = a_problem(graph, rng, leak=leak)
                with PetscEngine().prepare(problem, SolveOptions(tol)) as session:
                    found = session.solve()
                assert found.error_bound[~found.unreached].max() <= tol
                assert (found.engine, found.solver) == ("petsc", "cg")
                assert_within_bounds(found, exact(problem))


@check
def the_promises_of_every_engine_are_kept(*_):
    suite = Conformance()
    suite.engine = PetscEngine()
    claims = [name for name in dir(suite) if name.startswith("test_")]
    assert len(claims) >= 8
    for name in claims:
        getattr(suite, name)()


@check
def ties_are_solved_and_proven(folder, rng):
    graph = saved(a_graph(rng, weighted=True), folder)
    for k, held in ((3, np.array([1, 50, 99])), (3, np.empty(0, dtype=int)), (11, np.array([5]))):
        tied = np.setdiff1d(np.arange(0, 100, 7), held)
        ties = Ties(tied, rng.uniform(0.1, 5.0, len(tied)), np.eye(k)[tied % k], 8)
        problem = DirichletProblem(graph, held, np.eye(k)[held % k], ties=ties)
        with PetscEngine().prepare(problem, SolveOptions(1e-7)) as session:
            assert_within_bounds(session.solve(), exact(problem))


@check
def what_ranks_tell_of_a_problem_is_what_one_machine_finds(folder, rng):
    graph = saved(a_graph(rng), folder)
    problem = a_problem(graph, rng)
    with PetscEngine().prepare(problem, SolveOptions()) as session:
        told = session.problem
        assert "_sound" not in vars(graph.rows)  # the first rank has not looked at all of the file
        for name in ("is_free", "is_unreached", "is_touching"):
            np.testing.assert_array_equal(getattr(told, name), getattr(problem, name))
        one, other = told.seed_components, problem.seed_components
        np.testing.assert_array_equal(np.equal.outer(one, one), np.equal.outer(other, other))


@check
def a_component_may_lie_on_all_ranks(folder, _):
    path = saved(Graph.from_edges(range(60), range(1, 61)), folder)
    for seeds in ([0], [60], [30]):
        problem = DirichletProblem(path, np.array(seeds), np.ones((1, 1)), leak=0.01)
        with PetscEngine().prepare(problem, SolveOptions(1e-8)) as session:
            found = session.solve()
        assert not found.unreached.any()
        assert_within_bounds(found, exact(problem))


@check
def there_may_be_more_ranks_than_nodes(folder, _):
    pair = saved(Graph.from_edges([0], [1]), folder)
    problem = DirichletProblem(pair, np.array([0]), np.array([[2.0]]), leak=0.25)
    with PetscEngine().prepare(problem, SolveOptions(1e-9)) as session:
        assert session.solve().temperatures[1, 0] == pytest.approx(1.6, abs=1e-9)


@check
def a_column_without_heat_stays_zero_and_all_seeds_leave_nothing_to_solve(folder, _):
    graph = saved(Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4]), folder)
    Y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    problem = DirichletProblem(graph, np.array([0, 1, 4]), Y)
    with PetscEngine().prepare(problem, SolveOptions(1e-9)) as session:
        found = session.solve()
        assert (found.temperatures[[0, 1, 4]] == Y).all()
        assert session.solve(np.ones((3, 9))).temperatures == pytest.approx(np.ones((5, 9)))
    every = DirichletProblem(graph, np.arange(5), np.ones((5, 1)))
    with PetscEngine().prepare(every, SolveOptions()) as session:
        assert session.solve().converged


@check
def a_grid_is_solved_by_the_multigrid(folder, _):
    places = np.arange(40 * 40).reshape(40, 40)
    source = np.concatenate([places[:, :-1].ravel(), places[:-1].ravel()])
    target = np.concatenate([places[:, 1:].ravel(), places[1:].ravel()])
    grid = saved(Graph.from_edges(source, target), folder)
    problem = DirichletProblem(grid, np.array([0, 1599]), np.eye(2))
    with PetscEngine().prepare(problem, SolveOptions(1e-8)) as session:
        found = session.solve()
    assert_within_bounds(found, exact(problem))
    if stand_in.HAS_PETSC:  # with the diagonal alone they would be more than 400
        assert found.n_iter < 250, found.n_iter


@check
def a_start_and_other_values_are_used(folder, rng):
    graph = saved(a_graph(rng), folder)
    problem = a_problem(graph, rng)
    with PetscEngine().prepare(problem, SolveOptions(1e-8)) as session:
        first = session.solve()
        again = session.solve(start=Warm.of(first))
        assert again.n_iter <= 2
        other = session.solve(problem.values[:, ::-1])
        np.testing.assert_allclose(other.temperatures, first.temperatures[:, ::-1], atol=2e-8)
        certificate = session.prove(problem, first.temperatures, first.certificate.nodes)
        assert certificate.bound <= 1e-8


@check
def responses_are_those_of_one_machine(folder, rng):
    graph = saved(a_graph(rng), folder)
    problem = a_problem(graph, rng)
    nodes = problem.free[[5, 0, 40]]
    with PetscEngine().prepare(problem, SolveOptions()) as session:
        V = session.respond(nodes, 1e-9)
    with choose_engine("scipy", graph).prepare(problem, SolveOptions()) as session:
        expected = np.nan_to_num(session.respond(nodes, 1e-9))
    np.testing.assert_allclose(V, expected, atol=1e-7 * expected.max())


@check
def changes_are_solved_anew_and_are_those_of_one_machine(folder, rng):
    graph = saved(a_graph(rng), folder)
    problem = a_problem(graph, rng)
    with PetscEngine().prepare(problem, SolveOptions(1e-8)) as session:
        with pytest.raises(SessionError, match="solve the problem first"):
            session.hold(1, np.ones(3))
        session.solve()
        free, gone = int(problem.free[3]), int(problem.boundary[0])
        found = session.change({free: np.eye(3)[1], gone: None})
        assert_within_bounds(found, exact(session.problem))
        assert free in session.problem.boundary
        assert gone not in session.problem.boundary
        wider = session.change({gone: np.eye(4)[3]}, columns=[0, 1, 2, -1])
        assert wider.temperatures.shape[1] == 4
        assert_within_bounds(wider, exact(session.problem))


@check
def classifiers_answer_all_questions(folder, rng):
    graph, truth = isotherm.BlockModel([50, 60, 70], 0.2, 0.04).sample(rng)
    mapped = saved(graph, folder)
    labels = {int(i): f"block {truth[i]}" for i in rng.choice(180, 40, replace=False)}
    ours = DirichletClassifier(engine="petsc").fit(mapped, labels)
    theirs = DirichletClassifier().fit(graph, labels)
    assert "_sound" not in vars(mapped.rows)
    for one in (ours, theirs):
        one.update({1: "block 2"})
    assert (ours.labels_ == theirs.labels_).all()
    np.testing.assert_allclose(ours.temperatures_, theirs.temperatures_, atol=3e-6)
    np.testing.assert_allclose(ours.predict_proba(), theirs.predict_proba(), atol=2e-4)
    assert ours.leave_one_out(max_seeds=7).accuracy == theirs.leave_one_out(max_seeds=7).accuracy
    assert ours.explain(100).label == theirs.explain(100).label
    assert [s.node for s in ours.suggest(3)] == [s.node for s in theirs.suggest(3)]


@check
def what_ranks_do_not_have_is_refused(folder, rng):
    graph = a_graph(rng)
    with pytest.raises(ParameterError, match="isotherm build"):
        solve_dirichlet(graph, [0], [1.0], engine="petsc")
    with pytest.raises(ParameterError, match="works on one machine only"):
        solve_dirichlet(saved(graph, folder), [0], [1.0], engine="petsc", solver="direct")


@check
def progress_may_end_a_solve_and_the_ranks_go_on(folder, rng):
    graph = saved(a_graph(rng), folder)
    problem, told = a_problem(graph, rng), []

    def stops(steps, likely):
        told.append((steps, likely))
        if len(told) == 3:
            raise KeyError("enough")

    with PetscEngine().prepare(problem, SolveOptions(1e-9)) as session:
        with pytest.raises(KeyError, match="enough"):
            session.solve(progress=stops)
        assert len(told) == 3
        assert all(likely >= 0 for _, likely in told)
        with pytest.raises(SessionError, match="their own progress function"):
            session.solve(progress=lambda *_: session.solve())
        assert_within_bounds(session.solve(progress=lambda *_: None), exact(problem))


@check
def a_damaged_file_is_told_by_the_first_rank_and_the_others_go_on(folder, rng):
    graph = saved(a_graph(rng), folder)
    path = Path(folder) / "graph.iso"
    place = graph.rows.file.header.parts["ends"]
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[place.offset + place.size - 4 : place.offset + place.size] = b"\xff" * 4
    path.write_bytes(data)
    with pytest.raises(isotherm.errors.GraphError, match="written over"):
        PetscEngine().prepare(a_problem(graph, rng), SolveOptions())
    there_may_be_more_ranks_than_nodes(folder, rng)


def main(folder):
    stand_in.take_its_place()
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", message="few labels")
    with serve() as is_first:
        if is_first:
            for one in CHECKS:
                one(folder, np.random.default_rng(0))
                sys.stdout.write(f"ok {one.__name__}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
