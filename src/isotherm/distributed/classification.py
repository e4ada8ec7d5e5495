"""Labels for all nodes of a graph in part files, found by many processes together."""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.classifier.estimator import STATUS, UNREACHED
from isotherm.decision import DECISIONS
from isotherm.distributed.answers import OwnAnswers
from isotherm.distributed.checkpoint import Checkpoints
from isotherm.distributed.entries import Entries
from isotherm.distributed.files import agree_on_layout, batches_of, find_files, units_of
from isotherm.distributed.labels import read_seeds
from isotherm.distributed.parts import check_folder, write_parts
from isotherm.engines.mpi.ranks import Ranks
from isotherm.engines.mpi.share import SharedProblem
from isotherm.errors import GraphError, IsothermWarning, LabelError, ParameterError
from isotherm.memory import peak_memory
from isotherm.read.columns import choose_edge_columns, choose_label_columns
from isotherm.read.options import TextOptions
from isotherm.read.report import ReadReport
from isotherm.solvers import SolveOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isotherm.distributed.entries import SharedGraph
    from isotherm.distributed.labels import OwnSeeds
    from isotherm.engines.mpi.session import SharedSession
    from isotherm.read.table import Batch
    from isotherm.solvers import Solution
    from isotherm.solvers.options import Progress

    Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

ENGINES = ("mpi", "petsc")


@dataclass(frozen=True)
class DistributedModel:
    """What is computed, and how; as the parameters of `isotherm.DirichletClassifier`.

    Attributes
    ----------
    decision, leak, tol, unreached, threads
        See there. Decision and leak are not chosen here: ``"auto"`` works on one machine only.
    engine : {"mpi", "petsc"}
    """

    decision: str = "centered"
    leak: float = 0.0
    tol: float = 1e-6
    unreached: str = "abstain"
    engine: str = "mpi"
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.decision not in DECISIONS:
            raise ParameterError.unknown("decision on several machines", self.decision, DECISIONS)
        if isinstance(self.leak, str):
            raise ParameterError("leak='auto' works on one machine only: give a number")
        if self.engine not in ENGINES:
            raise ParameterError.unknown("engine on several machines", self.engine, ENGINES)
        if self.unreached not in UNREACHED:
            raise ParameterError.unknown("rule for unreached nodes", self.unreached, UNREACHED)


@dataclass(frozen=True)
class Outcome:
    """What became of a run; the same on all ranks.

    Attributes
    ----------
    n_nodes, n_edges : int
        Edges are counted as in `isotherm.Graph`.
    n_ranks : int
    classes : list of str
    status : dict of int
        Nodes of each status.
    n_certified : int
    steps : int
    error : float
        No temperature is farther than this from equilibrium; proven.
    converged : bool
    resumed : bool
        Whether it went on from a checkpoint.
    seconds : dict of float
        Of each stage, on the slowest rank.
    memory : list of int
        The most that each rank had at once, in bytes.
    bytes_sent : list of int
        By each rank, in all.
    entries : list of int
        Of the matrix, on each rank.
    """

    n_nodes: int
    n_edges: int
    n_ranks: int
    classes: list[str]
    status: dict[str, int]
    n_certified: int
    steps: int
    error: float
    converged: bool
    resumed: bool
    seconds: dict[str, float] = field(default_factory=dict)
    memory: list[int] = field(default_factory=list)
    bytes_sent: list[int] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)


def classify(
    edges: Paths,
    labels: Paths,
    output: str | os.PathLike[str],
    *,
    model: DistributedModel | None = None,
    edge_columns: Mapping[str, str | None] | None = None,
    label_columns: Mapping[str, str | None] | None = None,
    edge_options: TextOptions | None = None,
    label_options: TextOptions | None = None,
    strict: bool = False,
    format: str = "parquet",  # noqa: A002
    temperatures: bool = False,
    min_probability: float = 0.0,
    force: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 300.0,
    progress: Progress | None = None,
    ranks: Ranks | None = None,
) -> Outcome:
    """Label all nodes of a graph that no single machine need hold; all ranks call it.

    Parameters
    ----------
    edges, labels : path, or list of paths
        Files, folders and patterns, of Parquet or text. They, and the folders to write into, must
        be there on all machines: a shared file system.
    output : path
        Folder for the part files; it appears when all are written.
    model : DistributedModel, optional
    edge_columns, label_columns, edge_options, label_options, strict
        See `isotherm.read_graph` and `isotherm.read_labels`.
    format : {"parquet", "csv", "tsv", "jsonl"}
        Of the part files.
    temperatures, min_probability, force
        See `isotherm.write_predictions`.
    checkpoint : path, optional
        Folder to keep temperatures in, and to go on from if it has some.
    every : float
        Seconds between two checkpoints.
    progress : callable, optional
        Called after each step with the steps so far and the error that is still likely.
    ranks : Ranks, optional
        By default all that mpiexec has started.

    Raises
    ------
    IsothermError
        On all ranks: whatever is wrong with files or parameters.
    MissingLibrary
        If there is no MPI.

    Warns
    -----
    IsothermWarning, ConvergenceWarning
        On the first rank: what a user should know.
    """
    model, ranks = model or DistributedModel(), ranks or Ranks.world()
    job = _Job(ranks, model)
    folder = Path(output)
    job.together(lambda: check_folder(folder, force=force))
    with job.clock("reading"):
        graph = job.read_edges(_listed(edges), edge_columns or {}, edge_options or TextOptions())
        seeds = job.read_labels(
            _listed(labels), graph, label_columns or {}, label_options or TextOptions(), strict=strict
        )
    values = np.equal.outer(seeds.codes, np.arange(len(seeds.classes))).astype(np.float64)
    problem = SharedProblem(graph.share, seeds.nodes, values, model.leak)
    store = None
    if checkpoint is not None:
        store = Checkpoints(Path(checkpoint), graph, problem, seeds.classes, every=every)
    with job.clock("solving"):
        session, solution, resumed = job.solve(problem, store, progress)
    with job.clock("judging"):
        answers = OwnAnswers(
            model.decision, leak=model.leak, tol=model.tol, unreached=model.unreached  # type: ignore[arg-type]
        ).conclude(graph.texts, session, solution, seeds)
    with job.clock("writing"):
        write_parts(
            ranks,
            answers,
            folder,
            format=format,
            temperatures=temperatures,
            min_probability=min_probability,
            force=force,
        )
    if store is not None:
        store.clear()
    return job.outcome(graph, problem, answers, solution, resumed=resumed, least=min_probability)


class _Job:
    """What the stages of a run have in common."""

    def __init__(self, ranks: Ranks, model: DistributedModel) -> None:
        self.ranks, self.model = ranks, model
        self.seconds: dict[str, float] = {}

    def together(self, work: Any) -> Any:
        """Do something on the first rank; what it finds wrong is raised on all."""
        found = error = None
        if self.ranks.rank == 0:
            try:
                found = work()
            except Exception as failure:
                error = failure
        self.ranks.agree(error)
        return self.ranks.from_first(found)

    def clock(self, stage: str) -> _Clock:
        return _Clock(self.seconds, stage)

    def read_edges(
        self, names: list[str], columns: Mapping[str, str | None], options: TextOptions
    ) -> SharedGraph:
        if options.bipartite or options.ids != "exact":
            raise ParameterError("two kinds of ids, and normalised ids, work on one machine only")
        report = ReadReport(names[0])

        def choose(table: Any, name: str) -> Any:
            return choose_edge_columns(table, columns, name)

        batches, width = self._batches(names, options, choose, columns, report, GraphError)
        entries = Entries(self.ranks, weighted=width == 3)
        entries.read(batches)
        graph = entries.graph()
        self._warn([report.skipped_words()] if report.n_skipped else [])
        return graph

    def read_labels(
        self,
        names: list[str],
        graph: SharedGraph,
        columns: Mapping[str, str | None],
        options: TextOptions,
        *,
        strict: bool,
    ) -> OwnSeeds:
        if columns.get("weight") is not None:
            raise ParameterError("weights of labels work on one machine only")
        report = ReadReport(names[0])

        def choose(table: Any, name: str) -> Any:
            return choose_label_columns(table, columns, name)

        batches, _ = self._batches(
            names, options, choose, columns, report, LabelError, empty=True
        )
        seeds = read_seeds(self.ranks, graph, batches, options, strict=strict)
        if len(seeds.classes) == 1:
            raise LabelError(
                f"there is only one class, {seeds.classes[0]!r}: no label can be told from "
                "another. A ranking by one class works on one machine only"
            )
        self._warn(seeds.notes)
        return seeds

    def _batches(
        self,
        names: list[str],
        options: TextOptions,
        choose: Any,
        columns: Mapping[str, str | None],
        report: ReadReport,
        error: Any,
        *,
        empty: bool = False,
    ) -> tuple[Iterator[Batch], int]:
        """The rows that this rank reads, and how many columns they have."""
        files = self.together(lambda: find_files(names))
        wanted = [name for name in columns.values() if name is not None]
        layout = agree_on_layout(self.ranks, files, options, choose, wanted)

        def batches() -> Iterator[Batch]:
            units = units_of(self.ranks, files, layout.options)
            yield from batches_of(units, layout, report, error=error, empty=empty)

        return batches(), len(layout.chosen)

    def solve(
        self, problem: SharedProblem, store: Checkpoints | None, progress: Progress | None
    ) -> tuple[SharedSession, Solution, bool]:
        threads = threads_of(self.ranks, self.model.threads)
        session = _engine(self.model.engine).prepare(
            problem, SolveOptions(self.model.tol, threads=threads)
        )
        start = None if store is None else store.latest()
        keep = None if store is None else store.keep
        solution = session.solve(start=start, progress=progress, keep=keep)
        if store is not None:
            store.save(solution.temperatures, solution.certificate.nodes[: problem.graph.n_own])
        if not solution.converged and self.ranks.rank == 0:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(solution.shortfall, ConvergenceWarning, stacklevel=4)
        return session, solution, start is not None

    def outcome(
        self,
        graph: SharedGraph,
        problem: SharedProblem,
        answers: OwnAnswers,
        solution: Solution,
        *,
        resumed: bool,
        least: float,
    ) -> Outcome:
        ranks, rows = self.ranks, graph.share.rows
        own = np.repeat(np.arange(graph.share.n_own), np.diff(rows.start[: graph.share.n_own + 1]))
        loops = ranks.total(int(np.count_nonzero(own == rows.ends)))
        tally = answers.tally(least).counts
        seconds = ranks.gathered(np.array(list(self.seconds.values()))).max(axis=0)
        bounds = ranks.gathered(np.float64(solution.certificate.bound))
        return Outcome(
            n_nodes=graph.share.n_nodes,
            n_edges=(graph.share.n_entries + loops) // 2,
            n_ranks=ranks.size,
            classes=[str(one) for one in answers.classes_.tolist()],
            status=dict(zip(STATUS, ranks.sums(tally).tolist(), strict=True)),
            n_certified=ranks.total(int(np.count_nonzero(answers.certified_))),
            steps=solution.n_iter,
            error=float(bounds.max()),
            converged=solution.converged,
            resumed=resumed,
            seconds=dict(zip(self.seconds, seconds.tolist(), strict=True)),
            memory=ranks.gathered(np.int64(peak_memory() or 0)).tolist(),
            bytes_sent=ranks.gathered(np.int64(ranks.bytes_sent)).tolist(),
            entries=ranks.gathered(np.int64(len(rows.ends))).tolist(),
        )

    def _warn(self, sentences: Sequence[str]) -> None:
        for sentence in {one for own in self.ranks.objects(list(sentences)) for one in own}:
            if self.ranks.rank == 0:
                warnings.warn(sentence, IsothermWarning, stacklevel=4)


class _Clock:
    """Adds the seconds of a stage."""

    def __init__(self, seconds: dict[str, float], stage: str) -> None:
        self._seconds, self._stage = seconds, stage

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._seconds[self._stage] = time.perf_counter() - self._began


def threads_of(ranks: Ranks, threads: int | None) -> int | None:
    """How many threads a rank may use: as asked, else its part of the machine's processors."""
    if threads is not None or ranks.comm is None or "OMP_NUM_THREADS" in os.environ:
        return threads
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if usable < (os.cpu_count() or 1):
        return usable  # mpiexec has given it these
    from isotherm.engines.mpi.ranks import mpi

    beside = ranks.comm.Split_type(mpi().COMM_TYPE_SHARED)
    count = beside.Get_size()
    beside.Free()
    return max(1, usable // count)


def _engine(name: str) -> Any:
    if name == "petsc":
        from isotherm.engines.petsc import PetscEngine

        return PetscEngine()
    from isotherm.engines.mpi import MpiEngine

    return MpiEngine()


def _listed(paths: Paths) -> list[str]:
    if isinstance(paths, str | os.PathLike):
        return [os.fspath(paths)]
    return [os.fspath(path) for path in paths]
