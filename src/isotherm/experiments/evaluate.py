"""The protocol of Table 2 on any graph."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.classifier import DirichletClassifier
from isotherm.decision import DECISIONS
from isotherm.errors import IsothermWarning
from isotherm.experiments.hold_out import draw_seeds, macro_f1, scored
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
) -> list[dict[str, Any]]:
    """Macro-F1 on held-out labels, a row for each share of seeds, repeat and decision.

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
    """
    known = int((labels >= 0).sum())
    rows = []
    for fraction in fractions:
        for repeat in range(repeats):
            seeds = draw_seeds(labels, fraction * known / len(labels), rngs(fraction, repeat))
            found = scored(graph, labels, seeds, decisions=DECISIONS)
            found += [_chosen(graph, labels, seeds)] if auto else []
            rows += [{"seed_fraction": fraction, "repeat": repeat, **row} for row in found]
            if progress is not None:
                progress(f"{fraction:.3g} seeds", repeat + 1, repeats)
    return rows


def _chosen(graph: Graph, labels: NDArray[np.intp], seeds: NDArray[np.intp]) -> dict[str, Any]:
    """The same with decision and leak chosen by leave-one-out."""
    model = DirichletClassifier("auto", leak="auto")
    known = np.full(len(labels), UNKNOWN)
    known[seeds] = labels[seeds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsothermWarning)  # of few labels, at each draw
        found = model.fit(graph, known).labels_
    free = (labels != UNKNOWN) & (known == UNKNOWN)
    score = macro_f1(labels[free], found[free])
    return {"decision": "auto", "unreached": "abstain", "macro_f1": score}
