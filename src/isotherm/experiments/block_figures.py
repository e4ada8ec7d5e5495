"""Figures 2 and 3: the stochastic block model, with seeds or labels out of balance.

10 000 nodes, p = 1e-2 within blocks and q = 1e-3 between them; K = 2 blocks in Figure 2, 5 in
Figure 3. Two panels each:

- ``seed``: blocks of the same size, of which the first has `ratio` times the seeds of another
  (5 % of the nodes of all others are seeds);
- ``label``: as many seeds in each block, 5 % of all nodes, but the first block is `ratio` times as
  large as another.

The graph and the seeds are drawn anew in each repeat. The paper does not say of which label the
F1 score of Figure 2 is; ours is the mean over the labels, as the paper has it in Figure 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.block_model import BlockModel
from isotherm.experiments.hold_out import scored

if TYPE_CHECKING:
    from collections.abc import Sequence

N_NODES, P, Q = 10_000, 1e-2, 1e-3
SEEDED = 0.05
RATIOS = range(1, 11)
PANELS = ("seed", "label")
DECISIONS = ("plain", "centered", "partial")
N_BLOCKS = {"figure2": 2, "figure3": 5}
COLUMNS = ("panel", "ratio", "decision", "repeat", "f1")


def settings(figure: str) -> list[dict[str, Any]]:
    """One for each panel and ratio."""
    return [
        {"blocks": N_BLOCKS[figure], "panel": panel, "ratio": ratio}
        for panel in PANELS
        for ratio in RATIOS
    ]


def sizes_and_seeds(panel: str, ratio: int, blocks: int) -> tuple[list[int], list[int]]:
    """Nodes and seeds of each block.

    Examples
    --------
    >>> sizes_and_seeds("seed", 3, 2)
    ([5000, 5000], [750, 250])
    >>> sizes_and_seeds("label", 3, 2)
    ([7500, 2500], [250, 250])
    >>> sizes_and_seeds("label", 6, 5)
    ([6000, 1000, 1000, 1000, 1000], [100, 100, 100, 100, 100])
    """
    if panel == "seed":
        size = N_NODES // blocks
        seeds = round(SEEDED * size)
        return [size] * blocks, [ratio * seeds] + [seeds] * (blocks - 1)
    other = round(N_NODES / (ratio + blocks - 1))
    sizes = [N_NODES - (blocks - 1) * other] + [other] * (blocks - 1)
    return sizes, [round(SEEDED * N_NODES / blocks)] * blocks


def run(setting: dict[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
    """One graph, one draw of seeds, all decisions."""
    sizes, counts = sizes_and_seeds(**setting)
    model = BlockModel(sizes, P, Q)
    graph, labels = model.sample(rng)
    seeds = draw_in_blocks(sizes, counts, rng)
    return [
        {
            "panel": setting["panel"],
            "ratio": setting["ratio"],
            "decision": row["decision"],
            "f1": row["macro_f1"],
        }
        for row in scored(graph, labels, seeds, decisions=DECISIONS)
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
