"""Records → CSV files, Markdown and HTML tables."""

from __future__ import annotations

import csv
import html
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isotherm.files import replacing
from isotherm.spreadsheet import as_text_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Table:
    """Text in rows and columns.

    Attributes
    ----------
    title : str
    columns : tuple of str
    rows : list of tuples of str
        A cell that ends in ``*`` is marked in HTML: there is something to say about it.
    notes : tuple of str
        Sentences that belong below.

    Examples
    --------
    >>> table = Table("Counts", ("set", "nodes"), [("karate", "34")], ("From 1977.",))
    >>> print(table.markdown())
    ### Counts
    <BLANKLINE>
    | set | nodes |
    | --- | ---: |
    | karate | 34 |
    <BLANKLINE>
    From 1977.
    <BLANKLINE>
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """As a section in Markdown."""

        def line(cells: Iterable[str]) -> str:
            return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

        rules = ["---"] + ["---:"] * (len(self.columns) - 1)
        lines = [f"### {self.title}", "", line(self.columns), line(rules)]
        lines += [line(row) for row in self.rows]
        lines += ["", *(note + "\n" for note in self.notes)]
        return "\n".join(lines)

    def html(self) -> str:
        """As a figure in HTML."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in self.rows)
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return (
            f"<figure><figcaption>{html.escape(self.title)}</figcaption>\n"
            f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody>'
            f"</table></div>{notes}</figure>\n"
        )


def _cell(text: str) -> str:
    kind = ' class="marked"' if text.endswith("*") else ""
    return f"<td{kind}>{html.escape(text)}</td>"


def table_of_words(
    title: str,
    columns: tuple[str, ...],
    rows: Iterable[tuple[str, ...]],
    notes: Iterable[str] = (),
    *,
    kind: str = "",
) -> str:
    """A table in HTML whose words may come from a file; there a star at the end means nothing.

    `kind` is the class of what is around it, for its style.
    """
    lines = [tuple(c + "\u2060" if c.endswith("*") else c for c in row) for row in rows]
    table = Table(title, columns, lines, tuple(notes)).html()
    return f'<div class="{kind}">{table}</div>\n' if kind else table


def mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation."""
    mean = sum(values) / len(values)
    return mean, (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5


def grouped(
    rows: Iterable[dict[str, Any]], *by: str
) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Rows by the values of some of their columns, in order of appearance."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    return groups


def write_csv(
    path: Path,
    rows: Iterable[dict[str, Any]],
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
