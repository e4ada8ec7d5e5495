"""The file formats: how each is recognised, read, written and listed in the help.

A new format is a module with what it needs of `Format`, and an entry in `FORMATS`. Nothing of a
format is loaded before a file of it is read or written.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, Any

from isotherm.errors import FileError, MissingLibrary, ParameterError
from isotherm.files import SAVED_GRAPH
from isotherm.read import recognisers
from isotherm.read.recognisers import as_utf8, begins, is_node_link, is_pickle, matches
from isotherm.read.zip_archives import is_of_arrays, is_open_document, is_workbook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa

    from isotherm.graph import Graph
    from isotherm.read.graph_files import Contents
    from isotherm.read.options import TextOptions
    from isotherm.read.recognisers import Recogniser
    from isotherm.read.report import ReadReport
    from isotherm.read.table import Columns, LabelRows, Table
    from isotherm.writers.graphs import Edges

    # A source is a `Source` or, of what is read from several files, a `PartedSource`.
    TableOpener = Callable[[Any, TextOptions, Sequence[str | None]], Table]
    GraphReader = Callable[[Any, ReadReport], Graph]
    LabelReader = Callable[[Any, Columns, ReadReport], LabelRows]
    TableWriter = Callable[[IO[bytes], Iterable[pa.RecordBatch]], str | None]
    ContentsReader = Callable[[Any], Contents]
    GraphWriter = Callable[[IO[bytes], Iterable[pa.RecordBatch], Edges], str | None]


@dataclass(frozen=True)
class Output:
    """A format that predictions are written in."""

    name: str
    endings: tuple[str, ...]  # of file names that ask for it
    write: TableWriter | None = None  # returns what the file cannot hold, in words
    write_graph: GraphWriter | None = None  # in its place: nodes, as batches of rows, and edges
    # Refuses more rows, columns and edges than it, or the memory, can hold.
    check_size: Callable[[int, int, int], None] | None = None
    is_text: bool = True  # so it may be packed by gzip
    has_formulas: bool = False  # spreadsheets open it, and run cells that look like formulas
    library: str = ""  # that is needed to write it


@dataclass(frozen=True)
class Format:
    """A file format.

    A table (`open_table`) gives edges as well as labels, and its size is estimated from some of its
    pieces. What is no table may give a graph, labels or both, and is estimated by reading it.
    """

    name: str  # as reports call it
    recognised: Recogniser
    # How it is read: with `Source` and what else they need; see the types above.
    open_table: TableOpener | None = None
    read_graph: GraphReader | None = None
    read_labels: LabelReader | None = None
    outputs: tuple[Output, ...] = ()  # how it is written
    listed_as: tuple[str, ...] | None = None  # its names in the help; None is `name`
    has_tables: bool = False  # whether a file may hold several, of which the user names one
    refused: str = ""  # why it is not read: the end of a sentence that begins with "is"
    # In place of the last two readers, of what lists nodes with attributes, and edges.
    read_contents: ContentsReader | None = None
    library: str = ""  # that is needed to read it
    memory: float = 0.0  # bytes that are needed for each byte of text, where that is much
    seconds: float = 0.0  # for each megabyte of text, where that is much

    def check_library(self, name: str) -> None:
        """Refuse a file that a library is needed to read, where that is missing."""
        check_library(self.library, f"{name} is {self.name}, and reading it")

    @property
    def has_edges(self) -> bool:
        """Whether graphs are read from it."""
        return bool(self.open_table or self.read_graph or self.read_contents)

    @property
    def has_labels(self) -> bool:
        """Whether labels are read from it."""
        return bool(self.open_table or self.read_labels or self.read_contents)

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
    """The format of a file, by its first bytes and the ending of its name."""
    head = as_utf8(head)
    found = next(entry for entry in reversed(FORMATS) if entry.recognised(head, ending))
    if found.refused:
        raise FileError(f"{name} is {found.refused}")
    return found


def check_library(library: str, what: str) -> None:
    """Refuse what a library is needed for, where that is missing, before any work is done."""
    if library and find_spec(library) is None:
        raise MissingLibrary(
            f"{what} needs {library}, which is not installed: pip install networkx openpyxl"
        )


def output_for(ending: str, name: str, *, packed: bool = False, graphs: bool = True) -> Output:
    """The format of a file to be written, by the ending of its name."""
    outputs = _outputs(graphs=graphs)
    for output in outputs:
        if ending in output.endings and (output.is_text or not packed):
            check_library(output.library, f"{name} is {output.name}, and writing it")
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


_NETWORKX = "read.networkx_files"
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
_GML_FILE = Output(
    "GML",
    (".gml",),
    write_graph=Later(_GRAPHS, "write_gml"),
    check_size=Later(_GRAPHS, "check_gml_size"),
    library="networkx",
)

# In the order of the help. The last that recognises a file has it: text, the first, takes the rest.
# fmt: off
FORMATS = [
    Format("text", lambda *_: True, Later("read.text_table", "TextTable"),
           outputs=(_CSV, _TSV), listed_as=("CSV", "TSV", "text")),
    Format("pickle", is_pickle, refused=recognisers.PICKLE),
    Format("HDF5", begins(b"\x89HDF"), refused=recognisers.HDF5),
    Format("Parquet", begins(b"PAR1"), Later("read.arrow_table", "open_parquet"),
           outputs=(_PARQUET,)),
    Format("Arrow", begins(b"ARROW1", b"FEA1"), Later("read.arrow_table", "open_arrow")),
    Format("Arrow stream", begins(b"\xff\xff\xff\xff"),
           Later("read.arrow_table", "open_arrow_stream"), listed_as=()),
    Format("saved graph", begins(SAVED_GRAPH),
           read_graph=Later("read.load", "read_saved_graph")),
    Format("MatrixMarket", begins(b"%%MatrixMarket"),
           read_graph=Later("read.matrix_market", "read_graph")),
    Format("npz", is_of_arrays,
           read_graph=Later("read.npz", "read_graph"),
           read_labels=Later("read.npz", "read_labels"), memory=3),
    Format("other XML", recognisers.is_xml, refused=recognisers.OTHER_XML),
    Format("GraphML", recognisers.is_graphml, read_contents=Later(_NETWORKX, "read_graphml"),
           library="networkx", memory=24, seconds=0.4, outputs=(_GRAPHML_FILE,)),
    Format("web page", recognisers.is_web_page, refused=recognisers.WEB_PAGE),
    Format("GEXF", recognisers.is_gexf, read_contents=Later(_NETWORKX, "read_gexf"),
           library="networkx", memory=21, seconds=0.25, outputs=(_GEXF_FILE,)),
    Format("GML", recognisers.is_gml, read_contents=Later(_NETWORKX, "read_gml"),
           library="networkx", memory=15, seconds=0.65, outputs=(_GML_FILE,)),
    Format("Pajek", recognisers.is_pajek, refused=recognisers.PAJEK_FILE),
    Format("networkx edge list", recognisers.has_attributes,
           Later("read.networkx_edges", "open_edges"), listed_as=(), library="networkx"),
    Format("SQLite", begins(b"SQLite format 3\0"), Later("read.sqlite_table", "open_sqlite"),
           has_tables=True),
    Format("Excel", is_workbook, Later("read.excel_table", "open_excel"),
           outputs=(_EXCEL,), has_tables=True, library="openpyxl", seconds=1.5),
    Format("OpenDocument", is_open_document, refused=recognisers.OPEN_DOCUMENT),
    Format("old or encrypted Office file", begins(b"\xd0\xcf\x11\xe0"), refused=recognisers.OFFICE),
    Format("JSON", matches(rb"[{\[]"), Later("read.json_files", "open_json"),
           read_labels=Later("read.json_files", "read_labels"), outputs=(_JSON, _LINES),
           memory=10),
    Format("JSON graph", is_node_link, listed_as=(), memory=10,
           read_contents=Later("read.json_files", "read_node_link")),
]
# fmt: on

PARTED = Format("several files", lambda *_: False, Later("read.opening", "PartsTable"))
