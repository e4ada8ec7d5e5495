"""Tables, some rows at a time → a workbook of Excel (ECMA-376), as few of its parts as will do.

Every cell says whether it is a text, a number or a truth value: a text that begins like a formula
stays a text, and an id of digits keeps its zeros.
"""

from __future__ import annotations

import itertools
import zipfile
from typing import IO, TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.errors import FileError
from isotherm.text_data import may_have
from isotherm.writers.tables import is_text, joined, lines_of
from isotherm.writers.xml_text import XmlText

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROWS, COLUMNS = 1_048_576, 16_384  # of a sheet, the row of headings included
LONGEST = 32_767  # characters of a cell
MOST_BYTES = 1 << 31  # of a sheet, unpacked: beyond that a zip archive is of another kind
LEVEL = 3  # of packing: 6 takes twice as long and saves a tenth
WIDTHS = {"node": 24, "label": 18, "why": 90, "labels": 30}  # of columns, in letters; else:
WIDTH = 14
_ESCAPE = "(_x[0-9A-Fa-f]{4}_)"  # what Excel would take for a character
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/>'
    "</Types>",
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    "</Relationships>",
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
    '<sheet name="isotherm" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}">'
    '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="2"><xf xfId="0"/><xf xfId="0" fontId="1" applyFont="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
    "</styleSheet>",
}


def write_workbook(file: IO[bytes], batches: Iterable[pa.RecordBatch]) -> str | None:
    """Write a sheet with headings that stay in sight and can be filtered by.

    Returns
    -------
    str or None
        What the file cannot hold.

    Raises
    ------
    FileError
        More rows or columns than a sheet has.
    """
    text = XmlText(LONGEST)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for name, part in _PARTS.items():
            archive.writestr(_entry(name), _XML + part)
        with archive.open(_entry("xl/worksheets/sheet1.xml"), "w") as sheet:
            written = 0
            for lines in _sheet(batches, text):
                written += len(lines)
                if written > MOST_BYTES:
                    raise FileError(
                        "the sheet would take more than 2 GiB: write Parquet or CSV, or fewer rows"
                    )
                sheet.write(lines)
    return text.remark("a workbook")


def _entry(name: str) -> zipfile.ZipInfo:
    """A part of the archive, with the same date in every run."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry._compresslevel = LEVEL  # type: ignore[attr-defined]
    return entry


def _sheet(batches: Iterable[pa.RecordBatch], text: XmlText) -> Iterator[bytes | memoryview]:
    rows = iter(batches)
    first = next(rows)
    names = first.schema.names
    check_size(0, len(names))
    widths = "".join(
        f'<col min="{k}" max="{k}" width="{WIDTHS.get(name, WIDTH)}" customWidth="1"/>'
        for k, name in enumerate(names, 1)
    )
    yield (
        f'{_XML}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0">'
        '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
        f"</sheetView></sheetViews><cols>{widths}</cols><sheetData>"
    ).encode()
    heads = pa.RecordBatch.from_arrays([pa.array([name]) for name in names], names=names)
    yield _rows(heads, 1, text, style=' s="1"')
    n_rows = 1
    for batch in itertools.chain([first], rows):
        if not batch.num_rows:
            continue
        check_size(n_rows + batch.num_rows - 1, len(names))
        yield _rows(batch, n_rows + 1, text)
        n_rows += batch.num_rows
    whole = f"A1:{_letters(len(names) - 1)}{n_rows}"
    yield (
        f'</sheetData><autoFilter ref="{whole}"/><ignoredErrors>'
        f'<ignoredError sqref="{whole}" numberStoredAsText="1"/></ignoredErrors></worksheet>'
    ).encode()


def check_size(n_rows: int, n_columns: int, _n_edges: int = 0) -> None:
    """Refuse a table that no sheet can hold.

    Raises
    ------
    FileError
        Saying what would fit, and what else to write.
    """
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


def _rows(batch: pa.RecordBatch, number: int, text: XmlText, *, style: str = "") -> memoryview:
    """Rows of the sheet, the first of which has that number."""
    numbers = pc.cast(pa.array(np.arange(number, number + batch.num_rows)), pa.large_string())
    parts: list[str | pa.Array] = ['<row r="', numbers, '">']
    for k, column in enumerate(batch.columns):
        cell = [f'<c r="{_letters(k)}', numbers, f'"{style}']
        if is_text(column):
            cell += [' t="inlineStr"><is><t xml:space="preserve">', _escaped(column, text)]
            cell += ["</t></is></c>"]
        elif pa.types.is_boolean(column.type):
            cell += [' t="b"><v>', pc.cast(pc.cast(column, pa.int8()), pa.large_string())]
            cell += ["</v></c>"]
        else:
            cell += ["><v>", pc.cast(column, pa.large_string()), "</v></c>"]
        parts.append(pc.fill_null(joined(cell), ""))
    return lines_of([*parts, "</row>\n"])


def _escaped(column: pa.Array, text: XmlText) -> pa.Array:
    texts = text.escaped(column)
    if not may_have(texts, "_"):
        return texts
    return pc.replace_substring_regex(texts, _ESCAPE, r"_x005F\1")


def _letters(column: int) -> str:
    """The name of a column.

    Examples
    --------
    >>> _letters(0), _letters(25), _letters(26), _letters(16383)
    ('A', 'Z', 'AA', 'XFD')
    """
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name
