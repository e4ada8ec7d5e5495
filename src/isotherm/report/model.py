"""A fitted model of any kind → the page about it, in a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

from isotherm.classifier.estimator import check_is_fitted
from isotherm.classifier.multilabel import MultiLabelDirichletClassifier
from isotherm.classifier.regress import DirichletRegressor
from isotherm.errors import ParameterError
from isotherm.files import check_output, write_text, written
from isotherm.locks import one_at_a_time
from isotherm.report.classification import labels_page
from isotherm.report.label_sets import label_sets_page
from isotherm.report.record import Record
from isotherm.report.values import values_page
from isotherm.trust.abstain import check_probability

if TYPE_CHECKING:
    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.classifier.estimator import DirichletEstimator


@one_at_a_time
def write_report(
    model: DirichletEstimator,
    path: str | os.PathLike[str],
    *,
    min_probability: float = 0.0,
    force: bool = False,
) -> None:
    """Write a web page about a fitted model: one file that needs nothing else.

    It says what was found, how much of it is expected to be right and what to look at, and lists
    the nodes with reasons; the lists can be searched, sorted and filtered.

    Parameters
    ----------
    model : DirichletClassifier, or another estimator
        Fitted.
    path : str or Path
    min_probability : float
        Of a label; see `write_predictions`.
    force : bool
        Whether an existing file may be replaced.

    Raises
    ------
    FileError
        The file already exists, or it cannot be written.
    ParameterError
        A least probability for a model that has no probabilities.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from isotherm import DirichletClassifier, Graph, write_report
    >>> graph = Graph.from_edges(["ann", "bob", "cyd"], ["bob", "cyd", "dan"])
    >>> model = DirichletClassifier().fit(graph, {"ann": "honest", "dan": "fraud"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(model, Path(folder) / "report.html")
    ...     print((Path(folder) / "report.html").read_text(encoding="utf-8")[:15])
    <!doctype html>
    """
    check_is_fitted(model)
    least = check_probability(min_probability)
    check_output(Path(path), force=force)
    record = Record.of_model(model)
    write_model_page(model, record, path, min_probability=least, force=force)


def write_model_page(
    model: DirichletEstimator,
    record: Record,
    path: str | os.PathLike[str],
    *,
    min_probability: float = 0.0,
    force: bool = False,
) -> None:
    """The same of a model of which more is known."""
    page = model_page(model, record, min_probability)
    with written(os.fspath(path)):
        write_text(Path(path), page, force=force)


def model_page(model: DirichletEstimator, record: Record, min_probability: float = 0.0) -> str:
    """One HTML document that needs nothing but itself."""
    several = isinstance(model, MultiLabelDirichletClassifier)
    if min_probability and (several or isinstance(model, DirichletRegressor)):
        raise ParameterError(
            f"min_probability={min_probability:g} is for models with one label per node: leave it "
            "out"
        )
    if isinstance(model, MultiLabelDirichletClassifier):
        return label_sets_page(model, record)
    if isinstance(model, DirichletRegressor):
        return values_page(model, record)
    return labels_page(cast("HeatClassifier", model), record, min_probability)
