"""The main job from files to files: read, label, write, report."""

from __future__ import annotations

import hashlib
import platform
import time
import warnings
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotherm.errors import IsothermWarning, NotEnoughMemory, ParameterError
from isotherm.files import check_output, written
from isotherm.memory import peak_memory
from isotherm.read.load import load_graph, load_labels
from isotherm.read.options import TextOptions
from isotherm.write import STANDARD_OUTPUT, output_of, write_predictions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from isotherm.classifier import DirichletClassifier
    from isotherm.graph import Graph
    from isotherm.read.report import ReadReport

PACKAGES = ("isotherm", "numpy", "scipy", "scikit-learn", "pyarrow")


@dataclass(frozen=True)
class Job:
    """What to do.

    Attributes
    ----------
    edges, labels : str
        Files; one of them may be ``-``, standard input.
    out, report : str or None
        Files to write.
    edge_columns, label_columns : dict
        See `load_graph` and `load_labels`.
    said_of_edges, said_of_labels : TextOptions
    strict, temperatures, force, spreadsheet_safe : bool
        See `isotherm.read_labels` and `isotherm.write_predictions`.
    model : dict
        Parameters of the classifier.
    confidence : float, str or None
        How sure the labels are; see `isotherm.DirichletClassifier.fit`. Or the column of the labels
        that says it of each.
    command : str
        What a user would type to have the same again.
    """

    edges: str
    labels: str
    out: str | None = None
    report: str | None = None
    edge_columns: dict[str, str | None] = field(default_factory=dict)
    label_columns: dict[str, str | None] = field(default_factory=dict)
    said_of_edges: TextOptions = field(default_factory=TextOptions)
    said_of_labels: TextOptions = field(default_factory=TextOptions)
    strict: bool = False
    temperatures: bool = False
    force: bool = False
    spreadsheet_safe: bool = False
    model: dict[str, Any] = field(default_factory=dict)
    confidence: float | str | None = None
    command: str = ""

    def check(self) -> None:
        """Find what can be wrong before any work is done.

        Raises
        ------
        FileError, ParameterError
            A file that is in the way, or whose ending stands for no format.
        """
        output = output_of("-" if self.out is None else self.out)
        if self.spreadsheet_safe and not output.has_formulas:
            raise ParameterError(
                f"--spreadsheet-safe is for CSV and TSV, and {self.out} is {output.name}"
            )
        if self.report in STANDARD_OUTPUT:
            raise ParameterError("the report needs a file: standard output is for predictions")
        for name in (self.out, self.report):
            if name is not None and name not in STANDARD_OUTPUT:
                check_output(Path(name), force=self.force)
        read = {_same(name) for name in (self.edges, self.labels) if name != "-"}
        written = [
            _same(name) for name in (self.out, self.report) if name not in (None, *STANDARD_OUTPUT)
        ]
        if len(set(written)) < len(written):
            raise ParameterError("predictions and report need two different files")
        if read & set(written):
            raise ParameterError("a file that is read must not be written over")


@dataclass
class Outcome:
    """What came of it.

    Attributes
    ----------
    graph : Graph
    classifier : DirichletClassifier
    edges, labels : ReadReport
    seconds : dict
        Of each stage.
    converged : bool
        Whether temperatures are proven to the tolerance, or labels where that was enough.
    """

    graph: Graph
    classifier: DirichletClassifier
    edges: ReadReport
    labels: ReadReport
    seconds: dict[str, float]
    converged: bool


class Silent:
    """Stages of which nothing is shown."""

    def stage(self, _: str) -> AbstractContextManager[Any]:
        """A stage."""
        return nullcontext(lambda *_: None)

    def solving(self) -> AbstractContextManager[Any]:
        """The stage of the solve."""
        return nullcontext()

    def say(self, what: str) -> None:
        """Describe the stage anew."""


def do(job: Job, stages: Any = None) -> Outcome:
    """Do a job: read, label, write, report.

    Parameters
    ----------
    job : Job
    stages : optional
        What shows the progress, with the methods of `Silent`.

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
    job.check()
    outcome = label(job, stages)
    clock = _Clock(outcome.seconds)
    with clock("judging"), stages.stage("leaving seeds out, to tell how sure labels are"):
        _ = outcome.classifier.calibration_
    if job.out is not None:
        with clock("writing"), stages.stage(f"writing {job.out}") as show:
            write_predictions(
                outcome.classifier,
                job.out,
                temperatures=job.temperatures,
                force=job.force,
                spreadsheet_safe=job.spreadsheet_safe,
                progress=show,
            )
    if job.report is not None:
        with stages.stage(f"writing {job.report}"):
            write_report(job.report, job, outcome)
    return outcome


def label(job: Job, stages: Any) -> Outcome:
    """Read the files of a job and label all nodes; see `do`."""
    clock = _Clock({})
    with clock("reading"):
        with stages.stage(f"reading {job.edges}") as show:
            graph, edges = load_graph(
                job.edges,
                job.edge_columns,
                job.said_of_edges,
                progress=show,
                building=lambda: stages.say("building the graph"),
            )
        with stages.stage(f"reading {job.labels}"):
            columns = job.label_columns
            confidence: Any = job.confidence
            if isinstance(confidence, str):
                columns = columns | {"weight": confidence}
            labels, labels_read = load_labels(
                job.labels, graph, columns, job.said_of_labels, strict=job.strict
            )
            if isinstance(confidence, str):
                confidence = labels_read.weights
    for sentence in (*edges.remarks(), *labels_read.remarks()):
        _warn(sentence)
    if len(set(labels.values())) == 1:
        _warn(f"there is but one class, {next(iter(labels.values()))!r}: every node gets it")
    from isotherm.classifier import DirichletClassifier  # slow to load, and not needed so far

    with clock("solving"), stages.solving():
        classifier = DirichletClassifier(**job.model)
        try:
            converged = _fits(classifier, graph, labels, confidence)
        except NotEnoughMemory as error:
            column = labels_read.columns[:2][-1]  # a data set has no column of nodes
            raise NotEnoughMemory(
                f"{error}. Is {column!r} of {labels_read.name} the label?"
            ) from None
    return Outcome(graph, classifier, edges, labels_read, clock.seconds, converged)


def _same(name: str | None) -> Path:
    """What two names of one file have in common."""
    return Path(name or "").resolve()


def write_report(path: str, job: Job, outcome: Outcome) -> None:
    """Write the report of a job done.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    from isotherm.report.pages.classification import Run, classification_page
    from isotherm.report.tables import write_text

    options = outcome.classifier.get_params()
    if job.confidence is not None:
        options["confidence"] = job.confidence
    page = classification_page(
        Run(
            classifier=outcome.classifier,
            graph=outcome.graph,
            edges=outcome.edges,
            labels=outcome.labels,
            inputs={name: checksum(name) for name in (job.edges, job.labels) if name},
            options={key: str(value) for key, value in options.items()},
            command=job.command,
            seconds=outcome.seconds,
            memory=peak_memory(),
            versions=versions(),
        )
    )
    with written(path):
        write_text(Path(path), page, force=job.force)


def checksum(name: str) -> str:
    """SHA-256 of a file; of standard input nothing is left."""
    if name == "-":
        return "standard input, not kept"
    with Path(name).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """Of Python and the packages that results depend on."""
    from importlib.metadata import version

    return {"Python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def _fits(
    classifier: DirichletClassifier, graph: Graph, labels: dict[str, str], confidence: Any
) -> bool:
    """Fit, and tell whether it converged; the warning goes on to who listens."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier.fit(graph, labels, confidence)
    for warning in caught:
        warnings.warn(warning.message, warning.category, stacklevel=2)
    return not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


def _warn(sentence: str) -> None:
    warnings.warn(sentence, IsothermWarning, stacklevel=3)


class _Clock:
    """Adds the seconds of stages, by name."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - started
