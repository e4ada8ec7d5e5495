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

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.printable import one_line
from isotherm.rounding import UNIT_ROUNDOFF
from isotherm.trust.best_effort import solve_best_effort
from isotherm.trust.heat_paths import Path, PathSearch, Rest

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.engine import Session
    from isotherm.solvers import Solution

FARTHEST = 1e-6  # shares that may be farther off are solved for one by one
MOST_SEEDS = 500  # if there are no more than these
SHOWN = 0.005  # the least share of a class that is printed


class Explanation(NamedTuple):
    """Where the temperatures of a node come from.

    Attributes
    ----------
    node : hashable
    label : object
        The label that it has; without its own, the one that it would get from the others.
    classes : dict
        The share of each class: the node's temperatures.
    seeds : list of tuples
        Seed, its label and its share, the greatest first.
    paths : list of tuples
        The nodes of a path from this one to a seed, and the share of all heat that takes it.
    error_bound : float
        Proven bound: no share is farther off than this.
    own_label : object
        The known label of a seed that is explained without it; else None.
    probability : float or None
        Probability of the label, if it was asked for: as in `predict_proba`, 1 for a seed; None if
        only one class is known.
    rest : Rest or None
        What takes other paths, if a share of the heat to account for was asked for.

    Examples
    --------
    >>> from isotherm import DirichletClassifier, load_dataset
    >>> club = load_dataset("karate")
    >>> known = {node: str(club.labels[node]) for node in (0, 1, 2, 3, 30, 31, 32, 33)}
    >>> model = DirichletClassifier().fit(club.graph, known)
    >>> why = model.explain(8)
    >>> why.label, [seed for seed, _, _ in why.seeds]
    ('Officer', [0, 2, 30, 32, 33])
    >>> print(why._replace(paths=why.paths[:1]))
    node 8: Officer
    heat: 60% Officer, 40% Mr. Hi
    from the seeds:
      0 (Mr. Hi): 20%
      2 (Mr. Hi): 20%
      30 (Officer): 20%
      32 (Officer): 20%
      33 (Officer): 20%
    by the paths:
      8 → 0: 20%
    """

    node: Hashable
    label: Any
    classes: dict[Any, float]
    seeds: list[tuple[Hashable, Any, float]]
    paths: list[tuple[tuple[Hashable, ...], float]]
    error_bound: float
    own_label: Any = None
    probability: float | None = None
    rest: Rest | None = None

    def __str__(self) -> str:
        sure = "" if self.probability is None else f", probability {self.probability:.2f}"
        shares = sorted(self.classes.items(), key=lambda one: -one[1])
        classes = ", ".join(f"{share:.0%} {label}" for label, share in shares if share >= SHOWN)
        lines = [f"node {self.node}: {self.label}{sure}", f"heat: {classes}"]
        if self.seeds:
            lines.append("from the seeds:")
            lines += [f"  {seed} ({label}): {share:.0%}" for seed, label, share in self.seeds]
        if self.paths:
            lines.append("by the paths:")
            lines += [f"  {' → '.join(map(str, path))}: {share:.0%}" for path, share in self.paths]
        return "\n".join(map(one_line, lines))


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
        Proven bound: no share is farther off than this.
    """

    node: int
    seeds: NDArray[np.intp]
    shares: NDArray[np.float64]
    error_bound: float
    _potential: NDArray[np.float64]
    _rate: float
    _problem: DirichletProblem

    def heat_through(self) -> NDArray[np.float64]:
        """The share of the heat that goes through each node, shape (n,); half where it ends."""
        rows, u = self._problem.graph.rows, self._potential
        counts = np.diff(rows.start)
        flows = np.abs(np.repeat(u, counts) - u[rows.ends])
        if rows.weights is not None:
            flows *= rows.weights
        # `reduceat` gives the next entry for an empty row, through which nothing goes.
        sums = np.add.reduceat(np.append(flows, 0.0), rows.start[:-1])
        return np.asarray(np.where(counts > 0, sums, 0.0) / max(self._rate, 1e-300) / 2)

    def paths(self, most: int = 5, heat: float | None = None) -> tuple[list[Path], Rest | None]:
        """Paths to seeds that carry the most heat, the greatest first, no heat counted twice.

        Parameters
        ----------
        most : int
            How many.
        heat : float, optional
            More of them, up to `MOST_PATHS` that carry a hundredth each, if these carry less than
            this share of the heat; and what is left to others.
        """
        search = PathSearch(self.node, self._potential, self._rate, self._problem)
        return search.listed(most, heat, float(self.shares.sum()))


class WeightedFlow(NamedTuple):
    """A heat flow, and how much of a label rests on it.

    Attributes
    ----------
    weight : float
        Those of all flows sum to 1.
    session : Session
    solution : Solution
        What it has solved.
    """

    weight: float
    session: Session
    solution: Solution

    @classmethod
    def of(
        cls,
        session: Session,
        flow: tuple[float, DirichletProblem, Solution],
        without: NDArray[np.intp],
    ) -> WeightedFlow:
        """A problem made ready on the engine of a session, some seeds left out by their places."""
        weight, problem, solution = flow
        if len(without):
            ready = session.prepare(problem.without(without))
            return cls(weight, ready, solve_best_effort(ready))
        ready = session if problem is session.problem else session.prepare(problem)
        return cls(weight, ready, solution)


class MixedShares(NamedTuple):
    """Where the temperatures of a node come from, in one flow or in several.

    Attributes
    ----------
    shares : array of shape (s,)
        Of each seed: the mean over the flows.
    paths : list of Path
        Of the flow that counts most.
    error_bound : float
        Proven bound: no share is farther off than this.
    rest : Rest or None
        What takes other paths.
    """

    shares: NDArray[np.float64]
    paths: list[Path]
    error_bound: float
    rest: Rest | None = None


def mixed_shares(
    flows: Sequence[WeightedFlow], node: int, paths: int, heat: float | None = None, *, tol: float
) -> MixedShares:
    """The shares of all seeds in a node that heat reaches, and paths to them.

    Parameters
    ----------
    flows : sequence of WeightedFlow
        With the same seeds.
    node : int
        Its position.
    paths : int
        How many.
    heat : float, optional
        The share of the heat that they account for; see `Shares.paths`.
    tol : float
        Of the solves.
    """
    problem = flows[0].session.problem
    if not problem.is_free[node]:
        return MixedShares((problem.seeds == node).astype(np.float64), [], 0.0)
    found = [shares_of(session, solution, node, tol=tol) for _, session, solution in flows]
    weights = np.array([flow.weight for flow in flows])
    main, rest = found[int(weights.argmax())].paths(paths, heat)
    return MixedShares(
        weights @ np.array([one.shares for one in found]),
        main,
        float(weights @ [one.error_bound for one in found]),
        rest,
    )


def shares_of(session: Session, solution: Solution, node: int, *, tol: float = 1e-9) -> Shares:
    """The share of each seed in the temperatures of a free node that heat reaches.

    Parameters
    ----------
    session : Session
    solution : Solution
        What it has solved.
    node : int
        Its position.
    tol : float
        Of the solve.
    """
    problem, graph = session.problem, session.problem.graph
    u, E = potential(session, solution, node, tol)
    received, errors = graph.rows.products(problem.boundary, np.column_stack([u, E])).T
    roundings = 0.0
    if problem.ties is not None:  # of the node's own tie, what is known of it takes all
        tied, weights, roundings = problem.ties.nodes, problem.ties.weights, problem.ties.roundings
        received = np.append(received, weights * u[tied])
        errors = np.append(errors, weights * E[tied])
    losses = problem.leak * np.where(problem.is_free, graph.degrees, 0.0)
    rate, rate_error = received.sum() + losses @ u, errors.sum() + losses @ E
    rounding = 4 * (graph.rows.longest + graph.n_nodes + roundings) * UNIT_ROUNDOFF
    rate_error += rounding * rate
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = received / rate
        farthest = (errors + rounding * received + shares * rate_error) / (rate - rate_error)
    error = min(float(farthest.max()), 1.0) if rate > rate_error else 1.0
    if error > FARTHEST and problem.n_seeds <= MOST_SEEDS:
        # Too little heat leaves the node to be shared out: let each seed heat it instead.
        anew = solve_best_effort(session, np.eye(problem.n_seeds), tol=tol)
        if anew.error_bound[node] < error or not np.isfinite(shares).all():
            shares, error = anew.temperatures[node].astype(np.float64), anew.error_bound[node]
    return Shares(node, problem.seeds, shares, float(error), u, float(rate), problem)


def potential(
    session: Session, solution: Solution, node: int, tol: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """u: 1 at the node, 0 at all seeds, in equilibrium elsewhere; and bounds on its errors.

    By one column of the session. Proven by the exit times of its solution, since they drain heat
    all the faster if one more node is held; where that is not enough it is solved for.
    """
    problem = session.problem
    around = problem.with_values(np.zeros((problem.n_seeds, 1)))
    around = around.holding(np.array([node]), np.ones((1, 1)))
    response = session.respond(np.array([node]), tol)
    X = around.start()
    with np.errstate(all="ignore"):
        X[around.free] = np.clip(response[around.free] / response[node], 0.0, 1.0)
    proof = session.prove(around, X, solution.certificate.nodes)
    if not proof.bound <= tol:
        with session.prepare(around) as other:
            found = solve_best_effort(other, tol=tol)
        if not found.certificate.bound >= proof.bound:
            X, proof = found.temperatures, found.certificate
    # Of nodes that no heat can reach: 0.
    return (
        np.nan_to_num(X[:, 0].astype(np.float64), nan=0.0),
        proof.error_or_0,
    )
