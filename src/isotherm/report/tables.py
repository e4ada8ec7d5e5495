"""Records → CSV files and tables."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from isotherm.files import replacing
from isotherm.writers.tables import as_text_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Row: TypeAlias = dict[str, Any]  # a record of an experiment: what a value is depends on its column


@dataclass(frozen=True)
class Cell:
    """A cell of a table with more than text: the dot of a class, or else a star.

    Attributes
    ----------
    text : str
    colour : str
        Of the dot before it; without one a star comes after it: there is something to say.
    list_number : int
        Of the list of nodes that it links to, see `isotherm.report.parts`; −1 without one.
    """

    text: str
    colour: str = ""
    list_number: int = -1


@dataclass(frozen=True)
class Best:
    """A cell with the best number of its column, in bold."""

    best: str


@dataclass(frozen=True)
class Bars:
    """A cell with two bars, an outlined one and a full one below it; lengths are from 0 to 1."""

    outlined: float
    full: float
    colour: str


@dataclass(frozen=True)
class Table:
    """Text in rows and columns.

    Attributes
    ----------
    title : str
    columns : tuple of str
    rows : sequence of rows, of str, Cell, Best or Bars
    notes : sequence of str
        Sentences that belong below.
    kind : str
        Its classes in the stylesheet; in one of "words3", say, three columns are words.
    """

    template: ClassVar[str] = "table.html"
    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str | Cell | Best | Bars]]
    notes: Sequence[str] = ()
    kind: str = ""


def mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation."""
    mean = sum(values) / len(values)
    return mean, (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5


def grouped(rows: Iterable[Row], *by: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by the values of some of their columns, in order of appearance."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    return groups


def write_csv(
    path: Path,
    rows: Iterable[Row],
    columns: Sequence[str],
    *,
    force: bool = False,
    spreadsheet_safe: bool = False,
) -> None:
    """Write the given columns of all rows; the file is whole or not there.

    By `force` a pipe or a device is written into; `spreadsheet_safe` as in
    `isotherm.write_predictions`.
    """
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        if spreadsheet_safe:
            row = {k: as_text_cell(v) if isinstance(v, str) else v for k, v in row.items()}
        writer.writerow(row)
    write_text(path, text.getvalue(), force=force)


def write_text(path: Path, text: str, *, force: bool = False) -> None:
    """Write a text; see `write_csv`."""
    with replacing(path, force=force) as file:
        file.write(text.encode())
