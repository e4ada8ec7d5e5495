"""The team of all ranks: the first one asks, the others serve, and all do the same work."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any

from isotherm import ParameterError, SessionError
from isotherm_petsc.part import Asked, Part
from isotherm_petsc.petsc import petsc
from isotherm_petsc.ranks import Array, Ranks, ToldByFirst, mpi
from isotherm_petsc.rows import OwnRows, same_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isotherm.engines.api import SavedFile

_teams: list[Team] = []  # of this process: at most one


class Team:
    """What the ranks of a job have prepared, and what they do with it."""

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        self._parts: dict[int, Part] = {}
        self._graph: OwnRows | None = None  # that was used last
        self.numbers = count()  # of parts
        self.gone: list[int] = []  # parts that nobody holds any more
        self._lock, self._is_busy = RLock(), False
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # a rank has one processor

    def ask(self, job: str, number: int, *told: Any, **own: Any) -> Any:
        """Have all ranks do a job on a part; those of another thread wait for their turn.

        The job is `prepare`, or a method of `Part`. All ranks are told the same; arrays that the
        first rank alone has go by their names.
        """
        with self._lock:
            if self._is_busy:
                raise SessionError(
                    "the ranks are at work, and this is their own progress function: ask once the "
                    "call that it tells of has returned"
                )
            gone = [self.gone.pop() for _ in range(len(self.gone))]
            self._is_busy, self.ranks.has_agreed = True, False
            try:
                self.ranks.command((job, number, told, gone))
                return self._do(job, number, told, gone, **own)
            except BaseException as error:
                if not self.ranks.has_agreed and self.ranks.size > 1:
                    self.ranks.abort(str(error) or type(error).__name__)
                raise
            finally:
                self._is_busy = False

    def serve(self) -> None:
        """Do what the first rank asks until that has done its work."""
        while (command := self.ranks.wait_for_command()) is not None:
            try:
                with suppress(ToldByFirst):
                    self._do(*command)
            except BaseException as error:
                self.ranks.abort(f"{type(error).__name__}: {error}")
                raise
        self._drop(list(self._parts))

    def end(self) -> None:
        """Let the others go."""
        self.ranks.command(None)
        self._drop(list(self._parts))

    def _drop(self, numbers: list[int]) -> None:
        for number in numbers:
            if number in self._parts:  # it was made without a fault
                self._parts.pop(number).close()

    def _do(self, job: str, number: int, told: Any, gone: list[int], **own: Any) -> Any:
        self._drop(gone)
        if job == "prepare":
            return self._prepare(number, *told, **own)
        return getattr(self._parts[number], job)(*told, **own)

    def _prepare(
        self,
        number: int,
        place: tuple[str, str, bytes],
        asked: Asked,
        cuts: Array,
        *,
        file: SavedFile | None = None,
        seeds: Array | None = None,
        weights: Array | None = None,
        found: tuple[Any, Any, Any] = (None, None, None),
    ) -> None:
        """Make a problem ready, and find out what heat reaches: see `same_file` and `Part`."""
        ranks, graph = self.ranks, self._graph
        if graph is None or graph.file.header.pack() != place[2]:
            opened = ranks.agreed(lambda: file or same_file(*place))
            self._graph = graph = OwnRows(ranks, opened, cuts)
        used = file or graph.file
        ranks.agreed(used.look)  # GraphError if it was written over since
        own = ranks.spread(seeds, asked.cuts, "q"), ranks.spread(weights, asked.cuts)
        self._parts[number] = Part(graph, asked, *own)
        self._parts[number].tell(*found)


@contextmanager
def serve() -> Iterator[bool]:
    """Let this process be one of the ranks; True on the first one, which is to do the work.

    The others serve it until the block of the first one ends, and then go on with False::

        with isotherm_petsc.serve() as is_first:
            if is_first:
                graph = isotherm.read_graph("graph.iso")
                isotherm.DirichletClassifier(engine="petsc").fit(graph, labels)
    """
    ranks = Ranks(mpi().COMM_WORLD)
    team = Team(ranks)
    if ranks.rank > 0:
        with suppress(ToldByFirst):
            ranks.agreed(petsc)
            team.serve()
        yield False
        return
    ranks.agreed(petsc)
    _teams[:] = [team]
    try:
        yield True
    finally:
        _teams.clear()
        team.end()


def team() -> Team:
    """The team of this process: that of `serve`, or of this process alone."""
    if not _teams:
        petsc()
        world = mpi().COMM_WORLD
        if world.Get_size() > 1:
            raise ParameterError(
                f"this is one of {world.Get_size()} processes, and each would do all of the work: "
                "start them with mpiexec -n 4 python -m isotherm_petsc classify graph.iso "
                "labels.csv -o out.csv, or call isotherm_petsc.serve() first"
            )
        _teams.append(Team(Ranks(world)))
    return _teams[0]
