"""The stochastic block model: Figures 2 and 3, and the paper's open question.

Figures 2 and 3 have 10 000 nodes, p = 1e-2 within blocks and q = 1e-3 between them; K = 2 blocks in
Figure 2, 5 in Figure 3. Two panels each:

- ``seed``: blocks of the same size, of which the first has `ratio` times the seeds of another
  (5 % of the nodes of all others are seeds);
- ``label``: as many seeds in each block, 5 % of all nodes, but the first block is `ratio` times as
  large as another.

The graph and the seeds are drawn anew in each repeat. The paper does not say of which label the
F1 score of Figure 2 is; ours is the mean over the labels, as the paper has it in Figure 3.

Theorem 1 is about the expected graph; the open question is consistency where edges are drawn. In
`draw_growth` the expected degree of three unequal blocks grows with n in one of three ways. If a
decision is consistent, its share of wrong labels goes to 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm import BlockModel
from paper.decisions import DECISIONS, UNKNOWN, at_equilibrium, scored

if TYPE_CHECKING:
    from collections.abc import Sequence

N_NODES, P, Q = 10_000, 1e-2, 1e-3
SEEDED = 0.05
RATIOS = range(1, 11)
PANELS = ("seed", "label")
OF_FIGURES = ("plain", "centered", "partial")
N_BLOCKS = {"figure2": 2, "figure3": 5}
COLUMNS = ("panel", "ratio", "decision", "repeat", "f1")

GROWTH_NODES = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
GROWTH_DEGREES = {
    "constant": lambda n: 15.0,  # noqa: ARG005  # does not grow
    "log n": lambda n: 2.0 * math.log(n),
    "√n": lambda n: 0.6 * math.sqrt(n),
}
GROWTH_SHARES = (0.55, 0.15, 0.30)  # of the nodes in each block
GROWTH_SEEDED = (0.12, 0.03, 0.06)  # of the nodes of each block
GROWTH_RATIO = 8.0
GROWTH_COLUMNS = ("degree", "n", "decision", "repeat", "error_rate")


def settings(figure: str) -> list[dict[str, Any]]:
    """One for each panel and ratio."""
    return [
        {"blocks": N_BLOCKS[figure], "panel": panel, "ratio": ratio}
        for panel in PANELS
        for ratio in RATIOS
    ]


def sizes_and_seeds(panel: str, ratio: int, blocks: int) -> tuple[list[int], list[int]]:
    """Nodes and seeds of each block."""
    if panel == "seed":
        size = N_NODES // blocks
        seeds = round(SEEDED * size)
        return [size] * blocks, [ratio * seeds] + [seeds] * (blocks - 1)
    other = round(N_NODES / (ratio + blocks - 1))
    sizes = [N_NODES - (blocks - 1) * other] + [other] * (blocks - 1)
    return sizes, [round(SEEDED * N_NODES / blocks)] * blocks


def draw_figure(setting: dict[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
    """One graph, one draw of seeds, the three decisions of Figures 2 and 3."""
    sizes, counts = sizes_and_seeds(**setting)
    graph, labels = BlockModel(sizes, P, Q).sample(rng)
    seeds = draw_in_blocks(sizes, counts, rng)
    at = {"panel": setting["panel"], "ratio": setting["ratio"]}
    return [
        at | {"decision": row["decision"], "f1": row["macro_f1"]}
        for row in scored(labels, seeds, at_equilibrium(graph, labels, seeds, OF_FIGURES))
    ]


def draw_in_blocks(
    sizes: Sequence[int], counts: Sequence[int], rng: np.random.Generator
) -> np.ndarray[Any, np.dtype[np.intp]]:
    """So many nodes of each block, whose nodes follow each other."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.concatenate(
        [
            start + np.sort(rng.choice(size, count, replace=False))
            for start, size, count in zip(starts, sizes, counts, strict=True)
        ]
    )


def growth_settings() -> list[dict[str, Any]]:
    """One for each way to grow and number of nodes."""
    return [{"degree": degree, "n": n} for degree in GROWTH_DEGREES for n in GROWTH_NODES]


def growing_model(n: int, degree: str) -> BlockModel:
    """The block model of n nodes whose mean expected degree is as asked."""
    sizes = [round(share * n) for share in GROWTH_SHARES[:-1]]
    sizes.append(n - sum(sizes))
    pairs = sum(size / n * (GROWTH_RATIO * size + (n - size)) for size in sizes)
    q = min(GROWTH_DEGREES[degree](n) / pairs, 1 / GROWTH_RATIO)
    return BlockModel(sizes, GROWTH_RATIO * q, q)


def draw_growth(setting: dict[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
    """One graph, one draw of seeds: the share of wrong labels of each decision."""
    blocks = growing_model(**setting)
    graph, labels = blocks.sample(rng)
    sizes = blocks.sizes.tolist()
    counts = [max(1, round(a * b)) for a, b in zip(GROWTH_SEEDED, sizes, strict=True)]
    seeds = draw_in_blocks(sizes, counts, rng)
    free = np.ones(len(labels), dtype=bool)
    free[seeds] = False
    rows = []
    for decision, _, found in at_equilibrium(graph, labels, seeds, DECISIONS):
        judged = free & (found != UNKNOWN)  # a node out of reach says nothing about decisions
        wrong = float((found != labels)[judged].mean())
        rows.append({**setting, "decision": decision, "error_rate": wrong})
    return rows
