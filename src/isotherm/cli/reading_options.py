"""How files are read: the options of all commands that read some."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import typer

LIMIT, RATIO = "64GiB", 200.0  # what files may unpack to, see `isotherm.read.unpacking`

in_files = partial(typer.Option, rich_help_panel="What is in the files (detected, if not given)")


@dataclass(frozen=True)
class EdgeOptions:
    """How to read EDGES."""

    source: Annotated[
        str | None, in_files(help="Column of EDGES with one end of each edge, by name or number.")
    ] = None
    target: Annotated[
        str | None, in_files(help="Column of EDGES with the other end of each edge.")
    ] = None
    weight: Annotated[str | None, in_files(help="Column of EDGES with the weights.")] = None
    bipartite: Annotated[
        bool,
        in_files(
            "--bipartite",
            help="The two columns of EDGES name different kinds of nodes: 7 in one and 7 in the "
            "other are two nodes.",
        ),
    ] = False
    edge_table: Annotated[
        str | None,
        in_files(
            "--table",
            help="Which table, query (SQLite) or sheet of EDGES to read, by name or number.",
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        in_files(help="Delimiter of EDGES: a character, 'tab' or 'space' (any white space)."),
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
        in_files(help="'normalised' ignores case, spaces and leading zeros in ids."),
    ] = "exact"
    decimal: Annotated[
        Literal[".", ","], in_files(help="Decimal mark in weights that are text.")
    ] = "."
    thousands: Annotated[
        str | None,
        in_files(help="Thousands separator in weights, such as , or ' or a space."),
    ] = None
    comment: Annotated[
        str | None, in_files(help="Text that begins a comment, which ends with the line.")
    ] = None
    encoding: Annotated[str, in_files(help="Encoding of text files.")] = "utf-8"
    on_error: Annotated[
        Literal["raise", "skip"],
        in_files(help="What to do with malformed rows: stop with an error, or skip them."),
    ] = "raise"
    unpack_limit: Annotated[
        str,
        in_files(
            metavar="SIZE",
            help="Largest size a compressed file or a stream may expand to, such as 64GiB.",
        ),
    ] = LIMIT
    unpack_ratio: Annotated[
        float,
        in_files(
            min=1,
            help="How many times its own size a compressed file may expand to, beyond 256 MiB.",
        ),
    ] = RATIO


@dataclass(frozen=True)
class ReadingOptions(EdgeOptions):
    """How to read EDGES and LABELS."""

    node: Annotated[
        str | None, in_files(help="Column of LABELS with the node, by name or number.")
    ] = None
    label: Annotated[str | None, in_files(help="Column of LABELS with the label.")] = None
    label_table: Annotated[
        str | None,
        in_files(help="Which table, query (SQLite) or sheet of LABELS to read."),
    ] = None
    label_delimiter: Annotated[str | None, in_files(help="Delimiter of LABELS.")] = None
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
        in_files("--merge-case", help="Merge labels that differ only by case or spaces."),
    ] = False
    keep_placeholders: Annotated[
        bool,
        in_files(
            "--keep-placeholders",
            help="Keep N/A, unknown, ? and - as classes; by default they mean unknown.",
        ),
    ] = False
    results_as_labels: Annotated[
        bool,
        in_files(
            "--results-as-labels",
            help="If LABELS is a result of isotherm, take guesses as labels, too; by default only "
            "rows that were given count.",
        ),
    ] = False
    strict: Annotated[
        bool, in_files("--strict", help="Fail on labels for nodes not in the graph.")
    ] = False
