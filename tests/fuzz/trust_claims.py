"""What must hold of seeds left out and of explanations."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm import LabelError

from .claims import MOST_EXACT, Failure, reference_of, with_rule
from .exact import exact_shares, quotient
from .refined import refined
from .winners import winners

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from isotherm import Graph

    from .cases import Case

SEEDS_LOOKED_AT = 5  # left out, of a graph that is not small
SHARE_TOL = 1e-6  # of an explanation that states no bound


def leave_one_out(case: Case, tally: Counter[str]) -> Iterator[Failure]:
    """A seed left out gets what a fit without it would give it."""
    graph = case.graph()
    model = case.classifier(graph)
    left = model.leave_one_out()
    stated = getattr(left, "error_bound", None)
    certified = getattr(left, "certified", None)
    if stated is None and model.solution_.certificate.bound > case.tol:
        tally["leave-one-out without a promise"] += 1
        return
    bounds = np.full(len(left.nodes), case.tol) if stated is None else np.asarray(stated)
    for m, node in enumerate(
        left.nodes.tolist()[: None if case.n_nodes <= 20 else SEEDS_LOOKED_AT]
    ):
        fewer = without(case, node)
        reached = False
        if fewer is not None:
            reference = reference_of(fewer, graph)
            reached = bool(reference.reached[node])
        T = left.temperatures[m]
        if np.isnan(T).any() == reached:
            yield Failure("NaN at a seed that heat reaches, or none", f"seed {node}: {T.tolist()}")
            continue
        if not reached:
            continue
        tally["seeds left out"] += 1
        tally["seeds left out, bound above 1e-3"] += bool(bounds[m] > 1e-3)
        whole = np.zeros((case.n_nodes, case.n_classes))
        limits = np.full(whole.shape, np.inf)
        whole[node], limits[node] = T, bounds[m]
        for _, k, error in reference.outside(whole, limits):
            yield Failure(
                "a seed left out is off",
                f"seed {node}, column {k}: T = {float(T[k])!r}, exact "
                f"{float(reference.nearest()[node, k])!r}, error {error:.4g}, promised "
                f"{bounds[m]:.4g}",
            )
            break
        proven = None if certified is None else bool(certified[m])
        tally["seeds left out, label certified"] += bool(proven)
        yield from _label_left_out(
            fewer, reference, node, int(left.labels[m]), proven, 8 * bounds[m]
        )


def without(case: Case, node: int) -> Case | None:
    """The case without one seed, all classes kept; None if it is the only one."""
    kept = [s for s, i in enumerate(case.seeds) if i != node]
    if not kept:
        return None
    return replace(
        case,
        seeds=tuple(case.seeds[s] for s in kept),
        values=tuple(case.values[s] for s in kept),
        confidence=case.confidence and tuple(case.confidence[s] for s in kept),
    )


def _label_left_out(
    fewer: Case, reference: Any, node: int, label: int, proven: bool | None, allowed: float
) -> Iterator[Failure]:
    """Whether the label is that of a fit without the seed, where that can be told."""
    among = [k for k in range(fewer.n_classes) if any(row[k] > 0 for row in fewer.values)]
    held = [i for i, is_held in zip(fewer.seeds, fewer.held, strict=True) if is_held]
    best = winners(with_rule(fewer, reference), fewer.values, held, fewer.decision, among=among)
    exact = best[node].classes
    if proven and best[node].is_exact and len(exact) > 1:
        yield Failure("a tie of a seed left out is certified", f"seed {node}: {sorted(exact)}")
    elif label not in exact and (proven or (proven is None and best[node].lead > allowed)):
        yield Failure(
            "a seed left out gets a wrong label",
            f"seed {node}: {label}, exact {sorted(exact)}, lead {best[node].lead:.4g}",
        )


def explanations(case: Case, tally: Counter[str]) -> Iterator[Failure]:
    """Shares of seeds are exact and sum to 1; paths run along edges to seeds."""
    graph = case.graph()
    model = case.classifier(graph)
    shares, slack = shares_at(case, graph)
    if slack > SHARE_TOL / 10:
        tally["explanations left out: reference too rough"] += 1
        return
    if shares is None:
        try:
            model.explain(case.node)
        except LabelError:
            return
        yield Failure("an explanation without heat", f"node {case.node}")
        return
    why = model.explain(case.node)
    stated = getattr(why, "error_bound", None)
    tol = SHARE_TOL if stated is None else float(stated) + slack
    tally["explanations"] += 1
    tally["explanations with a bound above 1e-3"] += tol > 1e-3
    found = dict.fromkeys(case.seeds, 0.0) | {seed: share for seed, _, share in why.seeds}
    wrong = [
        s for s, exact in zip(case.seeds, shares, strict=True) if not abs(found[s] - exact) <= tol
    ]
    if wrong:
        s = wrong[0]
        exact = shares[case.seeds.index(s)]
        yield Failure("a share is off", f"seed {s}: {found[s]!r}, exact {exact!r}, bound {tol:.3g}")
    total = sum(found.values())
    if case.leak == 0 and not abs(total - 1) <= tol * len(case.seeds):
        yield Failure("shares do not sum to 1", f"{total!r}")
    classes = np.array(shares) @ np.array(case.values)
    told = [why.classes[k] for k in range(case.n_classes)]
    if not np.abs(told - classes).max() <= tol * len(case.seeds):
        yield Failure("shares of classes are off", f"{told}, exact {classes.tolist()}")
    yield from _paths(case, graph, why.paths)


def shares_at(case: Case, graph: Graph) -> tuple[list[float] | None, float]:
    """The share of each seed, None where no heat is; and how far off they may be."""
    how = {"leak": case.leak, "confidence": case.confidence}
    if case.n_nodes - sum(case.held) <= MOST_EXACT:
        found = exact_shares(graph, case.seeds, **how)
        row = found.shares[case.node]
        return row and [quotient(x, found.denominator) for x in row], 0.0
    reference = refined(graph, case.seeds, np.eye(len(case.seeds)), **how)
    if not reference.reached[case.node]:
        return None, 0.0
    slack = float(reference.slack[case.node].max())
    return reference.nearest()[case.node].tolist(), slack


def _paths(case: Case, graph: Graph, paths: Any) -> Iterator[Failure]:
    neighbours = graph.adjacency
    for nodes, share in paths:
        ends = [int(i) for i in nodes]
        joined = all(neighbours[i, j] > 0 for i, j in pairwise(ends))
        if ends[0] != case.node or ends[-1] not in case.seeds or not joined:
            yield Failure("a path that is none", f"{nodes}")
        if not 0 < share <= 1 + 1e-6:
            yield Failure("a path with more heat than there is", f"{nodes}: {share!r}")
