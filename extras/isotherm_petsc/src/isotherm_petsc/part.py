"""The part of a Dirichlet problem that one rank has: made ready, solved and proven with the others.

Every method is called on all ranks at once. `T`, `V`, `h` and `whole` are arrays of all nodes, and
Y is of all seeds: the first rank has them, others have not (None). All else is of own nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from isotherm.compiled import core, n_threads
from isotherm.dirichlet import Ties
from isotherm.engines.native.proof import native_imbalance
from isotherm.rounding import UNIT_ROUNDOFF
from isotherm.solvers.imbalance import Imbalance, imbalance
from isotherm.solvers.method import EXIT_TIME_LEVEL
from isotherm.solvers.operator import roots_measure_well
from isotherm_petsc.petsc import LinearSystem

if TYPE_CHECKING:
    from isotherm_petsc.petsc import Watch
    from isotherm_petsc.ranks import Array
    from isotherm_petsc.rows import OwnRows

AT_ONCE = 8  # columns that are proven together: ghosts have as many numbers each
AIM_AT = 0.75  # of a tolerance: the residual of the steps is not quite that of the proof
TIGHTER = 0.5  # than what a proof says would be enough
LEAST_SHRINK = 1e-3  # of a goal, at once


class Stopped(Exception):
    """The first rank wants no more steps; all ranks raise this."""


@dataclass(frozen=True)
class Asked:
    """What all ranks know of a problem; nothing of it is as large as the graph."""

    leak: float
    tol: float
    threads: int | None
    roundings: float  # of the weights of ties
    boundary: Array  # where seeds that are held are cut by ranks, shape (size + 1,)
    tied: Array  # the same of those that are tied


class Part:
    """The part of a problem that a rank has; own seeds are numbered from the first own node on."""

    def __init__(
        self, graph: OwnRows, asked: Asked, boundary: Array, tied: Array, weights: Array
    ) -> None:
        self.graph, self.asked, self.ranks = graph, asked, graph.ranks
        self.boundary, self.tied, self.weights = boundary, tied, weights
        self.lowest = graph.lowest_seeds(np.concatenate([boundary, tied]))
        self.is_free = np.zeros(graph.n_all, dtype=bool)  # of all nodes; not at ghosts
        self.is_free[: graph.n_own] = self.lowest >= 0
        self.is_free[boundary] = False
        self.free = self.is_free[: graph.n_own]
        self._free_around = graph.halo.fill(self.is_free.copy())
        self._system: LinearSystem | None = None
        self._h: Array | None = None  # exit times of all nodes
        self._longest = 1.0
        self.steps = 0
        self._watch: Watch | None = None  # told after each step; whether to stop
        self._ends: BaseException | None = None  # why steps end

    def tell(self, is_reached: Any, is_touching: Any, components: Any) -> None:
        """Fill arrays of the first rank: of all nodes, of all held seeds, and of all seeds."""
        cuts = self.asked.boundary
        self.ranks.collect(self.lowest >= 0, is_reached, self.graph.cuts)
        entries, counts = self.graph.rows.entries(self.boundary)
        touching = np.zeros(len(self.boundary), dtype=bool)
        into_free = self._free_around[self.graph.rows.ends[entries]]
        touching[np.repeat(np.arange(len(counts)), counts)[into_free]] = True
        held, others = (None, None) if components is None else np.split(components, cuts[-1:])
        self.ranks.collect(touching, is_touching, cuts)
        self.ranks.collect(self.lowest[self.boundary], held, cuts)
        self.ranks.collect(self.lowest[self.tied], others, self.asked.tied)

    def _of_own_seeds(self, Y: Array | None, n_columns: int) -> Array:
        """What own seeds are held at, then what they are tied to."""
        held, tied = (None, None) if Y is None else np.split(Y, self.asked.boundary[-1:])
        own = [np.empty((len(nodes), n_columns)) for nodes in (self.boundary, self.tied)]
        self.ranks.spread(held, self.asked.boundary, own[0])
        self.ranks.spread(tied, self.asked.tied, own[1])
        return np.concatenate(own)

    def _ready(self) -> LinearSystem:
        if self._system is None:
            graph, capacities = self.graph, self._capacities()
            own = capacities[self.free]
            ends = np.array([own.min(initial=np.inf), -own.max(initial=0.0)])
            least, most = self.ranks.gathered(ends).min(axis=0).tolist()
            rooted = roots_measure_well((least, -most), graph.longest, self.asked.tol)
            self.unit = np.where(self.free, np.sqrt(capacities) if rooted else capacities, 1.0)
            matrix = self.ranks.agreed(self._assembled)
            self._system = LinearSystem(self.ranks, matrix, graph.numbers, graph.n_nodes)
        return self._system

    def _capacities(self) -> Array:
        """Degrees of own nodes, ties included; see `DirichletProblem.capacities`."""
        found = self.graph.rows.sums()[: self.graph.n_own].copy()
        found[self.tied] += self.weights / (1.0 + self.asked.leak)
        return found

    def _assembled(self) -> scipy.sparse.csr_array:
        """M at free nodes, the identity at others; and, kept, the entries that lead to seeds."""
        n = self.graph.n_own
        rows = self.graph.rows.matrix()[:n]
        in_free_row = np.repeat(self.free, np.diff(rows.indptr))
        to_free = self._free_around[rows.indices]
        self._outer = _with_entries(rows, in_free_row & ~to_free)
        inner = _with_entries(rows, in_free_row & to_free)
        diagonal = np.where(self.free, (1.0 + self.asked.leak) * self._capacities(), 1.0)
        where = (np.arange(n), np.arange(n))
        return (scipy.sparse.csr_array((diagonal, where), shape=rows.shape) - inner).tocsr()

    def solve(
        self,
        bounds: Any,
        tol: float,
        starts: bool,
        is_watched: bool,
        *,
        Y: Any = None,
        T: Any = None,
        progress: Any = None,
    ) -> tuple[Imbalance, int]:
        """Put temperatures into T, where they may start from; what proves them, and the steps.

        Seeds are held at Y, and tied to it; `bounds` are those of all temperatures.
        """
        self.steps, found = 0, []
        Y, progress = self._of_own_seeds(Y, len(bounds[0])), progress or (lambda *_: None)

        def watch(step: int, far: float) -> bool:
            error: BaseException | None = None
            try:
                progress(step, far * tol / 2)
            except BaseException as raised:  # the other ranks are to know of it
                error = raised
            if self.ranks.from_first(error is not None):
                self._ends = error or Stopped()
            return self._ends is not None

        self._watch, self._ends = watch if is_watched else None, None
        self._find_exits()
        for columns in _lots(Y.shape[1]):
            low, high = (ends[columns] for ends in bounds)
            X = np.zeros((self.graph.n_all, columns.stop - columns.start))
            own, there = X[: self.graph.n_own], None if T is None else T[:, columns]
            if starts:
                start = self.ranks.spread(there, self.graph.cuts, np.empty(own.shape))
                own[:] = np.clip(np.nan_to_num(start), low, high)
            found.append(self._solve_some(X, Y[:, columns], (low, high), tol))
            self.ranks.collect(own, there, self.graph.cuts)
        return beside(found), self.steps

    def _solve_some(self, X: Array, Y: Array, bounds: Any, tol: float) -> Imbalance:
        own, held, k = X[: self.graph.n_own], Y[: len(self.boundary)], X.shape[1]
        self._ready()
        at_seeds = np.zeros_like(X)
        at_seeds[self.boundary] = held
        B = self._outer @ self.graph.halo.fill(at_seeds)
        del at_seeds
        B[self.tied] += self.weights[:, np.newaxis] * Y[len(self.boundary) :]
        goals = np.full(k, max(AIM_AT * tol / self._longest, 4 * UNIT_ROUNDOFF))
        columns, previous = np.arange(k), np.full(k, np.inf)
        while len(columns):
            for c in columns.tolist():
                x = np.where(self.free, own[:, c], 0.0)
                self._steps(np.ascontiguousarray(B[:, c]), x, goals[c])
                own[:, c] = x
            np.clip(own, *bounds, out=own)
            own[~self.free] = 0.0
            own[self.boundary] = held
            proof = self.proof(X, Y)
            reached = proof.level * (1 + 1e-12) * proof.exits[1]  # NaN is no proof
            # Where float64 has no more digits, further steps bring nothing.
            (columns,) = (~(reached <= tol) & (reached < previous / 2)).nonzero()
            previous = reached
            shrink = TIGHTER * tol / np.maximum(previous[columns], tol)
            goals[columns] *= np.clip(shrink, LEAST_SHRINK, TIGHTER)
        return proof

    def _steps(self, b: Array, x: Array, goal: float) -> None:
        """Improve x until no residual is above the goal."""
        self.steps = self._ready().solve(b, x, self.unit, goal, self._watch, self.steps)
        if self._ends is not None:
            self.ranks.has_agreed = True
            raise self._ends

    def _find_exits(self) -> None:
        """Exit times h, ``M h = w``, good enough to prove something."""
        if self._h is not None:
            return
        self._ready()
        x = np.zeros(self.graph.n_own)
        self._steps(np.where(self.free, self.unit, 0.0), x, EXIT_TIME_LEVEL)
        self._h = self._around(x)
        longest = float(self.ranks.gathered(np.float64(x.max(initial=0.0))).max())
        self._longest = max(longest / (1 - 1.1 * EXIT_TIME_LEVEL), 1.0)

    def _around(self, own: Array) -> Array:
        """Numbers of own free nodes, with those of ghosts; 0 elsewhere."""
        whole = np.zeros(self.graph.n_all)
        whole[: self.graph.n_own][self.free] = own[self.free]
        return self.graph.halo.fill(whole)

    def exits(self, *, whole: Any = None) -> None:
        """Tell the exit times that a solve has found."""
        self.ranks.collect(np.asarray(self._h)[: self.graph.n_own], whole, self.graph.cuts)

    def respond(self, at: Array, tol: float, *, V: Any = None) -> None:
        """Put into V what d units of heat at each of some nodes do, a column for each; no proof."""
        self._watch = self._ends = None
        self._find_exits()
        capacities = self._capacities()
        for c, node in enumerate((at - self.graph.first).tolist()):
            b, x = np.zeros((2, self.graph.n_own))
            if 0 <= node < self.graph.n_own:
                b[node] = capacities[node]
            self._steps(b, x, tol / self._longest)
            x = np.where(self.free, np.maximum(x, 0.0), 0.0)
            self.ranks.collect(x, None if V is None else V[:, c], self.graph.cuts)

    def prove(self, n_columns: int, *, Y: Any = None, T: Any = None, h: Any = None) -> Imbalance:
        """What proves temperatures by exit times that the first rank has."""
        cuts, found, Y = self.graph.cuts, [], self._of_own_seeds(Y, n_columns)
        given = self._around(self.ranks.spread(h, cuts, np.empty(self.graph.n_own)))
        kept, self._h = self._h, given
        for columns in _lots(Y.shape[1]):
            X = np.zeros((self.graph.n_all, columns.stop - columns.start))
            there = None if T is None else T[:, columns].astype(np.float64)
            self.ranks.spread(there, cuts, X[: self.graph.n_own])
            found.append(self.proof(X, Y[:, columns]))
        self._h = kept
        return beside(found)

    def proof(self, X: Array, Y: Array) -> Imbalance:
        """The numbers that prove temperatures of own nodes; those of ghosts are filled in here."""
        self.graph.halo.fill(X)
        own = self.ranks.agreed(lambda: self._own_numbers(X, Y))
        return joined(self.ranks.gathered(own), X.shape[1])

    def _own_numbers(self, X: Array, Y: Array) -> Array:
        h, k = self._h, X.shape[1]
        numbers = np.full((7, max(k, 4)), -np.inf)  # what is least has its sign turned
        numbers[6] = 0.0
        if h is None or not self.free.any():  # others may have free nodes
            return numbers
        ties = None
        if len(self.tied):
            known = np.ascontiguousarray(Y[len(self.boundary) :])
            roundings = self.asked.roundings
            ties = Ties(self.tied.astype(np.intp), self.weights, known, roundings)
        free, leak = self.is_free.nonzero()[0], self.asked.leak
        problem: Any = SimpleNamespace(graph=self.graph, is_free=self.is_free, free=free)
        problem.leak, problem.ties, problem.heat = leak, ties, None  # what is looked at of one
        if core is not None and self.graph.rows.compiled:
            threads = n_threads(self.asked.threads)
            found = native_imbalance(problem, X, h, threads=threads, packed=False)
        else:
            found = imbalance(problem, X, h)
        numbers[:5, :k] = found.level, found.rounding, found.relative, -found.low, found.high
        numbers[5, :4] = -found.degrees[0], found.degrees[1], -found.exits[0], found.exits[1]
        numbers[6, :2] = found.n_nodes, h[: len(self.free)][~self.free].any()
        return numbers

    def close(self) -> None:
        """Give back what is held."""
        if self._system is not None:
            self._system.close()
            self._system = None


def joined(numbers: Array, n_columns: int) -> Imbalance:
    """What all ranks found, of shape (size, 7, n_columns) at least.

    Gathered, and not by MPI's own maximum: what that makes of NaN is up to the library, and NaN is
    what keeps a proof from being given.
    """
    level, rounding, relative, minus_low, high = numbers[:, :5, :n_columns].max(axis=0)
    a, b, c, d = numbers[:, 5, :4].max(axis=0).tolist()
    count, stray = int(numbers[:, 6, 0].sum()), bool(numbers[:, 6, 1].any())
    return Imbalance(level, rounding, relative, -minus_low, high, (-a, b), (-c, d), count, stray)


def beside(found: list[Imbalance]) -> Imbalance:
    """That of all columns, from those of some and then others."""
    whole: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in found])
        for name in ("level", "rounding", "relative", "low", "high")
    }
    return replace(found[0], **whole, stray=any(one.stray for one in found))


def _lots(n_columns: int) -> list[slice]:
    return [slice(k, min(k + AT_ONCE, n_columns)) for k in range(0, n_columns, AT_ONCE)]


def _with_entries(matrix: scipy.sparse.csr_array, kept: Array) -> scipy.sparse.csr_array:
    """The same matrix with some of its entries only."""
    before = np.concatenate([[0], np.cumsum(kept)])
    rows = (matrix.data[kept], matrix.indices[kept], before[matrix.indptr])
    return scipy.sparse.csr_array(rows, shape=matrix.shape)
