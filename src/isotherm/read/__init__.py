"""Files → Graph and labels.

The way of a file:

1. `source`: its bytes, unpacked (`unpacking`);
2. `formats`: recognised by the first of them; the table of all formats;
3. `text_table` or `arrow_table`: opened as a table, a text file by looking at its first lines
   (`layout`); which columns count is said or guessed (`columns`);
4. `parse`: rows, block by block;
5. `edges` or `labels`: node ids numbered as they come, then the Graph; labels by node.

What is no table takes one step from 2 to 5: `matrix_market`, `npz`, `graph_files`, `json_labels`.
`options` is what a user says of a file, `report` what became of it, and `load` runs the steps.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from isotherm.errors import IsothermWarning
from isotherm.read.options import TextOptions
from isotherm.read.unpacking import MOST_BYTES, MOST_TIMES, UnpackLimit

if TYPE_CHECKING:
    import os

    from isotherm.graph import Graph
    from isotherm.read.report import ReadReport


def read_graph(
    path: str | os.PathLike[str],
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    encoding: str = "utf-8",
    on_error: str = "raise",
    unpack_limit: int = MOST_BYTES,
    unpack_ratio: float = MOST_TIMES,
) -> Graph:
    """Graph from a file: a list of edges, a matrix, GraphML or GML.

    What the file is, is found by looking at it; see ``docs/formats.md``. Ids are text: ``007``
    stays ``007``. Nodes are in the order in which they first appear.

    Parameters
    ----------
    path : str or Path
        Plain or packed (gzip, Zstandard, bzip2, xz); ``-`` is standard input.
    source, target, weight : str, optional
        Columns of a list of edges, by name or by number from 1 on. By default those named so, or
        the first two; and as a weight a column of that name, or the third of three columns of
        which it is the one of numbers, in a file without a header.
    delimiter : str, optional
        One character, ``"tab"`` or ``"space"`` (any white space).
    header : bool, optional
        Whether the first line names the columns.
    comment : str, optional
        Where this stands, the rest of a line is not read. By default nothing is a comment but
        remarks at the top of a file, ``# like this``.
    encoding : str
        Of text.
    on_error : {"raise", "skip"}
        What to do with a malformed row: ``"skip"`` leaves it out, with a warning at the end.
    unpack_limit : int
        The most bytes that a packed file or a stream may unpack to; by default 64 GiB.
    unpack_ratio : float
        The most times its own size that a packed file may unpack to; counts above 256 MiB.

    Raises
    ------
    GraphError
        No edges, a malformed row, faulty weights; with the number of the line.
    FileError
        A file that cannot be read, is damaged, is of an unknown format, or unpacks to too much.
    ParameterError
        A column that is not there.

    Warns
    -----
    IsothermWarning
        About rows left out, and ids that differ only by spaces or by type.
    """
    from isotherm.read.load import load_graph  # slow to import

    limit = UnpackLimit(unpack_limit, unpack_ratio)
    options = TextOptions(delimiter, header, comment, encoding, on_error, limit)
    columns = {"source": source, "target": target, "weight": weight}
    graph, report = load_graph(path, columns, options)
    _warn(report)
    return graph


def read_labels(
    path: str | os.PathLike[str],
    graph: Graph,
    *,
    node: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    encoding: str = "utf-8",
    on_error: str = "raise",
    strict: bool = False,
    unpack_limit: int = MOST_BYTES,
    unpack_ratio: float = MOST_TIMES,
) -> dict[str, str]:
    """Labels of nodes from a file: a table of nodes, or JSON.

    Parameters
    ----------
    path : str or Path
        As in `read_graph`. A table has a row for each node, its id and its label in two of the
        columns; JSON is ``{"node": "label"}`` or a list of ``{"node": …, "label": …}``.
    graph : Graph
    node, label, weight : str, optional
        Columns, by name or by number from 1 on; by default those named so, or the first two.
        Where a node comes more than once the label of the greatest weight counts.
    delimiter, header, comment, encoding, on_error
        As in `read_graph`.
    strict : bool
        Whether a label for a node that is not in the graph is an error.
    unpack_limit, unpack_ratio
        As in `read_graph`.

    Returns
    -------
    dict
        ``{node: label}``, texts. Nodes whose label is empty are left out.

    Raises
    ------
    LabelError
        No label at all, two different labels for one node, a malformed row.
    UnknownNode
        No node of the file is in the graph; or, if `strict`, some are not.
    FileError, ParameterError
        As in `read_graph`.

    Warns
    -----
    IsothermWarning
        About labels of nodes that are not in the graph, and rows left out.
    """
    from isotherm.read.load import load_labels  # slow to import

    limit = UnpackLimit(unpack_limit, unpack_ratio)
    options = TextOptions(delimiter, header, comment, encoding, on_error, limit)
    columns = {"node": node, "label": label, "weight": weight}
    labels, report = load_labels(path, graph, columns, options, strict=strict)
    _warn(report)
    return labels


def _warn(report: ReadReport) -> None:
    for sentence in report.remarks():
        warnings.warn(sentence, IsothermWarning, stacklevel=3)
