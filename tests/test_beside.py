"""Blocks of columns that are solved beside each other: the same answers, and an end when asked."""

import numpy as np
import pytest

from isotherm import DirichletProblem, SolveOptions
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

    seen, run_beside = [], fused.run_beside

    def watched(steerings, *given, **how):
        seen.append(len(steerings))
        yield from run_beside(steerings, *given, **how)

    monkeypatch.setattr(fused, "run_beside", watched)
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
            session.solve(problem.values[:, :3])
            found.append(session.solve())
    assert len(runs) >= 3, "none went beside another"
    one, two, four = found
    assert one.n_iter == two.n_iter == four.n_iter
    for other in (two, four):
        assert np.array_equal(one.temperatures, other.temperatures, equal_nan=True)
        assert np.array_equal(one.certificate.columns, other.certificate.columns)
    exact = dense_temperatures(problem.graph, problem.boundary, problem.values)
    assert np.nanmax(np.abs(one.temperatures - exact)) <= 1e-7


def test_the_first_solve_finds_out_whether_it_needs_a_factor(problem, runs):
    with session_of(problem) as session:
        session.solve()
        assert runs == []
        session.solve()
        assert set(runs) == {5}  # in float and, from there, in double


def test_who_watches_may_end_it(problem, runs):
    class Enough(Exception):
        pass

    def progress(_steps, _error):
        if runs:
            raise Enough

    with session_of(problem) as session:
        first = session.solve()
        with pytest.raises(Enough):
            session.solve(progress=progress)
        assert runs == [5]
        runs.clear()
        again = session.solve()
    assert np.nanmax(np.abs(first.temperatures - again.temperatures)) <= 2e-7
