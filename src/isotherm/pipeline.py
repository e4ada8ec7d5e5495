"""A job done, from files to files: read, label, write, report."""

from __future__ import annotations

import json
import logging
import time
import warnings
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from isotherm.errors import IsothermWarning, NotEnoughMemory, ParameterError
from isotherm.files import written
from isotherm.job import Job, Run, options_of
from isotherm.listing import list_nodes
from isotherm.memory import peak_memory
from isotherm.read.load import load_graph, load_labels
from isotherm.write import check_size, write_list, write_predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.graph import Graph
    from isotherm.labels import Labels
    from isotherm.read.load import Parsed
    from isotherm.read.report import ReadReport
    from isotherm.solvers.options import Progress as Steps

    Progress = Callable[[int, int | None], None]


logger = logging.getLogger(__name__)

RANKED = (
    "nodes are ranked by how near they are to its seeds, without a probability, because nothing "
    "is known about other classes"
)
ALIKE = "every node that heat reaches gets it"


class Stages(Protocol):
    """What shows the stages of a run."""

    def stage(self, what: str) -> AbstractContextManager[Progress]:
        """A stage: a function of how much is done and, where that is known, how much there is."""

    def solving(self) -> AbstractContextManager[Steps]:
        """The stage of the solve: a function of the step and the error that is still likely."""

    def say(self, what: str) -> None:
        """Describe the stage anew."""

    def hint(self, what: str) -> None:
        """Tell what was found in a file, for the user to check."""


class Silent:
    """Stages of which nothing is shown."""

    def stage(self, _: str) -> AbstractContextManager[Progress]:
        return nullcontext(lambda *_: None)

    def solving(self) -> AbstractContextManager[Steps]:
        return nullcontext(lambda *_: None)

    def say(self, what: str) -> None: ...

    def hint(self, what: str) -> None: ...


class Inputs(NamedTuple):
    """What the files of a job hold."""

    graph: Graph
    labels: Labels
    confidence: float | dict[str, float] | None
    edges_read: ReadReport
    labels_read: ReadReport


def do(job: Job, stages: Stages | None = None) -> Run:
    """Do a job: read, label, write, report.

    Parameters
    ----------
    job : Job
    stages : Stages, optional
        What shows the progress.

    Raises
    ------
    IsothermError
        Whatever is wrong with the files or the parameters.

    Warns
    -----
    IsothermWarning, ConvergenceWarning
        What a user should know of them.
    """
    stages = stages or Silent()
    run = label(job, stages)
    clock = Clock(run.seconds)
    if len(run.classifier.classes_) > 1:
        with clock("scoring"), stages.stage("leaving seeds out, to see how sure labels are"):
            calibrate(run.classifier)
    else:
        with clock("ranking"), stages.stage("ranking nodes by how near they are to the seeds"):
            run = replace(run, converged=run.converged and run.classifier.ranking_.converged)
    if job.out is not None and job.listed is not None:
        with clock("listing"), stages.stage(f"listing {job.listed}") as show:
            write_listed(run, job, job.out, show)
    elif job.out is not None:
        with clock("writing"), stages.stage(f"writing {job.out}") as show:
            write_predictions(
                run.classifier,
                job.out,
                temperatures=job.temperatures,
                min_probability=job.min_probability,
                force=job.force,
                spreadsheet_safe=job.spreadsheet_safe,
                progress=show,
            )
        logger.info("wrote %d rows to %s", run.graph.n_nodes, job.out)
    run = replace(run, memory=peak_memory())
    if job.report is not None:
        with stages.stage(f"writing {job.report}"):
            write_run_page(run, job.report, force=job.force)
    if job.summary is not None:
        write_summary(run, job.summary, force=job.force)
    return run


def label(job: Job, stages: Stages) -> Run:
    """Read the files of a job and label all nodes; see `do`."""
    job.check()
    clock = Clock({})
    with clock("reading"):
        inputs = read(job, stages)
    if job.listed is not None and job.listed not in set(inputs.labels.values()):
        some = ", ".join(sorted(set(inputs.labels.values()))[:10])
        raise ParameterError(f"no label is {job.listed!r}; choose one of: {some}")
    check_output_size(job, inputs.graph, len(set(inputs.labels.values())))
    if len(set(inputs.labels.values())) == 1:
        only = next(iter(inputs.labels.values()))
        if job.min_probability:
            raise ParameterError(
                f"there is only one class, {only!r}, so there are no probabilities: leave "
                "--min-probability out"
            )
        _warn(f"there is only one class, {only!r}: {RANKED if job.out or job.report else ALIKE}")
    from isotherm.classifier.pick import pick_model  # not needed so far

    n_classes = len(set(inputs.labels.values()))
    model = pick_model(job.kind, job.model, inputs.graph, n_classes, balance=job.balance)
    _tell_of_model(model, job, inputs.graph, n_classes, stages)
    run = fit(model, inputs, stages, command=job.command)
    more = {} if job.confidence is None else {"confidence": str(job.confidence)}
    if job.min_probability:
        more["min_probability"] = str(job.min_probability)
    return replace(
        run,
        seconds=clock.seconds | run.seconds,
        options=run.options | more,
        min_probability=job.min_probability,
    )


def check_output_size(job: Job, graph: Graph, n_classes: int = 0) -> None:
    """Refuse what the format of the predictions cannot hold, before any label is found.

    Raises
    ------
    FileError
        More rows or columns than a sheet of Excel has.
    """
    if job.out is not None and job.listed is None:
        n_edges = graph.rows.n_entries // 2
        check_size(job.out, graph.n_nodes, n_classes if job.temperatures else 0, n_edges)


def _tell_of_model(
    model: HeatClassifier, job: Job, graph: Graph, n_classes: int, stages: Stages
) -> None:
    """Say where it is memory that keeps the model from being a stacked one."""
    from isotherm.classifier.pick import is_stacked
    from isotherm.classifier.stack import StackedHeatClassifier

    wanted = is_stacked(job.kind, graph.rows.n_entries, graph.n_nodes, n_classes)
    if wanted and not isinstance(model, StackedHeatClassifier):
        stages.hint(
            "there is not enough memory for a stacked model of this graph: the paper's is used"
        )


def read(job: Job, stages: Stages) -> Inputs:
    """Read the files of a job; see `do`. Those that a report tells of are hashed on the way."""
    parsed: Parsed | None = {} if job.edges == job.labels else None
    graph, edges = read_edges(job, stages, parsed)
    columns, confidence = job.label_columns, job.confidence
    if isinstance(confidence, str):
        columns = columns | {"confidence": confidence}
    with stages.stage(f"reading {job.labels}"):
        labels, labels_read = load_labels(
            job.labels,
            graph,
            columns,
            job.label_options,
            strict=job.strict,
            hashed=job.is_hashed,
            parsed=parsed,
        )
    tell_of_files(graph, edges, labels_read, stages)
    by_node = labels_read.confidence if isinstance(confidence, str) else confidence
    return Inputs(graph, labels, by_node, edges, labels_read)


def read_edges(job: Job, stages: Stages, parsed: Parsed | None = None) -> tuple[Graph, ReadReport]:
    """Read the graph of a job; see `do` and `load_graph`."""
    with stages.stage(f"reading {job.edges}") as show:
        return load_graph(
            job.edges,
            job.edge_columns,
            job.edge_options,
            progress=show,
            building=lambda: stages.say("building the graph"),
            hashed=job.is_hashed,
            parsed=parsed,
        )


def tell_of_files(graph: Graph, edges: ReadReport, labels: ReadReport, stages: Stages) -> None:
    """Log what was read, say what was chosen, and warn of what a user should know of it."""
    if logger.isEnabledFor(logging.INFO):  # edges are counted only where somebody asks
        logger.info("read %d nodes and %d edges from %s", graph.n_nodes, graph.n_edges, edges.name)
        logger.info("read %d labels from %s", labels.n_rows, labels.name)
    for hint in (*edges.hints, *labels.hints):
        stages.hint(hint)
    for sentence in (*edges.remarks(), *labels.remarks()):
        _warn(sentence)


def fit(classifier: HeatClassifier, inputs: Inputs, stages: Stages, *, command: str = "") -> Run:
    """Label all nodes."""
    clock, read = Clock({}), inputs.labels_read
    try:
        with clock("solving"), stages.solving() as show:
            classifier.fit(inputs.graph, inputs.labels, inputs.confidence, progress=show)
    except NotEnoughMemory as error:
        column = read.columns[:2][-1]  # a data set has no column of nodes
        raise NotEnoughMemory(
            f"{error}. If column {column!r} of {read.name} does not hold the labels, name the "
            "right one with --label"
        ) from None
    return Run(
        classifier,
        inputs.graph,
        inputs.edges_read,
        read,
        options=options_of(classifier),
        command=command,
        seconds=clock.seconds,
        converged=classifier.solution_.converged,
    )


def calibrate(classifier: HeatClassifier) -> None:
    """Find how scores become probabilities, which the classifier then keeps.

    It leaves seeds out, which takes its time: a stage of its own, not a part of the writing.
    """
    classifier.calibration_  # noqa: B018  # found when it is first asked for


def write_run_page(run: Run, path: str, *, force: bool = False) -> None:
    """Write the page about a run.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    from isotherm.report.model import write_model_page
    from isotherm.report.record import Record

    least = run.min_probability
    write_model_page(run.classifier, Record.of_run(run), path, min_probability=least, force=force)


def write_listed(run: Run, job: Job, out: str, progress: Progress) -> None:
    """Write the list that a job asks for."""
    listed = list_nodes(
        run.classifier,
        job.listed,
        job.top,
        min_probability=job.min_probability,
        progress=progress,
    )
    if not job.out_is_page:
        write_list(
            listed, out, run.classifier, force=job.force, spreadsheet_safe=job.spreadsheet_safe
        )
        return
    from isotherm.files import write_text
    from isotherm.report.node_lists import list_page

    with written(out):
        write_text(Path(out), list_page(listed, str(job.listed), run), force=job.force)


def write_summary(run: Run, path: str, *, force: bool = False) -> None:
    """Write what a run has done as JSON, for monitoring.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    from isotherm.files import write_text
    from isotherm.report.record import run_summary

    with written(path):
        text = json.dumps(run_summary(run), indent=2, ensure_ascii=False, allow_nan=False)
        write_text(Path(path), text + "\n", force=force)


def _warn(sentence: str) -> None:
    warnings.warn(sentence, IsothermWarning, stacklevel=3)


class Clock:
    """Adds the seconds of stages, by name."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - started
