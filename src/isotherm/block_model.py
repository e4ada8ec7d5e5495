"""The paper's block model: Lemma 1 in closed form, consistency, and random graphs (Section 4)."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.decision import Means, scores
from isotherm.errors import LabelError, ParameterError
from isotherm.graph import Graph
from isotherm.graph.rows import rows_from_edges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class BlockModel:
    """K blocks of nodes; weight p inside a block and q between two.

    Nodes of a block are alike, so the Dirichlet problems have one unknown per block, and Lemma 1
    solves them in closed form. The paper's symbols: n_k nodes and s_k seeds in block k, n nodes
    in all, T̄ the mean temperature.

    Parameters
    ----------
    sizes : sequence of K ints
        n_1 … n_K.
    p, q : numbers ≥ 0
        With `fractions.Fraction` for both, temperatures and means are exact fractions.

    Examples
    --------
    The paper's case of seed asymmetry: without centering block 1 takes the label of block 0.

    >>> from isotherm import BlockModel
    >>> model = BlockModel([100, 100], p=1e-1, q=1e-2)
    >>> model.classify([10, 5], "plain").tolist()
    [0, 0]
    >>> model.classify([10, 5], "centered").tolist()
    [0, 1]
    """

    def __init__(self, sizes: Sequence[int], p: Any, q: Any) -> None:
        self.sizes = _as_counts(sizes, "sizes")
        if len(self.sizes) == 0 or (self.sizes < 1).any():
            raise ParameterError(f"every block needs at least one node, got sizes {list(sizes)}")
        for name, value in (("p", p), ("q", q)):
            if not isinstance(value, Real) or not 0 <= float(value) < math.inf:
                raise ParameterError(f"{name} must be a number ≥ 0, got {value!r}")
        self.p = p
        self.q = q

    def __repr__(self) -> str:
        return f"BlockModel({self.sizes.tolist()}, p={self.p}, q={self.q})"

    @property
    def n_nodes(self) -> int:
        """Total number n of nodes."""
        return int(self.sizes.sum())

    @property
    def labels(self) -> NDArray[np.intp]:
        """Block of each node, block by block: array of shape (n,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    # --- Lemma 1 ------------------------------------------------------------------------------

    def temperatures(self, seeds: Sequence[int]) -> NDArray[Any]:
        """Temperature of the free nodes of each block in the problem of each label (Lemma 1).

        Parameters
        ----------
        seeds : sequence of K ints
            s_1 … s_K, the numbers of seeds of the blocks.

        Returns
        -------
        array of shape (K, K)
            Block × label.
        """
        s, held = self._seeds(seeds)
        mean = self._means(s, held)
        # (s_k (p − q) + nq) T_k = [k = l] s_l (p − q) + n T̄_l q       for label l
        own = np.diag(s * (self.p - self.q))
        return np.asarray((own + self.n_nodes * self.q * mean) / held[:, np.newaxis])

    def mean_temperatures(self, seeds: Sequence[int]) -> NDArray[Any]:
        """Mean temperature T̄ over all nodes in the problem of each label, shape (K,)."""
        return self._means(*self._seeds(seeds))

    def classify(self, seeds: Sequence[int], decision: str = "centered") -> NDArray[np.intp]:
        """Label (block number) that a decision gives to the free nodes of each block.

        Theorem 1: with ``decision="centered"`` and p > q it is the block's own, always.
        """
        T, means = self.temperatures(seeds), self._all_means(seeds)
        S = scores(T, means, decision)
        S[:, np.asarray(seeds) == 0] = -math.inf  # a label without seeds is not to be had
        return np.asarray(S.argmax(axis=1))

    def _all_means(self, seeds: Sequence[int]) -> Means:
        s, held = self._seeds(seeds)
        mean, free = self._means(s, held), self.n_nodes - s.sum()
        heat = self.n_nodes * mean - s  # of the free nodes
        return Means(mean, heat / free if free else 0 * heat, s / s.sum())

    def _means(self, s: NDArray[Any], held: NDArray[Any]) -> NDArray[Any]:
        # T̄_l as the lemma has it is w_l / (n − n Σ_k (n_k − s_k) q / held_k). Since n = Σ n_k,
        # the divisor is Σ_k w_k: the same number without the subtraction, which costs digits.
        degrees = self.sizes * (self.p - self.q) + self.n_nodes * self.q
        w = s * degrees / held
        return np.asarray(w / w.sum())

    def _seeds(self, seeds: Sequence[int]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Check the seeds; return s and s (p − q) + nq, exact if p and q are."""
        s = _as_counts(seeds, "seeds")
        if len(s) != len(self.sizes) or (s < 0).any() or (s > self.sizes).any():
            raise LabelError(
                f"seeds {list(seeds)} do not fit blocks of sizes {self.sizes.tolist()}: give one "
                "number per block, from 0 to its size"
            )
        if s.sum() == 0:
            raise LabelError(f"no seed: at least one block needs one, got {list(seeds)}")
        if isinstance(self.p, Fraction) and isinstance(self.q, Fraction):
            s = np.array([Fraction(int(count)) for count in s], dtype=object)
        held = s * (self.p - self.q) + self.n_nodes * self.q
        if (held == 0).any():
            blocks = np.flatnonzero(held == 0).tolist()
            raise LabelError(
                f"the free nodes of block(s) {blocks} are not joined to any seed: give these "
                "blocks a seed, or raise p or q above 0"
            )
        return s, held

    # --- graphs -------------------------------------------------------------------------------

    def expected_graph(self) -> Graph:
        """The weighted graph of the analysis: every two nodes joined, self-weights p included."""
        block = self.labels
        same = np.equal.outer(block, block)
        return Graph.from_matrix(np.where(same, float(self.p), float(self.q)))

    def sample(self, rng: np.random.Generator) -> tuple[Graph, NDArray[np.intp]]:
        """Draw a graph of the stochastic block model: edges with probabilities p and q.

        Takes time and memory in proportion to the edges drawn, not to the pairs of nodes.

        Parameters
        ----------
        rng : numpy.random.Generator

        Returns
        -------
        graph : Graph
            Nodes 0 … n − 1, block by block, without self loops.
        labels : int array of shape (n,)
            Block of each node.
        """
        if not isinstance(rng, np.random.Generator):
            raise ParameterError(f"rng must be np.random.default_rng(seed), got {rng!r}")
        if max(self.p, self.q) > 1:
            raise ParameterError(
                f"p and q must be at most 1 to draw a graph: they are probabilities then, got "
                f"{self.p} and {self.q}"
            )
        n = self.n_nodes
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        rows, columns = [], []
        for k, size in enumerate(self.sizes.tolist()):
            # The pairs (i, j), i > j, of block k are numbered i (i − 1) / 2 + j; the pairs of
            # block k with all later nodes, row by row.
            i, j = _unrank_pairs(_successes(size * (size - 1) // 2, float(self.p), rng))
            rows.append(starts[k] + i)
            columns.append(starts[k] + j)
            later = n - starts[k + 1]
            i, j = np.divmod(_successes(size * int(later), float(self.q), rng), max(later, 1))
            rows.append(starts[k] + i)
            columns.append(starts[k + 1] + j)
        i, j = np.concatenate(rows), np.concatenate(columns)
        return Graph(rows_from_edges(n, i, j, None)), self.labels


def _as_counts(values: Sequence[int], what: str) -> NDArray[Any]:
    counts = np.asarray(values)
    if counts.ndim != 1 or (counts.size and counts.dtype.kind not in "iu"):
        raise ParameterError(f"{what} must be a sequence of whole numbers, got {values!r}")
    return counts.astype(np.int64)


def _successes(trials: int, probability: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Which of the trials succeed, in order, each on its own with the same probability.

    The gaps between successes are geometric: one random number per success.
    """
    if probability == 0 or trials == 0:
        return np.empty(0, dtype=np.int64)
    found = []
    at = -1
    while at < trials:
        rest = (trials - at) * probability
        gaps = rng.geometric(probability, size=int(rest + 4 * math.sqrt(rest)) + 16)
        # A gap beyond the last trial ends the search; cutting it keeps the sum from overflowing.
        np.minimum(gaps, trials + 1, out=gaps)
        positions = at + np.cumsum(gaps)
        found.append(positions)
        at = int(positions[-1])
    every = np.concatenate(found)
    return every[: np.searchsorted(every, trials)]


def _unrank_pairs(t: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pair (i, j), i > j ≥ 0, of number t = i (i − 1) / 2 + j."""
    i = ((1 + np.sqrt(8.0 * t + 1)) / 2).astype(np.int64)
    i -= i * (i - 1) // 2 > t  # the square root may be rounded up …
    i += i * (i + 1) // 2 <= t  # … or down
    return i, t - i * (i - 1) // 2
