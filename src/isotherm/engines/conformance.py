"""Whether an engine keeps its promises: tests of every engine, run by pytest.

``class TestMine(Conformance): engine = Mine()`` in its tests is enough. Graphs are small, and are
opened from files, which every engine must take: some take no others.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.dirichlet import DirichletProblem, Ties
from isotherm.engines.changes import changed_problem
from isotherm.errors import ParameterError
from isotherm.graph import Graph
from isotherm.graph.saved import open_graph
from isotherm.solvers import SOLVERS, SolveOptions, Warm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.engine import Engine, Session
    from isotherm.solvers import Solution

ROOM = 1e-11  # for the rounding of a dense solve


class Conformance:
    """What must hold for every engine: each `test_` is a claim."""

    engine: Engine

    def prepared(self, problem: DirichletProblem, tol: float = 1e-8, **how: Any) -> Session:
        """A session of the engine."""
        return self.engine.prepare(problem, SolveOptions(tol, **how))

    def solved(self, problem: DirichletProblem, tol: float = 1e-8, **how: Any) -> Solution:
        """A solution that is as it should be."""
        with self.prepared(problem, tol, **how) as session:
            found = session.solve()
        compare(found, problem, tol)
        must(found.converged, f"not proven to {tol:.0e}: {found.shortfall}")
        return found

    def test_solutions_are_exact_within_their_bounds(self) -> None:
        for weighted, tied, leak in product([True, False], [True, False], [0, 0.3]):
            problem = a_problem(weighted=weighted, tied=tied, leak=leak)
            self.solved(problem, 0.01)
            self.solved(problem.with_values(problem.seed_values * [1, 0, -5]))

    def test_each_solver_is_refused_or_as_exact(self) -> None:
        for solver in SOLVERS:
            with suppress(ParameterError):
                self.solved(a_problem(), 0.01, solver=solver)

    def test_the_unit_of_weights_does_not_matter(self) -> None:
        one, other = (self.solved(a_problem(scale=scale)).temperatures for scale in (1.0, 1e6))
        must(np.nanmax(np.abs(one - other)) <= 2e-8, "it does")

    def test_all_nodes_may_be_seeds(self) -> None:
        self.solved(DirichletProblem(a_graph(True, 1.0), np.arange(63), np.eye(63)[:, :2]))

    def test_a_tolerance_is_kept_or_the_solution_says_that_it_is_not(self) -> None:
        with self.prepared(a_problem(), 1e-19) as session:
            for tol in (1e-19, 1e-5):
                compare(session.solve(tol=tol), a_problem(), tol)

    def test_other_values_and_a_start_are_taken(self) -> None:
        turned = a_problem().with_values(a_problem().values[:, ::-1])
        with self.prepared(a_problem()) as session:
            first = session.solve()
            compare(session.solve(turned.values, start=Warm.of(first)), turned, 1e-8)

    def test_what_progress_raises_ends_the_solve_and_no_more(self) -> None:
        def stop(*_: object) -> None:
            raise KeyError

        with self.prepared(a_problem()) as session:
            try:
                session.solve(progress=stop)
            except KeyError:
                compare(session.solve(progress=lambda *_: None), a_problem(), 1e-8)
            else:
                must(False, "the solve goes on")

    def test_wrong_temperatures_are_not_proven_to_be_right(self) -> None:
        problem, T = a_problem(), dense(a_problem())
        with self.prepared(problem) as session:
            exits = session.solve().certificate.nodes
            must(session.prove(problem, T, exits).bound <= 1e-9, "right ones are not proven")
            off = 1e-3 * (exits / np.nanmax(exits))[:, np.newaxis]  # what can be proven best
            bound = session.prove(problem, T + off, exits).errors()
        must((off <= bound + ROOM)[problem.free].all(), "they are")

    def test_changes_give_the_solution_of_the_changed_problem(self) -> None:
        seeds, free = a_problem().boundary, a_problem().free
        changes = {int(free[3]): np.eye(3)[1], int(seeds[0]): None, int(seeds[1]): np.eye(3)[2]}
        with self.prepared(a_problem()) as session:
            session.solve()
            compare(session.change(changes), changed_problem(a_problem(), changes), 1e-8)


def a_problem(
    *, weighted: bool = True, scale: float = 1.0, tied: bool = False, leak: float = 0.0
) -> DirichletProblem:
    """Three classes on 60 nodes; heat does not reach three more."""
    held, free, eye = np.arange(1, 60, 10), np.arange(0, 60, 5), np.eye(3)
    ties = Ties(free, np.full(12, 2 * scale), eye[free % 3], 8) if tied else None
    return DirichletProblem(a_graph(weighted, scale), held, eye[held % 3], ties=ties, leak=leak)


@cache
def a_graph(weighted: bool, scale: float) -> Graph:
    """Drawn at random, always the same, and saved."""
    rng, path = np.random.default_rng(0), Path(folder().name, f"{weighted}-{scale}.iso")
    i, j = np.append(rng.integers(0, 60, (2, 150)), [[60, 61], [61, 62]], axis=1)
    weights = scale * rng.uniform(0.1, 10.0, len(i)) if weighted else None
    Graph.from_edges(i, j, weights, nodes=range(63)).save(path)
    return open_graph(path)


@cache
def folder() -> TemporaryDirectory[str]:
    """Which goes when Python ends."""
    return TemporaryDirectory(prefix="isotherm-")


def dense(problem: DirichletProblem) -> NDArray[np.float64]:
    """Temperatures by a dense solve."""
    T = np.asarray(problem.start(), dtype=np.float64)
    M = np.diag(problem.diagonal) - problem.inner.toarray()
    T[problem.free] = np.linalg.solve(M, problem.sources)
    return T


def compare(found: Solution, problem: DirichletProblem, tol: float) -> None:
    """See that a solution is what its proof says, and what the theory says of all solutions."""
    T, bound, lost = found.temperatures, found.certificate.errors(), problem.is_unreached
    must((found.unreached == lost).all() and np.isnan(T[lost]).all(), "nodes are out of reach")
    must((T[problem.boundary] == problem.values).all(), "a seed is not at its value")
    off, T, bound = np.abs(T - dense(problem))[~lost], T[~lost], bound[~lost]
    must((off <= bound + ROOM).all(), f"a temperature is off by {off.max():.1e}: not as proven")
    inside = (problem.bounds[0] <= T) & (problem.bounds[1] >= T)
    must(inside.all(), "a temperature is beyond those of all seeds")
    must((found.temperatures[problem.free][:, ~problem.is_heated] == 0).all(), "heat from nowhere")
    sums = np.abs(T.sum(axis=1) - 1) <= bound.sum(axis=1) + ROOM
    must(sums.all() or not problem.one_hot, "classes do not add up to 1")
    proven = bool((bound <= tol).all())
    must(found.converged == proven, f"converged is {found.converged}, proven to {tol:.0e} {proven}")
    must(proven or found.shortfall, "it does not say why it did not converge")


def must(holds: object, message: str) -> None:
    """Say what is wrong unless it holds."""
    if not holds:
        raise AssertionError(message)
