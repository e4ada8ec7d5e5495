"""Sessions: one matrix, made ready once, solved for many boundaries and changed exactly."""

import gc
import threading
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

from dense_engine import DenseEngine
from every_engine import EVERY_ENGINE
from isotherm import (
    Direct,
    DirichletClassifier,
    DirichletProblem,
    Graph,
    SolveOptions,
    StackedDirichletClassifier,
)
from isotherm.dirichlet import Ties
from isotherm.engines import ENGINES, choose_engine
from isotherm.errors import LabelError, ParameterError, SessionError
from isotherm.solvers import SOLVERS
from oracle import dense_temperatures, exact_temperatures, grid, random_graph

every_engine = pytest.mark.parametrize("engine", EVERY_ENGINE[1:])  # but for "auto"


def prepared(engine, graph, seeds, values, *, tol=1e-9, solver="auto", **how):
    problem = DirichletProblem(graph, np.asarray(seeds), np.asarray(values, dtype=float), **how)
    return choose_engine(engine, graph).prepare(problem, SolveOptions(tol, solver))


@every_engine
def test_what_a_fit_holds_is_given_back_without_the_garbage_collector(engine, rng):
    graph = random_graph(rng, 60, degree=4)
    labels = np.where(np.arange(60) < 6, np.arange(60) % 3, -1)
    gc.collect()
    gc.disable()
    try:
        for kind in (DirichletClassifier, StackedDirichletClassifier):
            model = kind(engine=engine).fit(graph, labels)
            model.predict_proba()
            held = [weakref.ref(model.session()), weakref.ref(model.problem_)]
            del model
            assert [ref() for ref in held] == [None, None]
    finally:
        gc.enable()


@every_engine
def test_other_values_are_solved_as_if_they_were_the_problem(engine, rng):
    graph = random_graph(rng, 60, degree=4)
    with prepared(engine, graph, [0, 5, 9], np.eye(3), solver="cg") as session:
        first = session.solve()
        again = session.solve()
        other = session.solve([[2.0, -1.0], [0.5, 0.0], [1.0, 3.0]])
    assert np.array_equal(first.temperatures, again.temperatures, equal_nan=True) or (
        np.nanmax(np.abs(first.temperatures - again.temperatures)) <= 2e-9
    )
    expected = dense_temperatures(graph, [0, 5, 9], [[2.0, -1.0], [0.5, 0.0], [1.0, 3.0]])
    assert np.nanmax(np.abs(other.temperatures - expected)) <= 1e-9
    assert other.certificate.bound <= 1e-9
    assert other.converged


@every_engine
@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
@pytest.mark.parametrize("leak", [0.0, 0.25])
def test_holding_and_releasing_are_exact(engine, solver, leak, rng):
    for _ in range(6):
        graph = random_graph(rng, 14, degree=5)
        seeds = [0, 3, 7]
        how = {"solver": solver, "leak": leak, "tol": 1e-7}
        with prepared(engine, graph, seeds, np.eye(3), **how) as session:
            session.solve()
            held = dict(zip(seeds, np.eye(3), strict=True))
            for node, row in [(1, 0), (3, None), (2, 1), (0, 2), (1, None), (3, 0), (5, 1)]:
                if row is None:
                    found = session.release(node)
                    del held[node]
                else:
                    found = session.hold(node, np.eye(3)[row])
                    held[node] = np.eye(3)[row]
                reached = np.flatnonzero(~session.problem.is_unreached)
                exact = dense_temperatures(graph, list(held), list(held.values()), leak)
                error = np.abs(found.temperatures - exact)[reached].max(axis=1)
                assert (error <= found.error_bound[reached] + 1e-13).all()
                assert found.certificate.bound <= 1e-7
                assert found.converged


@every_engine
def test_changes_are_those_of_rational_arithmetic(engine, rng):
    for _ in range(10):
        graph = random_graph(rng, 9, degree=8)
        if len(np.unique(graph.components)) > 1:
            continue
        with prepared(engine, graph, [0, 4], np.eye(2), tol=1e-10) as session:
            session.solve()
            found = session.change({2: np.array([0.0, 1.0]), 0: None, 6: np.array([1.0, 0.0])})
        exact = exact_temperatures(graph, [2, 4, 6], [[0, 1], [0, 1], [1, 0]])
        error = np.abs(found.temperatures - np.array(exact, dtype=float)).max(axis=1)
        assert (error <= found.error_bound + 1e-15).all()


@every_engine
def test_what_is_withdrawn_and_given_again_is_as_it_was(engine, rng):
    graph = random_graph(rng, 80, degree=5)
    with prepared(engine, graph, [0, 5, 9], np.eye(3), tol=1e-8) as session:
        first = session.solve()
        session.change({20: np.array([0.0, 1.0, 0.0]), 5: None})
        last = session.change({20: None, 5: np.array([0.0, 1.0, 0.0])})
    assert np.nanmax(np.abs(first.temperatures - last.temperatures)) <= 1e-12
    assert last.n_iter == 0  # all columns are there


@pytest.mark.parametrize("engine", ENGINES)
def test_a_change_costs_no_more_steps_than_a_solve(engine):
    with prepared(
        ENGINES[engine], grid(40, 40), [0, 1599], np.eye(2), tol=1e-6, solver="cg"
    ) as session:
        whole = session.solve()
        one = session.hold(800, np.array([1.0, 0.0]))
    assert one.n_iter <= 1.5 * whole.n_iter
    assert one.converged


@every_engine
def test_ties_stay_where_other_seeds_change(engine, rng):
    graph = random_graph(rng, 40, degree=6)
    ties = Ties(np.array([4, 9]), np.array([0.5, 3.0]), np.array([[1.0, 0.0], [0.25, 0.75]]))
    with prepared(engine, graph, [0, 3], np.eye(2), ties=ties) as session:
        session.solve()
        found = session.change({7: np.array([1.0, 0.0]), 3: None})
        anew = session.prepare(session.problem).solve()
        assert np.nanmax(np.abs(found.temperatures - anew.temperatures)) <= 2e-9
        held = session.hold(4, np.array([0.0, 1.0]))  # no tie any more
        assert session.problem.ties.nodes.tolist() == [9]
        assert held.temperatures[4].tolist() == [0, 1]


def test_a_label_for_a_component_without_any_is_solved_anew():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4])
    with prepared(ENGINES["scipy"], graph, [0], [[1.0, 0.0]]) as session:
        assert np.isnan(session.solve().temperatures[3:]).all()
        found = session.hold(3, np.array([0.0, 1.0]))
        assert found.temperatures[4].tolist() == [0, 1]
        assert np.isnan(session.release(3).temperatures[3:]).all()


# --- misuse ---------------------------------------------------------------------------------------


def test_a_closed_session_says_so():
    with prepared(ENGINES["scipy"], grid(3, 3), [0], [1.0]) as session:
        session.solve()
    with pytest.raises(SessionError, match="closed"):
        session.solve()


def test_a_session_belongs_to_one_thread_at_a_time():
    session = prepared(ENGINES["scipy"], grid(3, 3), [0], [1.0])
    inside, done = threading.Event(), threading.Event()

    def wait(*_):
        inside.set()
        done.wait(10)

    thread = threading.Thread(target=session.solve, kwargs={"progress": wait})
    thread.start()
    inside.wait(10)
    try:
        with pytest.raises(SessionError, match="another thread"):
            session.solve()
    finally:
        done.set()
        thread.join()
    assert session.solve().converged


def test_there_is_nothing_to_change_before_a_solve():
    with pytest.raises(SessionError, match="solve the problem first"):
        prepared(ENGINES["scipy"], grid(3, 3), [0], [1.0]).hold(1, np.ones(1))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({99: np.ones(1)}, "no node at position 99"),
        ({0: None}, "no seed would be left"),
        ({1: np.ones(2)}, r"must have 1 column\(s\) like the problem, got \[2\]"),
    ],
)
def test_a_change_that_makes_no_problem_changes_nothing(changes, message):
    session = prepared(ENGINES["scipy"], grid(3, 3), [0], [1.0])
    before = session.solve()
    with pytest.raises(LabelError, match=message):
        session.change(changes)
    assert session.problem.boundary.tolist() == [0]
    again = session.change({4: np.zeros(1)})
    assert session.change({4: None}).temperatures == pytest.approx(before.temperatures)
    assert again.temperatures[4] == 0


@every_engine
@pytest.mark.parametrize("solver", ["cg", "direct", "sweeps", "elimination"])
def test_what_progress_raises_ends_the_solve(engine, solver):
    class Enough(Exception):
        pass

    seen = []

    def stop_at_once(step, error):
        seen.append((step, error))
        raise Enough

    session = prepared(engine, grid(6, 6), [0, 35], np.eye(2), solver=solver)
    with pytest.raises(Enough):
        session.solve(progress=stop_at_once)
    assert seen[0][0] == 0
    assert session.solve().converged


def test_two_fits_in_two_threads_show_two_progresses():
    seen = {name: [] for name in "ab"}

    def fit(name, side):
        model = DirichletClassifier(solver="cg", engine="scipy")
        model.fit(
            grid(side, side),
            {0: "x", side * side - 1: "y"},
            progress=lambda step, error: seen[name].append((step, error)),
        )

    threads = [threading.Thread(target=fit, args=(n, s)) for n, s in (("a", 20), ("b", 35))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for steps in seen.values():
        assert [step for step, _ in steps] == list(range(len(steps)))
        assert steps[-1][1] <= 1e-6
    assert len(seen["a"]) < len(seen["b"])


def test_two_threads_may_ask_the_same_model():
    model = DirichletClassifier().fit(grid(12, 12), {0: "x", 5: "x", 70: "y", 143: "y"})
    kept = model.session()
    inside, done = threading.Event(), threading.Event()

    def wait(*_):
        inside.set()
        done.wait(10)

    thread = threading.Thread(target=kept.solve, kwargs={"progress": wait})
    thread.start()
    inside.wait(10)
    try:
        assert kept.is_busy
        left = model.leave_one_out()
    finally:
        done.set()
        thread.join()
    assert left.temperatures == pytest.approx(model.leave_one_out().temperatures, abs=2e-6)
    assert model.session() is kept


class Broken(DenseEngine):
    """Runs out of memory in the middle of a solve."""

    name = "broken"

    def prepare(self, problem, options):
        session = super().prepare(problem, options)
        apply, calls = session.operator.apply, []

        def fail(P):
            calls.append(1)
            if len(calls) > 3:
                raise MemoryError("no more")
            return apply(P)

        session.operator.apply = fail
        return session


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_an_engine_that_fails_leaves_the_estimator_as_it_was(error):
    labels = {0: "x", 35: "y"}
    model = DirichletClassifier(solver="cg", engine=Broken())
    if error is MemoryError:
        with pytest.raises(MemoryError):
            model.fit(grid(6, 6), labels)
        assert not hasattr(model, "temperatures_")
    model.set_params(engine="auto")
    before = model.fit(grid(6, 6), labels).predict().tolist()

    def stop(*_):
        raise error

    with pytest.raises(error):
        model.fit(grid(6, 6), {0: "x", 1: "z", 35: "y"}, progress=stop)
    with pytest.raises(error):
        model.update({7: "z"}, progress=stop)
    assert model.predict().tolist() == before
    assert model.classes_.tolist() == ["x", "y"]
    assert model.update({7: "z"}).classes_.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("options", [{"tol": 0}, {"tol": True}, {"tol": "x"}, {"threads": 0}])
def test_options_are_checked_when_they_are_made(options):
    with pytest.raises(ParameterError):
        SolveOptions(**options)


def test_a_solver_of_ones_own_need_not_be_hashable():
    @dataclass
    class Mine:
        name: str = "mine"

        def bind(self, operator):
            return Direct().bind(operator)

    with prepared(ENGINES["scipy"], grid(4, 4), [0, 15], np.eye(2), solver=Mine()) as session:
        assert session.solve().solver == "mine"
