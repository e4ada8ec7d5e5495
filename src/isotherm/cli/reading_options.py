"""How files are read: the options of all commands that read some."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import typer

LIMIT, RATIO = "64GiB", 200.0  # what files may unpack to, see `isotherm.read.unpacking`

in_files = partial(
    typer.Option, rich_help_panel="What is in the files (found by looking, if not said)"
)


@dataclass(frozen=True)
class EdgeOptions:
    """How to read EDGES."""

    source: Annotated[
        str | None, in_files(help="Column of EDGES with one end, by name or number.")
    ] = None
    target: Annotated[str | None, in_files(help="Column of EDGES with the other end.")] = None
    weight: Annotated[str | None, in_files(help="Column of EDGES with weights.")] = None
    bipartite: Annotated[
        bool,
        in_files(
            "--bipartite",
            help="The two columns of EDGES have ids of their own: 7 and 7 are two nodes.",
        ),
    ] = False
    edge_table: Annotated[
        str | None,
        in_files(
            "--table",
            help="Of EDGES: the table or query (SQLite), or the sheet, by name or number.",
        ),
    ] = None
    delimiter: Annotated[
        str | None, in_files(help="Of EDGES: a character, 'tab' or 'space' (any white space).")
    ] = None
    header: Annotated[
        bool | None,
        in_files(
            "--header/--no-header",
            help="Whether the first line of EDGES names the columns.",
            show_default=False,
        ),
    ] = None
    ids: Annotated[
        Literal["exact", "normalised"],
        in_files(help="'normalised': case, blanks and leading zeros of ids do not count."),
    ] = "exact"
    decimal: Annotated[
        Literal[".", ","], in_files(help="Point or comma of decimal numbers in weights.")
    ] = "."
    thousands: Annotated[
        str | None,
        in_files(help="What stands between thousands in weights, such as , or ' or a blank."),
    ] = None
    comment: Annotated[
        str | None, in_files(help="Where this stands, the rest of a line is a comment.")
    ] = None
    encoding: Annotated[str, in_files(help="Of text files.")] = "utf-8"
    on_error: Annotated[
        Literal["raise", "skip"], in_files(help="What to do with malformed rows.")
    ] = "raise"
    unpack_limit: Annotated[
        str,
        in_files(
            metavar="SIZE",
            help="Most that a packed file or a stream may unpack to, such as 500MB or 64GiB.",
        ),
    ] = LIMIT
    unpack_ratio: Annotated[
        float,
        in_files(
            min=1,
            help="Most times its own size that a packed file may unpack to; counts above 256 MiB.",
        ),
    ] = RATIO


@dataclass(frozen=True)
class ReadingOptions(EdgeOptions):
    """How to read EDGES and LABELS."""

    node: Annotated[
        str | None, in_files(help="Column of LABELS with the node, by name or number.")
    ] = None
    label: Annotated[str | None, in_files(help="Column of LABELS with the label.")] = None
    label_weight: Annotated[
        str | None,
        in_files(
            help="Column of LABELS with weights: of several labels of a node the heaviest counts."
        ),
    ] = None
    label_table: Annotated[str | None, in_files(help="Of LABELS, as --table.")] = None
    label_delimiter: Annotated[str | None, in_files(help="Of LABELS, as --delimiter.")] = None
    label_header: Annotated[
        bool | None,
        in_files(
            "--label-header/--label-no-header",
            help="Whether the first line of LABELS names the columns.",
            show_default=False,
        ),
    ] = None
    merge_case: Annotated[
        bool,
        in_files("--merge-case", help="Labels that differ only by case or blanks are one class."),
    ] = False
    keep_placeholders: Annotated[
        bool,
        in_files(
            "--keep-placeholders",
            help="Labels such as N/A, unknown, ? and - are classes; else they mean: not known.",
        ),
    ] = False
    strict: Annotated[
        bool, in_files("--strict", help="Fail on labels for nodes not in the graph.")
    ] = False
