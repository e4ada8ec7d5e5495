"""PetscEngine: what isotherm sees of all the ranks. It stands on the first one."""

from __future__ import annotations

import time
import warnings
import weakref
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from isotherm import (
    IsothermWarning,
    ParameterError,
    SessionError,
    Solution,
    SolveOptions,
    __version__,
)
from isotherm.engines.api import (
    Session,
    Warm,
    changed_problem,
    check_room,
    choose_engine,
    nothing_to_prove,
    prove,
    size_text,
)
from isotherm_petsc.cost import cost_lines
from isotherm_petsc.part import Asked
from isotherm_petsc.rows import cuts_of
from isotherm_petsc.worker import Team, team

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isotherm import Certificate, DirichletProblem
    from isotherm.engines.api import Progress
    from isotherm_petsc.ranks import Array


@dataclass(frozen=True)
class PetscEngine:
    """Solves on all ranks, by PETSc; see docs/many-machines.md."""

    name: ClassVar[str] = "petsc"
    cost_lines = staticmethod(cost_lines)

    def __post_init__(self) -> None:
        own = version("isotherm_petsc")
        if own != __version__:
            raise ParameterError(
                f"isotherm_petsc {own} needs isotherm {own}, got {__version__}: install "
                "both from the same sources"
            )
        team()

    def prepare(self, problem: DirichletProblem, options: SolveOptions) -> RankPrepared:
        """Make the matrix of a problem ready on all ranks."""
        if not problem.graph.rows.is_mapped:
            raise ParameterError(
                "ranks share a saved graph, and this one is in the memory of the first rank (it "
                "was read from another kind of file, or its weights are far from 1): use isotherm "
                "build edges.csv -o graph.iso, then classify graph.iso"
            )
        return RankPrepared(team(), problem, options)


class Handle:
    """A part of the ranks', by its number: they drop it once nobody holds this any more."""

    def __init__(self, team: Team) -> None:
        self.number = next(team.numbers)
        self.give_back = weakref.finalize(self, team.gone.append, self.number)


class RankPrepared(Session):
    """See `Session`: a problem that the ranks have made ready."""

    is_busy = False  # other threads wait for their turn by themselves

    def __init__(self, team: Team, problem: DirichletProblem, options: SolveOptions) -> None:
        if options.solver not in ("auto", "cg"):
            raise ParameterError(
                f"solver={options.solver!r} works on one machine only: use 'cg', or leave it out"
            )
        self.options, self._team, self._part = options, team, Handle(team)
        self._solution: Solution | None = None
        self._closed = False
        rows: Any = problem.graph.rows
        ties, s, file = problem.ties, problem.n_seeds, rows.file
        cuts = cuts_of(file, team.ranks.size)
        # Seeds in the order of their nodes; those that are held are as if tied without end.
        self._order = order = np.argsort(problem.seeds, kind="stable")
        seeds, weights = problem.seeds[order], np.full(s, np.inf)
        if ties is not None:
            weights = np.append(weights[: len(problem.boundary)], ties.weights)[order]
        asked = Asked(
            leak=problem.leak,
            tol=options.tol,
            threads=options.threads,
            roundings=0.0 if ties is None else float(ties.roundings),
            cuts=np.searchsorted(seeds, cuts),
        )
        found = np.empty(rows.n_nodes, bool), np.empty(s, bool), np.empty(s, "q")
        known = {"seeds": seeds, "weights": weights, "found": found}
        place = file.path, str(Path.cwd()), file.header.pack()
        self._ask("prepare", place, asked, cuts, file=file, **known)
        where = np.argsort(order)
        self.problem = problem.told(
            is_reached=found[0], is_touching=found[1][where], seed_components=found[2][where]
        )

    def _ask(self, job: str, *told: Any, **own: Any) -> Any:
        if self._closed:
            raise SessionError("the session is closed: prepare the problem again")
        return self._team.ask(job, self._part.number, *told, **own)

    @property
    def is_solved(self) -> bool:
        """See `Session`."""
        return self._solution is not None

    def solve(
        self,
        values: Any = None,
        *,
        tol: float | None = None,
        start: Warm | None = None,
        stop: Any = None,  # noqa: ARG002  # a permission: what is returned is proven to tol
        progress: Progress | None = None,
    ) -> Solution:
        """See `Session`."""
        problem, tol = self.problem, self.options.tol if tol is None else tol
        if values is not None:
            problem = problem.with_values(np.asanyarray(values))
        began, shape = time.perf_counter(), (problem.graph.n_nodes, problem.n_columns)
        check_room(*shape, what="columns", memory=self.options.memory)
        T, h, steps = np.zeros(shape), np.zeros(shape[0]), 0
        if start is not None:
            T[:] = start.shaped(problem).temperatures
        if problem.n_free == 0 or problem.n_columns == 0:
            T[problem.boundary] = problem.values
            proof = nothing_to_prove(problem)
        else:
            asked = problem.bounds, tol, start is not None, progress is not None
            Y = problem.seed_values[self._order]
            numbers, steps = self._ask("solve", *asked, Y=Y, T=T, h=h, progress=progress)
            proof = prove(problem, T, h, numbers)
        T[problem.is_unreached] = np.nan
        missed = ""
        if not proof.bound <= tol:
            missed = f"cg stopped at step {steps}: temperatures are proven to {proof.bound:.1e} "
            missed += f"only, not to tol = {tol:.1e}; loosen tol, or use one machine: it has other "
            missed += "solvers"
        took, unreached = time.perf_counter() - began, problem.is_unreached
        found = Solution(T, proof, unreached, steps, "cg", "petsc", took, not missed, missed)
        self._solution = found if values is None else self._solution
        return found

    def change(
        self,
        changes: Mapping[int, Array | None],
        columns: Sequence[int] | None = None,
        *,
        stop: Any = None,  # noqa: ARG002  # see `solve`
        progress: Progress | None = None,
    ) -> Solution:
        """See `Session`: solved anew, from where the last solve ended."""
        if self._solution is None:
            raise SessionError("there is no solution to change yet: solve the problem first")
        problem = changed_problem(self.problem, changes, columns)
        other = RankPrepared(self._team, problem, self.options)
        solution = other.solve(start=Warm.of(self._solution, columns), progress=progress)
        self.problem, self._part, self._order = other.problem, other._part, other._order
        self._solution = solution
        return solution

    def respond(self, nodes: Array, tol: float) -> Array:
        """See `Session`."""
        V = np.zeros((self.problem.graph.n_nodes, len(nodes)))
        self._ask("respond", np.asarray(nodes, dtype=np.int64), tol, V=V)
        return V

    def prove(self, problem: DirichletProblem, X: Array, exits: Array) -> Certificate:
        """See `Session`."""
        with RankPrepared(self._team, problem, self.options) as other:
            problem = other.problem
            if problem.n_free == 0:
                return nothing_to_prove(problem)
            h, Y = np.where(problem.is_free, exits, 0.0), problem.seed_values[other._order]
            found = other._ask("prove", problem.n_columns, Y=Y, T=X, h=h)
        return prove(problem, X, h, found)

    def prepare(self, problem: DirichletProblem, options: SolveOptions | None = None) -> Session:
        """Another problem; one on a graph that is in no file is for the first rank alone."""
        options, rows = options or self.options, problem.graph.rows
        if rows.is_mapped:
            return RankPrepared(self._team, problem, options)
        if self._team.ranks.size > 1:
            room = size_text((12 if rows.has_weights else 4) * rows.n_entries)
            told = f"a further heat flow is on a graph that is in no file ({room}): the first rank "
            warnings.warn(told + "solves it alone", IsothermWarning, stacklevel=2)
        return choose_engine("auto", problem.graph).prepare(problem, options)

    def close(self) -> None:
        """Give back what the ranks hold; they do so when they are asked for something else."""
        self._closed = True
        self._solution = None
        self._part.give_back()
