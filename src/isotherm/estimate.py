"""How large a job is, before it is done: nodes, edges, classes, memory and time.

A small file is read in full. Of a larger one some pieces are looked at; the number of nodes then
follows from how many of them appear in one piece only and how many in two (Chao, Estimating the
population size for capture-recapture data with unequal catchability, 1987).
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from isotherm.engines import engine_for
from isotherm.errors import IsothermWarning
from isotherm.graph.texts import TextNumbers
from isotherm.job_memory import Counts, memory_of_job
from isotherm.memory import LANES, current_memory, free_memory
from isotherm.read.columns import choose_edge_columns
from isotherm.read.load import gather_labels, graph_of_source
from isotherm.read.opening import open_source
from isotherm.stacking.embedding import PANELS, PRODUCTS, fits
from isotherm.stacking.flows import FURTHER
from isotherm.stacking.left_out import LARGE as LARGE_STACK
from isotherm.stacking.left_out import groups_of
from isotherm.trust.choose import LEAKS
from isotherm.trust.sample import CHOOSING, JUDGING, columns_of_sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from isotherm.engines.cuda.plan import Plan
    from isotherm.graph import Graph
    from isotherm.job import Job
    from isotherm.read.options import TextOptions
    from isotherm.read.table import Batch, Columns, Table

PIECES = 48  # that are looked at
PIECE = 1 << 20  # bytes of each
ROWS = 1 << 13  # in which a node counts but once
SMALL = PIECES * PIECE  # a file no larger is read in full
CLASSES = 10  # where no labels are given
LOADED = 16 << 20  # bytes of the libraries that a job loads beyond those loaded here
STEPS = 16  # of a solve on a graph that is neither easy nor hard
LOOSER = 0.8  # of the time of a solve, if no more than a tolerance of 1e-3 is asked for
TRIAL = (20_000, 200_000)  # nodes and edges of the graph on which this machine is timed
FAR_MEMORY = 2.0  # how much slower a step is, per entry, where the vectors fit no cache
GPU_STEP = 3e-11  # seconds of a step per entry and node on an H200: results/gpu/solves.json
BUILDING = 2.0  # reading and building a graph, in times of parsing and numbering


@dataclass(frozen=True)
class Estimate:
    """How large a job is.

    Attributes
    ----------
    nodes, edges, labels, classes : int
    exact : bool
        Whether the nodes were counted, not estimated.
    memory : int
        Bytes of the process at its peak.
    seconds : float
        Start to finish, on a graph that is neither easy nor hard.
    engine : str
        That will be used.
    on_disk : int
        Bytes of a saved graph, which stay on the disk, or in the memory that is free.
    limit : int or None
        Bytes of memory that are allowed.
    gpu : Plan or None
        How a GPU would be used, with what that takes there.
    """

    nodes: int
    edges: int
    labels: int
    classes: int
    exact: bool
    memory: int
    seconds: float
    engine: str = "native"
    on_disk: int = 0
    limit: int | None = None
    gpu: Plan | None = None


def estimate_job(job: Job, classes: int = CLASSES) -> Estimate:
    """Estimate a job; without labels, for so many classes."""
    counts = count_edges(job.edges, job.edge_columns, job.edge_options)
    n_labels = 0
    if job.labels:
        labelled, _ = gather_labels(job.labels, job.label_columns, job.label_options)
        n_labels, classes = labelled.count()
    # What a job loads takes room, too; what is tried out below does not.
    from isotherm.classifier.pick import is_stacked
    from isotherm.equilibrium import solve_dirichlet  # noqa: F401

    held = current_memory() + LOADED
    entries, limit = 2 * counts.rows, job.model.get("memory")
    room = free_memory() if limit is None and counts.on_disk else limit
    stacked = is_stacked(job.kind, entries, counts.nodes, classes, room) and classes > 1
    engine = engine_for(job.model.get("engine", "auto"), counts.nodes)
    left_out = _left_out(job, entries, n_labels)
    memory = memory_of_job(
        counts,
        classes,
        n_labels,
        engine=engine,
        stacked=stacked,
        left_out=0 if stacked else left_out,
        limit=limit,
    )
    far = FAR_MEMORY if counts.nodes > TRIAL[0] * 5 else 1.0
    steps = STEPS * far * (entries + counts.nodes)
    solving = _time_of_step(classes, engine) * steps
    block = _time_of_step(LANES - 1, engine)
    if stacked:
        solving = _time_of_stack(counts, n_labels, steps, solving, block)
    else:
        solving += _time_of_sample(job, left_out, steps, solving, block)
    return Estimate(
        counts.nodes,
        counts.rows,
        n_labels,
        classes,
        counts.exact,
        held + memory,
        1.0 + counts.seconds + solving + 2e-6 * counts.nodes,
        engine,
        counts.on_disk,
        limit,
        _on_gpu(counts, classes) if engine == "cuda" else None,
    )


def _on_gpu(counts: Counts, classes: int) -> Plan:
    """What a solve takes on the GPU that is here."""
    from isotherm.engines.cuda.device import find_device
    from isotherm.engines.cuda.plan import Sizes, plan_sizes

    sizes = Sizes(counts.nodes, 2 * counts.rows, 12 if counts.weighted else 4)
    return plan_sizes(sizes, classes, find_device().free_bytes)


def _is_chosen(job: Job) -> bool:
    """Whether the decision or the leak is chosen by seeds left out."""
    return "auto" in (job.model.get("decision"), job.model.get("leak"))


def _left_out(job: Job, entries: int, labels: int) -> int:
    """Seeds that are left out one at a time."""
    return columns_of_sample(entries, labels, CHOOSING if _is_chosen(job) else JUDGING)


def _time_of_sample(job: Job, columns: int, steps: float, solve: float, block: float) -> float:
    """Seconds to leave seeds out, to tell what scores are worth or to choose by them."""
    blocks = -(-(columns + 1) // LANES)
    once = block * blocks * steps if columns else LOOSER * solve
    if not _is_chosen(job):
        return once
    return (len(LEAKS) if job.model.get("leak") == "auto" else 1) * (once + solve)


def _time_of_stack(counts: Counts, labels: int, steps: float, solve: float, block: float) -> float:
    """Seconds to solve all flows, to leave seeds out of each, and to embed the graph."""
    n_flows, entries = 1 + len(FURTHER), 2 * counts.rows
    groups, most = groups_of(labels, large=entries > LARGE_STACK)
    blocks = 0 if groups else -(-min(labels, most) // LANES)
    left_out = groups * LOOSER * solve + blocks * block * steps
    products = PANELS * PRODUCTS * block * (entries + counts.nodes)
    return n_flows * (solve + left_out) + (products if fits(counts.nodes, entries) else 0.0)


def count_edges(
    path: str | Sequence[str], columns: Columns, options: TextOptions, *, small: int = SMALL
) -> Counts:
    """Count what a file of edges has, or estimate it where the file is larger than `small`."""
    with open_source(path, options.unpacking) as source:
        if source.format.open_table is not None:
            table = source.format.open_table(source, options, list(columns.values()))
            choice = choose_edge_columns(table, columns, source.name)
            if choice.guessed:
                warnings.warn(f"{source.name}: {choice.why}", IsothermWarning, stacklevel=2)
            return _count_table(table, choice.columns, small)
        started = time.perf_counter()
        graph, report = graph_of_source(source, columns, options)
    if graph.rows.is_mapped:
        return _count_saved(graph, time.perf_counter() - started)
    texts = graph.nodes.as_texts()
    return Counts(
        report.n_rows,
        graph.n_nodes,
        texts.nbytes - 8 * len(texts),
        graph.rows.weights is not None,
        exact=True,
        seconds=time.perf_counter() - started,
    )


def _count_saved(graph: Graph, seconds: float) -> Counts:
    """What the header of a saved graph says."""
    size = 4 * graph.rows.n_entries * (3 if graph.rows.has_weights else 1)
    return Counts(
        rows=graph.n_edges,
        nodes=graph.n_nodes,
        name_bytes=0,
        weighted=graph.rows.has_weights,
        exact=True,
        seconds=seconds,
        on_disk=size + 16 * graph.n_nodes,
    )


def _count_table(table: Table, chosen: list[int], small: int) -> Counts:
    seen, share = _Seen(), 1.0
    started = time.perf_counter()
    for batch, share in table.pieces(chosen, small, PIECES):  # noqa: B007  # the last counts
        seen.add(batch)
    exact = share > 0.999
    seconds = time.perf_counter() - started - seen.counting
    rows = round(seen.rows / share)
    nodes = seen.nodes if exact else min(seen.unseen() + seen.nodes, 2 * rows)
    return Counts(
        rows,
        nodes,
        round(seen.name_bytes * nodes / max(seen.nodes, 1)),
        len(chosen) == 3,
        exact,
        BUILDING * seconds / share,
    )


@dataclass
class _Seen:
    """Nodes of the pieces looked at."""

    rows: int = 0
    counting: float = 0.0  # seconds that reading alone would not take
    _numbers: TextNumbers = field(default_factory=TextNumbers)
    _pieces: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def nodes(self) -> int:
        return len(self._numbers)

    @property
    def name_bytes(self) -> int:
        texts = self._numbers.texts()
        return int(texts.nbytes - 8 * len(texts))

    def add(self, batch: Batch) -> None:
        i, j = self._numbers.encode(batch.first), self._numbers.encode(batch.second)
        started = time.perf_counter()
        self.rows += len(i)
        more = np.zeros(len(self._numbers), dtype=np.int64)
        more[: len(self._pieces)] = self._pieces
        for first in range(0, len(i), ROWS):
            some = slice(first, first + ROWS)
            more[np.unique(np.concatenate([i[some], j[some]]))] += 1
        self._pieces = more
        self.counting += time.perf_counter() - started

    def unseen(self) -> int:
        """Nodes in no piece, by those in one and those in two."""
        once, twice = (int((self._pieces == k).sum()) for k in (1, 2))
        return round(once * (once - 1) / (2 * (twice + 1)))


def _time_of_step(classes: int, engine: str) -> float:
    """Seconds of a step per entry and node, on this machine, for so many classes."""
    if engine == "cuda":
        return GPU_STEP
    from isotherm.equilibrium import solve_dirichlet
    from isotherm.graph import Graph

    n, m = TRIAL
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(*rng.integers(0, n, (2, m)), nodes=range(n))
    seeds = np.arange(n // 20)
    values = np.equal.outer(seeds % classes, np.arange(classes))
    best = np.inf
    for _ in range(2):
        solution = solve_dirichlet(graph, seeds, values, tol=1e-4, engine=engine)
        best = min(best, solution.seconds / max(solution.n_iter, 1))
    return float(best / (graph.rows.n_entries + n))
