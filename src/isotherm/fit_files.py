"""Values, or several labels, of all nodes from a few: from files to files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from isotherm.errors import ParameterError
from isotherm.pipeline import read_edges, tell_of_files
from isotherm.read.load import gather_labels
from isotherm.write import write_predictions

if TYPE_CHECKING:
    from collections.abc import Callable

    from isotherm.classifier.multilabel import MultiLabelDirichletClassifier
    from isotherm.classifier.regress import DirichletRegressor
    from isotherm.graph import Graph
    from isotherm.job import Job
    from isotherm.pipeline import Stages
    from isotherm.read.labels import LabelList
    from isotherm.read.report import ReadReport

    Known = Callable[[LabelList, Graph, ReadReport], dict[str, Any]]

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
    chosen = {name: job.model[name] for name in names}  # type: ignore[literal-required]
    if chosen["leak"] == "auto":
        raise ParameterError("--leak must be a number here: 'auto' is for one label per node")
    return chosen


def _done(model: Model, job: Job, stages: Stages, known: Known) -> Model:
    """The model, fitted to the files; what it found is written."""
    job.check()
    graph, edges = read_edges(job, stages)
    with stages.stage(f"reading {job.labels}"):
        rows, read = gather_labels(job.labels, job.label_columns, job.label_options)
        given = known(rows, graph, read)
    tell_of_files(graph, edges, read, stages)
    with stages.solving() as show:
        model.fit(graph, given, progress=show)
    if job.out is not None:
        with stages.stage(f"writing {job.out}") as progress:
            write_predictions(
                model,
                job.out,
                force=job.force,
                spreadsheet_safe=job.spreadsheet_safe,
                progress=progress,
            )
    return model
