"""Sheets of Excel workbooks → tables, row by row. Formulas count by their last value; no macros."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from isotherm.errors import FileError, IsothermError, ParameterError
from isotherm.read.column_kinds import is_header
from isotherm.read.row_table import as_cell, peek_rows, table_of_rows
from isotherm.read.zip_archives import check_workbook

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isotherm.read.arrow_table import ArrowTable
    from isotherm.read.options import TextOptions
    from isotherm.read.row_table import Rows
    from isotherm.read.source import Source

MOST_COLUMNS = 1000


def open_excel(
    source: Source, options: TextOptions, wanted: Sequence[str | None] = ()
) -> ArrowTable:
    """A sheet of a workbook: the one named, or the only one."""
    import openpyxl

    with _faults(source.name):
        check_workbook(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about drawings and styles, which do not matter here
            book = openpyxl.load_workbook(
                source.everything(), read_only=True, data_only=True, keep_links=False
            )
        sheet = _sheet(book, options.table, source.name)

    def rows() -> Rows:
        with _faults(source.name):
            return _named(_read(sheet, source.name), options.header, wanted, source.name)

    return table_of_rows(source, options, rows)


def _sheet(book: Any, wanted: str | None, name: str) -> Any:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    listed = ", ".join(map(repr, sheets)) or "none"
    if wanted is None:
        filled = [sheet for sheet in sheets.values() if next(_read(sheet, name), None) is not None]
        if len(filled) != 1:
            raise FileError(
                f"{name} has {len(filled)} sheets that are not empty; name one with --table (for "
                f"labels --label-table; table=): {listed}"
            )
        return filled[0]
    if wanted in sheets:
        return sheets[wanted]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(sheets):
        return list(sheets.values())[int(wanted) - 1]
    raise ParameterError(f"{name} has no sheet {wanted!r}; choose one of: {listed}")


def _read(sheet: Any, name: str) -> Iterator[tuple[object, ...]]:
    """The rows of a sheet that have something in them."""
    sheet.reset_dimensions()  # what the file says of them may be wrong, or far too large
    with _faults(name):
        for row in sheet.iter_rows(values_only=True):
            if len(row) > MOST_COLUMNS:
                raise FileError(
                    f"{name}, sheet {sheet.title!r} has {len(row):,} columns, more than "
                    f"{MOST_COLUMNS:,}"
                )
            if any(cell is not None for cell in row):
                yield row


def _named(
    rows: Iterator[tuple[object, ...]],
    header: bool | None,
    wanted: Sequence[str | None],
    name: str,
) -> Rows:
    """Names of the columns, from the first row if that is a header, and the rows."""
    first, rows = peek_rows(rows)
    if not first:
        raise FileError(f"{name} has no rows")
    texts = [[as_cell(cell) or "" for cell in row] for row in first]
    if header is None:
        others = [tuple(row) for row in texts[1:]]
        header = is_header(texts[0], others, [text for text in wanted if text])
    if header:
        next(rows)
        return texts[0], rows
    width = max(map(len, texts))
    return [str(k) for k in range(1, width + 1)], rows


@contextmanager
def _faults(name: str) -> Iterator[None]:
    """Whatever a damaged workbook makes of the reader becomes one error, which names the file."""
    try:
        yield
    except IsothermError:
        raise
    except Exception as error:  # openpyxl has no class of its own for damaged files
        raise FileError(f"{name} is damaged, cut off, or not a workbook: {error}") from None
