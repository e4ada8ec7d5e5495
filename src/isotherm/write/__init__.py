"""Predictions → files, some rows at a time."""

from __future__ import annotations

import gzip
import os
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from isotherm.errors import FileError, IsothermWarning, NotEnoughMemory, ParameterError
from isotherm.files import check_output, replacing, written
from isotherm.locks import one_at_a_time
from isotherm.printable import printable
from isotherm.read.formats import Output, output_for
from isotherm.trust.abstain import check_probability

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.classifier.estimator import DirichletEstimator
    from isotherm.listing import Listed
    from isotherm.writers.graphs import Edges

    Progress = Callable[[int, int], None]

STANDARD_OUTPUT = ("-", "/dev/stdout")
COLUMNS = 8  # of predictions, without temperatures


@one_at_a_time
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
    ``margin``, ``status`` and ``certified``. The decision gives the label: where another class is
    more probable, ``most_probable`` names it, and is empty elsewhere. Probabilities are those of
    `predict_proba`, rounded to four decimals, other numbers to six. The file is complete or not
    there; cells are empty where there is no label.

    If only one class is known, the columns are ``node``, ``score``, ``rank`` and ``status``
    (``seed``, ``ranked`` or ``unreached``), as in `ranking_`: seeds first, then nodes by their
    rank, then those that no heat reaches, without a score.

    For a `DirichletRegressor` they are ``node``, ``value``, ``error`` (a proven bound on its
    error), ``status`` and ``certified``, with all digits of the numbers. For a
    `MultiLabelDirichletClassifier` they are ``node``, ``labels`` and their ``probabilities``, with
    semicolons between them, ``status`` and ``certified``.

    Parameters
    ----------
    model : DirichletClassifier, or another estimator
        Fitted.
    path : str or Path
        Its ending chooses CSV, TSV, Parquet, a workbook (``.xlsx``), JSON, JSON lines (``.jsonl``),
        GEXF, GraphML or GML (by networkx); text may be compressed (``.gz``). ``-`` (and
        ``/dev/stdout``) is CSV on standard output. Graph files also have the edges, and a colour
        for each node: that of its label, of the first of several, or of its value on a scale from
        blue to orange. There
        ``label`` is the name of a node, as drawn, and ``class`` is what ``label`` is elsewhere.
    temperatures : bool
        Whether to add a column ``temperature_…`` for each class.
    min_probability : float
        From 0 to 1: a node whose label is less probable gets none, and the status ``unsure``;
        ``most_probable`` then names the most probable class. A seed keeps its own.
    force : bool
        Whether an existing file may be replaced, and a pipe or a device written to. A link, a
        folder, a disk or a socket is never replaced.
    spreadsheet_safe : bool
        Whether text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an
        apostrophe before it, in CSV and TSV: otherwise a spreadsheet runs it as a formula. Numbers
        stay as they are.
    progress : callable, optional
        Called with the rows written so far and how many there are.

    Raises
    ------
    FileError
        The file already exists, or it cannot be written; more rows than an Excel sheet holds.
    ParameterError
        An ending that stands for no format; `spreadsheet_safe` for one other than CSV and TSV.

    Warns
    -----
    IsothermWarning
        Characters that the format cannot hold; they are replaced.

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
    from isotherm.classifier.estimator import check_is_fitted
    from isotherm.write import rows as r

    check_is_fitted(model)
    name = os.fspath(path)
    output = output_of(name)
    if spreadsheet_safe and not output.has_formulas:
        raise ParameterError(
            f"{name}: spreadsheet_safe is for CSV and TSV only, and this is {output.name}: leave "
            "it out"
        )
    if name not in STANDARD_OUTPUT:
        check_output(Path(name), force=force)
    least = check_probability(min_probability)
    classifier = cast("HeatClassifier", model)
    n_classes = len(classifier.classes_) if temperatures else 0
    coloured = output.write_graph is not None
    n_edges = model.problem_.graph.rows.n_entries // 2 if coloured else 0
    check_size(name, len(model.solution_.temperatures), n_classes, n_edges)
    if not hasattr(model, "STATUS"):
        if least > 0 or temperatures:
            raise ParameterError(
                "min_probability and temperatures are for models with one label per node: leave "
                "them out"
            )
        rows = r.rows_of_columns(model, coloured=coloured, progress=progress)
    elif len(classifier.classes_) > 1:
        rows = r.rows_of_classes(
            classifier, least, temperatures=temperatures, coloured=coloured, progress=progress
        )
    elif least > 0:
        raise ParameterError("with one class there are no probabilities: leave min_probability out")
    else:
        rows = r.rows_of_ranking(classifier, coloured=coloured, progress=progress)
    edges = _edges(model) if coloured else None
    _write(rows, name, edges, force=force, spreadsheet_safe=spreadsheet_safe)


def write_list(
    listed: Sequence[Listed],
    path: str | os.PathLike[str],
    classifier: HeatClassifier,
    *,
    force: bool = False,
    spreadsheet_safe: bool = False,
) -> None:
    """Write a row for each node of a list, see `isotherm.listing`, in any format of predictions.

    Graph files have the edges between nodes of the list.
    """
    from isotherm.write.rows import rows_of_list

    name = os.fspath(path)
    if name not in STANDARD_OUTPUT:
        check_output(Path(name), force=force)
    check_size(name, len(listed))
    edges = None
    if output_of(name).write_graph is not None:
        edges = _edges(classifier, [one.node for one in listed])
    rows = rows_of_list(listed, None if edges is None else classifier)
    _write([rows], name, edges, force=force, spreadsheet_safe=spreadsheet_safe)


def write_records(
    records: Sequence[Mapping[str, object]],
    columns: Sequence[str],
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    spreadsheet_safe: bool = False,
) -> None:
    """Write the given columns of some records, as a table of any format."""
    from isotherm.write.rows import rows_of_records

    name = os.fspath(path)
    output_of(name, graphs=False)
    if name not in STANDARD_OUTPUT:
        check_output(Path(name), force=force)
    check_size(name, len(records))
    rows = rows_of_records(records, columns)
    _write([rows], name, None, force=force, spreadsheet_safe=spreadsheet_safe)


def check_size(name: str, n_rows: int, n_more_columns: int = 0, n_edges: int = 0) -> None:
    """Refuse what the format of a file cannot hold; see `write_predictions`."""
    check = output_of(name).check_size
    if check is not None:
        with _named(name):
            check(n_rows, COLUMNS + n_more_columns, n_edges)


def _edges(model: DirichletEstimator, nodes: Sequence[Hashable] | None = None) -> Edges:
    """The edges of all nodes, or those among some."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from isotherm.writers.graphs import Edges

    graph = model.problem_.graph
    names = pc.cast(model.node_texts(), pa.large_string())
    if nodes is None:
        return Edges(names, graph.rows)
    some = graph.nodes.positions(nodes)
    return Edges(names.take(pa.array(some)), graph.rows.among(some))


def _write(
    rows: Iterable[pa.RecordBatch],
    name: str,
    edges: Edges | None,
    *,
    force: bool,
    spreadsheet_safe: bool,
) -> None:
    """Write rows in the format that the name of the file asks for; say what it cannot hold."""
    if spreadsheet_safe:
        from isotherm.writers.tables import without_formulas

        rows = map(without_formulas, rows)
    output = output_of(name)
    with _opened(name, force=force) as file, _named(name):
        if output.write is not None:
            lost = output.write(file, rows)
        else:
            assert output.write_graph is not None  # noqa: S101  # one of the two
            assert edges is not None  # noqa: S101  # as the callers see to
            lost = output.write_graph(file, map(_as_attributes, rows), edges)
    if lost:
        warnings.warn(f"{name}: {lost}", IsothermWarning, stacklevel=3)


def _as_attributes(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same, with another name for what is no name of a node; see `isotherm.writers.graphs`."""
    import pyarrow as pa

    names = ["class" if one == "label" else one for one in batch.schema.names]
    return pa.RecordBatch.from_arrays(batch.columns, names=names)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """What a writer refuses is said with the name of the file."""
    try:
        yield
    except (FileError, NotEnoughMemory) as error:
        raise type(error)(f"{name}: {error}") from None


def output_of(name: str, *, graphs: bool = True) -> Output:
    """The format that a file name asks for; CSV on standard output."""
    if name in STANDARD_OUTPUT:
        return output_for(".csv", name)
    path = Path(name.lower())
    packed = path.suffix == ".gz"
    ending = (path.with_suffix("") if packed else path).suffix
    return output_for(ending, name, packed=packed, graphs=graphs)


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
