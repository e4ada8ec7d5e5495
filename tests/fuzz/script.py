"""A case as a script that stands alone."""

from __future__ import annotations

import re
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from .claims import reference_of
from .trust_claims import shares_at, without
from .winners import winners

if TYPE_CHECKING:
    from .cases import Case
    from .claims import Failure

MOST_SHOWN = 30  # nodes whose exact temperatures are written down


def script(case: Case, failure: Failure, seed: int) -> str:
    """Python that shows the failure beside what is exact."""
    doc = fill(f"{failure}", 98, break_long_words=False)
    body = [*_graph(case), *_BODIES.get(case.claim, _classifier)(case)]
    text = "\n".join(body)
    names = [name for name in _NAMES if re.search(rf"\b{name}\b", text)]
    odd = [f"from math import {name}" for name in ("inf", "nan") if _has(case, name)]
    return (
        f'"""{doc}\n\nFound by: python -m tests.fuzz --case {seed}\n"""\n\n'
        + "".join(f"{line}\n" for line in odd)
        + f"from isotherm import {', '.join(sorted(names))}\n\n{text}\n{_exact(case)}"
    )


_NAMES = [
    "ConjugateGradient",
    "Direct",
    "DirichletClassifier",
    "DirichletRegressor",
    "Graph",
    "MultiLabelDirichletClassifier",
    "NativeEngine",
    "NotConverged",
    "StackedDirichletClassifier",
    "Sweeps",
    "solve_dirichlet",
]


def _has(case: Case, name: str) -> bool:
    if case.start is None:
        return False
    rows = np.array(case.start)
    return bool((np.isinf(rows) if name == "inf" else np.isnan(rows)).any())


def _graph(case: Case) -> list[str]:
    source, target, weight = ([edge[i] for edge in case.edges] for i in range(3))
    columns = f"{source}, {target}" + (f", {weight}" if case.weighted else "")
    return [f"graph = Graph.from_edges({columns}, nodes=range({case.n_nodes}))"]


def _options(case: Case, *names: str) -> str:
    """Those that are not the default, as arguments."""
    given = {name: value for name, value in case.changed().items() if name in names}
    return "".join(f", {name}={value!r}" for name, value in given.items())


def _solve(case: Case) -> list[str]:
    options = _options(case, "tol", "leak", "solver", "engine")
    seeds, lines = list(case.seeds), []
    start = "" if case.start is None else f", start={_list(case.start)}"
    if case.before is not None:
        lines += _tried(f"graph, {seeds}, {_list(case.before)}{options}")
        start = ", start=solution"
    shown = options
    if case.claim == "threads":
        simd = getattr(case.engine, "_simd", None)
        shown = _options(case, "tol", "leak", "solver")
        for count in (1, 2):
            engine = f"NativeEngine(threads={count}, _simd={simd!r})"
            lines += _tried(f"graph, {seeds}, {_list(case.values)}{shown}, engine={engine}{start}")
            lines += ["print(solution.n_iter, solution.temperatures.tolist())"]
        return lines
    lines += _tried(f"graph, {seeds}, {_list(case.values)}{shown}{start}")
    return [
        *lines,
        "print(solution)",
        'print("temperatures", solution.temperatures.tolist())',
        'print("bounds", solution.certificate.errors().tolist())',
    ]


def _tried(arguments: str) -> list[str]:
    return [
        "try:",
        f"    solution = solve_dirichlet({arguments})",
        "except NotConverged as failure:",
        "    solution = failure.solution",
    ]


def _regressor(case: Case) -> list[str]:
    options = _options(case, "leak", "tol", "solver", "engine", "unreached")[2:]
    known = {i: row[0] for i, row in zip(case.seeds, case.values, strict=True)}
    return [
        f"model = DirichletRegressor({options}).fit(graph, {known})",
        'print("values", model.temperatures_.tolist())',
        'print("certified", model.certified_.tolist(), model.solution_)',
    ]


def _multilabel(case: Case) -> list[str]:
    options = _options(case, "leak", "tol", "solver", "engine", "unreached")
    known = {
        i: {k for k, has in enumerate(row) if has}
        for i, row in zip(case.seeds, case.values, strict=True)
    }
    return [
        f"model = MultiLabelDirichletClassifier({case.decision!r}{options}).fit(graph, {known})",
        'print("labels", model.labels_.tolist(), model.certified_.tolist(), model.solution_)',
        'print("temperatures", model.temperatures_.tolist())',
    ]


def _classifier(case: Case) -> list[str]:
    options = _options(case, "leak", "tol", "solver", "engine", "unreached")
    sure = f", {case.confidences()}" if case.confidence else ""
    lines = []
    if case.before is not None:
        options += ", warm_start=True"
        lines = [f"model.fit(graph, {case.labels(case.before)}{sure})"]
    lines = [
        f"model = DirichletClassifier({case.decision!r}{options})",
        *lines,
        f"model.fit(graph, {case.labels()}{sure})",
    ]
    if case.claim == "updates":
        first, *batches = case.updates()
        sure = {i: c for i, c in (case.confidences() or {}).items() if i in first}
        lines = [lines[0], f"model.fit(graph, {first}, {sure or None})"]
        lines += [f"model.update({changes})" for changes in batches]
    if case.claim == "leave_one_out":
        return [
            *lines,
            "left = model.leave_one_out()",
            'print("left out", left.nodes.tolist(), left.labels.tolist())',
            'print("temperatures", left.temperatures.tolist())',
        ]
    if case.claim == "explanations":
        return [*lines, f"print(model.explain({case.node}))"]
    if case.claim == "renumbering":
        lines.append(f"# The same with the nodes in the order {case.order} has other labels.")
    return [
        *lines,
        'print("labels", model.labels_.tolist(), model.status_.tolist())',
        'print("certified", model.certified_.tolist(), model.solution_)',
        'print("temperatures", model.temperatures_.tolist())',
    ]


def _stacked(case: Case) -> list[str]:
    options = _options(case, "tol", "solver", "engine", "unreached")[2:]
    sure = f", {case.confidences()}" if case.confidence else ""
    return [
        f"model = StackedDirichletClassifier({options}).fit(graph, {case.labels()}{sure})",
        'print("labels", model.labels_.tolist(), model.certified_.tolist())',
        f'print("bounds", model.stack_ and model.stack_.bounds(slice(0, {case.n_nodes})))',
    ]


_BODIES = {
    "temperatures": _solve,
    "threads": _solve,
    "real_values": _regressor,
    "label_sets": _multilabel,
    "stacked": _stacked,
}


def _list(rows: Any) -> list[list[float]]:
    return [list(row) for row in rows]


def _exact(case: Case) -> str:
    """What is exact, as comments."""
    if case.n_nodes > MOST_SHOWN:
        return ""
    graph = case.graph()
    if case.claim == "leave_one_out":
        lines = []
        for node in case.seeds:
            fewer = without(case, node)
            if fewer is not None:
                T = reference_of(fewer, graph).nearest()[node]
                lines.append(f"# exact, without seed {node}: {T.tolist()}\n")
        return "".join(lines)
    if case.claim == "explanations":
        shares, _ = shares_at(case, graph)
        return f"# exact shares of seeds {list(case.seeds)}: {shares}\n"
    reference = reference_of(case, graph)
    lines = [f"# exact temperatures: {reference.nearest().tolist()}\n"]
    if case.claim in ("labels", "renumbering"):
        held = [i for i, is_held in zip(case.seeds, case.held, strict=True) if is_held]
        shown = reference.with_zeros() if case.unreached == "zero" else reference
        best = winners(shown, case.values, held, case.decision)
        lines.append(f"# exact winners: {[at and sorted(at.classes) for at in best]}\n")
    return "".join(lines)
