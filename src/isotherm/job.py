"""A job, from files to files, and the run that comes of it. `isotherm.pipeline` does the work."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

from isotherm.engines import fallback_reason
from isotherm.environment import versions
from isotherm.errors import ParameterError
from isotherm.files import check_output
from isotherm.listing import TOP
from isotherm.memory import peak_memory
from isotherm.read.opening import check_libraries
from isotherm.read.options import TextOptions
from isotherm.trust.abstain import check_probability
from isotherm.write import STANDARD_OUTPUT, check_size, output_of

if TYPE_CHECKING:
    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.classifier.estimator import DirichletEstimator
    from isotherm.graph import Graph
    from isotherm.read.report import ReadReport


class ModelParameters(TypedDict, total=False):
    """Parameters of `isotherm.DirichletClassifier`; those left out have its defaults."""

    decision: str
    leak: float | Literal["auto"]
    tol: float
    solver: str
    engine: str
    threads: int | None
    memory: int | None
    unreached: Literal["abstain", "zero"]


@dataclass(frozen=True)
class Job:
    """What to do.

    Attributes
    ----------
    edges, labels : str
        Files; one of them may be ``-``, standard input.
    out, report : str or None
        Files to write.
    edge_columns, label_columns : dict
        See `load_graph` and `load_labels`.
    edge_options, label_options : TextOptions
    strict, temperatures, force, spreadsheet_safe : bool
        See `isotherm.read_labels` and `isotherm.write_predictions`.
    kind : {"auto", "stacked", "paper"}
        Which model; see `isotherm.classifier.pick`.
    model : ModelParameters
        Those of the paper's that a stacked one has not are left out of it.
    balance : float
        Of a stacked model.
    listed : str or None
        The class whose most likely nodes `out` gets, in place of all predictions.
    top : int
        How many of them.
    summary : str or None
        JSON file about the run, for monitoring.
    min_probability : float
        See `isotherm.DirichletClassifier.labels_at`.
    confidence : float, str or None
        How sure the labels are; see `isotherm.DirichletClassifier.fit`. Or the column of the labels
        that says it of each.
    command : str
        What a user would type to have the same again.
    """

    edges: str
    labels: str
    out: str | None = None
    report: str | None = None
    edge_columns: dict[str, str | None] = field(default_factory=dict)
    label_columns: dict[str, str | None] = field(default_factory=dict)
    edge_options: TextOptions = field(default_factory=TextOptions)
    label_options: TextOptions = field(default_factory=TextOptions)
    strict: bool = False
    temperatures: bool = False
    force: bool = False
    spreadsheet_safe: bool = False
    kind: Literal["auto", "stacked", "paper"] = "paper"
    model: ModelParameters = field(default_factory=ModelParameters)
    balance: float = 0.0
    listed: str | None = None
    top: int = TOP
    summary: str | None = None
    min_probability: float = 0.0
    confidence: float | str | None = None
    command: str = ""

    @property
    def is_hashed(self) -> bool:
        """Whether what is read is hashed on the way, for a page or a summary."""
        return self.report is not None or self.summary is not None

    @property
    def out_is_page(self) -> bool:
        """Whether `out` is a web page, which only a list can be."""
        name = (self.out or "").lower()
        return self.listed is not None and name.endswith((".html", ".htm"))

    def check(self, *others: str | None) -> None:
        """Find what can be wrong before any work is done.

        Parameters
        ----------
        *others : str or None
            Further files that are to be written.

        Raises
        ------
        FileError, ParameterError
            A file that is in the way, or whose ending stands for no format; a probability that is
            none.
        """
        check_probability(self.min_probability, "--min-probability")
        if self.edges == self.labels == "-":
            raise ParameterError("EDGES and LABELS cannot both be standard input: name a file")
        if self.listed is not None and self.out is None:
            raise ParameterError("--list needs a file to write the list to: name it with -o")
        output = None if self.out_is_page else output_of("-" if self.out is None else self.out)
        if self.spreadsheet_safe and (output is None or not output.has_formulas):
            raise ParameterError(
                f"--spreadsheet-safe is for CSV and TSV, and {self.out} is "
                f"{'a web page' if output is None else output.name}: leave it out"
            )
        if self.listed is not None and self.out is not None and not self.out_is_page:
            check_size(self.out, self.top)
        pages = [name for name in (self.report, self.summary, *others) if name is not None]
        if any(name in STANDARD_OUTPUT for name in pages):
            raise ParameterError(
                "only predictions and lists can go to standard output: name a file for the rest"
            )
        named = [] if self.out is None or self.out in STANDARD_OUTPUT else [self.out]
        outputs = [Path(name) for name in (*named, *pages)]
        for path in outputs:
            check_output(path, force=self.force)
        read = {Path(name).resolve() for name in (self.edges, self.labels) if name != "-"}
        written = [path.resolve() for path in outputs]
        for path, place in zip(outputs, written, strict=True):
            if written.count(place) > 1:
                raise ParameterError(f"{path} was named for two outputs: name a file for each")
            if place in read:
                raise ParameterError(f"{path} is an input: name another file to write to")
        for name in (self.edges, self.labels):
            check_libraries(name)


def options_of(model: DirichletEstimator) -> dict[str, str]:
    """The parameters of a model, by name, as text."""
    return {name: str(getattr(model, name)) for name in sorted(signature(type(model)).parameters)}


@dataclass(frozen=True, eq=False)
class Run:
    """A classification and what it takes to repeat it.

    Attributes
    ----------
    classifier : HeatClassifier
        Fitted.
    graph : Graph
    edges, labels : ReadReport
        What was found in the two files.
    options : dict
        Option → its value, as text.
    command : str
        The line that repeats the run.
    seconds : dict
        Stage → the time it took.
    converged : bool
        Whether temperatures are proven to the tolerance, or labels where that was enough.
    min_probability : float
        Of a label; nodes whose label is less probable have none.
    memory : int
        The most bytes held at a time; 0 where that is not known.
    versions : dict
        Program or library → its version.
    """

    classifier: HeatClassifier
    graph: Graph
    edges: ReadReport
    labels: ReadReport
    options: dict[str, str]
    command: str
    seconds: dict[str, float]
    converged: bool
    min_probability: float = 0.0
    memory: int = field(default_factory=peak_memory)
    versions: dict[str, str] = field(default_factory=versions)

    @property
    def inputs(self) -> dict[str, str]:
        """File → the SHA-256 of what was read from it, in hexadecimal digits."""
        return {file.name: file.checksum for file in (self.edges, self.labels)}

    @property
    def warnings(self) -> list[str]:
        """What a user was told of the files, the labels and the engine."""
        fallback = [self.fallback] if self.fallback else []
        return [*self.edges.remarks(), *self.labels.remarks(), *self.classifier.doubts_, *fallback]

    @property
    def fallback(self) -> str:
        """Why a slower engine was used than usual; empty if it was not."""
        used = self.classifier.solution_.engine
        return fallback_reason(self.classifier.engine, used, self.graph)
