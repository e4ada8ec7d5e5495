"""The protocol of Table 2 on any graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isotherm.decision import DECISIONS
from isotherm.experiments.hold_out import draw_seeds, scored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from isotherm.graph import Graph


def evaluate(
    graph: Graph,
    labels: NDArray[np.intp],
    fractions: Sequence[float],
    *,
    repeats: int,
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
            rows += [{"seed_fraction": fraction, "repeat": repeat, **row} for row in found]
            if progress is not None:
                progress(f"{fraction:.3g} seeds", repeat + 1, repeats)
    return rows
