"""How a text file is laid out, found by looking at its first lines: delimiter, header, columns."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isotherm.errors import FileError, ParameterError
from isotherm.read.column_kinds import NAMES, is_header, is_number, plain
from isotherm.read.row_splitter import RowSplitter
from isotherm.read_only import cached_property

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LINES = 200  # that are looked at
WHITE_SPACE = "white space"

MAY_DELIMIT = ",\t;|"
_DELIMITERS: tuple[str, ...] = (*MAY_DELIMIT, WHITE_SPACE)
_OF_ENDING = {".csv": (",", ";", "\t", "|"), ".tsv": ("\t",), ".tab": ("\t",)}
_SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)  # a first line that Excel writes and reads


@dataclass(frozen=True)
class Layout:
    """How to read the lines of a file."""

    delimiter: str  # one character, or `WHITE_SPACE` for any run of blanks and tabs
    columns: tuple[str, ...]  # names; "1", "2" and so on where the file has none
    skipped: int  # lines before the first row: a preamble and the header
    comment: str | None  # where this stands, the rest of a line is not read
    header: bool
    sample: tuple[tuple[str, ...], ...]  # the first rows

    @property
    def keys(self) -> list[str]:
        """A name for each column that no other has."""
        return [str(k) for k in range(len(self.columns))]

    @cached_property
    def splitter(self) -> RowSplitter:
        """Where rows end."""
        delimiter = "" if self.delimiter == WHITE_SPACE else self.delimiter
        return RowSplitter(delimiter, self.comment)

    def split(self, line: str) -> list[str]:
        """The cells of a row, without the blanks around them; none of an empty line."""
        return split(line, self.delimiter)

    def find(self, wanted: str | None, role: str, name: str) -> int | None:
        """The column for a role: the one wanted, by name or number from 1 on, or one so named."""
        if wanted is None:
            fitting = [k for k, column in enumerate(self.columns) if plain(column) in NAMES[role]]
            return fitting[0] if self.header and fitting else None
        wanted = str(wanted)
        if self.header and wanted in self.columns:
            return self.columns.index(wanted)
        if wanted.isdecimal() and 1 <= int(wanted) <= len(self.columns):
            return int(wanted) - 1
        there = ", ".join(map(repr, self.columns)) if self.header else f"1 to {len(self.columns)}"
        raise ParameterError(f"{name} has no column {wanted!r}; its columns are {there}")

    def numbers(self, column: int) -> bool:
        """Whether most cells of a column, as far as they were looked at, are numbers."""
        return 2 * sum(is_number(row[column]) for row in self.sample) > len(self.sample)


def find_layout(
    lines: Sequence[str],
    name: str,
    ending: str = "",
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    wanted: Sequence[str | None] = (),
) -> Layout:
    """Look at the first rows of a file, all whole and without comments.

    A first row that has one of the names `wanted` is a header.

    Examples
    --------
    >>> find_layout(["from;to;weight", "a;b;0.5"], "x.csv").columns
    ('from', 'to', 'weight')
    """
    told = _SEPARATOR.fullmatch(lines[0].strip()) if lines else None
    if told and delimiter is None:
        delimiter = told[1]
    if delimiter is not None:
        delimiter = checked_delimiter(delimiter)
    preamble = 1 if told else _preamble(lines)
    chosen = delimiter or _likely(lines[preamble:][:MOST_LINES], ending)
    if chosen == WHITE_SPACE:  # quotation marks are letters like others
        lines = "\n".join(lines).split("\n")
    body = list(enumerate(lines))[preamble:][:MOST_LINES]
    rows = [(at, cells) for at, line in body if (cells := _split_or_none(line, chosen))]
    if not rows:
        longest = csv.field_size_limit()
        at = next((at for at, line in body if len(line) > longest), None)
        if at is not None:
            raise FileError(
                f"{name}, line {at + 1}: a cell of more than {longest >> 10} KiB. Is this the "
                "right delimiter, and is every quotation mark closed?"
            )
        if any('"' in line for _, line in body):
            raise FileError(f"{name} has no row that can be split: is every quotation mark closed?")
        raise FileError(f"{name} has no rows")
    first, cells = rows[0]
    width = Counter(len(row) for _, row in rows).most_common(1)[0][0]
    others = [tuple(row) for _, row in rows[1:] if len(row) == width]
    if header is None:
        header = is_header(cells, others, [text for text in wanted if text])
    columns = [text.lstrip("#").strip() or str(k) for k, text in enumerate(cells, start=1)]
    if not header:
        columns = [str(k) for k in range(1, width + 1)]
        others = [tuple(cells), *others] if len(cells) == width else others
    skipped = len("\n".join(lines[: first + 1]).split("\n")) if header else preamble
    return Layout(chosen, tuple(columns), skipped, comment, header, tuple(others))


def split(line: str, delimiter: str) -> list[str]:
    """See `Layout.split`."""
    line = line.rstrip("\r\n")
    if not line.strip():
        return []
    if delimiter == WHITE_SPACE:
        return line.split()
    cells = next(csv.reader([line], delimiter=delimiter, strict=True), [])
    return [cell.strip() for cell in cells]


def checked_delimiter(delimiter: str) -> str:
    r"""The delimiter that a user means: one character, ``\t``, ``tab`` or ``space``."""
    known = {"\\t": "\t", "tab": "\t", "space": WHITE_SPACE, " ": WHITE_SPACE, "": WHITE_SPACE}
    found = known.get(delimiter.lower(), delimiter)
    if found != WHITE_SPACE and (len(found) != 1 or found in '"\r\n' or ord(found) > 127):
        raise ParameterError(
            "a delimiter must be one character, 'tab' or 'space' (any white space), got "
            f"{delimiter!r}"
        )
    return found


def _preamble(lines: Sequence[str]) -> int:
    """Lines of remarks at the top, as in the lists of SNAP and KONECT: ``# like this``."""
    marks = ("# ", "#\t", "% ", "%\t", "// ", "//\t")
    for at, line in enumerate(lines):
        if line.strip() and not line.startswith(marks) and line.strip() not in ("#", "//"):
            return at
    return 0


def _likely(lines: Sequence[str], ending: str) -> str:
    """The delimiter that makes the most lines have the same number of cells, two or more."""
    candidates = dict.fromkeys((*_OF_ENDING.get(ending, ()), *_DELIMITERS))
    best, best_share, best_width = next(iter(candidates)), 0.0, 0
    for candidate in candidates:
        widths = Counter(len(cells) for line in lines if (cells := _split_or_none(line, candidate)))
        width, most = max(
            ((width, n) for width, n in widths.items() if width > 1),
            key=lambda item: item[1],
            default=(0, 0),
        )
        share = most / max(sum(widths.values()), 1)
        # The earlier one, unless that is clearly worse, or finds fewer columns: a comma may also be
        # that of a decimal number.
        more = candidate != WHITE_SPACE and width > best_width and share > best_share - 0.05
        if share > best_share + 0.05 or (more and share > 0):
            best, best_share, best_width = candidate, share, width
    return best


def _split_or_none(line: str, delimiter: str) -> list[str] | None:
    try:
        return split(line, delimiter) or None
    except csv.Error:
        return None
