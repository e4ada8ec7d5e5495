"""What must not matter: the number of threads, the order of the nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from isotherm import NativeEngine
from isotherm.compiled import core

from .claims import Failure, judged, reference_of, with_rule
from .winners import winners

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from isotherm import DirichletClassifier

    from .cases import Case

UNIT_ROUNDOFF = 2.0**-53


def threads(case: Case, tally: Counter[str]) -> Iterator[Failure]:
    """One thread and two give the same, to the bit."""
    if core is None:
        return
    simd = getattr(case.engine, "_simd", None)
    graph = case.graph()
    one, two = (
        case.solve(graph, engine=NativeEngine(threads=count, _simd=simd))[0] for count in (1, 2)
    )
    tally["solutions compared by threads"] += 1
    for name in ("temperatures", "error_bound"):
        first, second = getattr(one, name), getattr(two, name)
        if first.dtype != second.dtype or first.tobytes() != second.tobytes():
            yield Failure("one thread and two differ", f"{name}: {first!r}, {second!r}")
            return
    if one.n_iter != two.n_iter:
        yield Failure("one thread and two differ", f"n_iter: {one.n_iter}, {two.n_iter}")


def renumbering(case: Case, tally: Counter[str]) -> Iterator[Failure]:
    """The order of the nodes changes no label but where two are too close to tell apart."""
    place = np.argsort(case.order).tolist()  # where each node is in the other order
    other = replace(
        case,
        edges=tuple((place[i], place[j], w) for i, j, w in case.edges),
        seeds=tuple(place[i] for i in case.seeds),
    )
    graph = case.graph()
    first, second = case.classifier(graph), other.classifier(other.graph())
    reference = reference_of(case, graph)
    yield from judged(case, tally, first, reference)
    held = [i for i, is_held in zip(case.seeds, case.held, strict=True) if is_held]
    best = winners(with_rule(case, reference), case.values, held, case.decision)
    allowed = 2 * (_error(first) + _error(second)[place])
    for i in np.flatnonzero(first.labels_ != second.labels_[place]).tolist():
        tally["labels that another order changes"] += 1
        sure = first.certified_[i] and second.certified_[place[i]]
        if sure or (best[i] is not None and best[i].lead > allowed[i]):
            pair = (first.labels_[i], second.labels_[place[i]])
            yield Failure(
                "another order of nodes changes a label",
                f"node {i}: {pair}, lead {best[i].lead:.4g}, errors allow {allowed[i]:.4g}",
            )


def _error(model: DirichletClassifier) -> np.ndarray:
    """What a fit allows for a score that is not scaled: its temperature and its mean."""
    bound = np.nan_to_num(model.solution_.error_bound, nan=0.0)
    return bound + bound.mean() + len(bound) * 4 * UNIT_ROUNDOFF
