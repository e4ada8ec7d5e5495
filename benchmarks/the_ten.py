"""The ten jobs by which a change is measured: what `benchmarks.by_turns` runs on base and on head.

Each one is made ready once and gives what is then timed. They use names that users have, and no
others: both versions must be able to run them. Which graphs there are is said in
`benchmarks.graphs`; Cora and PubMed are read where they lie, and their jobs are left out without
them.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
import warnings
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import graphs
from benchmarks.a_small_job_is_done_at_once import write_files
from isotherm import (
    DirichletClassifier,
    Graph,
    IsothermWarning,
    StackedDirichletClassifier,
    read_graph,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Job = Callable[[], Any]


def _fit(matrix: Any, labels: Any, share: float) -> Job:
    """Fit a graph that is ready, by the paper's model."""
    graph = Graph.from_matrix(matrix)
    known = graphs.seeds(labels, share, np.random.default_rng(0))
    return lambda: DirichletClassifier().fit(graph, known)


def _update(matrix: Any, labels: Any) -> Job:
    """Give one node after the other its label."""
    graph = Graph.from_matrix(matrix)
    known = graphs.seeds(labels, 0.05, np.random.default_rng(0))
    model = DirichletClassifier(tol=1e-4).fit(graph, known)
    nodes = iter(np.random.default_rng(1).permutation(model.problem_.free).tolist())

    def update() -> None:
        node = next(nodes)
        model.update({node: labels[node]})

    return update


def block_model(*, quick: bool) -> Job:
    """A fit of 20 M entries, 10 classes."""
    return _fit(*graphs.block_model(50_000 if quick else 1_000_000), 0.05)


def rmat(*, quick: bool) -> Job:
    """A fit of 7.3 M entries with hubs, 10 classes."""
    return _fit(*graphs.rmat(*((14, 200_000) if quick else (18, 4_000_000))), 0.05)


def cora(*, quick: bool) -> Job | None:  # noqa: ARG001  # small as it is
    """A fit of 2 708 nodes."""
    return _fit(*graphs.real("cora"), 0.05) if "cora" in graphs.real_names() else None


def grid(*, quick: bool) -> Job:
    """A fit of a square grid, whose steps need a factor."""
    side = 60 if quick else 400
    labels = np.random.default_rng(0).integers(0, 2, side * side)
    return _fit(graphs.grid(side).adjacency, labels, 20 / side**2)


def update_block_model(*, quick: bool) -> Job:
    """One more label on the block model."""
    return _update(*graphs.block_model(50_000 if quick else 1_000_000))


def update_rmat(*, quick: bool) -> Job:
    """One more label on the graph with hubs."""
    return _update(*graphs.rmat(*((14, 200_000) if quick else (18, 4_000_000))))


def stacked(*, quick: bool) -> Job | None:
    """A fit by all views, one in twenty of PubMed's 19 717 nodes known."""
    name = "cora" if quick else "pubmed"
    if name not in graphs.real_names():
        return None
    matrix, labels = graphs.real(name)
    graph = Graph.from_matrix(matrix)
    known = graphs.seeds(labels, 0.05, np.random.default_rng(0))
    return lambda: StackedDirichletClassifier().fit(graph, known)


def leave_one_out(*, quick: bool) -> Job | None:
    """100 seeds of PubMed, each as if it were free."""
    name = "cora" if quick else "pubmed"
    if name not in graphs.real_names():
        return None
    matrix, labels = graphs.real(name)
    known = np.full(len(labels), -1)
    some = np.random.default_rng(0).choice(np.flatnonzero(labels >= 0), 100, replace=False)
    known[some] = labels[some]
    model = DirichletClassifier().fit(Graph.from_matrix(matrix), known)
    return model.leave_one_out


def read_csv(*, quick: bool) -> Job:
    """A graph from 3 M rows of names."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    source, target, _ = graphs.planted(50_000 if quick else 3_000_000, 10)
    path = folder / "edges.csv"
    rows = zip(source.tolist(), target.tolist(), strict=True)
    text = "".join(f"user-{i},user-{j}\n" for i, j in rows)
    path.write_text("source,target\n" + text, encoding="utf-8")
    return lambda: read_graph(path)


def command(*, quick: bool) -> Job:  # noqa: ARG001  # small as it is
    """``isotherm classify`` of 1 000 edges, from start to exit."""
    folder, number = Path(tempfile.mkdtemp()), count()
    atexit.register(shutil.rmtree, folder)
    write_files(folder)

    def classify() -> None:
        files = ("edges.csv", "labels.csv", "-o", f"{next(number)}.csv")
        subprocess.run(
            [sys.executable, "-m", "isotherm", "classify", *files],
            cwd=folder,
            check=True,
            capture_output=True,
        )

    return classify


JOBS: dict[str, Callable[..., Job | None]] = {
    job.__name__: job
    for job in (
        block_model,
        rmat,
        cora,
        grid,
        update_block_model,
        update_rmat,
        stacked,
        leave_one_out,
        read_csv,
        command,
    )
}


def ready(name: str, *, quick: bool) -> Job | None:
    """A job that has run once, so that nothing is left to be loaded; None without its data."""
    job = JOBS[name](quick=quick)
    if job is None:
        return None

    def quietly() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IsothermWarning)
            warnings.simplefilter("ignore", UserWarning)
            job()

    quietly()
    return quietly
