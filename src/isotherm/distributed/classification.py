"""Labels for all nodes of a graph in part files, found by many processes together."""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from isotherm.classifier.estimator import STATUS
from isotherm.distributed.answers import OwnAnswers
from isotherm.distributed.checkpoint import Checkpoints
from isotherm.distributed.model import DistributedModel, engine_of, threads_of
from isotherm.distributed.parts import check_folder, write_parts
from isotherm.distributed.reading import on_first, read_edges, read_own_labels
from isotherm.engines.mpi.ranks import Ranks
from isotherm.engines.mpi.share import SharedProblem
from isotherm.memory import peak_memory, release_unused
from isotherm.read.options import TextOptions
from isotherm.solvers import SolveOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isotherm.distributed.entries import SharedGraph
    from isotherm.engines.mpi.session import SharedSession
    from isotherm.solvers import Solution
    from isotherm.solvers.options import Progress

    Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


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
    folder, seconds = Path(output), dict[str, float]()
    on_first(ranks, lambda: check_folder(folder, force=force))
    with _Clock(seconds, "reading"):
        graph = read_edges(ranks, _listed(edges), edge_columns or {}, edge_options or TextOptions())
        seeds = read_own_labels(
            ranks,
            _listed(labels),
            graph,
            label_columns or {},
            label_options or TextOptions(),
            strict=strict,
        )
    values = np.equal.outer(seeds.codes, np.arange(len(seeds.classes))).astype(np.float64)
    problem = SharedProblem(graph.share, seeds.nodes, values, model.leak)
    store = None
    if checkpoint is not None:
        store = Checkpoints(Path(checkpoint), graph, problem, seeds.classes, every=every)
    else:
        graph.names.forget()  # only checkpoints are found by names that are elsewhere
    with _Clock(seconds, "solving"):
        session, solution, resumed = _solve(model, problem, store, progress)
    with _Clock(seconds, "judging"):
        answers = OwnAnswers(
            model.decision,
            leak=model.leak,
            tol=model.tol,
            unreached=model.unreached,  # type: ignore[arg-type]
        ).conclude(graph.texts, session, solution, seeds)
    with _Clock(seconds, "writing"):
        session.close()
        release_unused()  # what was solved for, and left out
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
    return _outcome(seconds, graph, answers, solution, resumed=resumed, least=min_probability)


def _solve(
    model: DistributedModel,
    problem: SharedProblem,
    store: Checkpoints | None,
    progress: Progress | None,
) -> tuple[SharedSession, Solution, bool]:
    ranks = problem.graph.ranks
    threads = threads_of(ranks, model.threads)
    session = engine_of(model).prepare(problem, SolveOptions(model.tol, threads=threads))
    start = None if store is None else store.latest()
    keep = None if store is None else store.keep
    solution = session.solve(start=start, progress=progress, keep=keep)
    if store is not None:
        store.save(solution.temperatures, solution.certificate.nodes)
    if not solution.converged and ranks.rank == 0:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(solution.shortfall, ConvergenceWarning, stacklevel=4)
    return session, solution, start is not None


def _outcome(
    seconds: dict[str, float],
    graph: SharedGraph,
    answers: OwnAnswers,
    solution: Solution,
    *,
    resumed: bool,
    least: float,
) -> Outcome:
    ranks, rows = graph.share.ranks, graph.share.rows
    loops = ranks.total(rows.n_loops())
    tally = np.zeros(len(STATUS), dtype=np.int64)
    if graph.share.n_own:
        tally += answers.tally(least).counts
    slowest = ranks.gathered(np.array(list(seconds.values()))).max(axis=0)
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
        seconds=dict(zip(seconds, slowest.tolist(), strict=True)),
        memory=ranks.gathered(np.int64(peak_memory() or 0)).tolist(),
        bytes_sent=ranks.gathered(np.int64(ranks.bytes_sent)).tolist(),
        entries=ranks.gathered(np.int64(len(rows.ends))).tolist(),
    )


class _Clock:
    """Adds the seconds of a stage."""

    def __init__(self, seconds: dict[str, float], stage: str) -> None:
        self._seconds, self._stage = seconds, stage

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._seconds[self._stage] = time.perf_counter() - self._began


def _listed(paths: Paths) -> list[str]:
    if isinstance(paths, str | os.PathLike):
        return [os.fspath(paths)]
    return [os.fspath(path) for path in paths]
