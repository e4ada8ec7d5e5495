"""The paths that the heat of a node takes to seeds, those that carry most first.

On its way the heat runs down along the edges, ``A_jl (u_j − u_l) / κ`` from j to l, see
`isotherm.trust.explain`, so that it can be taken apart into paths.
"""

from __future__ import annotations

import heapq
import itertools
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem

MOST_SEARCHED = 200_000  # nodes looked at for a path
MOST_PATHS = 40  # that are listed to account for a share of the heat
MOST_COUNTED = 40  # beyond these, which are only counted
NEXT_TO_NOTHING = 1e-6  # of the heat
WORTH_LISTING = 0.01  # of the heat, that a path carries which is listed for its share


class Path(NamedTuple):
    """A way from a node to a seed, and the share of all heat that takes it."""

    nodes: tuple[int, ...]
    share: float


class Rest(NamedTuple):
    """The heat that takes other paths than those listed.

    Attributes
    ----------
    share : float
        Of all heat; 0 up to rounding.
    n_paths : int
        How many were counted; none carries more heat than one that is listed.
    is_all : bool
        Whether there are no others.
    """

    share: float
    n_paths: int
    is_all: bool


@dataclass(frozen=True, eq=False)
class PathSearch:
    """The heat of a node, taken apart.

    Attributes
    ----------
    node : int
        Its position.
    potential : array of shape (n,)
        1 at the node, 0 at all seeds, in equilibrium elsewhere: u.
    rate : float
        Of the heat that leaves the node: κ.
    problem : DirichletProblem
    """

    node: int
    potential: NDArray[np.float64]
    rate: float
    problem: DirichletProblem

    def listed(self, most: int, heat: float | None, total: float) -> tuple[list[Path], Rest | None]:
        """Paths, and what is left to others; `total` is the heat that reaches seeds.

        See `isotherm.trust.explain.Shares.paths`.
        """
        all_paths = self._each()
        found = [path for path, _ in itertools.islice(all_paths, min(most, sys.maxsize))]
        if heat is None:
            return found, None
        carried = sum(path.share for path in found)
        searched, counted, more = 0, 0, 0.0
        for path, n_searched in all_paths:
            is_listed = carried < heat * total and path.share >= WORTH_LISTING * total
            if is_listed and not counted and len(found) < MOST_PATHS:
                found.append(path)
                carried += path.share
            else:
                counted += 1
                more += path.share
            searched += n_searched
            if counted == MOST_COUNTED or searched > MOST_SEARCHED:
                break
        left = total - carried
        return found, Rest(max(left, 0.0), counted, left - more <= NEXT_TO_NOTHING * total)

    def _each(self) -> Iterator[tuple[Path, int]]:
        """Paths, the greatest first, until no heat is left, and the nodes looked at for each."""
        taken: dict[tuple[int, int], float] = {}
        is_seed = np.zeros(self.problem.graph.n_nodes, dtype=bool)
        is_seed[self.problem.boundary] = True
        while self.rate > 0:
            path, n_searched = self._widest(taken, is_seed)
            if path is None:
                break
            yield path, n_searched
            ways = list(itertools.pairwise(path.nodes))
            if not is_seed[path.nodes[-1]]:
                ways.append((path.nodes[-1], _tie_of(path.nodes[-1])))
            for way in ways:
                taken[way] = taken.get(way, 0.0) + path.share

    def _widest(
        self, taken: dict[tuple[int, int], float], is_seed: NDArray[np.floating]
    ) -> tuple[Path | None, int]:
        """The path to a seed whose narrowest edge carries the most heat, of what is left.

        And how many nodes were looked at for it.
        """
        rows, u, ties = self.problem.graph.rows, self.potential, self.problem.tie_weights
        waiting = [(-np.inf, self.node)]
        best = {self.node: np.inf}
        before: dict[int, int] = {}
        done: set[int] = set()
        while waiting and len(done) < MOST_SEARCHED:
            width, i = heapq.heappop(waiting)
            if i in done:
                continue
            done.add(i)
            if i < 0 or is_seed[i]:
                nodes = [i]
                while nodes[-1] != self.node:
                    nodes.append(before[nodes[-1]])
                return Path(tuple(j for j in reversed(nodes) if j >= 0), float(-width)), len(done)
            entries = slice(rows.start[i], rows.start[i + 1])
            ends = rows.ends[entries]
            weights = 1.0 if rows.weights is None else rows.weights[entries]
            flows = weights * (u[i] - u[ends]) / self.rate
            ways = list(zip(ends.tolist(), flows.tolist(), strict=True))
            if ties[i] and i != self.node:
                ways.append((_tie_of(i), float(ties[i] * u[i] / self.rate)))
            for j, flow in ways:
                left = min(-width, flow - taken.get((i, j), 0.0))
                if left > best.get(j, 1e-12):
                    best[j] = left
                    before[j] = i
                    heapq.heappush(waiting, (-left, j))
        return None, len(done)


def _tie_of(node: int) -> int:
    """What stands for the end of a node's tie in a search for paths."""
    return -1 - node
