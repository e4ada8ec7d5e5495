"""Tables, some rows at a time → CSV, TSV, JSON, JSON lines and Parquet."""

from __future__ import annotations

import itertools
import json
from typing import IO, TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.text_data import may_have

if TYPE_CHECKING:
    from collections.abc import Iterable

# Opened in Excel or LibreOffice, a CSV file whose cell is `=HYPERLINK(…)` runs it. With an
# apostrophe before it the cell is text.
FORMULA = r"^[=+\-@\t\r]"
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def write_csv(file: IO[bytes], batches: Iterable[pa.RecordBatch]) -> None:
    """Write comma-separated values, with a header."""
    _write_delimited(file, batches, ",")


def write_tsv(file: IO[bytes], batches: Iterable[pa.RecordBatch]) -> None:
    """Write tab-separated values, with a header."""
    _write_delimited(file, batches, "\t")


def write_json_lines(file: IO[bytes], batches: Iterable[pa.RecordBatch]) -> None:
    """Write one JSON object per row and line."""
    for batch in batches:
        file.write(lines_of([*_objects(batch), "\n"]))


def write_json(file: IO[bytes], batches: Iterable[pa.RecordBatch]) -> None:
    """Write a JSON array with an object per row."""
    file.write(b"[")
    before = "\n"
    for batch in batches:
        if batch.num_rows:
            lines = lines_of([",\n", *_objects(batch)])
            file.write(before.encode() + lines[len(",\n") :])
            before = ",\n"
    file.write(b"\n]\n")


def write_parquet(file: IO[bytes], batches: Iterable[pa.RecordBatch]) -> None:
    """Write Parquet, packed by Zstandard."""
    import pyarrow.parquet as pq

    rows = iter(batches)
    first = next(rows)
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        for batch in itertools.chain([first], rows):
            writer.write_batch(batch)


def without_formulas(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same with an apostrophe before each text that a spreadsheet would run as a formula."""
    return pa.RecordBatch.from_arrays(
        [_harmless(column) if is_text(column) else column for column in batch.columns],
        names=batch.schema.names,
    )


def _harmless(column: pa.Array) -> pa.Array:
    column = pc.cast(column, pa.large_string())
    numbers = pc.match_substring_regex(column, NUMBER)
    formulas = pc.and_not(pc.match_substring_regex(column, FORMULA), numbers)
    return pc.if_else(formulas, joined(["'", column]), column)


def _objects(batch: pa.RecordBatch) -> list[str | pa.Array]:
    """A JSON object for each row, in parts."""
    parts: list[str | pa.Array] = []
    for k, (key, column) in enumerate(zip(batch.schema.names, batch.columns, strict=True)):
        parts += ["," if k else "{", f"{_json_text(key)}:", _json_cells(column)]
    return [*parts, "}"]


def _write_delimited(file: IO[bytes], batches: Iterable[pa.RecordBatch], delimiter: str) -> None:
    for number, batch in enumerate(batches):
        if number == 0:
            heads = _cells(pa.array(batch.schema.names), delimiter).to_pylist()
            file.write(delimiter.join(heads).encode() + b"\n")
        parts: list[str | pa.Array] = []
        for k, column in enumerate(batch.columns):
            parts += [delimiter, _cells(column, delimiter)] if k else [_cells(column, delimiter)]
        file.write(lines_of([*parts, "\n"]))


def lines_of(parts: list[str | pa.Array]) -> memoryview:
    """Columns joined to one of text, whose bytes are those of the file as they are."""
    lines = joined(parts)
    start = np.frombuffer(lines.buffers()[1], dtype=np.int64)
    return memoryview(lines.buffers()[2])[: start[lines.offset + len(lines)]]


def is_text(column: pa.Array) -> bool:
    """Whether a column is of texts."""
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def _cells(column: pa.Array, delimiter: str) -> pa.Array:
    """Cells of a table in text: in quotation marks where they need them, empty where absent."""
    cells = pc.fill_null(pc.cast(column, pa.large_string()), "")
    if not is_text(column):
        return cells
    if not may_have(cells, f'"\r\n{delimiter} \t\f'):
        return cells
    special = pc.match_substring_regex(cells, f'["\r\n{delimiter}]|^\\s|\\s$')
    if not pc.any(special).as_py():
        return cells
    doubled = pc.replace_substring(cells, '"', '""')
    return pc.if_else(special, joined(['"', doubled, '"']), cells)


def _json_cells(column: pa.Array) -> pa.Array:
    cells = pc.cast(column, pa.large_string())
    if not is_text(column):
        return pc.fill_null(cells, "null")
    if pc.any(pc.match_substring_regex(cells, r'[\x00-\x1f\\"]')).as_py():
        return pa.array([_json_text(text) for text in cells.to_pylist()], pa.large_string())
    return pc.fill_null(joined(['"', cells, '"']), "null")


def joined(parts: list[str | pa.Array]) -> pa.Array:
    """Columns of text, and single texts, put together row by row."""
    kind = pa.large_string()
    wide = [pa.scalar(part, kind) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*wide, pa.scalar("", kind))


def _json_text(text: str | None) -> str:
    return json.dumps(text, ensure_ascii=False)
