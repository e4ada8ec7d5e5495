"""Which decisions are right on the block model, over seed ratio × size ratio.

Lemma 1 gives temperatures in closed form, so each point is exact: no graph is drawn and nothing is
solved. Two maps: two blocks, and three of which the third is that of the counterexample to
partial centering (`COUNTEREXAMPLE`), which lies on the map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm import BlockModel
from paper.decisions import DECISIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

P, Q = 3e-2, 1e-2
# Sizes (20, 3, 9), seeds (12, 1, 8), p = 3q: the free nodes of block 2 get the label of block 1,
# see docs/consistency.md. Only ratios count, so all numbers may be scaled alike.
COUNTEREXAMPLE = {"sizes": (20, 3, 9), "seeds": (12, 1, 8)}
SCALE = 40
SEED_RATIOS = np.geomspace(1 / 16, 16, 65)
SIZE_RATIOS = np.geomspace(1 / 16, 16, 65)
BLOCKS = (2, 3)


def blocks_at(
    seed_ratio: float, size_ratio: float, blocks: int
) -> tuple[list[int], list[int]] | None:
    """Sizes and seeds at a point of the map; None where a block has no free node.

    Block 2 is that of the counterexample, and so is block 3 if there is one.
    """
    sizes = [round(COUNTEREXAMPLE["sizes"][1] * SCALE * size_ratio)]
    seeds = [max(1, round(COUNTEREXAMPLE["seeds"][1] * SCALE * seed_ratio))]
    for k in range(1, blocks):
        sizes.append(COUNTEREXAMPLE["sizes"][k] * SCALE)
        seeds.append(COUNTEREXAMPLE["seeds"][k] * SCALE)
    if any(seed >= size for seed, size in zip(seeds, sizes, strict=True)):
        return None
    return sizes, seeds


def wrong_blocks(decision: str, blocks: int) -> NDArray[np.float64]:
    """Number of blocks whose free nodes get a wrong label, size ratio × seed ratio; NaN: none."""
    found = np.full((len(SIZE_RATIOS), len(SEED_RATIOS)), np.nan)
    for i, size_ratio in enumerate(SIZE_RATIOS):
        for j, seed_ratio in enumerate(SEED_RATIOS):
            at = blocks_at(seed_ratio, size_ratio, blocks)
            if at is None:
                continue
            labels = BlockModel(at[0], P, Q).classify(at[1], decision)
            found[i, j] = np.count_nonzero(labels != np.arange(blocks))
    return found


def maps() -> dict[int, dict[str, NDArray[np.float64]]]:
    """All maps, by the number of blocks and the decision."""
    return {
        blocks: {decision: wrong_blocks(decision, blocks) for decision in DECISIONS}
        for blocks in BLOCKS
    }
