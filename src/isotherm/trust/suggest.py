"""What to label next: nodes whose labels would change most of what is still in doubt, and checks.

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

Such nodes are no random sample, and on some graphs they are no help. So every other suggestion is
a *check*, drawn at random: labels that are worth what random labels are worth, and that tell how
well the others did (`isotherm.trust.expected`).

Whatever is drawn, and every tie, is decided by the names of nodes (`isotherm.graph.keys`), and the
first k suggestions are the same however many are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.graph.keys import least, uniform
from isotherm.trust.responses import Responses

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.engine import Session
    from isotherm.graph import Graph
    from isotherm.graph.keys import Keys
    from isotherm.trust.responses import Doubts

USEFUL, CHECK = "useful", "check"  # why a node is suggested
CANDIDATES, FEWEST_CANDIDATES = 48, 24  # on a graph that is not large, and at the least
ROOM = 1 << 26  # temperatures that there is room for
LOOKED_AT, LEAST_LOOKED_AT = 5_000_000, 2000  # nodes over which worth is summed up, × candidates
CLOSE = 0.01  # relative difference below which two values are level, whatever the rounding


class Suggestion(NamedTuple):
    """A free node worth labelling.

    Attributes
    ----------
    node : hashable
    label : object
        The label it has now; none where no heat reaches it.
    doubt : float
        1 where its two best classes are equal, 0 where there is no doubt.
    reach : float
        The sum of the shares that it would have in the temperatures of all nodes: about as many
        nodes would follow its label.
    why : str
        ``"useful"``, or ``"check"`` if it was drawn at random to see how well the others do.

    Examples
    --------
    >>> from isotherm import DirichletClassifier, load_dataset
    >>> club = load_dataset("karate")
    >>> known = {node: str(club.labels[node]) for node in (0, 1, 2, 3, 30, 31, 32, 33)}
    >>> model = DirichletClassifier().fit(club.graph, known)
    >>> [(one.node, one.why) for one in model.suggest(2)]
    [(9, 'useful'), (10, 'check')]
    """

    node: Hashable
    label: Any
    doubt: float
    reach: float
    why: str

    @property
    def drawn(self) -> bool:
        """Whether the node was drawn at random, so that its label tells of others."""
        return self.why == CHECK


class Pick(NamedTuple):
    """A suggestion by the position of its node."""

    position: int
    reach: float
    why: str


class Lots(NamedTuple):
    """Keys of the nodes, arrays of shape (n,): the least is drawn first.

    Attributes
    ----------
    check : of the order of checks
    candidate : of candidates, and of nodes that are level
    """

    check: Keys
    candidate: Keys


def suggest(
    session: Session,
    doubts: Doubts,
    lots: Lots,
    k: int,
    *,
    is_known: NDArray[np.bool_],
    tol: float,
) -> list[Pick]:
    """Nodes to label next, the most useful first, every other one a check.

    Parameters
    ----------
    session : Session
    doubts : Doubts
    lots : Lots
    k : int
    is_known : bool array of shape (n,)
        Nodes that have a label already.
    tol : float
        To which the temperatures that they would cause are found.
    """
    problem = session.problem
    free = np.flatnonzero(problem.is_free & ~is_known)
    cold = _without_heat(problem, lots.candidate, k)
    count = min(CANDIDATES, max(FEWEST_CANDIDATES, ROOM // problem.graph.n_nodes))
    most = count * 4 // 3  # half of them checks: two candidates in three are chosen
    picks: list[Pick] = []
    # Twice as many each time, so that the first ones do not depend on how many are asked for.
    while True:
        taken = np.array([pick.position for pick in picks], dtype=np.intp)
        left = np.setdiff1d(free, taken)
        candidates = candidates_of(problem.graph, left, doubts, lots.candidate, count)
        n_checks = (min(k, most) - len(picks) + 1) // 2
        checks = _checks(left, candidates, lots.check, n_checks)
        batch = Batch(session, doubts, lots, candidates, checks, np.intersect1d(taken, free), tol)
        found = batch.go_on(picks, cold, min(k, most))
        if len(found) in (k, len(picks)):
            return found
        picks, most, count = found, 2 * most, most


def candidates_of(
    graph: Graph, free: NDArray[np.intp], doubts: Doubts, lots: Keys, count: int
) -> NDArray[np.intp]:
    """Free nodes to look at more closely: so many drawn by doubt, from those that are no hubs.

    Hubs seem to be worth the most, but on some graphs they are of no class, and mislead.
    """
    if len(free) <= 2 * count:
        return free
    weight = graph.degrees[free] * doubts.variance[free]
    others = free[_descending(weight, lots[free])[count:]]
    # The first to ring, if each rings after a random time, the sooner the more it is in doubt.
    times = -np.log(uniform(lots[others])) / (doubts.doubt[others] + 1e-9)
    return others[np.lexsort((lots[others], times))[:count]]


def _checks(
    free: NDArray[np.intp], candidates: NDArray[np.intp], lots: Keys, count: int
) -> NDArray[np.intp]:
    """Free nodes in the order of their lots, so many that are no candidates."""
    order = free[np.argsort(lots[free])]
    others = np.flatnonzero(~np.isin(order, candidates))
    return order[: others[count - 1] + 1] if 0 < count <= len(others) else order


def _descending(values: NDArray[np.float64], lots: Keys) -> NDArray[np.intp]:
    """The order of values ≥ 0, the greatest first; lots decide where they are level."""
    with np.errstate(divide="ignore"):
        level = np.round(np.log(values) / CLOSE)
    return np.lexsort((lots, -level))


class Cold(NamedTuple):
    """The hub of a component without seeds: a label there would be that of all its nodes."""

    worth: float
    position: int
    reach: float


def _without_heat(problem: DirichletProblem, lots: Keys, k: int) -> list[Cold]:
    """The hubs of the largest components without seeds."""
    cold = np.flatnonzero(problem.is_unreached)
    if len(cold) == 0:
        return []
    by_degree = cold[_descending(problem.graph.degrees[cold], lots[cold])]
    parts, first = np.unique(problem.graph.components[by_degree], return_index=True)
    sizes = np.bincount(problem.graph.components[cold])[parts]
    hubs = by_degree[first]
    largest = np.lexsort((lots[hubs], -sizes))[:k]
    return [Cold(sizes[c] - 1.0, int(hubs[c]), float(sizes[c])) for c in largest.tolist()]


class Batch:
    """Nodes that are chosen one after the other, each in view of those before it.

    Parameters
    ----------
    session, doubts, lots, tol
        See `suggest`.
    candidates : int array
    checks : int array
        In the order in which they are drawn; some may be candidates as well.
    taken : int array
        Nodes chosen before.
    """

    def __init__(
        self,
        session: Session,
        doubts: Doubts,
        lots: Lots,
        candidates: NDArray[np.intp],
        checks: NDArray[np.intp],
        taken: NDArray[np.intp],
        tol: float,
    ) -> None:
        nodes = np.concatenate([candidates, np.setdiff1d(checks, candidates), taken])
        at = _looked_at(session.problem, lots.candidate, len(nodes))
        self._place = {node: place for place, node in enumerate(nodes.tolist())}
        self._nodes, self._checks, self._n_candidates = nodes, checks, len(candidates)
        self._lots, self._own = lots.candidate[nodes], doubts.variance[nodes]
        self._is_left = np.ones(len(nodes), dtype=bool)
        if len(nodes):
            self._responses = Responses(session, nodes, at, tol)
        self._weight = doubts.doubt[at]
        self._scale = session.problem.n_free / max(len(at), 1)

    def go_on(self, picks: list[Pick], cold: list[Cold], most: int) -> list[Pick]:
        """Those chosen before and further ones, as long as there are any, up to so many."""
        found = list(picks)
        for pick in picks:
            if pick.position in self._place:
                self._settle(self._place[pick.position])
        asked = {pick.position for pick in picks}
        cold = [one for one in cold if one.position not in asked]
        for step in range(len(picks), most):
            one = self._check() if step % 2 else None
            one = one or self._useful(cold)
            if one is None:
                break
            found.append(one)
        return found

    def _check(self) -> Pick | None:
        """The next one drawn."""
        places = (self._place[node] for node in self._checks.tolist())
        best = next((place for place in places if self._is_left[place]), None)
        return None if best is None else self._taken(best, CHECK)

    def _useful(self, cold: list[Cold]) -> Pick | None:
        """The worthiest candidate, or a component without heat if that is worth more."""
        some = np.flatnonzero(self._is_left[: self._n_candidates])
        worth = self._worth(some) if len(some) else np.empty(0)
        top = float(worth.max(initial=-1.0))
        if cold and cold[0].worth >= top:
            first = cold.pop(0)
            return Pick(first.position, first.reach, USEFUL)
        if top < 0:
            return None
        level = some[worth >= (1 - CLOSE) * top]
        return self._taken(int(level[self._lots[level].argmin()]), USEFUL)

    def _worth(self, places: NDArray[np.intp]) -> NDArray[np.float64]:
        g = self._responses.shares()[:, places]
        return np.asarray(
            self._scale * self._own[places] * (self._weight @ (g - g.mean(axis=0)) ** 2)
        )

    def _taken(self, place: int, why: str) -> Pick:
        pick = Pick(int(self._nodes[place]), float(self._responses.reach()[place]), why)
        self._settle(place)
        return pick

    def _settle(self, place: int) -> None:
        """From now on this one is known, and its share of the doubt gone."""
        share = self._responses.shares()[:, place]
        self._weight = self._weight * (1 - np.clip(share, 0.0, 1.0))
        self._responses.hold(place)
        self._is_left[place] = False


def _looked_at(problem: DirichletProblem, lots: Keys, n_columns: int) -> NDArray[np.intp]:
    """Free nodes over which worth is summed up: all, or some of a large graph."""
    nodes = np.flatnonzero(problem.is_free)
    most = max(LEAST_LOOKED_AT, LOOKED_AT // max(n_columns, 1))
    return nodes[least(lots[nodes], most)]
