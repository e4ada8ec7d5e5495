"""A run in numbers, for a program that watches over many of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from isotherm.job import Run
    from isotherm.read.report import ReadReport
    from isotherm.trust.interval import Interval

VERSION = 1  # of what is in it; raised when a name changes its meaning


def run_summary(run: Run) -> dict[str, Any]:
    """What was read, solved and found, how long it took, and what was warned of."""
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
