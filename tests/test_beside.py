"""Blocks of columns that are solved beside each other: the same answers, and an end when asked."""

import numpy as np
import pytest

from isotherm import DirichletProblem, Graph, SolveOptions
from isotherm.engines import ENGINES, choose_engine
from isotherm.solvers import ConjugateGradient
from oracle import dense_temperatures, random_graph

pytestmark = pytest.mark.skipif("native" not in ENGINES, reason="without the core")

COLUMNS = 70


@pytest.fixture
def problem(rng):
    graph = random_graph(rng, 400, degree=6)
    values = rng.integers(0, 2, (80, COLUMNS)).astype(float)
    return DirichletProblem(graph, np.arange(80), values)


@pytest.fixture
def runs(monkeypatch):
    """How many blocks went beside each other, each time."""
    from isotherm.engines.native import fused

    seen = []

    class Watched:
        def __getattr__(self, name):
            return getattr(core, name)

        def run_beside(self, steerings, *given, **how):
            seen.append(len(steerings))
            return core.run_beside(steerings, *given, **how)

    core = fused.core
    monkeypatch.setattr(fused, "core", Watched())
    return seen


def session_of(problem, *, threads=2, tol=1e-7, preconditioner="auto"):
    solver = ConjugateGradient(preconditioner=preconditioner)
    return choose_engine("native", problem.graph).prepare(
        problem, SolveOptions(tol, solver, threads=threads)
    )


@pytest.mark.parametrize("preconditioner", ["auto", "diagonal", "factor"])
def test_answers_do_not_depend_on_the_threads(problem, runs, preconditioner):
    found = []
    for threads in (1, 2, 4):
        with session_of(problem, threads=threads, preconditioner=preconditioner) as session:
            found.append(session.solve())
    assert max(runs) == 5, "none went beside another"
    one, two, four = found
    assert one.n_iter == two.n_iter == four.n_iter
    for other in (two, four):
        assert np.array_equal(one.temperatures, other.temperatures, equal_nan=True)
        assert np.array_equal(one.certificate.columns, other.certificate.columns)
    exact = dense_temperatures(problem.graph, problem.boundary, problem.values)
    assert np.nanmax(np.abs(one.temperatures - exact)) <= 1e-7


def test_later_solves_go_beside_each_other_too(problem, runs):
    with session_of(problem) as session:
        first = session.solve()
        runs.clear()
        again = session.solve()
    assert max(runs) == 5
    assert np.nanmax(np.abs(first.temperatures - again.temperatures)) <= 2e-7


def test_a_factor_is_made_once_all_are_at_their_end(rng, runs, caplog):
    """On a long strip, where plain steps are many."""
    rows = np.arange(2400).reshape(4, -1)
    ends = [(rows[:, :-1], rows[:, 1:]), (rows[:-1], rows[1:])]
    graph = Graph.from_edges(*(np.concatenate([e[k].ravel() for e in ends]) for k in (0, 1)))
    nodes = np.sort(rng.choice(2400, 20, replace=False))
    problem = DirichletProblem(graph, nodes, rng.random((20, 40)))
    found = []
    for threads in (1, 2):
        with caplog.at_level("DEBUG"), session_of(problem, threads=threads) as session:
            found.append(session.solve())
        assert "preconditioned by a factor" in caplog.text
        caplog.clear()
    assert max(runs) == 3
    one, two = found
    assert one.converged
    assert one.n_iter == two.n_iter
    assert np.array_equal(one.temperatures, two.temperatures)
    exact = dense_temperatures(graph, nodes, problem.values)
    assert np.abs(one.temperatures - exact).max() <= 1e-7


def test_who_watches_may_end_it(problem, runs):
    class Enough(Exception):
        pass

    def progress(_steps, _error):
        if runs:
            raise Enough

    with session_of(problem) as session:
        with pytest.raises(Enough):
            session.solve(progress=progress)
        assert runs == [5]
        first = session.solve()
        again = session.solve()
    assert np.nanmax(np.abs(first.temperatures - again.temperatures)) <= 2e-7


@pytest.fixture(scope="module")
def larger():
    """A graph whose steps are shared by threads, if there are few columns."""
    rng = np.random.default_rng(5)
    graph = random_graph(rng, 6000, degree=16)
    return DirichletProblem(graph, np.arange(900), rng.integers(0, 2, (900, COLUMNS)).astype(float))


def test_many_blocks_go_beside_each_other_on_larger_graphs_too(larger, runs):
    """Once their exit times are known, as in leaving seeds out."""
    found = []
    for threads in (1, 2, 4):
        with session_of(larger, threads=threads, tol=1e-5) as session:
            first = session.solve()
            assert not session._method(session._solvers[0]).core.is_one_chunk
            assert runs == []
            found.append(session.solve())
            assert max(runs) == 5
            runs.clear()
        assert found[-1].certificate.bound <= 1e-5
        assert np.nanmax(np.abs(first.temperatures - found[-1].temperatures)) <= 2e-5
    for other in found[1:]:
        assert other.n_iter == found[0].n_iter
        assert np.array_equal(found[0].temperatures, other.temperatures, equal_nan=True)


def test_larger_ones_go_in_turn_if_they_are_watched_or_memory_is_short(larger, runs):
    with session_of(larger, tol=1e-5) as session:
        session.solve()
        session.solve(stop=lambda _T, certificate: 1e5 * certificate.bound)
    options = SolveOptions(1e-5, ConjugateGradient(), threads=2, memory=1 << 30)
    with choose_engine("native", larger.graph).prepare(larger, options) as session:
        session.solve()
        session.solve()
    assert runs == []
