"""Options that several commands share."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

import typer

from isotherm.decision import DECISIONS
from isotherm.read.formats import edge_formats, label_formats

READING = "What is in the files (found by looking, if not said)"
MODEL = "Model"
OUTPUT = "Output"

Decision = StrEnum("Decision", {name: name for name in (*DECISIONS, "auto")})  # type: ignore[misc]
PAPER = Decision("centered")
LIMIT, RATIO = "64GiB", 200.0  # what files may unpack to, see `isotherm.read.unpacking`


def parse_confidence(text: str | None) -> float | str | None:
    """A confidence as a user writes it: a number, or else the name of a column."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def parse_leak(text: str) -> float | str:
    """A leak as a user writes it: a number that is not negative, or ``auto``."""
    if text == "auto":
        return text
    try:
        leak = float(text)
    except ValueError:
        leak = -1.0
    if not 0 <= leak < float("inf"):
        raise typer.BadParameter(
            f"a number that is not negative, or auto; not {text!r}", param_hint="--leak"
        )
    return leak


def parse_size(text: str) -> int:
    """A number of bytes as a user writes it.

    Examples
    --------
    >>> parse_size("512"), parse_size("64GiB") == 64 << 30, parse_size("1.5 GB")
    (512, True, 1500000000)
    """
    found = re.fullmatch(r"([0-9]*\.?[0-9]+) *([kmgt]?)(i?b?)", text.strip().lower())
    if found is None:
        raise typer.BadParameter(f"a number of bytes such as 500MB or 64GiB, not {text!r}")
    number, unit, kind = found.groups()
    step = 1000 if kind == "b" else 1024  # GB and GiB
    return max(1, round(float(number) * float(step ** " kmgt".index(unit or " "))))


class OnError(StrEnum):
    """What to do with a malformed row."""

    RAISE = "raise"
    SKIP = "skip"


class Unreached(StrEnum):
    """What to do with nodes that no heat reaches."""

    ABSTAIN = "abstain"
    ZERO = "zero"


class Stop(StrEnum):
    """When to stop solving."""

    TOLERANCE = "tolerance"
    LABELS = "labels"


class Solver(StrEnum):
    """How to solve."""

    AUTO = "auto"
    CG = "cg"
    DIRECT = "direct"
    SWEEPS = "sweeps"
    ELIMINATION = "elimination"


class Engine(StrEnum):
    """What computes."""

    AUTO = "auto"
    NATIVE = "native"
    SCIPY = "scipy"


Confidence = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|COLUMN",
        help="How sure labels are, above 0 and up to 1, or the column of LABELS that says it; "
        "below 1 neighbours may overrule them.",
        rich_help_panel=MODEL,
    ),
]

Edges = Annotated[
    str,
    typer.Argument(
        metavar="EDGES",
        help=f"The graph: {edge_formats()}, plain or packed (gz, zst, bz2, xz); - is standard "
        "input.",
        show_default=False,
    ),
]
Labels = Annotated[
    str,
    typer.Argument(
        metavar="LABELS",
        help=f"Known labels: {label_formats()}.",
        show_default=False,
    ),
]
Source = Annotated[
    str | None,
    typer.Option(help="Column of EDGES with one end, by name or number.", rich_help_panel=READING),
]
Target = Annotated[
    str | None,
    typer.Option(help="Column of EDGES with the other end.", rich_help_panel=READING),
]
Weight = Annotated[
    str | None, typer.Option(help="Column of EDGES with weights.", rich_help_panel=READING)
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Of EDGES: a character, 'tab' or 'space' (any white space).", rich_help_panel=READING
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of EDGES names the columns.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Comment = Annotated[
    str | None,
    typer.Option(
        help="Where this stands, the rest of a line is a comment.", rich_help_panel=READING
    ),
]
Encoding = Annotated[str, typer.Option(help="Of text files.", rich_help_panel=READING)]
ErrorRule = Annotated[
    OnError,
    typer.Option("--on-error", help="What to do with malformed rows.", rich_help_panel=READING),
]
UnpackedSize = Annotated[
    int,
    typer.Option(
        "--unpack-limit",
        metavar="SIZE",
        parser=parse_size,
        help="Most that a packed file or a stream may unpack to, such as 500MB or 64GiB.",
        rich_help_panel=READING,
    ),
]
UnpackedRatio = Annotated[
    float,
    typer.Option(
        "--unpack-ratio",
        min=1,
        help="Most times its own size that a packed file may unpack to; counts above 256 MiB.",
        rich_help_panel=READING,
    ),
]
Node = Annotated[
    str | None,
    typer.Option(
        help="Column of LABELS with the node, by name or number.", rich_help_panel=READING
    ),
]
Label = Annotated[
    str | None, typer.Option(help="Column of LABELS with the label.", rich_help_panel=READING)
]
LabelNode = Annotated[
    str | None,
    typer.Option(
        "--node",
        help="Column of LABELS with the node, by name or number.",
        rich_help_panel=READING,
    ),
]
LabelWeight = Annotated[
    str | None,
    typer.Option(
        help="Column of LABELS with weights: of several labels of a node the heaviest counts.",
        rich_help_panel=READING,
    ),
]
LabelDelimiter = Annotated[str | None, typer.Option(help="Of LABELS.", rich_help_panel=READING)]
LabelHeader = Annotated[
    bool | None,
    typer.Option(
        "--label-header/--label-no-header",
        help="Whether the first line of LABELS names the columns.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Fail on labels for nodes not in the graph.", rich_help_panel=READING
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no warnings.")]
Verbose = Annotated[
    int, typer.Option("--verbose", "-v", count=True, help="Say more; -vv: every step.")
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Replace files that are there; write into pipes and devices.",
        rich_help_panel=OUTPUT,
    ),
]
SpreadsheetSafe = Annotated[
    bool,
    typer.Option(
        "--spreadsheet-safe",
        help="Write an apostrophe before texts that a spreadsheet would run as a formula.",
        rich_help_panel=OUTPUT,
    ),
]
