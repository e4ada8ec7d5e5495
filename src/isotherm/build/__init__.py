"""Files of edges → a saved graph, in as much memory as is allowed.

The way of an edge: read and its ends numbered (`spill`), put into a temporary file, and from there
into that of its rows (`sorting`), which are sorted, merged and written range by range. Only names
and arrays over nodes are in memory as a whole; `plan` says how much that is, `folder` is where the
temporary files are.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from isotherm.build.folder import BuildFolder
from isotherm.build.plan import check_in_memory, plan_build
from isotherm.build.sorting import write_rows
from isotherm.build.spill import spill_edges
from isotherm.compiled import core
from isotherm.errors import FileError
from isotherm.files import check_output, check_replaceable, written
from isotherm.graph.saved.mapped import open_graph
from isotherm.graph.saved.writer import GraphWriter, sync_folder
from isotherm.graph.texts import buffers_of
from isotherm.pipeline import Silent
from isotherm.read.load import graph_of_source, open_edges
from isotherm.read.opening import open_source
from isotherm.read.options import TextOptions
from isotherm.read.report import ReadReport
from isotherm.read.source import STANDARD_INPUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isotherm.build.plan import Plan
    from isotherm.graph import Graph
    from isotherm.pipeline import Stages
    from isotherm.read.opening import PartedSource
    from isotherm.read.source import Source
    from isotherm.read.table import Columns

logger = logging.getLogger(__name__)


class Built(NamedTuple):
    """A graph that was built, and what became of its files."""

    graph: Graph
    report: ReadReport


def build_graph(
    edges: Sequence[str],
    out: str,
    columns: Columns | None = None,
    options: TextOptions | None = None,
    *,
    memory: int | None = None,
    force: bool = False,
    stages: Stages | None = None,
) -> Built:
    """Build a saved graph: the same, bit for bit, as `read_graph` and `Graph.save` would.

    Parameters
    ----------
    edges : sequence of str
        Files, folders or patterns.
    out : str
        The file to write.
    columns, options
        See `isotherm.read.load.load_graph`.
    memory : int, optional
        The most bytes to use, those of the program included; by default half of what is free.
    force : bool
        Whether a file that is there is replaced.
    stages : Stages, optional
        What shows the progress.

    Raises
    ------
    NotEnoughMemory
        If it takes more memory than allowed; says how much would do.
    FileError
        If there is too little room on the disk, or a file cannot be read or written.
    """
    place, stages = Path(out), stages or Silent()
    columns, options = columns or {}, options or TextOptions()
    if any(place.exists() and place.samefile(name) for name in edges if Path(name).exists()):
        raise FileError(f"{out} is one of the edge files: name another file for the graph")
    with written(out):
        check_output(place, force=force)
    with open_source(edges, options.unpacking) as source:
        by_parts = source.format.open_table is not None and options.ids == "exact"
        known = STANDARD_INPUT not in edges
        if core is None or not by_parts:
            if known and memory is not None:
                check_in_memory(edges, columns, options, memory)
            return _build_in_memory(source, place, columns, options, stages, force=force)
    with stages.stage(f"inspecting {edges[0]}"):
        plan = plan_build(edges if known else None, columns, options, memory, place)
    if plan.words:
        stages.hint(plan.words)
    with (
        written(out),
        BuildFolder(place) as folder,
        open_source(edges, options.unpacking) as source,
    ):
        report = _write(source, folder, columns, options, plan, stages)
        check_replaceable(place)
        (folder / "graph").replace(place)
        sync_folder(place.parent)
    graph = open_graph(place)
    return Built(graph, report)


def _build_in_memory(
    source: Source | PartedSource,
    place: Path,
    columns: Columns,
    options: TextOptions,
    stages: Stages,
    *,
    force: bool,
) -> Built:
    """What is no table, or whose ids are merged, is read as a whole."""
    with stages.stage(f"reading {source.name}") as show:
        graph, report = graph_of_source(source, columns, options, show)
    with stages.stage(f"writing {place}"):
        graph.save(place, force=force)
    return Built(open_graph(place), report)


def _write(
    source: Source | PartedSource,
    folder: Path,
    columns: Columns,
    options: TextOptions,
    plan: Plan,
    stages: Stages,
) -> ReadReport:
    """Write the graph to the folder; what became of its files."""
    report = ReadReport(source.name, source.format.name)
    table = open_edges(source, columns, options, report)
    with stages.stage(f"reading {source.name}") as show:
        spill, texts = spill_edges(table, report, folder, plan, show)
    with (folder / "graph").open("xb") as file:
        writer = GraphWriter(file)
        with stages.stage("writing names"):
            writer.put_texts(*buffers_of(texts))
        n_nodes = len(texts)
        del texts  # room for the rows
        with stages.stage("sorting edges") as show:
            n_loops = write_rows(spill, n_nodes, writer, plan, show)
        writer.finish(n_loops, table.sides)
    if table.may_name_columns and table.table.layout.sample:
        table.note_first_line(open_graph(folder / "graph"), report)
    logger.info("wrote %d nodes to %s", n_nodes, folder)
    return report
