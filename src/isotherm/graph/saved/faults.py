"""What keeps some rows of a file from being those of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph.rows import Rows

A_SHARE = 1e-9  # of a degree, by which another order of the sum may change it


def fault_within(rows: Rows, n_nodes: int) -> str | None:
    """What is wrong within rows of a graph of so many nodes; None if nothing is.

    The rows follow each other, which is known. Whether other rows mirror them is not asked.
    """
    for first, last in rows.blocks():
        some = slice(rows.start[first], rows.start[last])
        ends = rows.ends[some].astype(np.int64)
        own = np.repeat(np.arange(first, last), np.diff(rows.start[first : last + 1]))
        outside = len(ends) and (ends.min() < 0 or ends.max() >= n_nodes)
        if outside or (np.diff(own * n_nodes + ends) <= 0).any():
            return "rows are not sorted, or name a node outside the graph"
        weights = None if rows.weights is None else rows.weights[some]
        if weights is not None and not ((weights > 0) & (weights < np.inf)).all():
            return "weights are not all above 0 and finite"
    return None


def have_degrees(rows: Rows, degrees: NDArray[np.float64]) -> bool:
    """Whether rows add up to these degrees; those of weights but for the order of the sum."""
    counts = np.diff(rows.start)
    if rows.weights is None:
        return np.array_equal(counts, degrees)
    sums = np.zeros(len(counts))
    some = counts > 0
    sums[some] = np.add.reduceat(rows.weights, rows.start[:-1][some])
    return bool((np.abs(sums - degrees) <= A_SHARE * sums).all())
