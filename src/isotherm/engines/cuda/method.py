"""Conjugate gradients on a GPU: temperatures and their proof, brought back at the end.

The counterpart of `isotherm.engines.native.fused`. X of the host is up to date only where somebody
looks at it: at the end of a solve, and when it may end early.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.engines.blocks import blocks_of
from isotherm.engines.cuda.steering import ExitTimes, State, Steering
from isotherm.engines.cuda.vectors import Heat, Vectors
from isotherm.engines.running import DRIFT, Running, start_of, starts_cold, type_to_start, units_of
from isotherm.solvers.certificate import guessed, is_finite, prove
from isotherm.solvers.imbalance import Imbalance
from isotherm.solvers.method import Reached, settle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.blocks import Block
    from isotherm.engines.cuda.engine import CudaOperator
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.method import Warm, Watch

MANY_STEPS = 100  # after so many, directions are kept in float32: rounded, they make steps more


class DeviceConjugateGradient(Running["Run"]):
    """See `isotherm.solvers.method.Method`.

    What it keeps between solves: the exit times.
    """

    def __init__(self, operator: CudaOperator, max_iter: int) -> None:
        self.operator = operator
        self.max_iter = max_iter
        self.exits = ExitTimes()

    def start(
        self, problem: DirichletProblem, tol: float, warm: Warm | None
    ) -> NDArray[np.floating]:
        dtype, cold = type_to_start(problem, tol, warm), starts_cold(problem, warm)
        h = None
        if self.exits.h is None and warm is not None and warm.exits is not None:
            h = np.where(problem.is_free, np.nan_to_num(warm.exits), 0.0)
        self.run = Run(self, problem, cold=cold, known=h)
        if cold and len(self.run.blocks) == 1:
            # All of it is written when it is brought back, and nobody looks at it before.
            return np.empty((problem.graph.n_nodes, problem.n_columns), dtype)
        return start_of(problem, dtype, warm, cold=cold)

    def certify(self, X: NDArray[np.floating]) -> Certificate:
        return self._current().certify(X)

    def settle(self, X: NDArray[np.floating]) -> None:
        self._current().bring_back(X)


class Run:
    """One solve: its columns in blocks, one after the other on the device.

    A block's vectors are there while it is worked on; between blocks, temperatures are in X.
    """

    def __init__(
        self,
        method: DeviceConjugateGradient,
        problem: DirichletProblem,
        *,
        cold: bool,
        known: NDArray[np.float64] | None,
    ) -> None:
        self.method, self.operator, self.problem = method, method.operator, problem
        self.device = method.operator.device
        self.cold = cold  # X is 0 at free nodes to begin with
        self.known = known  # exit times to begin with
        self.steps = 0
        self._halves = True
        self._scale = units_of(problem, method.exits.longest)
        self.blocks = blocks_of(
            problem.n_columns,
            one_hot=problem.one_hot,
            exits=not method.exits.done,
            lanes=method.operator.plan.lanes,
        )
        self._levels = [np.full(block.width, np.inf) for block in self.blocks]
        self._at: int | None = None  # the block that is on the device
        self._steering: Steering | None = None
        self._out: Any = None  # its temperatures as they were given back
        self._heat: Heat | None = None

    # --- steps --------------------------------------------------------------------------------

    def iterate(self, X: NDArray[np.floating], tol: float, watch: Watch) -> Iterator[Reached]:
        before = self.steps
        yield Reached(0, self._likely())
        for k in range(len(self.blocks)):
            with self.device.at_work("solving"):
                steering = self._enter(k, X)
            state = State.GOING
            while state is State.GOING:
                taken = steering.steps
                with self.device.at_work("solving"):
                    state = steering.run(tol, watch.look_at)
                self.steps += steering.steps - taken
                self._levels[k] = steering.levels
                yield Reached(self.steps - before, self._likely())
            self._out = None
            if state is State.HOPELESS or (len(self.blocks) > 1 and k + 1 < len(self.blocks)):
                self.bring_back(X, only=k)
            if state is State.HOPELESS:
                return
        self.cold = False
        self._halves = self._halves and self.steps <= MANY_STEPS
        if X.dtype == np.float32 and self._likely() > tol:
            self.bring_back(X)

    def _enter(self, k: int, X: NDArray[np.floating]) -> Steering:
        """Put a block on the device."""
        if self._at == k and self._steering is not None and self._steering.vectors.dtype == X.dtype:
            self._steering.forget()
            return self._steering
        self._steering, self._at, self._out = None, None, None  # room for what follows
        operator, block = self.operator, self.blocks[k]
        if self._heat is None and self.problem.pull is not None:
            self._heat = Heat.of(self.device, self.problem)
        low, high = self.problem.bounds
        columns = slice(block.first, block.first + block.width)
        vectors = Vectors(
            self.device,
            self.problem.graph.n_nodes,
            block,
            X.dtype.type,
            scale=self._scale[columns],
            low=low[columns],
            high=high[columns],
            halves=self._halves,
        )
        cold = self._fill(vectors, block, X)
        self._steering = Steering(
            self.device,
            operator.rows,
            operator.nodes,
            self._heat,
            vectors,
            self.method.exits,
            self.method.max_iter - self.steps,
            cold=cold,
        )
        self._at = k
        return self._steering

    def _fill(self, vectors: Vectors, block: Block, X: NDArray[np.floating]) -> bool:
        """T as X has it, and the exit times as far as they are known; whether all that is 0."""
        device, problem, last = self.device, self.problem, block.first + block.columns
        if self.cold:  # only what is held is not 0
            held = device.upload(problem.boundary.astype(np.int64))
            values = problem.values[:, block.first : last].astype(X.dtype)
            vectors.T[held, : block.columns] = device.upload(values)
        else:
            part = np.nan_to_num(X[:, block.first : last], nan=0.0)
            vectors.T[:, : block.columns] = device.upload(part)
        h = self.method.exits.h
        if h is None and self.known is not None:
            h = device.upload(self.known)
        if not block.exits or h is None:
            return self.cold
        vectors.T[:, block.columns] = h
        return False

    def _likely(self) -> float:
        level = max(float(levels.max()) for levels in self._levels)
        return self.method.exits.likely_error(level)

    # --- back to the host ---------------------------------------------------------------------

    def bring_back(self, X: NDArray[np.floating], only: int | None = None) -> None:
        """Write to X what was found, within its bounds: of the block that is on the device."""
        if self._at is None or (only is not None and only != self._at):
            return
        with self.device.at_work("bringing temperatures back"):
            out, block = self._put_out(), self.blocks[self._at]
            self._copy_out(out, X, block)

    def _put_out(self) -> Any:
        """Temperatures of the block on the device as they are given back; and the exit times."""
        if self._out is None:
            if self._steering is None:
                raise RuntimeError("no block is on the device")
            vectors, exits = self._steering.vectors, self.method.exits
            h = None
            if vectors.block.exits:
                if exits.h is None:
                    exits.h = self.device.zeros(self.problem.graph.n_nodes, np.float64)
                h = exits.h
            operator = self.operator
            kernels = self.device.kernels
            self._out = kernels.put_out(operator.rows, operator.nodes, vectors, h)
        return self._out

    def _copy_out(self, out: Any, X: NDArray[np.floating], block: Block) -> None:
        if block.width == X.shape[1]:
            self.device.download(out, X)
            return
        part = np.empty(out.shape, X.dtype)
        self.device.download(out, part)
        X[:, block.first : block.first + block.width] = part

    # --- proofs -------------------------------------------------------------------------------

    def guess(self, X: NDArray[np.floating]) -> Certificate:
        exits = self.method.exits
        self._out = None
        self.bring_back(X)
        self._out = None  # steps go on
        levels = np.concatenate(self._levels)
        nodes = None
        if math.isfinite(levels.max()) and exits.lack < 1:
            nodes = self._host_exits()
        return guessed(self.problem, nodes, DRIFT / (1 - exits.lack) * levels)

    def certify(self, X: NDArray[np.floating]) -> Certificate:
        """Prove X on the device, where it is, and bring it back."""
        problem, operator = self.problem, self.operator
        parts = []
        order = sorted(range(len(self.blocks)), key=lambda k: k != self._at)  # that one first
        with self.device.at_work("proving temperatures"):
            ties = operator.ties_of(problem)
            for k in order:
                block = self.blocks[k]
                if k == self._at:
                    out = self._put_out()
                    self._copy_out(out, X, block)
                else:
                    columns = X[:, block.first : block.first + block.width]
                    out = self.device.upload(columns)
                parts.append((k, operator.evidence(ties, block.first, out, self._device_exits())))
                if len(self.blocks) > 1:
                    self._steering, self._at, self._out = None, None, None
            h = self._host_exits()
        found = Imbalance.beside([part for _, part in sorted(parts, key=lambda one: one[0])])
        if not is_finite(found.level):
            settle(X, problem)
            found = operator.imbalance(problem, X, h)
        return prove(problem, X, h, found)

    def _device_exits(self) -> Any:
        exits = self.method.exits
        if exits.h is None:
            exits.h = self.device.zeros(self.problem.graph.n_nodes, np.float64)
        return exits.h

    def _host_exits(self) -> NDArray[np.float64]:
        h = np.empty(self.problem.graph.n_nodes)
        self.device.download(self._device_exits(), h)
        return h
