"""The part of a Dirichlet problem that one rank has: made ready, solved and proven with the others.

Every method is called on all ranks at once. `T`, `V`, `h` and `whole` are arrays of all nodes, and
Y is of all seeds: the first rank has them, others have not (None). All else is of own nodes. Every
column is solved and proven by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from isotherm.engines.api import Imbalance, Ties, imbalance, roots_measure_well
from isotherm_petsc.petsc import LinearSystem
from isotherm_petsc.ranks import ToldByFirst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isotherm_petsc.petsc import Watch
    from isotherm_petsc.ranks import Array
    from isotherm_petsc.rows import OwnRows

AT_ONCE = 1 << 16  # rows of which the matrix is made
EXITS = 0.1  # the residual of exit times that will do: bounds are then at most 1.11 times the best
AIM_AT = 0.75  # of a tolerance: the residual of the steps is not quite that of the proof
TIGHTER = 0.5  # than what a proof says would be enough
LEAST_SHRINK = 1e-3  # of a goal, at once
LEAST_GOAL = 2 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class Asked:
    """What all ranks know of a problem; nothing of it is as large as the graph."""

    leak: float
    tol: float
    threads: int | None
    roundings: float  # of the weights of ties
    cuts: Array  # where seeds are cut by ranks, shape (size + 1,)


class Part:
    """The part of a problem that a rank has; own seeds are held, or tied by a weight below ∞."""

    def __init__(self, graph: OwnRows, asked: Asked, seeds: Array, weights: Array) -> None:
        self.graph, self.asked, self.ranks = graph, asked, graph.ranks
        self.seeds, self.is_held = seeds - graph.first, np.isinf(weights)
        self.held, self.tied = self.seeds[self.is_held], self.seeds[~self.is_held]
        self.pulls = weights[~self.is_held]
        self.lowest = graph.lowest_seeds(self.seeds)
        self.free = self.lowest >= 0
        self.free[self.held] = False
        self._free_around = graph.around(self.free)
        # Degrees, ties included; see `DirichletProblem.capacities`.
        self.capacities = graph.rows.sums()[graph.own].copy()
        self.capacities[self.tied] += self.pulls / (1.0 + asked.leak)
        self._system: LinearSystem | None = None
        self._exits: Array | None = None
        self._longest = 1.0
        self.steps = 0
        self._watch: Watch | None = None  # told after each step; whether to stop
        self._ends: BaseException | None = None  # why steps end

    def tell(self, is_reached: Any, is_touching: Any, components: Any) -> None:
        """Fill arrays of the first rank: of all nodes, and of all seeds."""
        graph, cuts = self.graph, self.asked.cuts
        entries, counts = graph.rows.entries(graph.own.start + self.seeds)
        into_free = self._free_around[graph.rows.ends[entries]]
        touching = ~self.is_held
        touching[np.repeat(np.arange(len(counts)), counts)[into_free]] = True
        self.ranks.collect(self.lowest >= 0, is_reached, graph.cuts)
        self.ranks.collect(touching, is_touching, cuts)
        self.ranks.collect(self.lowest[self.seeds], components, cuts)

    def _ready(self) -> LinearSystem:
        """The matrix; ranks have that of one part at a time, and make it anew if need be."""
        if self._system is None:
            if self.graph.solved_last is not None:
                self.graph.solved_last.close()
            self.graph.solved_last = self
            graph, own = self.graph, self.capacities[self.free]
            ends = np.array(self.ranks.gathered((own.min(initial=np.inf), own.max(initial=0.0))))
            degrees = float(ends[:, 0].min()), float(ends[:, 1].max())
            rooted = roots_measure_well(degrees, graph.longest, self.asked.tol)
            unit = np.sqrt(self.capacities) if rooted else self.capacities
            self.unit = np.where(self.free, unit, 1.0)
            matrix = self.ranks.agreed(self._assembled)
            self._system = LinearSystem(graph, matrix)
        return self._system

    def _assembled(self) -> scipy.sparse.csr_array:
        """M at free nodes, the identity at others; and, kept, the entries that lead to seeds."""
        graph, rows, systems, outers = self.graph, self.graph.rows, [], []
        own_first, start = graph.own.start, rows.start[graph.own.start : graph.own.stop + 1]
        diagonal = np.where(self.free, (1.0 + self.asked.leak) * self.capacities, 1.0)
        for first in range(0, max(graph.n_own, 1), AT_ONCE):
            own = slice(first, first + AT_ONCE)
            free, begin = self.free[own], start[first : first + AT_ONCE + 1]
            entries, n = slice(begin[0], begin[-1]), len(free)
            ends, begin = rows.ends[entries], (begin - begin[0]).astype(np.int32)
            weights = np.repeat(free.astype(np.float64), np.diff(begin))
            if rows.weights is not None:
                weights *= rows.weights[entries]
            A = scipy.sparse.csr_array((weights, ends, begin), shape=(n, len(graph.numbers)))
            to_free, at = self._free_around[ends], (np.arange(n), np.arange(n) + first + own_first)
            D = scipy.sparse.csr_array((diagonal[own], at), shape=A.shape)
            systems.append(D - _only(A, to_free))
            outers.append(_only(A, ~to_free))
        self._outer = scipy.sparse.vstack(outers, "csr")
        return scipy.sparse.vstack(systems, "csr")

    def solve(
        self,
        bounds: tuple[Array, Array],
        tol: float,
        starts: bool,
        is_watched: bool,
        *,
        Y: Any = None,
        T: Any = None,
        h: Any = None,
        progress: Any = None,
    ) -> tuple[Imbalance, int]:
        """Put temperatures into T, where they may start from, and exit times into h.

        Seeds are held at Y, and tied to it; `bounds` are those of all temperatures. Returns what
        proves them, and the steps.
        """
        cuts, found, self.steps = self.graph.cuts, [], 0
        progress = progress or (lambda *_: None)

        def watch(step: int, far: float) -> bool:
            error: BaseException | None = None
            try:
                progress(step, far * tol / 2)
            except BaseException as raised:  # the other ranks are to know of it
                error = raised
            if self.ranks.from_first(error is not None):
                self._ends = error or ToldByFirst()
            return self._ends is not None

        self._watch, self._ends = watch if is_watched else None, None
        self._find_exits()
        for k, (low, high) in enumerate(zip(*bounds, strict=True)):
            y = self.ranks.spread(_column(Y, k), self.asked.cuts)
            x = np.zeros(self.graph.n_own)
            if starts:
                x = np.clip(np.nan_to_num(self.ranks.spread(_column(T, k), cuts)), low, high)
            found.append(self._solve_column(x, y, (low, high), tol))
            self.ranks.collect(x, _column(T, k), cuts)
        self.ranks.collect(np.asarray(self._exits), h, cuts)
        return Imbalance.beside(found), self.steps

    def _solve_column(self, x: Array, y: Array, bounds: Sequence[float], tol: float) -> Imbalance:
        self._ready()
        at_seeds = np.zeros(self.graph.n_own)
        at_seeds[self.held] = y[self.is_held]
        b = self._outer @ self.graph.around(at_seeds)
        b[self.tied] += self.pulls * y[~self.is_held]
        goal, previous = max(AIM_AT * tol / self._longest, LEAST_GOAL), np.inf
        while True:
            x[~self.free] = 0.0
            self._steps(b, x, goal)
            np.clip(x, *bounds, out=x)
            x[~self.free] = at_seeds[~self.free]
            proof = self._proof(x, y)
            reached = float(proof.level[0]) * (1 + 1e-12) * proof.exits[1]
            # Where float64 has no more digits, further steps bring nothing. NaN is no proof.
            if reached <= tol or not reached < previous / 2:
                return proof
            goal *= min(max(TIGHTER * tol / reached, LEAST_SHRINK), TIGHTER)
            previous = reached

    def _steps(self, b: Array, x: Array, goal: float) -> None:
        """Improve x until no residual is above the goal."""
        self.steps = self._ready().solve(b, x, self.unit, goal, self._watch, self.steps)
        if self._ends is not None:
            self.ranks.has_agreed = True
            raise self._ends

    def _find_exits(self) -> None:
        """Exit times h, ``M h = w``, good enough to prove something."""
        if self._exits is None:
            self._ready()
            h = np.zeros(self.graph.n_own)
            self._steps(np.where(self.free, self.unit, 0.0), h, EXITS)
            self._exits = np.where(self.free, h, 0.0)
            longest = float(np.max(self.ranks.gathered(h.max(initial=0.0))))
            self._longest = max(longest / (1 - 1.1 * EXITS), 1.0)

    def respond(self, at: Array, tol: float, *, V: Any = None) -> None:
        """Put into V what d units of heat at each of some nodes do, a column for each; no proof."""
        self._watch = self._ends = None
        self._find_exits()
        for k, node in enumerate((at - self.graph.first).tolist()):
            b, x = np.zeros((2, self.graph.n_own))
            if 0 <= node < self.graph.n_own:
                b[node] = self.capacities[node]
            self._steps(b, x, tol / self._longest)
            x = np.where(self.free, np.maximum(x, 0.0), 0.0)
            self.ranks.collect(x, _column(V, k), self.graph.cuts)

    def prove(self, n_columns: int, *, Y: Any = None, T: Any = None, h: Any = None) -> Imbalance:
        """What proves temperatures by exit times that the first rank has."""
        spread, cuts, kept = self.ranks.spread, self.graph.cuts, self._exits
        self._exits, found = np.where(self.free, spread(h, cuts), 0.0), []
        for k in range(n_columns):
            x, y = spread(_column(T, k), cuts), spread(_column(Y, k), self.asked.cuts)
            found.append(self._proof(x, y))
        self._exits = kept
        return Imbalance.beside(found)

    def _proof(self, x: Array, y: Array) -> Imbalance:
        """The numbers that prove temperatures of a column: those of all ranks.

        Gathered, and not by MPI's own maximum: what that makes of NaN is up to the library, and NaN
        is what keeps a proof from being given.
        """
        graph, first, ties = self.graph, self.graph.own.start, None
        X, h = graph.around(x)[:, np.newaxis], graph.around(np.asarray(self._exits))
        is_free = np.zeros(len(X), dtype=bool)
        is_free[graph.own] = self.free
        if len(self.tied):
            values = y[~self.is_held, np.newaxis]
            ties = Ties(self.tied + first, self.pulls, values, self.asked.roundings)
        # What is looked at of a problem.
        problem: Any = SimpleNamespace(graph=graph, is_free=is_free, free=is_free.nonzero()[0])
        problem.leak, problem.ties, problem.heat = self.asked.leak, ties, None

        def of_own_rows() -> Imbalance | None:
            if not len(problem.free):
                return None
            found = imbalance(problem, X, h, threads=self.asked.threads)
            return replace(found, stray=bool(h[graph.own][~self.free].any()))  # ghosts have theirs

        own = self.ranks.agreed(of_own_rows)
        return Imbalance.joined([part for part in self.ranks.gathered(own) if part is not None])

    def close(self) -> None:
        """Give back the matrix."""
        if self._system is not None:
            self._system.close()
            self._system = self.graph.solved_last = None


def _column(whole: Array | None, k: int) -> Array | None:
    return None if whole is None else whole[:, k]


def _only(matrix: scipy.sparse.csr_array, kept: Array) -> scipy.sparse.csr_array:
    """The same matrix with some of its entries only."""
    found = matrix.copy()
    found.data *= kept
    found.eliminate_zeros()
    return found
