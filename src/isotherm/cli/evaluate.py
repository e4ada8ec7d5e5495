"""``isotherm evaluate``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from isotherm.cli import options as o
from isotherm.cli.app import command
from isotherm.cli.console import Console
from isotherm.cli.jobs import end, make_job
from isotherm.cli.messages import MessageOptions
from isotherm.cli.parse import parse_share
from isotherm.cli.reading_options import ReadingOptions
from isotherm.errors import ParameterError
from isotherm.files import written

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.job import Job
    from isotherm.labels import Labels


class Labelled(NamedTuple):
    """A graph with labels as numbers, −1 where unknown, where it comes from, and what is scored.

    `drawn` are the nodes whose labels were drawn at random, where that is known.
    """

    name: str
    graph: Graph
    codes: NDArray[np.intp]
    inputs: dict[str, str]
    drawn: NDArray[np.bool_] | None = None

    @property
    def judged(self) -> NDArray[np.bool_] | None:
        """Those drawn at random, if they are enough; None: all."""
        from isotherm.trust.drawn import FEWEST

        return None if self.drawn is None or self.drawn.sum() < FEWEST else self.drawn

    @property
    def basis(self) -> str:
        """What scores rest on, in words."""
        from isotherm.report.evaluation import basis_line

        n_labels = int((self.codes >= 0).sum())
        n_drawn = None if self.drawn is None else int(self.drawn.sum())
        return basis_line(n_labels, len(self.codes) - n_labels, n_drawn)


@command
def evaluate(
    edges: o.EdgesIfAny = None,
    labels: o.LabelsIfAny = None,
    *,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Name of a data set to use instead of files; see isotherm datasets list."
        ),
    ] = None,
    data: o.Data = None,
    seeds: Annotated[
        str, typer.Option(help="Shares of the labelled nodes to use as seeds.")
    ] = "5%,10%,20%",
    repeats: o.Repeats = 20,
    seed: o.Seed = 0,
    decisions: Annotated[
        bool,
        typer.Option("--decisions", help="Score every decision too; the paper's is 'centered'."),
    ] = False,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Score classifiers of other libraries too: diffusion, pagerank (scikit-network), "
            "poisson, laplace (GraphLearning), spreading (scikit-learn), or 'all' that are "
            "installed.",
        ),
    ] = None,
    report: o.Report = None,
    table: o.TableOptions,
    solver: o.SolverOptions,
    reading: ReadingOptions,
    messages: MessageOptions,
) -> None:
    """Compare models on a graph of your own: some labels are given, the others are predicted.

    For example: isotherm evaluate edges.csv labels.csv --against all --report comparison.html
    """
    from isotherm.experiments.evaluate import COLUMNS
    from isotherm.experiments.peers import choose_peers

    _check_source(edges, labels, dataset)
    job = make_job(edges or "", labels or "", reading, o.ModelOptions(), solver)
    job = replace(job, report=report)
    table.check(job)
    shares = [parse_share(text) for text in seeds.split(",")]
    peers = [name.strip() for text in against or () for name in text.split(",")]
    choose_peers(peers)  # before any work: is there such a peer?
    with messages.stages() as stages:
        if dataset is None:
            source = _from_files(job, stages)
        else:
            with stages.stage(f"reading {dataset}"):
                source = _by_name(dataset, data)
    rows = _scores(job, source, messages, shares, repeats, seed, decisions=decisions, against=peers)
    _print_scores(rows, repeats, source.basis)
    table.write(rows, COLUMNS)
    if report is not None:
        _write_page(report, source, rows, job.command, force=table.force)
    end(converged=all(row["converged"] for row in rows))


def _check_source(edges: str | None, labels: str | None, dataset: str | None) -> None:
    """Two files or a data set, neither both nor a half of it."""
    if dataset is not None and edges is not None:
        raise ParameterError(
            f"two graphs were named, the file {edges} and the data set {dataset}: leave one out"
        )
    if dataset is None and labels is None:
        missing = "LABELS, the file of known labels," if edges is not None else "the graph"
        raise ParameterError(
            f"{missing} is missing: name two files, EDGES and LABELS, or a data set, such as "
            "--dataset karate"
        )


def _from_files(job: Job, stages: Any) -> Labelled:
    from isotherm.labels import encode_labels
    from isotherm.pipeline import read

    found = read(job, stages)
    codes, _ = encode_labels(found.labels, found.graph)
    files = {file.name: file.checksum for file in (found.edges_read, found.labels_read)}
    drawn = _drawn(found.labels, found.graph)
    return Labelled(found.edges_read.name, found.graph, codes, files, drawn)


def _drawn(labels: Labels, graph: Graph) -> NDArray[np.bool_] | None:
    """The nodes whose labels were drawn at random, where that is known."""
    import numpy as np

    if labels.drawn is None:
        return None
    drawn = np.zeros(graph.n_nodes, dtype=bool)
    drawn[graph.positions(list(labels.drawn))] = True
    return drawn


def _by_name(dataset: str, data: Path | None) -> Labelled:
    from isotherm.datasets import load_dataset
    from isotherm.labels import number_classes

    found = load_dataset(dataset, data)
    return Labelled(dataset, found.graph, number_classes(found.labels)[0], {})


def _scores(
    job: Job,
    source: Labelled,
    messages: MessageOptions,
    shares: list[float],
    repeats: int,
    seed: int,
    **compared: Any,
) -> list[dict[str, Any]]:
    """The rows of all draws."""
    from isotherm.experiments.evaluate import evaluate

    with messages.progress_bar() as progress:
        return evaluate(
            source.graph,
            source.codes,
            shares,
            judged=source.judged,
            repeats=repeats,
            random_state=seed,
            progress=progress,
            tol=job.model["tol"],
            solver=job.model["solver"],
            engine=job.model["engine"],
            **compared,
        )


def _print_scores(rows: list[dict[str, Any]], repeats: int, basis: str) -> None:
    """A table for each share of seeds, why there may be no answer, and what scores rest on."""
    from isotherm.report.evaluation import (
        abstention_lines,
        failure_lines,
        scores_by_share,
    )
    from isotherm.report.terminal import score_table
    from isotherm.report.words import counted, share_text

    console = Console()
    for number, (share, scores) in enumerate(scores_by_share(rows).items()):
        if number:
            console.print()
        console.print(f"{share_text(share)} of the labels as seeds, {counted(repeats, 'draw')}")
        console.print(score_table(scores, width=console.width))
        for line in abstention_lines(scores):
            console.print(line)
    for line in failure_lines(rows):
        console.print(line)
    if basis:
        console.print(basis, soft_wrap=True)


def _write_page(
    path: str, source: Labelled, rows: list[dict[str, Any]], command: str, *, force: bool
) -> None:
    """Write the page of a comparison, and say so."""
    from isotherm.environment import versions
    from isotherm.experiments.peers import PEERS
    from isotherm.files import write_text
    from isotherm.report.evaluation import Evaluation, evaluation_page

    facts = {
        "nodes": source.graph.n_nodes,
        "edges": source.graph.n_edges,
        "known labels": int((source.codes >= 0).sum()),
        "classes": int(source.codes.max()) + 1,
    }
    models = dict.fromkeys(row["model"] for row in rows)
    peers = [PEERS[name] for name in models if name in PEERS]
    page = evaluation_page(
        Evaluation(
            source.name,
            facts,
            rows,
            titles={peer.name: peer.title for peer in peers},
            command=command,
            inputs=source.inputs,
            basis=source.basis,
            versions=versions() | {peer.library: peer.version for peer in peers},
        )
    )
    with written(path):
        write_text(Path(path), page, force=force)
    Console().print(f"wrote {path}", soft_wrap=True)
