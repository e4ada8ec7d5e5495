"""What must hold of several flows combined: logits within their bounds, certified labels right.

The model, its weights and the embedding are taken as they are; the flows are solved anew, exactly,
and what follows from them is computed in extended precision with bounds on its own errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm import StackedDirichletClassifier
from isotherm.stacking.flows import LEAST_RATIO

from .claims import MOST_EXACT, Failure
from .exact import exact_shares
from .refined import Refined, refined

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from isotherm.stacking.combination import Combination
    from isotherm.stacking.flows import Flow

    from .cases import Case

    Ends = tuple[np.ndarray, np.ndarray]

EPS = float(np.finfo(np.longdouble).eps)


def stacked(case: Case, tally: Counter[str]) -> Iterator[Failure]:
    """Exact logits are within their bounds; a certified label is that of exact flows."""
    names = ("tol", "solver", "engine", "unreached")
    options: dict[str, Any] = {name: getattr(case, name) for name in names}
    model = StackedDirichletClassifier(**options)
    model.fit(case.graph(), case.labels(), case.confidences())
    if model.stack_ is None:
        tally["stacked cases without a stack"] += 1
        return
    found, everything = model.stack_, slice(0, case.n_nodes)
    least, most = exact_logits(case, found)
    low, high = found.bounds(everything)
    free = np.isin(model.status_, ["predicted", "tie"])
    _count(tally, found, high[free], int(np.count_nonzero(free & model.certified_)))
    for i in np.flatnonzero(free).tolist():
        for k in np.flatnonzero(~((least[i] <= high[i]) & (most[i] >= low[i]))).tolist():
            yield Failure(
                "a logit is outside its bounds",
                f"node {i}, class {k}: exact {float(least[i, k])!r}, claimed between "
                f"{float(low[i, k])!r} and {float(high[i, k])!r}",
            )
        own = model.classes_.tolist().index(model.labels_[i])
        if model.certified_[i] and (least[i] > most[i, own]).any():
            yield Failure(
                "a certified label of a stack is wrong",
                f"node {i}: {model.labels_[i]}, exact logits {least[i].astype(float).tolist()}",
            )


def _count(tally: Counter[str], found: Combination, high: np.ndarray, certified: int) -> None:
    """How hard the cases are."""
    may_be_0 = any((flow.means <= flow.mean_errors).any() for flow in found.views.flows)
    is_negative = bool((found.stack.weights[: len(found.views.flows)] < 0).any())
    tally["stacks"] += 1
    tally["stacks with a negative weight of a flow"] += is_negative
    tally["stacks with a mean not proven above 0"] += may_be_0
    tally["stacks with both"] += is_negative and may_be_0
    tally["logits unbounded above"] += int(np.isinf(high).sum())
    tally["logits"] += high.size
    tally["labels certified, stacked"] += certified


def exact_logits(case: Case, found: Combination) -> Ends:
    """Between which the logits of exact flows are, shape (n, K)."""
    views = found.views.at(np.arange(case.n_nodes)).astype(np.longdouble)
    ends = [_ratios(_exact(case, flow)) for flow in found.views.flows]
    others = [(view, view) for view in views[len(ends) :]]
    shift = found.softmax.shift.astype(np.longdouble)
    least = most = found.stack.offsets.astype(np.longdouble) - shift
    size = np.abs(least) + 2 * np.abs(shift)
    for weight, pair in zip(found.stack.weights.tolist(), [*ends, *others], strict=True):
        low, high = pair if weight >= 0 else pair[::-1]
        least, most = least + weight * low, most + weight * high
        size = size + np.abs(weight * low)
    return least - 32 * EPS * size, most + 32 * EPS * size


def _exact(case: Case, flow: Flow) -> Ends:
    """The temperatures of a flow at equilibrium; NaN where it has none."""
    graph, rows = flow.problem.graph, case.values
    how: dict[str, Any] = {"leak": flow.problem.leak, "confidence": case.confidence}
    if case.n_nodes - sum(case.held) <= MOST_EXACT:
        exact = exact_shares(graph, case.seeds, **how).temperatures(rows)
        D = exact.denominator
        T = np.array([_row(row, D, len(rows[0])) for row in exact.numerators])
        reference = Refined(T, 2 * EPS * np.abs(T))
    else:
        reference = refined(graph, case.seeds, rows, **how)
    if case.unreached == "zero":
        reference = reference.with_zeros()
    return reference.T - reference.slack, reference.T + reference.slack


def _row(row: list[int] | None, denominator: int, width: int) -> np.ndarray:
    """Quotients in extended precision."""
    if row is None:
        return np.full(width, np.nan, dtype=np.longdouble)
    first = [x / denominator for x in row]
    rest = []
    for x, y in zip(row, first, strict=True):
        a, b = y.as_integer_ratio()
        rest.append((x * b - a * denominator) / (denominator * b))
    return np.array(first, dtype=np.longdouble) + np.array(rest, dtype=np.longdouble)


def _ratios(T: Ends) -> Ends:
    """X of `isotherm.stacking.flows` from exact temperatures."""
    has = ~np.isnan(T[0][:, 0])
    n, (low, high) = max(int(has.sum()), 1), (np.clip(end, 0, 1) for end in T)
    coldest = low[has].sum(axis=0) / n * (1 - 2 * n * EPS)
    warmest = high[has].sum(axis=0) / n * (1 + 2 * n * EPS)

    def ratio(x: np.ndarray, mean: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = np.where(x > 0, x / mean, np.where(np.isnan(x), x, 0))
            return np.asarray(np.log(found + np.longdouble(LEAST_RATIO)))

    least, most = ratio(low, warmest), ratio(high, coldest)
    return least - 8 * EPS * (1 + np.abs(least)), most + 8 * EPS * (1 + np.abs(most))
