"""What proves temperatures, by the core: the fast counterpart of `isotherm.solvers.imbalance`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.solvers.certificate import Certificate
from isotherm.solvers.imbalance import Imbalance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem


def native_evidence(
    problem: DirichletProblem,
    X: NDArray[np.floating],
    h: NDArray[np.float64],
    drains: NDArray[np.float64] | None = None,
    *,
    threads: int | None = None,
    simd: str | None = None,
) -> core.Evidence:
    """What the core finds of X and h, or drains; by default with the best instruction set."""
    if problem.heat is not None:
        raise ValueError("nothing is proven of temperatures where heat is put in")
    ties = problem.ties
    tied = ties and (ties.nodes.astype(np.int32), ties.weights, ties.values, ties.roundings)
    rows = problem.graph.rows
    return core.prove(
        rows.start,
        rows.ends,
        rows.weights,
        problem.is_free.view(np.uint8),
        problem.leak,
        X,
        h,
        tied,
        drains,
        n_threads(threads),
        simd or core.instruction_sets()[0],
        packed=True,  # a copy of a few columns may be made, which is quicker
    )


def native_drains(
    problem: DirichletProblem,
    h: NDArray[np.float64],
    *,
    threads: int | None = None,
    simd: str | None = None,
) -> NDArray[np.float64]:
    """See `isotherm.solvers.imbalance.drains_of`; by default with the best instruction set."""
    ties, rows, drains = problem.ties, problem.graph.rows, np.zeros(len(h))
    cold = ties and np.zeros((len(ties.nodes), 1))
    core.drains(
        rows.start,
        rows.ends,
        rows.weights,
        problem.is_free.view(np.uint8),
        problem.leak,
        h,
        ties and (ties.nodes.astype(np.int32), ties.weights, cold, ties.roundings),
        drains,
        n_threads(threads),
        simd or core.instruction_sets()[0],
    )
    return drains


def native_imbalance(
    problem: DirichletProblem, X: NDArray[np.floating], h: NDArray[np.float64], **options: Any
) -> Imbalance:
    """See `isotherm.solvers.imbalance.imbalance`, and `native_evidence` for the options."""
    return imbalance_of(native_evidence(problem, X, h, **options))


def imbalance_of(found: core.Evidence) -> Imbalance:
    """The same as other engines have it."""
    return Imbalance(
        level=np.array(found.level),
        rounding=np.array(found.rounding),
        relative=np.array(found.relative),
        low=-np.array(found.minus_low),
        high=np.array(found.high),
        degrees=(found.least_degree, found.greatest_degree),
        exits=(found.least_exit, found.greatest_exit),
        n_nodes=found.n_nodes,
        stray=found.stray,
    )


def native_certificate(
    problem: DirichletProblem,
    X: NDArray[np.floating],
    h: NDArray[np.float64],
    found: core.Evidence,
) -> Certificate | None:
    """What `isotherm.solvers.certificate.prove` says, in one call; None where that must be asked.

    So it must where anything is unusual: a number out of range, or a column without heat.
    """
    low, high = problem.bounds
    nodes, columns, spans = np.empty(len(X)), np.empty(len(low)), np.empty(len(low))
    bound = core.certify(
        found,
        X,
        h,
        leak=problem.leak,
        boundary=problem.boundary,
        values=problem.values,
        low=low,
        high=high,
        unreached=problem.is_unreached.view(np.uint8),
        n_free=problem.n_free,
        nodes=nodes,
        columns=columns,
        spans=spans,
    )
    if bound < 0:
        return None
    proven = Certificate(nodes, columns, spans, found.greatest_residual, found.greatest_rounding)
    return proven.knowing(found.greatest_exit, bound)
