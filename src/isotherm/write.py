"""Predictions → files, some rows at a time."""

from __future__ import annotations

import gzip
import itertools
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from isotherm.errors import FileError, ParameterError
from isotherm.files import check_output, replacing, written
from isotherm.printable import printable
from isotherm.spreadsheet import FORMULA, NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from isotherm.classifier import DirichletClassifier

    Progress = Callable[[int, int], None]

ROWS = 1 << 17  # written at once
DIGITS = 6  # after the point
DIGITS_OF_PROBABILITY = 4
STANDARD_OUTPUT = ("-", "/dev/stdout")
FORMATS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".jsonl": "JSON",
    ".ndjson": "JSON",
}


def write_predictions(
    classifier: DirichletClassifier,
    path: str | os.PathLike[str],
    *,
    temperatures: bool = False,
    force: bool = False,
    spreadsheet_safe: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write a row for each node: ``node,label,probability,margin,status,certified``.

    The file is whole or not there. Numbers are rounded to six digits after the point; seeds have
    the probability 1; where there is no label (an unreached node) cells are empty.

    Parameters
    ----------
    classifier : DirichletClassifier
        Fitted.
    path : str or Path
        By its ending CSV, TSV, Parquet or JSON lines (``.jsonl``); text may be packed (``.gz``).
        ``-`` (and ``/dev/stdout``) is CSV on standard output.
    temperatures : bool
        Whether to add a column ``temperature_…`` for each class.
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
    """
    name = os.fspath(path)
    kind = format_of(name)
    if spreadsheet_safe and kind not in ("CSV", "TSV"):
        raise ParameterError(f"{name}: only CSV and TSV can be made safe for a spreadsheet")
    if name not in STANDARD_OUTPUT:
        check_output(Path(name), force=force)
    rows = _batches(classifier, temperatures=temperatures, progress=progress)
    with _opened(name, force=force) as file:
        if kind == "Parquet":
            _write_parquet(file, rows)
        else:
            _write_text(file, rows, kind, safe=spreadsheet_safe)


def format_of(name: str) -> str:
    """The format that a file name asks for.

    Raises
    ------
    ParameterError
        If it asks for none that is known.
    """
    if name in STANDARD_OUTPUT:
        return "CSV"
    path = Path(name.lower())
    packed = path.suffix == ".gz"
    kind = FORMATS.get(path.with_suffix("").suffix if packed else path.suffix)
    if kind is None or (packed and kind == "Parquet"):
        known = ", ".join(FORMATS)
        raise ParameterError(f"{name}: the ending tells the format and must be one of {known}")
    return kind


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
    classifier: DirichletClassifier, *, temperatures: bool, progress: Progress | None
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
        codes, status = classifier.codes(rows)
        has = codes >= 0
        label = classes.take(pa.array(np.where(has, codes, 0), mask=~has))
        columns = {
            "node": names.slice(first, rows.stop - first),
            "label": label,
            "probability": _rounded(classifier.certainty(rows), has, DIGITS_OF_PROBABILITY),
            "margin": _rounded(classifier.margins_[rows], has),
            "status": statuses.take(pa.array(status)),
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


def _rounded(values: Any, has: Any, digits: int = DIGITS) -> pa.Array:
    import pyarrow as pa

    numbers = np.round(values.astype(np.float64), digits)
    return pa.array(numbers, mask=~(has & np.isfinite(numbers)))


def _write_parquet(file: IO[bytes], rows: Iterator[pa.RecordBatch]) -> None:
    import pyarrow.parquet as pq

    first = next(rows)
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        for batch in itertools.chain([first], rows):
            writer.write_batch(batch)


def _write_text(
    file: IO[bytes], rows: Iterator[pa.RecordBatch], kind: str, *, safe: bool = False
) -> None:
    """Lines made by joining columns of text, which are then the bytes of the file as they are."""
    import pyarrow as pa

    first = True
    for batch in rows:
        if kind == "JSON":
            parts: list[Any] = []
            for k, (key, column) in enumerate(zip(batch.schema.names, batch.columns, strict=True)):
                parts += ["," if k else "{", f"{_json_text(key)}:", _json_cells(column)]
            parts.append("}\n")
        else:
            delimiter = "," if kind == "CSV" else "\t"
            if first:
                heads = pa.array(batch.schema.names)
                file.write(delimiter.join(_cells(heads, delimiter).to_pylist()).encode() + b"\n")
            parts = []
            for k, column in enumerate(batch.columns):
                parts += [delimiter] if k else []
                parts.append(_cells(column, delimiter, safe=safe))
            parts.append("\n")
        first = False
        lines = _joined(parts)
        start = np.frombuffer(lines.buffers()[1], dtype=np.int64)
        file.write(memoryview(lines.buffers()[2])[: start[lines.offset + len(lines)]])


def _cells(column: pa.Array, delimiter: str, *, safe: bool = False) -> pa.Array:
    """Cells of a table in text: in quotation marks where they need them, empty where absent."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return pc.fill_null(pc.cast(column, pa.large_string()), "")
    column = pc.fill_null(pc.cast(column, pa.large_string()), "")
    if safe:
        numbers = pc.match_substring_regex(column, NUMBER)
        formulas = pc.and_not(pc.match_substring_regex(column, FORMULA), numbers)
        column = pc.if_else(formulas, _joined(["'", column]), column)
    special = pc.match_substring_regex(column, f'["\r\n{delimiter}]|^\\s|\\s$')
    if not pc.any(special).as_py():
        return column
    doubled = pc.replace_substring(column, '"', '""')
    return pc.if_else(special, _joined(['"', doubled, '"']), column)


def _json_cells(column: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return pc.fill_null(pc.cast(column, pa.large_string()), "null")
    column = pc.cast(column, pa.large_string())
    if pc.any(pc.match_substring_regex(column, r'[\x00-\x1f\\"]')).as_py():
        return pa.array([_json_text(text) for text in column.to_pylist()], pa.large_string())
    return pc.fill_null(_joined(['"', column, '"']), "null")


def _joined(parts: list[Any]) -> pa.Array:
    """Columns of text, and single texts, put together row by row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = pa.large_string()
    wide = [pa.scalar(part, kind) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*wide, pa.scalar("", kind))


def _json_text(text: str | None) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)
