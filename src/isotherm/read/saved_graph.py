"""A graph that `Graph.save` or ``isotherm build`` wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.errors import FileError
from isotherm.graph.saved import open_graph

if TYPE_CHECKING:
    from isotherm.graph import Graph
    from isotherm.read.report import ReadReport
    from isotherm.read.source import Source


def read_graph(source: Source, report: ReadReport) -> Graph:
    """Open it where it is.

    Raises
    ------
    FileError
        If it is packed or comes from a stream, and so cannot be mapped.
    """
    if source.path is None:
        raise FileError(
            f"{source.name} is a saved graph, which must be an unpacked file on disk: unpack it, "
            "and name the file"
        )
    graph = open_graph(source.path)
    report.n_rows = graph.n_edges
    return graph
