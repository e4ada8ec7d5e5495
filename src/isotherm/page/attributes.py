"""What else is known of nodes: a table with a row for each, shown on its card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.errors import FileError
from isotherm.read.opening import open_source
from isotherm.read.options import TextOptions
from isotherm.read.report import ReadReport

if TYPE_CHECKING:
    from isotherm.graph import Graph

MOST_COLUMNS = 40
LONGEST = 2000  # characters of a value


def read_attributes(
    path: str, graph: Graph, encoding: str = "utf-8"
) -> tuple[dict[int, dict[str, str]], ReadReport]:
    """The attributes of nodes, by position, from a table with ids in its first column.

    Rows of nodes that the graph does not have are left out, and empty values; rows that cannot be
    read are left out, and the report tells of them.

    Raises
    ------
    FileError
        If it cannot be read, or no row is of a node.
    """
    options = TextOptions(header=True, encoding=encoding, on_error="skip")
    found: dict[int, dict[str, str]] = {}
    with open_source(path) as source:
        if source.format.open_table is None:
            raise FileError(
                f"{path} is a {source.format.name} file; what is known of nodes is read from a "
                "table, such as CSV, with ids in its first column"
            )
        table = source.format.open_table(source, options, ())
        report, names = ReadReport(source.name, table.format), table.layout.columns
        if not 2 <= len(names) <= MOST_COLUMNS:
            raise FileError(
                f"{path} needs a column of ids and 1 to {MOST_COLUMNS - 1} others, got "
                f"{len(names)} column(s)"
            )
        others = range(2, len(names))
        for batch in table.batches([0, 1], report, error=FileError, empty=True, also=others):
            places = graph.nodes.find_texts(batch.first)
            values = (column.to_pylist() for column in (batch.second, *batch.also))
            for i, *row in zip(places.tolist(), *values, strict=True):
                if i >= 0:
                    named = zip(names[1:], row, strict=True)
                    found[i] = {name: value[:LONGEST] for name, value in named if value}
    if not found:
        raise FileError(
            f"{path}: none of the ids in its first column, {names[0]!r}, is a node of the graph"
        )
    return found, report
