"""What to label next: nodes whose labels would change most of what is still in doubt.

Let g be the temperatures when free node i alone is held at 1 and all seeds at 0, and ḡ their mean.
Once the label y of i is known temperatures move by ``(y − T_i) g``, and after centering by ``(y −
T_i) (g − ḡ)``. So a node is worth::

    v_i Σ_j u_j (g_j − ḡ)²

with v_i how uncertain its own class is (what it could tell) and u_j the doubt of node j (whom it
could help); the square favours nodes that decide some others over those that touch all a little.
When i is chosen its share of the doubt is gone, ``u_j ← (1 − g_j) u_j``, so that the next one lies
elsewhere: a batch covers the graph.

All g are found in one solve, a column for each candidate: with ``G = M⁻¹``, the heat put in at i
gives the temperatures ``G_i``, and those when i is held at 1 are ``G_i / G_ii``. Holding i for good
changes G by one rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.engine import Session
    from isotherm.graph import Graph

CANDIDATES = 96
ROOM = 1 << 26  # temperatures that there is room for
LOOKED_AT, LEAST_LOOKED_AT = 5_000_000, 2000  # nodes over which worth is summed up, × candidates


class Suggestion(NamedTuple):
    """A free node worth labelling.

    Attributes
    ----------
    node : hashable
    label : object
        That it has now; none where no heat reaches it.
    doubt : float
        1 where its two best classes are level, 0 where there is no question.
    reach : float
        The sum of the shares it would have in the temperatures of all nodes: so many nodes, in all,
        would be of its mind.
    """

    node: Hashable
    label: Any
    doubt: float
    reach: float


class Doubts(NamedTuple):
    """How uncertain nodes are, arrays of shape (n,); 0 at seeds.

    Attributes
    ----------
    doubt : 1 minus the lead of the most probable class
    variance : 1 minus the sum of the squares of the probabilities
    """

    doubt: NDArray[np.float64]
    variance: NDArray[np.float64]

    @classmethod
    def of(cls, P: NDArray[np.float64], is_seed: NDArray[np.bool_]) -> Doubts:
        """From probabilities of shape (n, K); a node that has none (NaN) is in full doubt."""
        if P.shape[1] == 1:
            return cls(*np.zeros((2, len(P))))
        best = np.partition(P, -2, axis=1)
        doubt = np.nan_to_num(1 - (best[:, -1] - best[:, -2]), nan=1.0)
        variance = np.nan_to_num(1 - (P**2).sum(axis=1), nan=1.0)
        doubt[is_seed] = variance[is_seed] = 0.0
        return cls(doubt, variance)


class Responses:
    """What each of some free nodes would do to all others if it were held.

    Parameters
    ----------
    session : Session
    candidates : int array of shape (c,)
        Free nodes that heat reaches.
    nodes : int array of shape (m,)
        Where it matters.
    tol : float
    """

    def __init__(
        self,
        session: Session,
        candidates: NDArray[np.intp],
        nodes: NDArray[np.intp],
        tol: float,
    ) -> None:
        V = session.respond(candidates, tol)
        put_in = session.problem.capacities[candidates]
        G = V[candidates] / put_in
        self._G = (G + G.T) / 2
        self._H = np.nan_to_num(V[nodes]) / put_in
        self._sums = np.nansum(V, axis=0) / put_in

    def shares(self) -> NDArray[np.float64]:
        """The g of each candidate at the nodes that matter, shape (m, c)."""
        return np.asarray(self._H / self._diagonal())

    def reach(self) -> NDArray[np.float64]:
        """Sum of g over all nodes, shape (c,)."""
        return np.asarray(self._sums / self._diagonal())

    def hold(self, k: int) -> None:
        """From now on candidate k is a seed: the responses of others are 0 there."""
        row = self._G[k] / self._G[k, k]
        self._H -= np.outer(self._H[:, k], row)
        self._sums -= self._sums[k] * row
        self._G -= np.outer(self._G[:, k], row)

    def _diagonal(self) -> NDArray[np.float64]:
        d: NDArray[np.float64] = np.array(self._G.diagonal(), dtype=np.float64)
        d[d <= 0] = np.inf  # held: no response any more
        return d


def suggest(
    session: Session,
    doubts: Doubts,
    k: int,
    *,
    is_known: NDArray[np.bool_],
    rng: np.random.Generator,
    tol: float,
) -> list[tuple[int, float]]:
    """Positions of nodes to label next, the most useful first, and the reach of each.

    Parameters
    ----------
    session : Session
    doubts : Doubts
    k : int
    is_known : bool array of shape (n,)
        Nodes that have a label already.
    rng : numpy.random.Generator
        Of the draw of candidates.
    tol : float
        To which the temperatures that they would cause are found.
    """
    problem = session.problem
    count = min(max(CANDIDATES, k + CANDIDATES // 3), max(32, ROOM // problem.graph.n_nodes))
    free = np.flatnonzero(problem.is_free & ~is_known)
    found = _without_heat(problem, k)
    if len(free):
        candidates = candidates_of(problem.graph, free, doubts, max(count, k), rng)
        nodes = np.flatnonzero(problem.is_free)
        looked_at = max(LEAST_LOOKED_AT, LOOKED_AT // len(candidates))
        if len(nodes) > looked_at:
            nodes = np.sort(rng.choice(nodes, looked_at, replace=False))
        responses = Responses(session, candidates, nodes, tol)
        in_turns = len(candidates) < len(free)
        picked = choose(responses, doubts, candidates, nodes, k, in_turns=in_turns)
        scale = np.count_nonzero(problem.is_free) / len(nodes)
        found += [(scale * worth, int(candidates[c]), reach) for c, worth, reach in picked]
    found.sort(key=lambda one: -one[0])
    return [(node, reach) for _, node, reach in found[:k]]


def _without_heat(problem: DirichletProblem, k: int) -> list[tuple[float, int, float]]:
    """The hub of each of the largest components without seeds: worth, position, reach.

    A label there would be that of the whole component.
    """
    cold = np.flatnonzero(problem.is_unreached)
    if len(cold) == 0:
        return []
    part = problem.graph.components[cold]
    by_degree = cold[np.argsort(-problem.graph.degrees[cold], kind="stable")]
    parts, hub = np.unique(problem.graph.components[by_degree], return_index=True)
    sizes = np.bincount(part)[parts]
    largest = np.argsort(-sizes, kind="stable")[:k]
    return [(sizes[c] - 1.0, int(by_degree[hub[c]]), float(sizes[c])) for c in largest.tolist()]


def candidates_of(
    graph: Graph, free: NDArray[np.intp], doubts: Doubts, count: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Free nodes to look at more closely: one half hubs in doubt, the other drawn by doubt.

    Hubs have the most to say where neighbours are alike, others where hubs are of no class.
    """
    if len(free) <= count:
        return free
    weight = graph.degrees[free] * doubts.variance[free]
    hubs = free[np.argsort(-weight, kind="stable")[: (count + 1) // 2]]
    others = np.setdiff1d(free, hubs)
    chance = doubts.doubt[others] + 1e-9
    drawn = rng.choice(others, count - len(hubs), replace=False, p=chance / chance.sum())
    # In turns, as they are chosen from.
    order = np.argsort(np.concatenate([np.arange(len(hubs)) * 2, np.arange(len(drawn)) * 2 + 1]))
    return np.concatenate([hubs, drawn])[order]


def choose(
    responses: Responses,
    doubts: Doubts,
    candidates: NDArray[np.intp],
    nodes: NDArray[np.intp],
    k: int,
    *,
    in_turns: bool,
) -> list[tuple[int, float, float]]:
    """Choose candidates one after the other: place, worth and reach of each.

    Parameters
    ----------
    responses : Responses
        Of `candidates`, at `nodes`.
    doubts : Doubts
    candidates, nodes : int arrays
    k : int
    in_turns : bool
        Whether those at even and odd places take turns, see `candidates_of`.
    """
    weight, own = doubts.doubt[nodes], doubts.variance[candidates]
    left = np.ones(len(candidates), dtype=bool)
    turn = np.arange(len(candidates)) % 2
    found = []
    for step in range(min(k, len(candidates))):
        g = responses.shares()
        worth = own * (weight @ (g - g.mean(axis=0)) ** 2)
        in_turn = left & (turn == step % 2) if in_turns else left
        worth = np.where(in_turn if in_turn.any() else left, worth, -1.0)
        best = int(worth.argmax())
        found.append((best, float(worth[best]), float(responses.reach()[best])))
        left[best] = False
        weight = weight * (1 - np.clip(g[:, best], 0.0, 1.0))
        responses.hold(best)
    return found
