"""A file → Graph or labels, with a record of what became of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.errors import FileError, GraphError, LabelError, ParameterError
from isotherm.read.layout import is_number
from isotherm.read.record import Reading, Said

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from isotherm.graph import Graph
    from isotherm.read.labelled import Labelled
    from isotherm.read.layout import Layout
    from isotherm.read.source import Source

    Progress = Callable[[int, int | None], None]

_TABLES = ("Parquet", "Arrow", "Arrow stream")


def load_graph(
    path: str | os.PathLike[str],
    columns: Mapping[str, str | None] | None = None,
    said: Said | None = None,
    *,
    progress: Progress | None = None,
    building: Callable[[], None] | None = None,
    hashed: bool = False,
) -> tuple[Graph, Reading]:
    """The graph of a file, and what became of the file; see `isotherm.read_graph`.

    Parameters
    ----------
    path : str or Path
    columns : mapping
        ``source``, ``target`` and ``weight``.
    said : Said
    progress : callable, optional
        Called with how much was read so far and how much there is, where that is known.
    building : callable, optional
        Called when all edges are read and the graph is made of them.
    hashed : bool
        Whether the checksum of the file is wanted.
    """
    from isotherm.read.alike import note_ids_alike
    from isotherm.read.source import open_source

    said = said or Said()
    with open_source(path, said.unpacking, hashed=hashed) as source:
        reading = Reading(source.name, source.format)
        graph = _graph_of(source, reading, columns or {}, said, progress, building)
        reading.checksum = source.checksum()
    note_ids_alike(graph, reading)
    return graph, reading


def load_labels(
    path: str | os.PathLike[str],
    graph: Graph,
    columns: Mapping[str, str | None] | None = None,
    said: Said | None = None,
    *,
    strict: bool = False,
    hashed: bool = False,
) -> tuple[dict[str, str], Reading]:
    """The labels of a file, and what became of the file; see `isotherm.read_labels`.

    Parameters
    ----------
    path : str or Path
    graph : Graph
    columns : mapping
        ``node``, ``label`` and ``weight``.
    said : Said
    strict, hashed : bool
        See `isotherm.read_labels` and `load_graph`.
    """
    labelled, reading = gather_labels(path, columns, said, hashed=hashed)
    return labelled.of_nodes(graph, reading, strict=strict), reading


def gather_labels(
    path: str | os.PathLike[str],
    columns: Mapping[str, str | None] | None = None,
    said: Said | None = None,
    *,
    hashed: bool = False,
) -> tuple[Labelled, Reading]:
    """The labels of a file as they are, whatever graph they are for; see `load_labels`."""
    from isotherm.read.labelled import Labelled, read_json
    from isotherm.read.source import open_source

    columns, said = columns or {}, said or Said()
    labelled = Labelled()
    with open_source(path, said.unpacking, hashed=hashed) as source:
        reading = Reading(source.name, source.format)
        if source.format == "JSON":
            labelled.add(*read_json(source, columns, reading))
        elif source.format in ("GraphML", "GML"):
            from isotherm.read.graph_files import labels_of, read_listed

            labelled.add(*labels_of(read_listed(source), columns.get("label"), reading))
        elif source.format == "npz":
            from isotherm.read.matrices import read_npz_labels

            labelled.add(*read_npz_labels(source, reading))
        elif source.format == "MatrixMarket":
            raise LabelError(f"{source.name} is a matrix; labels come as a table or JSON")
        else:
            table = open_table(source, said, list(columns.values()))
            chosen = choose_label_columns(table.layout, columns, source.name)
            reading.format = table.format
            reading.columns = tuple(table.layout.columns[k] for k in chosen)
            for batch in table.batches(chosen, reading, error=LabelError, empty=True):
                labelled.add(*batch)
        reading.checksum = source.checksum()
    return labelled, reading


def open_table(source: Source, said: Said, wanted: list[str | None]) -> Any:
    """The table in a file: `TextTable` or `ArrowTable`."""
    if source.format in _TABLES:
        from isotherm.read.tables import ArrowTable

        return ArrowTable(source, said)
    from isotherm.read.text import TextTable

    return TextTable(source, said, wanted)


def choose_edge_columns(layout: Layout, columns: Mapping[str, str | None], name: str) -> list[int]:
    """Positions of the source, the target and, if there is one, the weight.

    Raises
    ------
    GraphError
        If there is but one column.
    ParameterError
        If a column that was asked for is not there.
    """
    weight = layout.find(columns.get("weight"), "weight", name)
    ends = [layout.find(columns.get(role), role, name) for role in ("source", "target")]
    chosen = _filled(ends, weight, layout, name, GraphError)
    third_is_weight = not layout.header and len(layout.columns) == 3 and layout.numbers(2)
    if weight is None and chosen == [0, 1] and third_is_weight:
        weight = 2
    return chosen if weight is None else [*chosen, weight]


def choose_label_columns(layout: Layout, columns: Mapping[str, str | None], name: str) -> list[int]:
    """Positions of the node, its label and, if there is one, the weight; see `choose_edge_columns`.

    Raises
    ------
    LabelError
        If there is but one column, or if none of several is named so that it must be the label.
    """
    weight = layout.find(columns.get("weight"), "weight", name)
    found = [layout.find(columns.get(role), role, name) for role in ("node", "label")]
    if found[1] is None and layout.header and len(layout.columns) > 2 + (weight is not None):
        raise LabelError(
            f"{name} has several columns, which of them has the labels? Name it: "
            f"{', '.join(map(repr, layout.columns))}"
        )
    chosen = _filled(found, weight, layout, name, LabelError)
    return chosen if weight is None else [*chosen, weight]


def _filled(
    found: list[int | None],
    taken: int | None,
    layout: Layout,
    name: str,
    error: type[GraphError | LabelError],
) -> list[int]:
    """Columns found, and for those that were not the first ones left."""
    left = [k for k in range(len(layout.columns)) if k not in (*found, taken)]
    if None not in found and found[0] == found[1]:
        raise ParameterError(f"{name}: column {layout.columns[found[0] or 0]!r} is asked for twice")
    if found.count(None) > len(left):
        raise error(
            f"{name} has {len(layout.columns)} column(s) where two are needed; if they are not "
            "told apart as they should be, name the delimiter"
        )
    chosen = [left.pop(0) if k is None else k for k in found]
    if taken in chosen:
        raise ParameterError(f"{name}: column {layout.columns[taken or 0]!r} is asked for twice")
    return chosen


def _graph_of(
    source: Source,
    reading: Reading,
    columns: Mapping[str, str | None],
    said: Said,
    progress: Progress | None,
    building: Callable[[], None] | None,
) -> Graph:
    if source.format == "MatrixMarket":
        from isotherm.read.matrices import read_matrix_market

        return read_matrix_market(source, reading)
    if source.format == "npz":
        from isotherm.read.matrices import read_npz_graph

        return read_npz_graph(source, reading)
    if source.format in ("GraphML", "GML"):
        from isotherm.read.graph_files import graph_of, read_listed

        return graph_of(read_listed(source), reading)
    if source.format == "JSON":
        raise FileError(f"{source.name} is JSON; edges are read from CSV, Parquet and the like")
    from isotherm.read.edges import EdgeList, release_unused

    table = open_table(source, said, list(columns.values()))
    chosen = choose_edge_columns(table.layout, columns, source.name)
    reading.format = table.format
    reading.columns = tuple(table.layout.columns[k] for k in chosen)
    edges = EdgeList()
    for batch in table.batches(chosen, reading, error=GraphError):
        edges.add(batch)
        if progress is not None:
            progress(*table.progress(reading))
    if building is not None:
        building()
    release_unused()
    graph = edges.graph(source.name)
    reading.n_empty = edges.n_rows - edges.n_kept
    if said.header is None and not table.layout.header and table.layout.sample:
        _note_first_line([table.layout.sample[0][k] for k in chosen[:2]], graph, reading)
    return graph


def _note_first_line(ids: list[str], graph: Graph, reading: Reading) -> None:
    """Note a first line that may have named the columns: nothing else is joined to its two ids."""
    first, second = ids
    i, j = graph.nodes.find(np.array(ids, dtype=object)).tolist()
    rows = graph.rows
    alone = all(k >= 0 and rows.start[k + 1] - rows.start[k] == 1 for k in (i, j))
    if graph.n_nodes < 4 or not alone or rows.ends[rows.start[i]] != j or i == j:
        return
    if not is_number(first) and not is_number(second):
        reading.notes.append(
            f"{reading.name}: the first line, {first!r} and {second!r}, was taken for an edge; if "
            "it names the columns, say so with --header (header=True)"
        )
