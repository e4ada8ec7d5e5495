"""What must hold of temperatures and labels: a function per claim yields what does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm import (
    DirichletClassifier,
    DirichletRegressor,
    Graph,
    MultiLabelDirichletClassifier,
)

from .exact import Temperatures, exact_shares
from .refined import Refined, refined
from .winners import Winners, winners

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from .cases import Case

MOST_EXACT = 20  # free nodes of a problem that is solved in fractions
UNDERFLOWING = 1e-150  # errors below are another fault than those above


class Failure(NamedTuple):
    """What does not hold: a few words that name the fault, and the numbers."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


def reference_of(case: Case, graph: Graph, values: Any = None) -> Temperatures | Refined:
    """The temperatures at equilibrium, exact ones where that is quick."""
    rows = case.values if values is None else values
    how = {"leak": case.leak, "confidence": case.confidence}
    if case.n_nodes - sum(case.held) <= MOST_EXACT:
        return exact_shares(graph, case.seeds, **how).temperatures(rows)
    return refined(graph, case.seeds, rows, **how)


# --- temperatures -------------------------------------------------------------------------------


def temperatures(case: Case, tally: Counter[str]) -> Iterator[Failure]:
    """Errors are within their bounds, converged or not; seeds keep their values."""
    graph = case.graph()
    solution, converged = case.solve(graph)
    yield from bounded(case, tally, solution, reference_of(case, graph))
    bound = np.nanmax(solution.error_bound, initial=0.0)
    if converged:
        tally["solutions proven to tol"] += 1
        if not bound <= case.tol:
            yield Failure("a success beyond tol", f"bound {bound:.3g}, tol {case.tol:.3g}")
    else:
        tally["solutions not converged"] += 1


def bounded(
    case: Case, tally: Counter[str], solution: Any, reference: Temperatures | Refined
) -> Iterator[Failure]:
    """Every temperature of a solution is within its bound."""
    T, whole = solution.temperatures, solution.error_bound
    reached = reference.reached
    if not np.array_equal(np.isnan(T).any(axis=1), ~reached):
        wrong = np.flatnonzero(np.isnan(T).any(axis=1) == reached).tolist()
        yield Failure("NaN at other nodes than those no heat reaches", f"nodes {wrong[:9]}")
        return
    if not np.array_equal(solution.unreached, ~reached):
        yield Failure("unreached nodes are not those that no heat reaches", f"{solution.unreached}")
    held = [i for i, is_held in zip(case.seeds, case.held, strict=True) if is_held]
    rows = [row for row, is_held in zip(case.values, case.held, strict=True) if is_held]
    if len(rows) and T.shape[1] == len(rows[0]) and not np.array_equal(T[held], np.array(rows)):
        yield Failure("a seed has another temperature than given", f"{T[held].tolist()[:9]}")
    bounds = solution.certificate.errors()
    tally["temperatures"] += int(reached.sum()) * T.shape[1]
    tally[f"solutions by {solution.solver}, {solution.engine}"] += 1
    tally["infinite bounds"] += int(np.isinf(bounds[reached]).sum())
    if isinstance(reference, Refined):
        tally["temperatures left out: reference too rough"] += reference.left_out(bounds)
    for i, k, error in reference.outside(T, bounds):
        exact = float(reference.nearest()[i, k])
        little = ", by underflow" if error < UNDERFLOWING else ""
        yield Failure(
            f"a temperature is outside its bound{little} ({solution.solver}, {solution.engine})",
            f"node {i}, column {k}: T = {float(T[i, k])!r}, exact {exact!r}, error {error:.4g}, "
            f"bound {bounds[i, k]:.4g}",
        )
        return
    if not (bounds[reached].max(axis=1) <= whole[reached]).all():
        yield Failure("a column's bound is above its node's", f"{bounds.tolist()} {whole.tolist()}")


def real_values(case: Case, tally: Counter[str]) -> Iterator[Failure]:
    """Values of the regressor are within their bounds; certified ones within `tol`."""
    graph = case.graph()
    names = ("leak", "tol", "solver", "engine", "unreached")
    model = DirichletRegressor(**{name: getattr(case, name) for name in names})
    model.fit(graph, {i: row[0] for i, row in zip(case.seeds, case.values, strict=True)})
    reference = reference_of(case, graph)
    yield from bounded(case, tally, model.solution_, reference)
    expected = np.where(reference.reached, "predicted", "unreached")
    expected[list(case.seeds)] = "seed"
    if not np.array_equal(model.status_, expected):
        yield Failure("wrong status", f"{model.status_.tolist()}, not {expected.tolist()}")
    certified = model.certified_ & reference.reached
    tally["values certified"] += int(certified.sum())
    limits = np.where(certified, case.tol, np.inf)[:, np.newaxis]
    if case.unreached == "zero":
        reference = reference.with_zeros()
    for i, _, error in reference.outside(model.temperatures_[:, np.newaxis], limits):
        yield Failure("a certified value is off", f"node {i}: by {error:.4g}, tol {case.tol:.4g}")
        return


# --- labels -------------------------------------------------------------------------------------


def labels(case: Case, tally: Counter[str]) -> Iterator[Failure]:
    """A certified label is that of the equilibrium; a tie is neither certified nor predicted."""
    graph = case.graph()
    model = case.classifier(graph)
    reference = reference_of(case, graph)
    yield from bounded(case, tally, model.solution_, reference)
    yield from judged(case, tally, model, reference)


def updates(case: Case, tally: Counter[str]) -> Iterator[Failure]:
    """Labels given, changed and withdrawn after a fit come to the same as fitting at once."""
    graph = case.graph()
    first, *batches = case.updates()
    sure = case.confidences()
    model = case.unfitted().fit(graph, first, sure and {i: sure.get(i, 1.0) for i in first})
    for changes in batches:
        model.update(changes)
        tally["labels updated"] += len(changes)
    reference = reference_of(case, graph)
    yield from bounded(case, tally, model.solution_, reference)
    yield from judged(case, tally, model, reference)


def judged(
    case: Case, tally: Counter[str], model: DirichletClassifier, reference: Temperatures | Refined
) -> Iterator[Failure]:
    """Labels, status and what is certified of a fitted classifier."""
    held = {i: row for i, row, h in zip(case.seeds, case.values, case.held, strict=True) if h}
    reached = reference.reached
    status, found = model.status_.tolist(), model.labels_.tolist()
    for i in held:
        if status[i] != "seed" or found[i] != int(np.argmax(held[i])):
            yield Failure("a seed lost its label", f"node {i}: {found[i]}, status {status[i]}")
    if [s == "unreached" for s in status] != (~reached).tolist():
        yield Failure("wrong status", f"{status}")
    best = winners(with_rule(case, reference), case.values, list(held), case.decision)
    accurate = model.solution_.certificate.bound <= case.tol
    for i, at_best in enumerate(best):
        if i in held:
            continue
        if at_best is None:
            if found[i] != -1:
                yield Failure("a label where no heat is", f"node {i}: {found[i]}")
            continue
        certified = bool(model.certified_[i])
        tally[f"labels, {case.decision}"] += 1
        tally[f"labels certified, {case.decision}"] += certified
        tally["labels tied at equilibrium"] += at_best.is_exact and len(at_best.classes) > 1
        yield from _one_label(i, found[i], status[i], certified, at_best, n=case.n_classes)
        may_tie = case.decision in ("plain", "centered", "partial") and case.tol > 1e-9
        is_tie = at_best.is_exact and len(at_best.classes) > 1 and accurate and may_tie
        if is_tie and status[i] not in ("tie", "unreached"):
            yield Failure("a tie is not called one", f"node {i}: status {status[i]}")


def _one_label(
    i: int, label: int, status: str, certified: bool, best: Winners, *, n: int
) -> Iterator[Failure]:
    exact = sorted(best.classes)
    if certified and status == "tie":
        yield Failure("a certified tie", f"node {i}")
    if certified and n > 1 and best.is_exact and len(exact) > 1:
        yield Failure("a tie at equilibrium is certified", f"node {i}: {label}, tied are {exact}")
    elif certified and label not in best.classes:
        yield Failure("a certified label is wrong", f"node {i}: {label}, exact {exact}")


def with_rule(case: Case, reference: Any) -> Any:
    """The reference under the rule for nodes that no heat reaches."""
    return reference.with_zeros() if case.unreached == "zero" else reference


def label_sets(case: Case, tally: Counter[str]) -> Iterator[Failure]:
    """Each certified label of several is that of the equilibrium."""
    graph = case.graph()
    names = ("leak", "tol", "solver", "engine", "unreached")
    options = {name: getattr(case, name) for name in names}
    indicator = np.full((case.n_nodes, case.n_classes), np.nan)
    indicator[list(case.seeds)] = case.values
    model = MultiLabelDirichletClassifier(case.decision, **options).fit(graph, indicator)
    for k in range(case.n_classes):
        values = [(1 - row[k], row[k]) for row in case.values]
        has = {row[k] for row in case.values}
        reference = reference_of(case, graph, values)
        if k == 0:
            yield from bounded(case, tally, model.solution_, _with_all_heat(case, graph))
        best = winners(with_rule(case, reference), values, case.seeds, case.decision)
        for i, at_best in enumerate(best):
            given, certified = bool(model.indicator_[i, k]), bool(model.certified_[i, k])
            if i in case.seeds:
                right = given == bool(values[case.seeds.index(i)][1])
            elif not reference.reached[i]:
                right = not given
            elif len(has) == 1:
                right = given == bool(*has)
            else:
                tally["labels of sets"] += 1
                tally["labels of sets certified"] += certified
                yield from _one_label(i, int(given), "", certified, at_best, n=2)
                continue
            if not right:
                yield Failure("a wrong set of labels", f"node {i}, label {k}: {given}")


def _with_all_heat(case: Case, graph: Graph) -> Temperatures | Refined:
    """The reference with a last column for all the heat, if some leaks."""
    values = [(*row, 1.0) for row in case.values] if case.leak else case.values
    return reference_of(case, graph, values)
