"""Make a failing case smaller and simpler while it fails in the same way."""

from __future__ import annotations

import time
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from .cases import Case
from .check import check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .cases import Rows

DISTRIBUTIONS = (  # rows that sum to 1
    "labels",
    "updates",
    "leave_one_out",
    "explanations",
    "renumbering",
    "stacked",
)
DEFAULTS = {field.name: field.default for field in fields(Case)}
OPTIONS = [
    "before",
    "start",
    "confidence",
    "leak",
    "unreached",
    "weighted",
    "decision",
    "tol",
    "solver",
    "engine",
]


def reduced(
    case: Case, kind: str, *, seconds: float = 20.0, fails: Callable[[Case], bool] | None = None
) -> Case:
    """The simplest case found that fails in the same way.

    Parameters
    ----------
    case : Case
        One that fails.
    kind : str
        How: the `kind` of a `Failure`.
    seconds : float
        When to be content.
    fails : callable, optional
        Whether a case still fails; by default by `check.check`.
    """
    still = fails or (lambda other: any(failure.kind == kind for failure in check(other)))
    ends = time.monotonic() + seconds
    again = True
    while again:
        again = False
        for simplify in (_nodes, _options, _columns, _seeds, _edges, _numbers):
            done = False
            while not done:
                done = True
                for simpler in simplify(case):
                    if time.monotonic() > ends:
                        return case
                    if simpler != case and still(simpler):
                        case, done, again = simpler, False, True
                        break
    return case


def _parts(n: int) -> Iterator[range]:
    """Halves, quarters … single ones of n things."""
    size = n // 2
    while size:
        for first in range(0, n, size):
            yield range(first, min(first + size, n))
        size //= 2


def _nodes(case: Case) -> Iterator[Case]:
    """Without some nodes."""
    for part in _parts(case.n_nodes):
        gone = set(part)
        if case.node in gone and case.claim == "explanations":
            continue
        kept = [i for i in range(case.n_nodes) if i not in gone]
        place = {i: new for new, i in enumerate(kept)}
        fewer = _with_seeds(case, [s for s, i in enumerate(case.seeds) if i in place])
        if fewer is None:
            continue
        yield replace(
            fewer,
            n_nodes=len(kept),
            edges=tuple(
                (place[i], place[j], w) for i, j, w in case.edges if i in place and j in place
            ),
            seeds=tuple(place[i] for i in fewer.seeds),
            start=case.start and tuple(case.start[i] for i in kept),
            node=place.get(case.node, 0),
            order=case.order and tuple(place[i] for i in case.order if i in place),
        )


def _with_seeds(case: Case, kept: list[int]) -> Case | None:
    """With these seeds only, and the classes that they have; None if there are none."""
    if not kept:
        return None

    def some(rows: Rows | None) -> Rows | None:
        return rows and tuple(rows[s] for s in kept)

    fewer = replace(
        case,
        seeds=tuple(case.seeds[s] for s in kept),
        values=some(case.values),
        before=some(case.before),
        confidence=case.confidence and tuple(case.confidence[s] for s in kept),
    )
    if case.claim not in (*DISTRIBUTIONS, "label_sets"):
        return fewer
    there = [k for k in range(case.n_classes) if any(row[k] for row in fewer.values)]
    return _with_columns(fewer, there) if there else None


def _with_columns(case: Case, kept: list[int]) -> Case:
    """With these columns only."""

    def some(rows: Rows | None) -> Rows | None:
        return rows and tuple(tuple(row[k] for k in kept) for row in rows)

    before = some(case.before)
    if before and case.claim in DISTRIBUTIONS and not np.array(before).any(axis=1).all():
        before = None
    return replace(case, values=some(case.values), before=before, start=some(case.start))


def _seeds(case: Case) -> Iterator[Case]:
    """With some seeds free."""
    for part in _parts(len(case.seeds)):
        fewer = _with_seeds(case, [s for s in range(len(case.seeds)) if s not in part])
        if fewer is not None:
            yield fewer


def _edges(case: Case) -> Iterator[Case]:
    """Without some edges."""
    for part in _parts(len(case.edges)):
        yield replace(case, edges=case.edges[: part.start] + case.edges[part.stop :])
    if len(case.edges) == 1:
        yield replace(case, edges=())


def _columns(case: Case) -> Iterator[Case]:
    """Without some columns; or, of classes, with two in one."""
    n = case.n_classes
    if case.claim not in DISTRIBUTIONS:
        for part in _parts(n):
            if len(part) < n:
                yield _with_columns(case, [k for k in range(n) if k not in part])
        return
    for k in range(1, n):
        for j in range(k):

            def merged(rows: Rows | None, j: int = j, k: int = k) -> Rows | None:
                return rows and tuple(
                    tuple(x + row[k] if i == j else x for i, x in enumerate(row) if i != k)
                    for row in rows
                )

            if all(max(row) in (0.5, 1.0) for row in merged(case.values)):
                yield replace(case, values=merged(case.values), before=merged(case.before))


def _options(case: Case) -> Iterator[Case]:
    """With more of the default options."""
    for name in OPTIONS:
        if getattr(case, name) != DEFAULTS[name]:
            yield replace(case, **{name: DEFAULTS[name]})
    for name, simple in (("solver", "cg"), ("engine", "native"), ("engine", "scipy")):
        if not isinstance(getattr(case, name), str):
            yield replace(case, **{name: simple})


def _numbers(case: Case) -> Iterator[Case]:
    """With simpler weights, values and options."""
    for simple in (lambda _: 1.0, _power, _two_digits):
        whole = tuple((i, j, simple(w)) for i, j, w in case.edges)
        yield replace(case, edges=whole)
        for m, (i, j, w) in enumerate(case.edges):
            if len(repr(simple(w))) < len(repr(w)):
                yield replace(
                    case, edges=(*case.edges[:m], (i, j, simple(w)), *case.edges[m + 1 :])
                )
        for name in ("leak", "tol"):
            value = _power(getattr(case, name))
            if len(repr(value)) < len(repr(getattr(case, name))):
                yield replace(case, **{name: value})
        for name in ("values", "start", "before"):
            yield from _simpler_rows(case, name, simple)
        if case.confidence:
            yield from (
                replace(case, confidence=(*case.confidence[:s], 1.0, *case.confidence[s + 1 :]))
                for s, c in enumerate(case.confidence)
                if c != 1
            )


def _simpler_rows(case: Case, name: str, simple: Callable[[float], float]) -> Iterator[Case]:
    rows = getattr(case, name)
    if rows is None or (name != "start" and case.claim in (*DISTRIBUTIONS, "label_sets")):
        return
    for i, row in enumerate(rows):
        for k, x in enumerate(row):
            for other in (0.0, simple(x)):
                if len(repr(other)) < len(repr(x)):
                    changed = (*row[:k], other, *row[k + 1 :])
                    yield replace(case, **{name: (*rows[:i], changed, *rows[i + 1 :])})


def _power(x: float) -> float:
    """The nearest power of 10, with the same sign."""
    if x == 0 or not np.isfinite(x):
        return x
    return float(f"{'-' if x < 0 else ''}1e{int(np.floor(np.log10(abs(x))))}")


def _two_digits(x: float) -> float:
    return float(f"{x:.1e}")
