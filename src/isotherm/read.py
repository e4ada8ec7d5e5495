"""Files → Graph and labels: text with one edge, or one labelled node, per line."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotherm.errors import GraphError, IsothermError, LabelError
from isotherm.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    Rows = Iterator[tuple[int, list[str]]]

DELIMITERS = {".csv": ",", ".tsv": "\t"}  # anything else is split at white space
HEADERS = {"source", "target", "from", "to", "src", "dst", "node", "id", "label", "class", "weight"}


def read_graph(path: str | Path) -> Graph:
    """Graph from a list of edges: two node ids per line, and a weight if there is a third column.

    Comma-separated (``.csv``), tab-separated (``.tsv``) or split at white space (any other ending),
    plain or compressed (``.gz``). Ids are text, as written. A first line of column names is
    recognised (``source,target,weight`` and the like); empty lines, and lines that begin with ``#``
    where columns are split at white space, are skipped.

    Raises
    ------
    GraphError
        A line with too few or too many columns, or a weight that is no number; the message has the
        number of the line.
    OSError
        If the file cannot be read.
    """
    source, target, weights = [], [], []
    for number, cells in _rows(Path(path), GraphError):
        if len(cells) not in (2, 3):
            raise GraphError(
                f"{path}, line {number}: an edge is two node ids and perhaps a weight, not "
                f"{len(cells)} columns: {_shown(cells)}"
            )
        source.append(cells[0])
        target.append(cells[1])
        if len(cells) == 3:
            weights.append(_number(cells[2], f"{path}, line {number}"))
    if not source:
        raise GraphError(f"{path}: no edges")
    if weights and len(weights) != len(source):
        raise GraphError(f"{path}: only {len(weights)} of {len(source)} edges have a weight")
    return Graph.from_edges(source, target, weights or None)


def read_labels(path: str | Path, graph: Graph) -> dict[str, str]:
    """Labels of nodes: one node id and its label per line, in a file as `read_graph` takes.

    Raises
    ------
    LabelError
        A line without exactly two columns, a node with two labels, no label at all.
    UnknownNode
        A node that is not in the graph.
    """
    labels: dict[str, str] = {}
    for number, cells in _rows(Path(path), LabelError):
        if len(cells) != 2:
            raise LabelError(
                f"{path}, line {number}: a node id and its label wanted, not {len(cells)} "
                f"columns: {_shown(cells)}"
            )
        node, label = cells
        if labels.setdefault(node, label) != label:
            raise LabelError(f"{path}, line {number}: node {node!r} has two labels")
    if not labels:
        raise LabelError(f"{path}: no labels")
    graph.positions(labels)
    return labels


def _rows(path: Path, error: type[IsothermError]) -> Rows:
    """The cells of each line that has any, with its number; without a line of column names."""
    packed = path.suffix == ".gz"
    delimiter = DELIMITERS.get(path.with_suffix("").suffix if packed else path.suffix)
    opener: Any = gzip.open if packed else open
    try:
        with opener(path, "rt", encoding="utf-8", newline="") as file:
            lines = csv.reader(file, delimiter=delimiter) if delimiter else _split(file)
            first = True
            for number, cells in enumerate(lines, start=1):
                if not any(cells):
                    continue
                if not first or not HEADERS.issuperset(cell.strip().lower() for cell in cells):
                    yield number, [cell.strip() for cell in cells]
                first = False
    except (UnicodeDecodeError, csv.Error, EOFError, gzip.BadGzipFile) as fault:
        raise error(f"{path} cannot be read as text: {fault}") from None


def _split(lines: Any) -> Iterator[list[str]]:
    for line in lines:
        yield [] if line.startswith("#") else line.split()


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise GraphError(f"{where}: a weight is a number, not {text!r}") from None


def _shown(cells: list[str]) -> str:
    text = ", ".join(cells)
    return text if len(text) <= 80 else text[:77] + "…"
