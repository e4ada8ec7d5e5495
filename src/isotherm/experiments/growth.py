"""The paper's open question: consistency on *stochastic* block models.

Theorem 1 is about the expected graph. Here edges are drawn at random: three blocks of unequal
sizes with unequal shares of seeds, neighbours `RATIO` times as likely within a block, and an
expected degree that grows with n in one of three ways. If a decision is consistent, its share of
wrong labels goes to 0 as n grows; a curve that levels off says that it is not, at that density.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from isotherm.block_model import BlockModel
from isotherm.decision import DECISIONS
from isotherm.experiments.block_figures import draw_in_blocks
from isotherm.experiments.hold_out import predictions, temperatures_of

if TYPE_CHECKING:
    import numpy as np

NODES = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
DEGREES = {
    "constant": lambda n: 15.0,  # noqa: ARG005  # does not grow
    "log n": lambda n: 2.0 * math.log(n),
    "√n": lambda n: 0.6 * math.sqrt(n),
}
SHARES = (0.55, 0.15, 0.30)  # of the nodes in each block
SEEDED = (0.12, 0.03, 0.06)  # of the nodes of each block
RATIO = 8.0
COLUMNS = ("degree", "n", "decision", "repeat", "error_rate")


def settings() -> list[dict[str, Any]]:
    """One for each way to grow and number of nodes."""
    return [{"degree": degree, "n": n} for degree in DEGREES for n in NODES]


def model(n: int, degree: str) -> BlockModel:
    """The block model of n nodes whose mean expected degree is as asked.

    Examples
    --------
    >>> model(1000, "constant").sizes.tolist()
    [550, 150, 300]
    """
    sizes = [round(share * n) for share in SHARES[:-1]]
    sizes.append(n - sum(sizes))
    pairs = sum(size / n * (RATIO * size + (n - size)) for size in sizes)
    q = min(DEGREES[degree](n) / pairs, 1 / RATIO)
    return BlockModel(sizes, RATIO * q, q)


def run(setting: dict[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
    """One graph, one draw of seeds: the share of wrong labels of each decision."""
    blocks = model(**setting)
    graph, labels = blocks.sample(rng)
    sizes = blocks.sizes.tolist()
    counts = [max(1, round(share * size)) for share, size in zip(SEEDED, sizes, strict=True)]
    seeds = draw_in_blocks(sizes, counts, rng)
    solution, classes = temperatures_of(graph, labels, seeds)
    judged = ~solution.unreached  # a node out of reach says nothing about decisions
    judged[seeds] = False
    return [
        {**setting, "decision": decision, "error_rate": float((found != labels)[judged].mean())}
        for decision, _, found in predictions(solution, classes, labels, seeds, decisions=DECISIONS)
    ]
