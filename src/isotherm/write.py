"""Predictions → files, some rows at a time."""

from __future__ import annotations

import gzip
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from isotherm.classifier.export import RANKED, RankedRows, as_text
from isotherm.errors import FileError, ParameterError
from isotherm.files import check_output, replacing, written
from isotherm.printable import printable
from isotherm.read.formats import Output, output_for
from isotherm.trust.abstain import check_probability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.classifier.estimator import DirichletEstimator
    from isotherm.listing import Listed

    Progress = Callable[[int, int], None]

ROWS = 1 << 17  # written at once
DIGITS = 6  # after the point
DIGITS_OF_PROBABILITY = 4
STANDARD_OUTPUT = ("-", "/dev/stdout")


def write_predictions(
    model: DirichletEstimator,
    path: str | os.PathLike[str],
    *,
    temperatures: bool = False,
    min_probability: float = 0.0,
    force: bool = False,
    spreadsheet_safe: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write a row for each node.

    Its columns are ``node``, ``label``, ``probability``, ``most_probable``, ``its_probability``,
    ``margin``, ``status`` and ``certified``. A label is by the decision: where another class is
    more probable, ``most_probable`` names it, and is empty elsewhere. Probabilities are those of
    `predict_proba`, rounded to four digits after the point, other numbers to six. The file is whole
    or not there; where there is no label cells are empty.

    Where one class is known the columns are ``node``, ``score``, ``rank`` and ``status`` (``seed``,
    ``ranked`` or ``unreached``), as in `ranking_`: seeds first, then nodes by their rank, then
    those that no heat reaches, without a score.

    Of a `DirichletRegressor` they are ``node``, ``value``, ``error`` (which it is proven not to
    exceed), ``status`` and ``certified``, numbers with all their digits. Of a
    `MultiLabelDirichletClassifier` they are ``node``, ``labels`` and their ``probabilities``, with
    semicolons between them, ``status`` and ``certified``.

    Parameters
    ----------
    model : DirichletClassifier, or another estimator
        Fitted.
    path : str or Path
        By its ending CSV, TSV, Parquet or JSON lines (``.jsonl``); text may be packed (``.gz``).
        ``-`` (and ``/dev/stdout``) is CSV on standard output.
    temperatures : bool
        Whether to add a column ``temperature_…`` for each class.
    min_probability : float
        From 0 to 1: a node whose label is less probable gets none, and the status ``unsure``;
        ``most_probable`` then names the most probable class. A seed keeps its own.
    force : bool
        Whether a file that is there already may be replaced, and a pipe or a device written into.
        A link, a folder, a disk or a socket is left alone in any case.
    spreadsheet_safe : bool
        Whether texts that begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return get an
        apostrophe before them, in CSV and TSV: else a spreadsheet runs them as formulas. Numbers
        stay as they are.
    progress : callable, optional
        Called with the rows written so far and how many there are.

    Raises
    ------
    FileError
        The file is there already, or something else in its place, or it cannot be written.
    ParameterError
        An ending that stands for no format, or for one that no spreadsheet runs.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from isotherm import DirichletClassifier, Graph, write_predictions
    >>> graph = Graph.from_edges(["ann", "bob", "cyd"], ["bob", "cyd", "dan"])
    >>> model = DirichletClassifier().fit(graph, {"ann": "honest", "dan": "fraud"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_predictions(model, Path(folder) / "labelled.csv")
    ...     print((Path(folder) / "labelled.csv").read_text().splitlines()[2])
    bob,honest,0.8536,,,0.333333,predicted,true
    """
    name = os.fspath(path)
    output = output_of(name)
    if spreadsheet_safe and not output.has_formulas:
        raise ParameterError(f"{name}: only CSV and TSV can be made safe for a spreadsheet")
    if name not in STANDARD_OUTPUT:
        check_output(Path(name), force=force)
    least = check_probability(min_probability)
    classifier = cast("HeatClassifier", model)
    if not hasattr(model, "STATUS"):
        if least > 0 or temperatures:
            raise ParameterError(
                "a least probability and temperatures are of models with one label per node"
            )
        rows = _exported(model, progress)
    elif len(classifier.classes_) > 1:
        rows = _batches(classifier, least, temperatures=temperatures, progress=progress)
    elif least > 0:
        raise ParameterError("with one class there is no probability: leave min_probability out")
    else:
        rows = _ranked(classifier, progress)
    _write(rows, name, force=force, spreadsheet_safe=spreadsheet_safe)


def write_list(
    listed: Sequence[Listed],
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    spreadsheet_safe: bool = False,
) -> None:
    """Write a row for each node of a list, see `isotherm.listing`, in any format of predictions.

    Parameters
    ----------
    listed : sequence of Listed
    path, force, spreadsheet_safe
        See `write_predictions`.
    """
    name = os.fspath(path)
    if name not in STANDARD_OUTPUT:
        check_output(Path(name), force=force)
    rows = iter([_listed(listed)])
    _write(rows, name, force=force, spreadsheet_safe=spreadsheet_safe)


def _write(
    rows: Iterator[pa.RecordBatch], name: str, *, force: bool, spreadsheet_safe: bool
) -> None:
    """Write rows in the format that the name of the file asks for."""
    if spreadsheet_safe:
        from isotherm.table_writers import without_formulas

        rows = map(without_formulas, rows)
    output = output_of(name)
    with _opened(name, force=force) as file:
        output.write(file, rows)


def _listed(listed: Sequence[Listed]) -> pa.RecordBatch:
    import pyarrow as pa

    def texts(name: str) -> pa.Array:
        found = [getattr(one, name) for one in listed]
        return pa.array([None if one is None else str(one) for one in found], pa.string())

    def numbers(name: str, digits: int) -> pa.Array:
        found = [getattr(one, name) for one in listed]
        return pa.array(
            [None if one is None else round(one, digits) for one in found], pa.float64()
        )

    columns = {
        "rank": pa.array([one.rank for one in listed], pa.int64()),
        "node": texts("node"),
        "label": texts("label"),
        "probability": numbers("probability", DIGITS_OF_PROBABILITY),
        "score": numbers("score", DIGITS),
        "runner_up": texts("runner_up"),
        "its_probability": numbers("its_probability", DIGITS_OF_PROBABILITY),
        "certified": pa.array([one.certified for one in listed], pa.bool_()),
        "neighbours": pa.array([one.neighbours for one in listed], pa.int64()),
    }
    kinds = dict.fromkeys(label for one in listed for label in one.weights)
    for label in kinds:
        sums = [one.weights.get(label, 0.0) for one in listed]
        columns[f"weight_{label}"] = pa.array(sums, pa.float64())
    columns["why"] = texts("why")
    kept = {name: column for name, column in columns.items() if column.null_count < len(column)}
    return pa.RecordBatch.from_arrays(list(kept.values()), names=list(kept))


def output_of(name: str) -> Output:
    """The format that a file name asks for; CSV on standard output.

    Raises
    ------
    ParameterError
        If it asks for none that is known.
    """
    if name in STANDARD_OUTPUT:
        return output_for(".csv", name)
    path = Path(name.lower())
    packed = path.suffix == ".gz"
    return output_for((path.with_suffix("") if packed else path).suffix, name, packed=packed)


@contextmanager
def _opened(name: str, *, force: bool) -> Iterator[IO[bytes]]:
    if name in STANDARD_OUTPUT:
        if sys.stdout is None:
            raise FileError("there is no standard output to write to")
        if sys.stdout.isatty():
            yield _Shown(sys.stdout)  # type: ignore[misc]
            sys.stdout.flush()
            return
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with written(name), replacing(Path(name), force=force) as file:
        if not name.lower().endswith(".gz"):
            yield file
            return
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]


class _Shown:
    """A terminal, on which control characters are shown; who reads a pipe gets them as they are."""

    def __init__(self, terminal: IO[str]) -> None:
        self._terminal = terminal

    def write(self, data: bytes) -> None:
        self._terminal.write(printable(bytes(data).decode(errors="backslashreplace")))


def _batches(
    classifier: HeatClassifier, least: float, *, temperatures: bool, progress: Progress | None
) -> Iterator[pa.RecordBatch]:
    """All rows, some at a time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = classifier.node_texts()
    n = len(names)
    statuses = pa.array(list(classifier.STATUS))
    classes = pa.array([str(label) for label in classifier.classes_.tolist()], pa.string())
    for first in range(0, n, ROWS):
        rows = slice(first, min(first + ROWS, n))
        said = classifier.answers(rows, least)
        has = said.codes >= 0
        columns = {
            "node": names.slice(first, rows.stop - first),
            "label": _named(said.codes, classes),
            "probability": _rounded(said.probability, has, DIGITS_OF_PROBABILITY),
            "most_probable": _named(said.likelier, classes),
            "its_probability": _rounded(
                said.its_probability, said.likelier >= 0, DIGITS_OF_PROBABILITY
            ),
            "margin": _rounded(classifier.margins_[rows], has),
            "status": statuses.take(pa.array(said.status)),
            "certified": pa.array(classifier.certified_[rows]),
        }
        if temperatures:
            T = classifier.temperatures_[rows]
            for k, name in enumerate(classes.to_pylist()):
                columns[f"temperature_{name}"] = _rounded(T[:, k], ~np.isnan(T[:, k]))
        columns["node"] = pc.cast(columns["node"], pa.large_string())
        yield pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
        if progress is not None:
            progress(rows.stop, n)


def _exported(model: DirichletEstimator, progress: Progress | None) -> Iterator[pa.RecordBatch]:
    """Rows as `to_frame` has them, some at a time; several things in a cell as one text."""
    import pyarrow as pa

    found = model.columns()
    columns = {name: pa.array([as_text(cell) for cell in cells]) for name, cells in found.items()}
    columns["node"] = model.node_texts()
    n = len(columns["node"])
    for first in range(0, n, ROWS):
        parts = [column.slice(first, ROWS) for column in columns.values()]
        yield pa.RecordBatch.from_arrays(parts, names=list(columns))
        if progress is not None:
            progress(min(first + ROWS, n), n)


def _ranked(classifier: HeatClassifier, progress: Progress | None) -> Iterator[pa.RecordBatch]:
    """Rows of a ranking, some at a time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = classifier.node_texts()
    order, status, score, rank = RankedRows.of(classifier.ranking_, classifier.problem_)
    statuses = pa.array(RANKED)
    for first in range(0, len(order), ROWS):
        rows = slice(first, min(first + ROWS, len(order)))
        columns = {
            "node": pc.cast(names.take(pa.array(order[rows])), pa.large_string()),
            "score": _rounded(score[rows], status[rows] < 2),
            "rank": pa.array(rank[rows], mask=status[rows] != 1),
            "status": statuses.take(pa.array(status[rows])),
        }
        yield pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
        if progress is not None:
            progress(rows.stop, len(order))


def _named(codes: NDArray[np.intp], classes: pa.Array) -> pa.Array:
    """The names of classes; none where there is no class."""
    import pyarrow as pa

    has = codes >= 0
    return classes.take(pa.array(np.where(has, codes, 0), mask=~has))


def _rounded(
    values: NDArray[np.floating], has: NDArray[np.bool_], digits: int = DIGITS
) -> pa.Array:
    import pyarrow as pa

    numbers = np.round(values.astype(np.float64), digits)
    return pa.array(numbers, mask=~(has & np.isfinite(numbers)))
