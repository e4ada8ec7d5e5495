"""Tables, some rows at a time → a workbook of Excel, by XlsxWriter.

Every cell is written as what it is: a text that begins like a formula stays a text, and an id of
digits keeps its zeros.
"""

from __future__ import annotations

import io
import math
import tempfile
from contextlib import suppress
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from isotherm.errors import FileError
from isotherm.writers.tables import is_text, schema_of
from isotherm.writers.xml_text import XmlText, cells_have

if TYPE_CHECKING:
    from collections.abc import Iterable

ROWS, COLUMNS = 1_048_576, 16_384  # of a sheet, the row of headings included
LONGEST = 32_767  # characters of a cell, in UTF-16
WIDTHS = {"node": 24, "label": 18, "why": 90, "labels": 30}  # of columns, in letters; else:
WIDTH = 14
SECONDS = 3e-6  # to write a cell
PATIENCE = 10.0  # seconds of writing for which no better format is named
_DATE = datetime(1980, 1, 1)  # so that two runs give the same bytes
_PLAIN = {  # what texts may not be turned into
    "strings_to_formulas": False,
    "strings_to_numbers": False,
    "strings_to_urls": False,
    "constant_memory": True,
}


def write_workbook(file: IO[bytes], batches: Iterable[pa.RecordBatch]) -> str | None:
    """Write a sheet, and return what it cannot hold and what is quicker to write."""
    import xlsxwriter
    from xlsxwriter.exceptions import FileCreateError, FileSizeError

    with tempfile.TemporaryDirectory() as folder:  # rows are there until the sheet is complete
        packed = io.BytesIO()  # a file that fills the disk would fail a second time in its archive
        book = xlsxwriter.Workbook(packed, _PLAIN | {"tmpdir": folder})
        book.set_properties({"created": _DATE})
        sheet = _Sheet(book)
        try:
            sheet.write(batches)
            book.close()
        except FileCreateError as error:
            raise error.args[0] from None
        except FileSizeError:
            raise FileError(
                "the sheet would take more than 4 GiB: write Parquet or CSV, or fewer rows"
            ) from None
        finally:
            sheet.close()
    file.write(packed.getbuffer())
    return sheet.remark()


class _Sheet:
    """The sheet, row by row."""

    def __init__(self, book: Any) -> None:
        self._sheet = book.add_worksheet("isotherm")
        self._bold, self._plain = book.add_format({"bold": True}), book.add_format()
        self._text = XmlText()
        self._n_rows = self._n_columns = self._n_cut = 0

    def write(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Write headings and all rows."""
        from xlsxwriter.utility import xl_range

        schema, rows = schema_of(batches)
        names = schema.names
        self._n_columns = len(names)
        check_size(0, len(names))
        for k, name in enumerate(names):
            self._sheet.set_column(k, k, WIDTHS.get(name, WIDTH))
        heads = self._text.replaced(pa.array(names)).to_pylist()
        for k, head in enumerate(heads):
            self._string(0, k, head, self._bold)
        self._sheet.freeze_panes(1, 0)
        for batch in rows:
            check_size(self._n_rows + batch.num_rows, len(names))
            self._rows(batch)
        last = len(names) - 1
        self._sheet.autofilter(0, 0, self._n_rows, last)
        self._sheet.ignore_errors({"number_stored_as_text": xl_range(0, 0, self._n_rows, last)})

    def close(self) -> None:
        """Close what is open where the sheet was not completed."""
        with suppress(AttributeError, OSError):
            self._sheet.row_data_fh.close()

    def remark(self) -> str | None:
        """What was lost and what took long, in a sentence; None if nothing."""
        parts = [self._text.remark("a workbook")]
        if self._n_cut:
            parts.append(
                f"{cells_have(self._n_cut)} more than the {LONGEST:,} characters that a workbook "
                "can hold, and were cut"
            )
        seconds = SECONDS * self._n_rows * self._n_columns
        if seconds > PATIENCE:
            parts.append(
                f"a workbook of {self._n_rows:,} rows takes about {seconds:.0f} seconds to write, "
                "CSV or Parquet less than one"
            )
        return "; ".join(part for part in parts if part) or None

    def _rows(self, batch: pa.RecordBatch) -> None:
        columns = [
            (self._text.replaced(column) if is_text(column) else column).to_pylist()
            for column in batch.columns
        ]
        writers = [self._writer(column.type) for column in batch.columns]
        for number, row in enumerate(zip(*columns, strict=True), start=self._n_rows + 1):
            for k, value in enumerate(row):
                if value is not None:
                    writers[k](number, k, value)
        self._n_rows += batch.num_rows

    def _writer(self, kind: pa.DataType) -> Any:
        if pa.types.is_boolean(kind):
            return self._sheet.write_boolean
        if pa.types.is_floating(kind):
            return self._number
        return self._sheet.write_number if pa.types.is_integer(kind) else self._string

    def _number(self, row: int, column: int, value: float) -> None:
        if math.isfinite(value):
            self._sheet.write_number(row, column, value)
        else:  # which a sheet does not have
            self._sheet.write_string(row, column, str(value))

    def _string(self, row: int, column: int, value: str, style: Any = None) -> None:
        if len(value) > LONGEST // 2:
            kept = value.encode("utf-16-le")[: 2 * LONGEST].decode("utf-16-le", "ignore")
            self._n_cut += kept != value
            value = kept
        if value.startswith("<r>") and value.endswith("</r>"):
            # XlsxWriter would take it for XML of its own, and write it as it is.
            style = style or self._plain
            self._sheet.write_rich_string(row, column, style, value[:1], style, value[1:])
        else:
            self._sheet.write_string(row, column, value, style)


def check_size(n_rows: int, n_columns: int, _n_edges: int = 0) -> None:
    """Refuse a table that no sheet can hold."""
    if n_rows >= ROWS:
        raise FileError(
            f"an Excel sheet holds {ROWS - 1:,} rows below its headings, and there are "
            f"{n_rows:,}: write CSV or Parquet, or a list (--list, --top)"
        )
    if n_columns > COLUMNS:
        raise FileError(
            f"an Excel sheet holds {COLUMNS:,} columns, and there are {n_columns:,}: write CSV or "
            "Parquet"
        )
