"""A file → Graph or labels, with a report of what became of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from isotherm.errors import FileError, GraphError, LabelError, ParameterError
from isotherm.labels import Labels
from isotherm.memory import release_unused, size_text
from isotherm.read.column_kinds import is_number
from isotherm.read.columns import choose_edge_columns, choose_label_columns
from isotherm.read.edges import EdgeList
from isotherm.read.formats import edge_formats, label_formats
from isotherm.read.graph_files import graph_of, labels_of
from isotherm.read.label_columns import STATUS, find_drawn, has_status, words_of_weight
from isotherm.read.labels import LabelList
from isotherm.read.opening import open_source
from isotherm.read.options import TextOptions
from isotherm.read.report import ReadReport
from isotherm.read.similar_ids import merge_ids, note_similar_ids
from isotherm.read.source import Source
from isotherm.read.table import LabelRows

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from isotherm.graph import Graph
    from isotherm.read.columns import Choice, Known
    from isotherm.read.graph_files import Contents
    from isotherm.read.opening import PartedSource
    from isotherm.read.table import Batch, Columns, Table

    Opened = Source | PartedSource
    Path = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]  # several: parts of a table
    Progress = Callable[[int, int | None], None]
    Parsed = dict[tuple[int, ...] | None, Contents]  # by the identity of the file

PATIENCE = 10.0  # seconds of reading for which no better format is named


def load_graph(
    path: Path,
    columns: Columns | None = None,
    options: TextOptions | None = None,
    *,
    progress: Progress | None = None,
    building: Callable[[], None] | None = None,
    hashed: bool = False,
    parsed: Parsed | None = None,
) -> tuple[Graph, ReadReport]:
    """The graph of a file, and what became of the file; see `isotherm.read_graph`.

    `progress` is called with how much was read so far and how much there is, where that is known,
    `building` when all edges are read and the graph is made of them. In `parsed` is kept what a
    graph file lists, so that labels can be read from it without parsing it again.
    """
    options = options or TextOptions()
    with open_source(path, options.unpacking, hashed=hashed) as source:
        graph, report = graph_of_source(source, columns or {}, options, progress, building, parsed)
        report.checksum = source.checksum()
        return graph, report


def graph_of_source(
    source: Opened,
    columns: Columns,
    options: TextOptions,
    progress: Progress | None = None,
    building: Callable[[], None] | None = None,
    parsed: Parsed | None = None,
) -> tuple[Graph, ReadReport]:
    """The graph of a file that is open; see `load_graph`."""
    report = ReadReport(source.name, source.format.name)
    if source.format.open_table is not None:
        table = open_edges(source, columns, options, report)
        edges = EdgeList(table.sides)
        for batch in table.batches(report, progress):
            edges.add(batch)
        if building is not None:
            building()
        release_unused()
        graph = edges.graph(report)
        report.n_empty = edges.n_rows - edges.n_kept
        table.note_first_line(graph, report)
    else:
        graph = _graph_of_format(source, options, report, parsed)
        if graph.rows.is_mapped:  # ids were looked at when it was built
            return graph, report
    _note_slow(source, report)
    if options.ids == "normalised":
        return merge_ids(graph, report), report
    note_similar_ids(graph.nodes.as_texts(), report)
    return graph, report


def _graph_of_format(
    source: Opened, options: TextOptions, report: ReadReport, parsed: Parsed | None
) -> Graph:
    """The graph of a file that is no table."""
    _check_table(source, options)
    if options.bipartite:
        raise ParameterError(
            f"{_is_a(source)} --bipartite (bipartite=True) is for tables, with a column for each "
            "of the two sides: leave it out"
        )
    if source.format.read_contents is not None:
        return graph_of(_contents(source, source.format.read_contents, parsed), report)
    if source.format.read_graph is None:
        raise FileError(f"{_is_a(source)} graphs are read from {edge_formats()}")
    return source.format.read_graph(source, report)


def _contents(source: Opened, read: Callable[[Any], Contents], parsed: Parsed | None) -> Contents:
    """What a graph file lists: parsed, unless it was before."""
    assert isinstance(source, Source)  # noqa: S101  # parts are tables
    known = parsed.get(source.identity) if parsed else None
    if known is not None:
        return known
    if source.path is not None and source.size is not None:
        source.check_room(source.size)
    contents = read(source)
    if parsed is not None and source.identity is not None:
        parsed[source.identity] = contents
    return contents


def read_saved_graph(source: Source, report: ReadReport) -> Graph:
    """Open a graph that `Graph.save` or ``isotherm build`` wrote, where it is."""
    from isotherm.graph.saved import open_graph

    if source.path is None:  # packed or a stream, which cannot be mapped
        raise FileError(
            f"{source.name} is a saved graph, which must be an unpacked file on disk: unpack it, "
            "and name the file"
        )
    graph = open_graph(source.path)
    report.n_rows = graph.n_edges
    return graph


def _note_slow(source: Opened, report: ReadReport) -> None:
    """Note a file that takes long to read in its format, and what would not."""
    if not isinstance(source, Source):
        return
    seconds = source.format.seconds * source.n_read / 1e6
    if seconds > PATIENCE:
        report.hint(
            f"{size_text(source.n_read)} of {source.format.name} take about {seconds:.0f} seconds "
            "to read; as a list of edges in CSV or Parquet they take about one, and `isotherm "
            "build` makes a file of them that opens at once"
        )


class EdgeTable(NamedTuple):
    """A table whose columns of edges are known."""

    table: Table
    columns: list[int]  # the two ends and, if there is one, the weight
    sides: tuple[str, str] | None  # the two kinds of nodes, where each has ids of its own
    may_name_columns: bool  # whether the first line may have been meant to

    def batches(self, report: ReadReport, progress: Progress | None = None) -> Iterator[Batch]:
        """All rows, some at a time."""
        for batch in self.table.batches(self.columns, report, error=GraphError):
            yield batch
            if progress is not None:
                progress(*self.table.progress(report))

    def note_first_line(self, graph: Graph, report: ReadReport) -> None:
        """Note a first line that may have named the columns."""
        sample = self.table.layout.sample
        if self.may_name_columns and sample:
            _note_first_line([sample[0][k] for k in self.columns[:2]], graph, report)


def open_edges(
    source: Opened, columns: Columns, options: TextOptions, report: ReadReport
) -> EdgeTable:
    """A table of edges, and which of its columns they are in; the report tells of these."""
    _check_table(source, options)
    if source.format.open_table is None:
        raise FileError(f"{_is_a(source)} a table with rows and columns is needed here")
    table = source.format.open_table(source, options, list(columns.values()))
    chosen = _use(choose_edge_columns(table, columns, source.name), table, report)
    sides = _sides(table, chosen) if options.bipartite else None
    unsure = options.header is None and not table.layout.header and sides is None
    return EdgeTable(table, chosen, sides, unsure)


def load_labels(
    path: str | os.PathLike[str],
    graph: Graph,
    columns: Columns | None = None,
    options: TextOptions | None = None,
    *,
    strict: bool = False,
    hashed: bool = False,
    parsed: Parsed | None = None,
) -> tuple[Labels, ReadReport]:
    """The labels of a file, and what became of it; see `isotherm.read_labels`, `load_graph`."""
    labels, report = gather_labels(
        path, columns, options, known=_known(graph), hashed=hashed, parsed=parsed
    )
    found = labels.of_nodes(graph, report, options or TextOptions(), strict=strict)
    return Labels(found, report.drawn), report


def _known(graph: Graph) -> Known:
    """The share of some ids that a graph has."""

    def share(ids: Sequence[str]) -> float:
        found = graph.nodes.find_texts(pa.array(ids, pa.large_string())) >= 0
        return float(found.mean()) if len(ids) else 0.0

    return share


def gather_labels(
    path: str | os.PathLike[str],
    columns: Columns | None = None,
    options: TextOptions | None = None,
    *,
    known: Known | None = None,
    hashed: bool = False,
    parsed: Parsed | None = None,
) -> tuple[LabelList, ReadReport]:
    """The labels of a file as they are, whatever graph they are for; see `load_labels`.

    Where it is `known` which ids the graph has, that tells the column of the nodes.
    """
    columns, options = columns or {}, options or TextOptions()
    labels = LabelList()
    with open_source(path, options.unpacking, hashed=hashed) as source:
        report = ReadReport(source.name, source.format.name)
        _check_table(source, options)
        if source.format.read_contents is not None:
            contents = _contents(source, source.format.read_contents, parsed)
            labels.add(labels_of(contents, columns, report))
        elif source.format.read_labels is not None:
            labels.add(source.format.read_labels(source, columns, report))
        elif source.format.open_table is not None:
            table = source.format.open_table(source, options, list(columns.values()))
            choice = choose_label_columns(table, columns, source.name, known)
            chosen = _use(choice, table, report)
            names = table.layout.columns
            weight = table.layout.find(None, "weight", source.name)
            if weight is not None and weight not in chosen:
                report.notes.append(words_of_weight(source.name, names[weight]))
            of_result = has_status(names, *(names[k] for k in chosen))
            drawn = find_drawn(names) if table.layout.header else None
            also = {"status": STATUS} if of_result else {}
            if drawn is not None and names.index(drawn) not in chosen:
                also["drawn"] = drawn
            places = [names.index(name) for name in also.values()]
            for batch in table.batches(chosen, report, error=LabelError, empty=True, also=places):
                labels.add(LabelRows(*batch[:3], **dict(zip(also, batch.also, strict=True))))
        else:
            raise LabelError(f"{_is_a(source)} labels are read from {label_formats()}")
        _note_slow(source, report)
        report.checksum = source.checksum()
    if not options.results_as_labels:
        labels.leave_out_guesses(report)
    return labels, report


def _check_table(source: Opened, options: TextOptions) -> None:
    if options.table is not None and not source.format.has_tables:
        raise ParameterError(
            f"{_is_a(source)} it has no tables or sheets to choose from: leave out "
            f"{options.table!r}"
        )


def _is_a(source: Opened) -> str:
    return f"{source.name} is a {source.format.name} file;"


def _use(choice: Choice, table: Table, report: ReadReport) -> list[int]:
    """The columns chosen, which the report then tells of."""
    report.format = table.format
    report.columns = tuple(table.layout.columns[k] for k in choice.columns)
    if choice.why and choice.guessed:
        report.notes.append(f"{report.name}: {choice.why}")
    elif choice.why:
        report.hint(choice.why)
    return choice.columns


def _sides(table: Table, chosen: list[int]) -> tuple[str, str]:
    """What the two kinds of nodes are called: like their columns."""
    if not table.layout.header:
        return "source", "target"
    return table.layout.columns[chosen[0]], table.layout.columns[chosen[1]]


def _note_first_line(ids: list[str], graph: Graph, report: ReadReport) -> None:
    """Note a first line that may have named the columns: nothing else is joined to its two ids."""
    first, second = ids
    if is_number(first) or is_number(second):
        return
    i, j = graph.nodes.find(np.array(ids, dtype=object)).tolist()
    rows = graph.rows
    alone = all(k >= 0 and rows.start[k + 1] - rows.start[k] == 1 for k in (i, j))
    if graph.n_nodes < 4 or not alone or rows.ends[rows.start[i]] != j or i == j:
        return
    report.notes.append(
        f"{report.name}: the first line, {first!r} and {second!r}, was taken for an edge; if "
        "it names the columns, say so with --header (header=True)"
    )
