"""How formats are told by the first bytes of a file, and why those of some are not read."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Recogniser = Callable[[bytes, str], bool]  # the first bytes, and the ending of the name


def begins(*marks: bytes) -> Recogniser:
    """Recognise a format by its first bytes."""
    return lambda head, _: head.startswith(marks)


def matches(pattern: bytes) -> Recogniser:
    """Recognise a format of text by its beginning: a regular expression, upper or lower case."""
    expression = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda head, _: bool(expression.match(head.lstrip()))


def as_utf8(head: bytes) -> bytes:
    """The first bytes of a text as UTF-8, without the mark of its encoding."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = codecs.getincrementaldecoder("utf-16")(errors="ignore").decode(head)
        return text.encode(errors="replace")
    return head.removeprefix(codecs.BOM_UTF8)


def is_node_link(head: bytes, _: str) -> bool:
    """Whether this is a graph in JSON, as networkx, D3 and Cytoscape write it."""
    return head.lstrip()[:1] == b"{" and bool(_NODE_LINK.search(head))


def is_pickle(head: bytes, ending: str) -> bool:
    """Whether this is a pickle, or is named like one."""
    named_so = ending in (".pkl", ".pickle", ".gpickle", ".p")
    return named_so or (head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05")


is_gml = matches(rb"(?:#[^\n]*\n\s*|(?:Creator|Version|comment)\b[^\n]*\n\s*)*graph\s*\[")

# What may stand before the outermost element; never tried twice, or many remarks would take ages.
_PROLOGUE = rb"(?>(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)\s*)*+"
is_gexf = matches(_PROLOGUE + rb"<(?:\w+:)?gexf\b")
is_graphml = matches(_PROLOGUE + rb"<(?:\w+:)?graphml\b")
is_web_page = matches(_PROLOGUE + rb"<(?:html|table)\b|<!doctype html")
is_xml = matches(rb"<\?xml\b|<!doctype\b|<!--")
is_pajek = matches(rb"(?:%[^\n]*\n\s*)*\*(?:vertices|network)\b")
has_attributes = matches(rb"(?:#[^\n]*\n\s*)*[^\n{}]+[\s,;|]\{[^{}\n]*\}\s*(?:\n|$)")
_NODE_LINK = re.compile(rb'"(?:nodes|links|edges)"\s*:\s*\[')

# Ends of sentences with "is", for what is refused.
WEB_PAGE = (
    "a web page, not a workbook, as some programs export it; open it in a spreadsheet and save it "
    "as .xlsx or CSV"
)
OPEN_DOCUMENT = "an OpenDocument file, which isotherm does not read; save it as .xlsx or CSV"
OFFICE = (
    "a workbook with a password, or from Excel before 2007, and isotherm reads neither; save it as "
    ".xlsx without a password, or as CSV"
)
OTHER_XML = (
    "XML, but its outermost element is neither <graphml> nor <gexf>, so isotherm does not read it; "
    "save it as GraphML, or as a list of edges in CSV"
)
PICKLE = (
    "a pickle, which can run any program when it is opened, so isotherm does not open it. If you "
    "trust it, load it in Python and pass the graph to Graph.from_networkx or "
    "Graph.from_igraph, or write it as GraphML or a list of edges"
)
HDF5 = "an HDF5 file, which isotherm does not read; save it as Parquet or CSV"
PAJEK_FILE = (
    "a Pajek file, which isotherm does not read: its dialects are too many to be sure that the "
    "graph is the one you mean. Open it in Pajek, Gephi or igraph (Graph.Read_Pajek) and save it "
    "as GraphML or as a list of edges"
)
