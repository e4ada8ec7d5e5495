"""Each option that several commands have, described once.

A group is a dataclass: a command that takes it has all its options (see `isotherm.cli.groups`).
Single options are `Annotated` types.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from isotherm.cli.console import Console
from isotherm.cli.parse import parse_engine
from isotherm.cli.reading_options import in_files
from isotherm.decision import DECISIONS
from isotherm.errors import ParameterError
from isotherm.read.formats import edge_formats, label_formats, output_formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isotherm.job import Job

    Decision = str
else:
    Decision = Literal[(*DECISIONS, "auto")]

TOP = 100  # as in `isotherm.listing`, which takes longer to load

_model = partial(typer.Option, rich_help_panel="Model")
_solver = partial(typer.Option, rich_help_panel="Solver")
_output = partial(typer.Option, rich_help_panel="Output")

_edges = typer.Argument(
    metavar="EDGES",
    help=f"The graph: {edge_formats()}, plain or compressed (gz, zst, bz2, xz); - is standard "
    "input.",
)
_labels = typer.Argument(metavar="LABELS", help=f"Known labels: {label_formats()}.")
Edges = Annotated[str, _edges]
Labels = Annotated[str, _labels]
EdgesIfAny = Annotated[str | None, _edges]
LabelsIfAny = Annotated[str | None, _labels]
Most = Annotated[int, typer.Option(min=1, help="How many to list.")]
Repeats = Annotated[int, typer.Option(min=1, help="Draws for each setting.")]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]
Data = Annotated[
    Path | None,
    typer.Option(
        help="Folder with more data sets, NAME.npz.",
        file_okay=False,
    ),
]
Model = Annotated[
    Literal["auto", "stacked", "paper"],
    _model(
        help="'stacked': several heat flows and an embedding, combined by leaving seeds out; "
        "'paper': Algorithm 1 of the paper; 'auto': stacked if there are enough seeds and memory."
    ),
]
Decides = Annotated[
    Decision | None,
    _model(
        help="For the paper's model: how temperatures become scores, 'centered' by default; 'auto' "
        "chooses by leave-one-out."
    ),
]
Leak = Annotated[
    str | None,
    _model(
        metavar="NUMBER",
        help="Heat lost at each node in the paper's model, 0 by default, or 'auto' (for one label "
        "per node).",
    ),
]
Unreached = Annotated[
    Literal["abstain", "zero"], _model(help="What to do with nodes that have no path to a seed.")
]
Out = Annotated[
    str | None,
    _output(
        "--out",
        "-o",
        metavar="OUT",
        help=f"File for the predictions; its ending chooses {output_formats()}; - is CSV on "
        "standard output.",
    ),
]
Report = Annotated[
    str | None, _output(metavar="FILE", help="Write a web page about the run, as one file.")
]
ExplanationFile = Annotated[
    str | None,
    _output(
        "--out",
        "-o",
        "--draw",
        metavar="FILE",
        help="Also write the explanation to a file; its ending chooses a web page (.html), text "
        "(.txt) or, for one node, a drawing (.svg).",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Most memory to use, such as 4G; by default what is free. The edges of a saved graph "
        "stay on disk.",
    ),
]
Force = Annotated[
    bool, _output("--force", help="Replace existing files; write to pipes and devices.")
]
SpreadsheetSafe = Annotated[
    bool,
    _output(
        "--spreadsheet-safe",
        help="Write an apostrophe before text that a spreadsheet would run as a formula.",
    ),
]


@dataclass(frozen=True)
class ModelOptions:
    """What is computed from the labels."""

    model: Model = "auto"
    balance: Annotated[
        float,
        _model(
            min=0.0,
            max=1.0,
            help="For the stacked model: 0 gives each node its most probable class; towards 1, "
            "rare classes gain, as if all classes were equally large.",
        ),
    ] = 0.0
    decision: Decides = None
    leak: Leak = None
    confidence: Annotated[
        str | None,
        _model(
            metavar="NUMBER|COLUMN",
            help="How sure the known labels are, above 0 and at most 1, or the column of LABELS "
            "that says so; below 1, neighbours may overrule them.",
        ),
    ] = None
    unreached: Unreached = "abstain"


@dataclass(frozen=True)
class HeatOptions:
    """What is computed from values."""

    leak: Leak = None
    unreached: Unreached = "abstain"


@dataclass(frozen=True)
class SeveralLabels:
    """Nodes that may have several labels, or none."""

    multi: Annotated[
        bool,
        _model(
            "--multi",
            help="Nodes may have several labels, or none: LABELS has one row for each label.",
        ),
    ] = False
    label_separator: Annotated[
        str | None,
        in_files(metavar="TEXT", help="With --multi: separator between the labels in a cell."),
    ] = None

    def check(self, model: ModelOptions, output: PredictionOptions) -> None:
        """Refuse what is there for one label per node only."""
        refused = {
            "--model": model.model == "stacked",
            "--balance": model.balance,
            "--confidence": model.confidence is not None,
            "--list": output.listed is not None,
            "--summary": output.summary is not None,
            "--temperatures": output.temperatures,
            "--min-probability": output.min_probability,
        }
        for name, given in refused.items():
            if given:
                raise ParameterError(
                    f"{name} is for one label per node: leave out {name} or --multi"
                )


def _use_threads(count: int | None) -> int | None:
    """Every part of the library asks this variable how many threads to use."""
    if count is not None:
        os.environ["OMP_NUM_THREADS"] = str(count)
    return count


@dataclass(frozen=True)
class SolverOptions:
    """How temperatures are found. An option of the engines is added here, and in `make_job`."""

    tol: Annotated[
        float,
        _solver(help="Largest error allowed in a temperature; the program proves that it is met."),
    ] = 1e-6
    solver: Annotated[
        Literal["auto", "cg", "direct", "sweeps", "elimination"],
        _solver(help="Algorithm that finds the temperatures."),
    ] = "auto"
    engine: Annotated[
        str,
        _solver(
            metavar="NAME",
            envvar="ISOTHERM_ENGINE",
            callback=parse_engine,
            help="What does the computing: auto, native, scipy, cuda (a GPU), or one that was "
            "installed, as petsc (many machines).",
        ),
    ] = "auto"
    threads: Annotated[
        int | None,
        _solver(
            min=1,
            max=1024,
            callback=_use_threads,
            help="Number of threads; by default one per processor.",
        ),
    ] = None
    memory: Memory = None


@dataclass(frozen=True)
class PredictionOptions:
    """Where the labels of all nodes go."""

    out: Out = None
    report: Report = None
    listed: Annotated[
        str | None,
        _output(
            "--list",
            metavar="CLASS",
            help="Write to OUT the nodes most likely to be of this class, with reasons; a file "
            "that ends in .html is a web page.",
        ),
    ] = None
    top: Annotated[int, _output(min=1, help="How many nodes to list.")] = TOP
    summary: Annotated[
        str | None,
        _output(metavar="FILE", help="Write a JSON file about the run, for monitoring."),
    ] = None
    temperatures: Annotated[
        bool, _output("--temperatures", help="Add a column of temperatures for each class.")
    ] = False
    min_probability: Annotated[
        float,
        _output(
            metavar="NUMBER",
            help="Probability, from 0 to 1, below which a node gets no label and is 'unsure'.",
        ),
    ] = 0.0
    spreadsheet_safe: SpreadsheetSafe = False
    force: Force = False
    estimate: Annotated[bool, _output("--estimate", help="Only estimate how large the job is.")] = (
        False
    )


@dataclass(frozen=True)
class FileOptions:
    """Where the values of all nodes go."""

    out: Out = None
    report: Report = None
    spreadsheet_safe: SpreadsheetSafe = False
    force: Force = False


@dataclass(frozen=True)
class TableOptions:
    """Where the rows that are listed go, besides the terminal."""

    out: Annotated[
        str | None,
        _output(
            "--out",
            "-o",
            "--csv",
            metavar="FILE",
            help=f"File for all rows; its ending chooses {output_formats(graphs=False)}.",
        ),
    ] = None
    spreadsheet_safe: SpreadsheetSafe = False
    force: Force = False

    def check(self, job: Job) -> None:
        """Find what can be wrong with the file, before any work is done."""
        from isotherm.write import output_of

        replace(job, force=self.force).check(self.out)
        if self.out is not None:
            output = output_of(self.out, graphs=False)
            if self.spreadsheet_safe and not output.has_formulas:
                raise ParameterError(
                    f"--spreadsheet-safe is for CSV and TSV, and {self.out} is {output.name}: "
                    "leave it out"
                )

    def write(self, rows: Sequence[dict[str, object]], columns: tuple[str, ...]) -> None:
        """Write the file, if one is asked for, and say so."""
        if self.out is None:
            return
        from isotherm.write import write_records

        write_records(
            rows,
            columns,
            self.out,
            force=self.force,
            spreadsheet_safe=self.spreadsheet_safe,
        )
        Console().print(f"wrote {self.out}", soft_wrap=True)
