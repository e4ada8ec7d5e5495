"""Why a node has its temperatures: the share of each seed, and the paths its heat takes.

Temperatures are means over the boundary: ``T_i(k) = Σ_s w_s [y_s = k]``, where w_s is the chance
that a random walk from i meets seed s before any other. One solve gives all of them. Let u be 1 at
i, 0 at all seeds, and in equilibrium elsewhere. Of the heat that leaves i ``(A u)_s`` ends in seed
s, and what leaks at a free node j is lost::

    w_s = (A u)_s / κ,    κ = Σ_s (A u)_s + τ Σ_j d_j u_j

Nothing is subtracted, so that weak links do no harm; without a leak the shares sum to 1. On its
way the heat runs down along the edges, ``A_jl (u_j − u_l) / κ`` from j to l, so that it can be
taken apart into paths.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.rounding import UNIT_ROUNDOFF
from isotherm.trust.nearly import solve_nearly

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.operator import Engine
    from isotherm.graph import Graph
    from isotherm.solvers.method import Solver

MOST_SEARCHED = 200_000  # nodes looked at for a path
FARTHEST = 1e-6  # shares that may be farther off are solved for one by one
MOST_SEEDS = 500  # if there are no more than these


class Path(NamedTuple):
    """A way from a node to a seed, and the share of all heat that takes it."""

    nodes: tuple[int, ...]
    share: float


@dataclass(frozen=True, eq=False)
class Shares:
    """Where the temperatures of one node come from.

    Attributes
    ----------
    node : int
        Its position.
    seeds : int array of shape (s,)
        Positions of all seeds.
    shares : array of shape (s,)
        The share of each, not negative; they sum to 1, or less where heat leaks.
    error_bound : float
        No share is farther off than this; proven.
    """

    node: int
    seeds: NDArray[np.intp]
    shares: NDArray[np.float64]
    error_bound: float
    _potential: NDArray[np.float64]
    _rate: float
    _graph: Graph

    def paths(self, most: int = 5) -> list[Path]:
        """Paths to seeds that carry the most heat, the greatest first, no heat counted twice."""
        taken: dict[tuple[int, int], float] = {}
        is_seed = np.zeros(self._graph.n_nodes, dtype=bool)
        is_seed[self.seeds] = True
        found: list[Path] = []
        for _ in range(most if self._rate > 0 else 0):
            path = self._widest(taken, is_seed)
            if path is None:
                break
            found.append(path)
            for edge in itertools.pairwise(path.nodes):
                taken[edge] = taken.get(edge, 0.0) + path.share
        return found

    def _widest(self, taken: dict[tuple[int, int], float], is_seed: NDArray[Any]) -> Path | None:
        """The path to a seed whose narrowest edge carries the most heat, of what is left."""
        rows, u = self._graph.rows, self._potential
        waiting = [(-np.inf, self.node)]
        best = {self.node: np.inf}
        before: dict[int, int] = {}
        done: set[int] = set()
        while waiting and len(done) < MOST_SEARCHED:
            width, i = heapq.heappop(waiting)
            if i in done:
                continue
            done.add(i)
            if is_seed[i]:
                nodes = [i]
                while nodes[-1] != self.node:
                    nodes.append(before[nodes[-1]])
                return Path(tuple(reversed(nodes)), float(-width))
            entries = slice(rows.start[i], rows.start[i + 1])
            ends = rows.ends[entries]
            weights = 1.0 if rows.weights is None else rows.weights[entries]
            flows = weights * (u[i] - u[ends]) / self._rate
            for j, flow in zip(ends.tolist(), flows.tolist(), strict=True):
                left = min(-width, flow - taken.get((i, j), 0.0))
                if left > best.get(j, 1e-12):
                    best[j] = left
                    before[j] = i
                    heapq.heappush(waiting, (-left, j))
        return None


def shares_of(
    problem: DirichletProblem,
    node: int,
    *,
    tol: float = 1e-9,
    solver: str | Solver = "auto",
    engine: str | Engine = "auto",
) -> Shares:
    """The share of each seed in the temperatures of a free node that heat reaches.

    Parameters
    ----------
    problem : DirichletProblem
    node : int
        Its position.
    tol, solver, engine
        Of the solve, see `isotherm.solve_dirichlet`.
    """
    graph = problem.graph
    held = np.append(problem.boundary, node)
    values = np.append(np.zeros(len(problem.boundary)), 1.0)
    around = problem.with_boundary(held, values)
    found = solve_nearly(around, tol=tol, solver=solver, engine=engine)
    u = found.temperatures[:, 0].astype(np.float64)
    u = np.nan_to_num(u, nan=0.0)  # of nodes that neither can reach
    E = np.nan_to_num(found.error_bound, nan=0.0, posinf=np.inf)
    received, errors = graph.rows.products(problem.boundary, np.column_stack([u, E])).T
    losses = problem.leak * np.where(problem.is_free, graph.degrees, 0.0)
    rate, rate_error = received.sum() + losses @ u, errors.sum() + losses @ E
    rounding = 4 * (graph.rows.longest + graph.n_nodes + problem.roundings) * UNIT_ROUNDOFF
    rate_error += rounding * rate
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = received / rate
        farthest = (errors + rounding * received + shares * rate_error) / (rate - rate_error)
    error = min(float(farthest.max()), 1.0) if rate > rate_error else 1.0
    if error > FARTHEST and problem.n_seeds <= MOST_SEEDS:
        # Too little heat leaves the node to be shared out: let each seed heat it instead.
        anew = solve_nearly(
            problem.with_values(np.eye(problem.n_seeds)), tol=tol, solver=solver, engine=engine
        )
        if anew.error_bound[node] < error or not np.isfinite(shares).all():
            shares, error = anew.temperatures[node].astype(np.float64), anew.error_bound[node]
    return Shares(node, problem.boundary, shares, float(error), u, float(rate), graph)
