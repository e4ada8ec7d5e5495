"""Where a result comes from: the files, the graph, the options, what it took; also as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.engines import fallback_reason
from isotherm.environment import versions
from isotherm.job import options_of
from isotherm.report.page import Command, Group, Part, Section, Table
from isotherm.report.words import counted, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from isotherm.classifier.estimator import DirichletEstimator
    from isotherm.job import Run
    from isotherm.read.report import ReadReport
    from isotherm.trust.interval import Interval

VERSION = 1  # of a summary; raised when a name in it changes its meaning


@dataclass(frozen=True)
class Record:
    """How a model came about."""

    options: Mapping[str, str]
    files: Sequence[ReadReport] = ()  # of edges and of labels; none if it was fitted in Python
    command: str = ""  # that repeats it
    seconds: Mapping[str, float] = field(default_factory=dict)  # of each stage
    memory: int = 0  # the most bytes held at a time; 0 where that is not known
    versions: Mapping[str, str] = field(default_factory=versions)

    @classmethod
    def of_run(cls, run: Run) -> Record:
        """That of a classification from files."""
        files = (run.edges, run.labels)
        return cls(run.options, files, run.command, run.seconds, run.memory, run.versions)

    @classmethod
    def of_model(cls, model: DirichletEstimator) -> Record:
        """That of a model fitted in Python."""
        return cls(options_of(model))

    def titled(self, what: str) -> str:
        """A title: what was found, and of which graph."""
        return f"{what} of {short(self.files[0].name)}" if self.files else f"{what} of a graph"

    def asked(self, what: str, given: str) -> str:
        """What was asked for, in a sentence."""
        if not self.files:
            return f"{what} for all nodes of a graph, from {given} that are known."
        edges, known = (short(file.name) for file in self.files)
        return f"{what} for all nodes of {edges}, from {given} in {known}."


def reading_section(model: DirichletEstimator, record: Record) -> Section:
    """The files, and the graph that the edges make."""
    graph = model.problem_.graph
    n_components = int(graph.components.max()) + 1
    n_seeded = len(np.unique(graph.components[model.problem_.seeds]))
    facts = [
        ("nodes", f"{graph.n_nodes:,}"),
        ("edges", f"{graph.n_edges:,}"),
        ("self loops", f"{graph.rows.n_loops():,}"),
        ("components", f"{n_components:,}"),
        ("components without seeds", f"{n_components - n_seeded:,}"),
        ("nodes unreached", f"{np.count_nonzero(model.solution_.unreached):,}"),
    ]
    if record.files:
        edges = record.files[0]
        merged = max(edges.n_rows - edges.n_empty - graph.n_edges, 0)
        facts.insert(2, ("duplicates merged", f"{merged:,}"))
    parts: list[Part] = [_files(record)] if record.files else []
    parts.append(Table("The graph", ("what", "how many"), facts))
    words = (
        "Each file with the columns that were used, and the graph that its edges make."
        if record.files
        else "The graph that the model was fitted to."
    )
    return Section("What was read", words, parts)


def _files(record: Record) -> Table:
    rows, notes = [], []
    for what, file in zip(("edges", "labels"), record.files, strict=True):
        name, used = short(file.name), short(", ".join(file.columns) or "–", 120)
        numbers = f"{file.n_rows:,}", f"{file.n_skipped:,}"
        rows.append((name, what, short(file.format), used, *numbers))
        faults = [f"skipped: {fault}" for fault in file.faults]
        if faults and file.n_skipped > len(faults):
            faults.append(f"{counted(file.n_skipped - len(faults), 'more row')} skipped")
        notes += [short(f"{name}: {note}", 300) for note in (*faults, *file.notes)]
    columns = ("file", "holds", "format", "columns", "rows", "skipped")
    return Table("Files", columns, rows, notes, kind="words4")


def record_section(model: DirichletEstimator, record: Record) -> Section:
    """The options, the solver, the versions, and how to repeat it."""
    solution = model.solution_
    fallback = fallback_reason(model.engine, solution.engine, model.problem_.graph)
    solved = [
        ("solver", solution.solver),
        ("engine", "; ".join(filter(None, (solution.engine, fallback)))),
        ("steps", f"{solution.n_iter:,}"),
        ("residual, relative to degrees", f"{solution.residual:.1e}"),
        ("error bound", f"{solution.certificate.bound:.1e}"),
        *((f"seconds, {stage}", f"{seconds:.3f}") for stage, seconds in record.seconds.items()),
    ]
    if record.files:
        solved.append(
            ("peak memory", f"{record.memory / 1e6:,.0f} MB" if record.memory else "not known")
        )
    small = [
        _facts("Options", ("option", "value"), record.options.items()),
        _facts("Solver", ("what", "value"), solved),
        _facts("Versions", ("program", "version"), record.versions.items()),
    ]
    title = "The record of the run"
    if not record.files:
        return Section(title, "The parameters of the model.", [Group("many", small)])
    inputs = [(file.name, file.checksum) for file in record.files]
    words = "With the same files and versions, this command gives the same result:"
    command = Command(short(record.command, 2000))
    files = _facts("Input files", ("file", "SHA-256"), dict(inputs).items())
    return Section(title, words, [command, Group("many", small), files])


def _facts(title: str, columns: tuple[str, ...], rows: Iterable[tuple[str, str]]) -> Table:
    cells = [(short(name), short(value, 200)) for name, value in rows]
    return Table(title, columns, cells, kind="facts")


def run_summary(run: Run) -> dict[str, Any]:
    """A run in numbers, for a program that watches over many: what was read, solved and found."""
    model, solution = run.classifier, run.classifier.solution_
    return {
        "version": VERSION,
        "command": run.command,
        "options": run.options,
        "read": {"edges": _file(run.edges), "labels": _file(run.labels)},
        "graph": {"nodes": run.graph.n_nodes, "edges": run.graph.n_edges},
        "model": {
            "name": "stacked" if model.views_ else "paper",
            "decision": model.decision_,
            "leak": model.selection_.leak,
            "views": dict(model.views_),
            "why_not_stacked": model.fallback_ or None,
        },
        "solved": {
            "solver": solution.solver,
            "engine": solution.engine,
            "why_not_native": run.fallback or None,
            "steps": solution.n_iter,
            "proven_error": _number(solution.certificate.bound),
            "converged": run.converged,
        },
        "found": _found(run),
        "seconds": {stage: round(value, 4) for stage, value in run.seconds.items()},
        "memory_bytes": run.memory or None,
        "versions": run.versions,
        "warnings": run.warnings,
    }


def _file(read: ReadReport) -> dict[str, Any]:
    return {
        "file": read.name,
        "format": read.format,
        "columns": list(read.columns),
        "rows": read.n_rows,
        "skipped": read.n_skipped,
        "faults": read.faults,
        "sha256": read.checksum,
    }


def _found(run: Run) -> dict[str, Any]:
    model = run.classifier
    names, counts = np.unique(model.status_, return_counts=True)
    codes, _ = model.codes(slice(None))
    seeds = np.bincount(model.seeds_.codes, minlength=len(model.classes_))
    nodes = np.bincount(codes[codes >= 0], minlength=len(model.classes_))
    classes = map(str, model.classes_.tolist())
    sizes = zip(classes, seeds.tolist(), nodes.tolist(), strict=True)
    found: dict[str, Any] = {
        "nodes_by_status": dict(zip(names.tolist(), counts.tolist(), strict=True)),
        "classes": {name: {"seeds": s, "nodes": n} for name, s, n in sizes},
        "certified": int(np.count_nonzero(model.certified_)),
    }
    if len(model.classes_) > 1:
        check = model.spot_check()
        found["left_out"] = {
            "seeds": len(check.nodes),
            "accuracy": _interval(check.accuracy),
            "macro_f1": _interval(check.macro_f1),
            "drawn": check.n_drawn,
        }
        found["expected_accuracy"] = _interval(model.expected_accuracy())
    return found


def _interval(interval: Interval) -> dict[str, float | None]:
    value, low, high = map(_number, interval)
    return {"value": value, "low": low, "high": high}


def _number(value: float) -> float | None:
    """JSON has no infinity, and nothing that is not a number."""
    return float(value) if math.isfinite(value) else None
