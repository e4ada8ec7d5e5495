"""What else is known of nodes: a table with a row for each, shown on its card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as pa_csv

from isotherm.errors import FileError

if TYPE_CHECKING:
    from isotherm.graph import Graph

MOST_COLUMNS = 40
LONGEST = 2000  # characters of a value


def read_attributes(path: str, graph: Graph) -> dict[int, dict[str, str]]:
    """The attributes of nodes, by position: a CSV or TSV file with ids in its first column.

    Rows of nodes that the graph does not have are left out, and empty values.

    Raises
    ------
    FileError
        If it cannot be read, or no row is of a node.
    """
    delimiter = "\t" if path.lower().endswith((".tsv", ".tsv.gz")) else ","
    try:
        names = _columns(path, delimiter)
        table = pa_csv.read_csv(
            path,
            parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"{path} cannot be read as a table of nodes: {error}") from None
    if len(names) < 2 or len(names) > MOST_COLUMNS:
        raise FileError(
            f"{path} needs a column of ids and 1 to {MOST_COLUMNS - 1} others, got {len(names)} "
            "column(s)"
        )
    place = {name: i for i, name in enumerate(graph.names.tolist())}
    found: dict[int, dict[str, str]] = {}
    for row in table.to_pylist():
        i = place.get(row[names[0]])
        if i is not None:
            found[i] = {name: row[name][:LONGEST] for name in names[1:] if row[name]}
    if not found:
        raise FileError(
            f"{path}: none of the ids in its first column, {names[0]!r}, is a node of the graph"
        )
    return found


def _columns(path: str, delimiter: str) -> list[str]:
    options = pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    with pa_csv.open_csv(path, parse_options=options) as reader:
        names: list[str] = reader.schema.names
        return names
