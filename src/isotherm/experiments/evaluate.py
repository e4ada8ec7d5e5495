"""The protocol of Table 2 on any graph."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isotherm.classifier.classify import DirichletClassifier
from isotherm.decision import DECISIONS
from isotherm.errors import IsothermWarning
from isotherm.experiments.hold_out import TOL, draw_seeds, macro_f1, scores_of, temperatures_of
from isotherm.labels import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from isotherm.graph import Graph


def evaluate(
    graph: Graph,
    labels: NDArray[np.intp],
    fractions: Sequence[float],
    *,
    repeats: int,
    auto: bool = False,
    rngs: Callable[[float, int], np.random.Generator],
    progress: Callable[[str, int, int], None] | None = None,
    tol: float = TOL,
    solver: str = "auto",
    engine: str = "auto",
) -> list[dict[str, Any]]:
    """Macro-F1 on held-out labels, a row for each share of seeds, repeat and decision.

    A row also says whether the temperatures it rests on are proven to `tol`.

    Parameters
    ----------
    graph : Graph
    labels : int array of shape (n,)
        −1 where unknown.
    fractions : sequence of float
        Shares of the labelled nodes that are given as seeds.
    repeats : int
    auto : bool
        Whether decision and leak are also chosen by leave-one-out.
    rngs : callable
        The stream of random numbers of a share and a repeat.
    progress : callable, optional
        Told what runs, how much is done and how much there is.
    tol, solver, engine
        See `isotherm.DirichletClassifier`.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If temperatures could not be proven to `tol`, once for all draws.
    """
    known = int((labels >= 0).sum())
    chooser = DirichletClassifier("auto", leak="auto", tol=tol, solver=solver, engine=engine)
    rows = []
    for fraction in fractions:
        for repeat in range(repeats):
            seeds = draw_seeds(labels, fraction * known / len(labels), rngs(fraction, repeat))
            solution, classes = temperatures_of(
                graph, labels, seeds, solver, tol=tol, engine=engine
            )
            found = scores_of(solution, classes, labels, seeds, decisions=DECISIONS, tol=tol)
            found += [_chosen(chooser, graph, labels, seeds)] if auto else []
            proven = {"converged": solution.certificate.bound <= tol}
            rows += [{"seed_fraction": fraction, "repeat": repeat} | proven | row for row in found]
            if progress is not None:
                progress(f"{fraction:.3g} seeds", repeat + 1, repeats)
    missed = {(row["seed_fraction"], row["repeat"]) for row in rows if not row["converged"]}
    if missed:
        warnings.warn(
            f"in {len(missed)} of {len(fractions) * repeats} draws temperatures could not be "
            f"proven to tol = {tol:.1e}",
            ConvergenceWarning,
            stacklevel=2,
        )
    return rows


def _chosen(
    model: DirichletClassifier, graph: Graph, labels: NDArray[np.intp], seeds: NDArray[np.intp]
) -> dict[str, Any]:
    """The same with decision and leak chosen by leave-one-out."""
    known = np.full(len(labels), UNKNOWN)
    known[seeds] = labels[seeds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsothermWarning)  # of few labels, at each draw
        warnings.simplefilter("ignore", ConvergenceWarning)  # told of once, at the end
        found = model.fit(graph, known).labels_
    free = (labels != UNKNOWN) & (known == UNKNOWN)
    score = macro_f1(labels[free], found[free])
    proven = model.solution_.certificate.bound <= model.tol
    return {"decision": "auto", "unreached": "abstain", "macro_f1": score, "converged": proven}
