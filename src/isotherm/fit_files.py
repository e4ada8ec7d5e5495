"""Values, or several labels, of all nodes from a few: from files to files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from isotherm.errors import ParameterError
from isotherm.job import options_of
from isotherm.memory import peak_memory
from isotherm.pipeline import Clock, check_output_size, read_edges, tell_of_files
from isotherm.read.load import gather_labels
from isotherm.write import write_predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isotherm.classifier.multilabel import MultiLabelDirichletClassifier
    from isotherm.classifier.regress import DirichletRegressor
    from isotherm.graph import Graph
    from isotherm.job import Job
    from isotherm.pipeline import Stages
    from isotherm.read.labels import LabelList
    from isotherm.read.load import Parsed
    from isotherm.read.report import ReadReport

    Known = Callable[[LabelList, Graph, ReadReport], dict[Any, Any]]

Model = TypeVar("Model", "DirichletRegressor", "MultiLabelDirichletClassifier")


def predict_values(job: Job, stages: Stages) -> DirichletRegressor:
    """Values of all nodes: read the files of a job, solve, write.

    Parameters
    ----------
    job : Job
        Its labels are values.
    stages : Stages
        What shows the progress.

    Raises
    ------
    IsothermError
        Whatever is wrong with the files or the parameters.
    """
    from isotherm.classifier.regress import DirichletRegressor  # slow to load

    return _done(
        DirichletRegressor(**_parameters(job)),
        job,
        stages,
        lambda rows, graph, read: rows.numbers_of_nodes(
            graph, read, job.label_options, strict=job.strict
        ),
    )


def predict_label_sets(
    job: Job, stages: Stages, *, separator: str | None = None
) -> MultiLabelDirichletClassifier:
    """Several labels, or none, for each node: read the files of a job, solve, write.

    Parameters
    ----------
    job, stages
        See `predict_values`; a node has the labels of all its rows.
    separator : str, optional
        Between labels that share a cell.
    """
    from isotherm.classifier.multilabel import MultiLabelDirichletClassifier  # slow to load

    if separator == "":
        raise ParameterError(
            "--label-separator must be one character or more, such as ';': leave it out if a "
            "cell has one label"
        )
    return _done(
        MultiLabelDirichletClassifier(job.model["decision"], **_parameters(job)),
        job,
        stages,
        lambda rows, graph, read: rows.sets_of_nodes(
            graph, read, job.label_options, strict=job.strict, separator=separator
        ),
    )


def _parameters(job: Job) -> dict[str, Any]:
    """Those that all estimators have."""
    names = ("leak", "tol", "solver", "engine", "threads", "memory", "unreached")
    model: Mapping[str, Any] = job.model
    chosen = {name: model[name] for name in names if name in model}
    if chosen.get("leak") == "auto":
        raise ParameterError(
            "--leak auto works for one label per node only: give a number, such as --leak 0.1"
        )
    return chosen


def _done(model: Model, job: Job, stages: Stages, known: Known) -> Model:
    """The model, fitted to the files; what it found is written."""
    job.check()
    clock = Clock({})
    with clock("reading"):
        parsed: Parsed | None = {} if job.edges == job.labels else None
        graph, edges = read_edges(job, stages, parsed)
        check_output_size(job, graph)
        with stages.stage(f"reading {job.labels}"):
            rows, read = gather_labels(
                job.labels,
                job.label_columns,
                job.label_options,
                hashed=job.is_hashed,
                parsed=parsed,
            )
            given = known(rows, graph, read)
        del parsed  # a solve needs the room
    tell_of_files(graph, edges, read, stages)
    with clock("solving"), stages.solving() as show:
        model.fit(graph, given, progress=show)
    if job.out is not None:
        with clock("writing"), stages.stage(f"writing {job.out}") as progress:
            write_predictions(
                model,
                job.out,
                force=job.force,
                spreadsheet_safe=job.spreadsheet_safe,
                progress=progress,
            )
    if job.report is not None:
        from isotherm.report.model import write_model_page
        from isotherm.report.record import Record

        with stages.stage(f"writing {job.report}"):
            files = (edges, read)
            seconds, memory = clock.seconds, peak_memory()
            record = Record(options_of(model), files, job.command, seconds, memory)
            write_model_page(model, record, job.report, force=job.force)
    return model
