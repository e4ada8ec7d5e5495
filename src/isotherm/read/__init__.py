"""Files → Graph and labels.

The way of a file:

1. `opening`: a file (`source`), its bytes, unpacked (`unpacking`, `zip_archives`); or the files of
   a folder or a pattern, as one table;
2. `formats`: the table of all formats: recognised by the first bytes, or refused with a reason
   (`recognisers`);
3. `text_table`, `arrow_table`, or `row_table` for what libraries read row by row (`sqlite_table`,
   `excel_table`, `json_files`, `networkx_edges`): opened as a table, a text file by looking at its
   first lines (`layout`); which columns count is said, or told by their names and contents
   (`column_kinds`), never guessed (`columns`);
4. `parse`: rows, block by block;
5. `edges` or `labels`: node ids numbered as they come, then the Graph; labels by node. Weights are
   texts that `numbers` reads, ids may be `similar_ids` or of two sides (`bipartite`), and labels
   may be placeholders or spelt in several ways (`known_labels`); a column may say how sure each is,
   or which of them count (`label_columns`).

What is no table takes one step from 2 to 5: `matrix_market` and `npz` (`arrays`), `networkx_files`
(behind `xml_guard`) and `json_files` by way of `graph_files`.
`faults` makes one kind of error of whatever may go wrong with a file.
`options` is what a user says of a file, `report` what became of it, and `load` runs the steps.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from isotherm.errors import IsothermWarning
from isotherm.read.options import NumberOptions, TextOptions
from isotherm.read.unpacking import MOST_BYTES, MOST_TIMES, UnpackLimit

if TYPE_CHECKING:
    import os

    from isotherm.graph import Graph
    from isotherm.labels import Labels
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
    decimal: str = ".",
    thousands: str | None = None,
    ids: str = "exact",
    bipartite: bool = False,
    table: str | None = None,
    unpack_limit: int = MOST_BYTES,
    unpack_ratio: float = MOST_TIMES,
) -> Graph:
    r"""Graph from a file: a list of edges, a matrix, or a graph format such as GraphML.

    The format is detected from the contents; see ``docs/formats.md``. Ids are text: ``007`` stays
    ``007``. Nodes are in the order in which they first appear.

    Parameters
    ----------
    path : str or Path
        Plain or compressed (gzip, Zstandard, bzip2, xz); ``-`` is standard input. A saved graph
        (`Graph.save`) is not read but mapped.
    source, target, weight : str, optional
        Columns of a list of edges, by name or by number, counted from 1. By default the two whose
        names are a pair (``from`` and ``to``, ``sender_id`` and ``receiver_id``), the two that have
        ids in common, or the only two that may hold ids; if that is not clear, an error lists the
        columns. The weight is by default a column of that name, or, in a file without a header,
        the third of three columns if only that one holds numbers.
    delimiter : str, optional
        One character, ``"tab"`` or ``"space"`` (any white space).
    header : bool, optional
        Whether the first line names the columns.
    comment : str, optional
        Text that begins a comment, which ends with the line. By default only remarks at the top of
        a file, ``# like this``, are comments.
    encoding : str
        Encoding of text files.
    on_error : {"raise", "skip"}
        What to do with a malformed row: ``"skip"`` leaves it out, with a warning at the end that
        counts such rows by what is wrong.
    decimal : {".", ","}
        Decimal mark in weights that are text: numbers in cells of workbooks, JSON, databases or
        Parquet are what they are.
    thousands : str, optional
        Thousands separator in weights. By default any that is clear: ``1,234.50`` is clear, but
        ``1,234`` could be two numbers and is refused.
    ids : {"exact", "normalised"}
        Whether ids that differ only by case, spaces or leading zeros are one node, which then has
        the first of these ids.
    bipartite : bool
        Whether the two columns name different kinds of nodes; see `Graph.from_edges`.
    table : str, optional
        In SQLite the table or a query, ``SELECT …``; in a workbook the sheet, by name or number.
    unpack_limit : int
        The most bytes that a compressed file or a stream may expand to; by default 64 GiB.
    unpack_ratio : float
        How many times its own size a compressed file may expand to, beyond 256 MiB.

    Raises
    ------
    GraphError
        No edges, a malformed row, faulty weights; with the number of the line.
    FileError
        A file that cannot be read, is damaged, is of an unknown format, or unpacks to too much.
    ParameterError
        A column that does not exist.

    Warns
    -----
    IsothermWarning
        About rows left out, ids that differ only by spaces or by type, columns guessed from what
        they hold, and edges whose direction is ignored.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from isotherm import read_graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "edges.csv"
    ...     _ = file.write_text("from,to,weight\nann,bob,2\nbob,cyd,1\n")
    ...     graph = read_graph(file)
    >>> graph, graph.names.tolist()
    (Graph(n_nodes=3, n_edges=2), ['ann', 'bob', 'cyd'])
    """
    from isotherm.read.load import load_graph  # slow to import

    limit = UnpackLimit(unpack_limit, unpack_ratio)
    numbers = NumberOptions(decimal, thousands)
    options = TextOptions(
        delimiter, header, comment, encoding, on_error, limit, numbers, ids, bipartite, table=table
    )
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
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    encoding: str = "utf-8",
    on_error: str = "raise",
    decimal: str = ".",
    thousands: str | None = None,
    ids: str = "exact",
    merge_case: bool = False,
    keep_placeholders: bool = False,
    results_as_labels: bool = False,
    table: str | None = None,
    strict: bool = False,
    unpack_limit: int = MOST_BYTES,
    unpack_ratio: float = MOST_TIMES,
) -> Labels:
    r"""Labels of nodes from a file: a table of nodes, or JSON.

    Parameters
    ----------
    path : str or Path
        As in `read_graph`. A table has a row for each node, with its id and its label in two of
        the columns; JSON is ``{"node": "label"}`` or a list of ``{"node": …, "label": …}``.
    graph : Graph
    node, label : str, optional
        Columns, by name or by number, counted from 1; by default those with these names, or the
        first two. If there are several columns, that of the nodes is the one with ids of the graph.
    delimiter, header, comment, encoding, on_error, decimal, thousands, table
        As in `read_graph`; ``on_error="skip"`` also leaves out nodes with two labels.
    ids : {"exact", "normalised"}
        Whether ids match those of the graph if they differ only by case, spaces or leading zeros.
    merge_case : bool
        Whether labels that differ only by case or spaces are one class.
    keep_placeholders : bool
        Whether labels such as ``N/A``, ``unknown``, ``?`` and ``-`` are classes. By default they
        mean that a label is not known.
    results_as_labels : bool
        Whether guesses are labels, too, where the file is a result of isotherm: one with columns
        ``node``, ``label`` and ``status``. By default only the rows that were given count.
    strict : bool
        Whether a label for a node that is not in the graph is an error.
    unpack_limit, unpack_ratio
        As in `read_graph`.

    Returns
    -------
    Labels
        A dict ``{node: label}``: labels as text, nodes by their ids in the graph. Nodes whose label
        is empty are left out. A column ``drawn`` says which were drawn at random, by true or false;
        an empty cell is false.

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
        About labels of nodes that are not in the graph, rows left out, guesses of a result,
        placeholders, and labels that differ only by case.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from isotherm import Graph, read_labels
    >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cyd"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "known.csv"
    ...     _ = file.write_text("node,label\nann,honest\ncyd,fraud\n")
    ...     read_labels(file, graph)
    {'ann': 'honest', 'cyd': 'fraud'}
    """
    from isotherm.read.load import load_labels  # slow to import

    limit = UnpackLimit(unpack_limit, unpack_ratio)
    options = TextOptions(
        delimiter,
        header,
        comment,
        encoding,
        on_error,
        limit,
        NumberOptions(decimal, thousands),
        ids,
        merge_case=merge_case,
        keep_placeholders=keep_placeholders,
        results_as_labels=results_as_labels,
        table=table,
    )
    columns = {"node": node, "label": label}
    labels, report = load_labels(path, graph, columns, options, strict=strict)
    _warn(report)
    return labels


def _warn(report: ReadReport) -> None:
    for sentence in report.remarks():
        warnings.warn(sentence, IsothermWarning, stacklevel=3)
