"""The file formats: how each is recognised, read, written and listed in the help.

A new format is a module with what it needs of `Format`, and an entry in `FORMATS`. Nothing of a
format is loaded before a file of it is read or written.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from isotherm.errors import FileError, ParameterError
from isotherm.files import SAVED_GRAPH
from isotherm.read.zip_kinds import is_of_arrays, is_open_document, is_workbook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa

    from isotherm.graph import Graph
    from isotherm.read.options import TextOptions
    from isotherm.read.report import ReadReport
    from isotherm.read.table import Columns, LabelRows, Table
    from isotherm.writers.graphs import Edges

    # A source is a `Source` or, of what is read from several files, a `PartedSource`.
    Recogniser = Callable[[bytes, str], bool]  # the first bytes, and the ending of the name
    TableOpener = Callable[[Any, TextOptions, Sequence[str | None]], Table]
    GraphReader = Callable[[Any, ReadReport], Graph]
    LabelReader = Callable[[Any, Columns, ReadReport], LabelRows]
    TableWriter = Callable[[IO[bytes], Iterable[pa.RecordBatch]], str | None]
    GraphWriter = Callable[[IO[bytes], Iterable[pa.RecordBatch], Edges], str | None]


@dataclass(frozen=True)
class Output:
    """A format that predictions are written in.

    Attributes
    ----------
    name : str
    endings : tuple of str
        Of file names that ask for it.
    write : callable or None
        Writes batches of rows to a binary file; returns what the file cannot hold, in words.
    write_graph : callable or None
        In its place: writes nodes, as batches of rows, and edges.
    check_size : callable or None
        Refuses more rows and columns than it can hold.
    is_text : bool
        Whether it may be packed by gzip.
    has_formulas : bool
        Whether spreadsheets open it, and run cells that look like formulas.
    """

    name: str
    endings: tuple[str, ...]
    write: TableWriter | None = None
    write_graph: GraphWriter | None = None
    check_size: Callable[[int, int], None] | None = None
    is_text: bool = True
    has_formulas: bool = False


@dataclass(frozen=True)
class Format:
    """A file format.

    A table (`open_table`) gives edges as well as labels, and its size is estimated from some of its
    pieces. What is no table may give a graph, labels or both, and is estimated by reading it.

    Attributes
    ----------
    name : str
        As reports call it.
    recognised : callable
        Whether a file is of this format, by its first bytes and the ending of its name.
    open_table, read_graph, read_labels : callable or None
        How it is read: with `Source` and what else they need; see the types above.
    outputs : tuple of Output
        How it is written.
    listed_as : tuple of str or None
        Its names in the help; None is `name`.
    has_tables : bool
        Whether a file may hold several tables, of which the user names one.
    refused : str
        Why it is not read, where that is not obvious; the end of a sentence that begins with "is".
    """

    name: str
    recognised: Recogniser
    open_table: TableOpener | None = None
    read_graph: GraphReader | None = None
    read_labels: LabelReader | None = None
    outputs: tuple[Output, ...] = ()
    listed_as: tuple[str, ...] | None = None
    has_tables: bool = False
    refused: str = ""

    @property
    def has_edges(self) -> bool:
        """Whether graphs are read from it."""
        return bool(self.open_table or self.read_graph)

    @property
    def has_labels(self) -> bool:
        """Whether labels are read from it."""
        return bool(self.open_table or self.read_labels)

    @property
    def names(self) -> tuple[str, ...]:
        """Its names in the help."""
        return (self.name,) if self.listed_as is None else self.listed_as


@dataclass(frozen=True)
class Later:
    """A function of a module that is loaded when the function is first called."""

    module: str
    name: str

    def __call__(self, *given: Any) -> Any:
        return getattr(import_module(f"isotherm.{self.module}"), self.name)(*given)


def recognise(head: bytes, ending: str, name: str) -> Format:
    """The format of a file, by its first bytes and the ending of its name.

    Raises
    ------
    FileError
        If it is one that is not read.
    """
    head = _as_utf8(head)
    found = next(entry for entry in reversed(FORMATS) if entry.recognised(head, ending))
    if found.refused:
        raise FileError(f"{name} is {found.refused}")
    return found


def output_for(ending: str, name: str, *, packed: bool = False, graphs: bool = True) -> Output:
    """The format of a file to be written, by the ending of its name.

    Parameters
    ----------
    ending : str
    name : str
        Of the file, for the message.
    packed : bool
        Whether it is packed by gzip.
    graphs : bool
        Whether a graph may be written, or tables only.

    Raises
    ------
    ParameterError
        If the ending stands for none, or for one that is not packed.
    """
    outputs = _outputs(graphs=graphs)
    for output in outputs:
        if ending in output.endings and (output.is_text or not packed):
            return output
    known = ", ".join(ending for output in outputs for ending in output.endings)
    raise ParameterError(f"{name}: the ending chooses the format and must be one of {known}")


def edge_formats() -> str:
    """The formats that graphs are read from, in words.

    Examples
    --------
    >>> edge_formats().split(", ")[:4], edge_formats().split(", ")[-2:]
    (['CSV', 'TSV', 'text', 'Parquet'], ['SQLite', 'Excel or JSON'])
    """
    return in_words([name for entry in FORMATS if entry.has_edges for name in entry.names])


def label_formats() -> str:
    """The formats that labels are read from, in words.

    Examples
    --------
    >>> label_formats()
    'CSV, TSV, text, Parquet, Arrow, npz, GraphML, GEXF, GML, SQLite, Excel or JSON'
    """
    return in_words([name for entry in FORMATS if entry.has_labels for name in entry.names])


def output_formats(*, graphs: bool = True) -> str:
    """The formats that are written, those of graphs too or tables only, with their endings.

    Examples
    --------
    >>> output_formats(graphs=False)
    'CSV (.csv), TSV (.tsv), Parquet (.parquet), Excel (.xlsx), JSON (.json) or JSON lines (.jsonl)'
    """
    outputs = _outputs(graphs=graphs)
    return in_words([f"{output.name} ({output.endings[0]})" for output in outputs])


def _outputs(*, graphs: bool) -> list[Output]:
    outputs = [output for entry in FORMATS for output in entry.outputs]
    return [output for output in outputs if graphs or output.write is not None]


def in_words(names: Sequence[str]) -> str:
    """Names as a list with "or" before the last."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def begins(*marks: bytes) -> Recogniser:
    """Recognise a format by its first bytes."""
    return lambda head, _: head.startswith(marks)


def matches(pattern: bytes) -> Recogniser:
    """Recognise a format of text by its beginning: a regular expression, upper or lower case."""
    expression = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda head, _: bool(expression.match(head.lstrip()))


def _as_utf8(head: bytes) -> bytes:
    """The first bytes of a text as UTF-8, without the mark of its encoding."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = codecs.getincrementaldecoder("utf-16")(errors="ignore").decode(head)
        return text.encode(errors="replace")
    return head.removeprefix(codecs.BOM_UTF8)


def _is_node_link(head: bytes, _: str) -> bool:
    """Whether this is a graph in JSON, as networkx, D3 and Cytoscape write it."""
    return head.lstrip()[:1] == b"{" and bool(_NODE_LINK.search(head))


def _is_pickle(head: bytes, ending: str) -> bool:
    named_so = ending in (".pkl", ".pickle", ".gpickle", ".p")
    return named_so or (head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05")


_GML = rb"(?:#[^\n]*\n\s*|(?:Creator|Version|comment)\b[^\n]*\n\s*)*graph\s*\["

# What may stand before the outermost element; never tried twice, or many remarks would take ages.
_PROLOGUE = rb"(?>(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)\s*)*+"
_GEXF = _PROLOGUE + rb"<(?:\w+:)?gexf\b"
_GRAPHML = _PROLOGUE + rb"<(?:\w+:)?graphml\b"
_WEB = _PROLOGUE + rb"<(?:html|table)\b|<!doctype html"
_XML = rb"<\?xml\b|<!doctype\b|<!--"
_PAJEK = rb"(?:%[^\n]*\n\s*)*\*(?:vertices|network)\b"
_ATTRIBUTES = rb"(?:#[^\n]*\n\s*)*[^\n{}]+[\s,;|]\{[^{}\n]*\}\s*(?:\n|$)"
_NODE_LINK = re.compile(rb'"(?:nodes|links|edges)"\s*:\s*\[')

_WEB_PAGE = (
    "a web page, not a workbook, as some programs export it; open it in a spreadsheet and save it "
    "as .xlsx or CSV"
)
_OPEN_DOCUMENT = "an OpenDocument file, which isotherm does not read; save it as .xlsx or CSV"
_OFFICE = (
    "a workbook with a password, or from Excel before 2007, and isotherm reads neither; save it as "
    ".xlsx without a password, or as CSV"
)
_OTHER_XML = (
    "XML, but its outermost element is neither <graphml> nor <gexf>, so isotherm does not read it; "
    "save it as GraphML, or as a list of edges in CSV"
)
_PICKLE = (
    "a pickle, which can run any program when it is opened, so isotherm does not open it. If you "
    "trust it, load it in Python and pass the graph to Graph.from_networkx or "
    "Graph.from_igraph, or write it as GraphML or a list of edges"
)
_HDF5 = "an HDF5 file, which isotherm does not read; save it as Parquet or CSV"
_TABLES, _GRAPHS, _WORKBOOK = "writers.tables", "writers.graphs", "writers.workbook"
_CSV = Output("CSV", (".csv",), Later(_TABLES, "write_csv"), has_formulas=True)
_TSV = Output("TSV", (".tsv",), Later(_TABLES, "write_tsv"), has_formulas=True)
_JSON = Output("JSON", (".json",), Later(_TABLES, "write_json"))
_LINES = Output("JSON lines", (".jsonl", ".ndjson"), Later(_TABLES, "write_json_lines"))
_PARQUET = Output("Parquet", (".parquet", ".pq"), Later(_TABLES, "write_parquet"), is_text=False)
_EXCEL = Output(
    "Excel",
    (".xlsx",),
    Later(_WORKBOOK, "write_workbook"),
    check_size=Later(_WORKBOOK, "check_size"),
    is_text=False,
)
_GEXF_FILE = Output("GEXF", (".gexf",), write_graph=Later(_GRAPHS, "write_gexf"))
_GRAPHML_FILE = Output("GraphML", (".graphml",), write_graph=Later(_GRAPHS, "write_graphml"))

# In the order of the help. The last that recognises a file has it: text, the first, takes the rest.
# fmt: off
FORMATS = [
    Format("text", lambda *_: True, Later("read.text_table", "TextTable"),
           outputs=(_CSV, _TSV), listed_as=("CSV", "TSV", "text")),
    Format("pickle", _is_pickle, refused=_PICKLE),
    Format("HDF5", begins(b"\x89HDF"), refused=_HDF5),
    Format("Parquet", begins(b"PAR1"), Later("read.arrow_table", "open_parquet"),
           outputs=(_PARQUET,)),
    Format("Arrow", begins(b"ARROW1", b"FEA1"), Later("read.arrow_table", "open_arrow")),
    Format("Arrow stream", begins(b"\xff\xff\xff\xff"),
           Later("read.arrow_table", "open_arrow_stream"), listed_as=()),
    Format("saved graph", begins(SAVED_GRAPH), read_graph=Later("read.saved_graph", "read_graph")),
    Format("MatrixMarket", begins(b"%%MatrixMarket"),
           read_graph=Later("read.matrix_market", "read_graph")),
    Format("npz", is_of_arrays,
           read_graph=Later("read.npz", "read_graph"),
           read_labels=Later("read.npz", "read_labels")),
    Format("other XML", matches(_XML), refused=_OTHER_XML),
    Format("GraphML", matches(_GRAPHML),
           read_graph=Later("read.graph_files.graphml", "read_graph"),
           read_labels=Later("read.graph_files.graphml", "read_labels"),
           outputs=(_GRAPHML_FILE,)),
    Format("web page", matches(_WEB), refused=_WEB_PAGE),
    Format("GEXF", matches(_GEXF),
           read_graph=Later("read.graph_files.gexf", "read_graph"),
           read_labels=Later("read.graph_files.gexf", "read_labels"), outputs=(_GEXF_FILE,)),
    Format("GML", matches(_GML),
           read_graph=Later("read.graph_files.gml", "read_graph"),
           read_labels=Later("read.graph_files.gml", "read_labels")),
    Format("Pajek", matches(_PAJEK),
           read_graph=Later("read.graph_files.pajek", "read_graph")),
    Format("networkx edge list", matches(_ATTRIBUTES),
           Later("read.networkx_edges", "open_edges"), listed_as=()),
    Format("SQLite", begins(b"SQLite format 3\0"), Later("read.sqlite_table", "open_sqlite"),
           has_tables=True),
    Format("Excel", is_workbook, Later("read.excel_table", "open_excel"),
           outputs=(_EXCEL,), has_tables=True),
    Format("OpenDocument", is_open_document, refused=_OPEN_DOCUMENT),
    Format("old or encrypted Office file", begins(b"\xd0\xcf\x11\xe0"), refused=_OFFICE),
    Format("JSON", matches(rb"[{\[]"), Later("read.json_table", "open_json"),
           read_labels=Later("read.json_labels", "read_labels"), outputs=(_JSON, _LINES)),
    Format("JSON graph", _is_node_link,
           read_graph=Later("read.graph_files.node_link", "read_graph"),
           read_labels=Later("read.graph_files.node_link", "read_labels"), listed_as=()),
]
# fmt: on

PARTED = Format("several files", lambda *_: False, Later("read.parts_table", "PartsTable"))
