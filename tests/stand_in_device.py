"""A stand-in for a GPU: what the cuda engine asks of one, done by NumPy.

Only the arithmetic of ``kernels.cu`` is another; plans, blocks, chunks, steering, proofs and what
is said when a device fails are those of the engine.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from isotherm.engines.cuda.engine import CudaEngine
from isotherm.engines.cuda.vectors import HELD, MOVING, UNREACHED
from isotherm.errors import NotEnoughMemory
from isotherm.rounding import rounding_of_sums


class StandInDevice:
    """Memory of so many bytes; `fails` is an error to raise at the next work."""

    xp = np
    name = "stand-in"

    def __init__(self, free_bytes=1 << 36):
        self.free_bytes = free_bytes
        self.kernels = StandInKernels(self)
        self.fails = None
        self.copied = 0

    def empty(self, shape, dtype):
        return np.full(shape, 77, dtype)  # not to be relied on

    def zeros(self, shape, dtype):
        return np.zeros(shape, dtype)

    def upload(self, array):
        self.copied += array.nbytes
        return np.array(array, order="C")

    def copy_in(self, array, to):
        self.copied += array.nbytes
        to[...] = array

    def download(self, array, out):
        assert array.dtype == out.dtype
        assert array.shape == out.shape
        out[...] = array

    def wait(self):
        pass

    @contextmanager
    def overlapping(self):
        yield StandInOverlap()

    @contextmanager
    def at_work(self, doing):
        if self.fails is not None:
            error, self.fails = self.fails, None
            if isinstance(error, MemoryError):
                raise NotEnoughMemory(f"the GPU has too little free memory for {doing}")
            raise error
        yield


class StandInOverlap:
    def arrival(self, _):
        return nullcontext()

    def departed(self, _):
        pass


class StandInKernels:
    """The same functions as `isotherm.engines.cuda.kernels.CudaKernels`."""

    def __init__(self, device):
        self.device = device

    def scalars(self, vectors):
        width = vectors.width
        return {"pMp": np.zeros(width), "unit": np.ones(width), "rp": np.zeros(width)}

    def begin(self, rows, nodes, vectors, heat, *, cold):
        v, free = vectors, nodes.kind == MOVING
        if not cold:
            T = v.T[:, : v.columns]
            middle = v.low + (v.high - v.low) / 2
            for k in range(v.columns):
                column = np.where(np.isfinite(T[:, k]), T[:, k], middle[k])
                T[free, k] = np.clip(column[free], v.low[k], v.high[k])
        T = v.T.astype(np.float64)
        if cold:
            assert not T[free].any()
        R = np.zeros_like(T)
        for first, A in self._matrices(rows):
            own = slice(first, first + A.shape[0])
            R[own] = A @ T - nodes.degrees[own, np.newaxis] * T[own]
        loss = nodes.leak * nodes.degrees + (0.0 if nodes.ties is None else nodes.ties)
        R -= loss[:, np.newaxis] * T
        if heat is not None:
            warm = heat.row_of >= 0
            rows_of_heat = heat.rows[heat.row_of[warm]]
            R[warm, : v.columns] += rows_of_heat[:, v.block.first : v.block.first + v.columns]
        if v.lanes > v.columns:
            R[:, v.columns] += nodes.gauge
        R[:, v.lanes :] = 0
        R[~free] = 0
        gauge = np.where(free, nodes.gauge, 1.0)[:, np.newaxis]
        levels = np.zeros(v.width + 1, np.float32)
        levels[: v.width] = np.abs(R / gauge / v.scale).max(axis=0)
        levels[-1] = np.abs(R[:, : v.columns].sum(axis=1) / gauge[:, 0]).max()
        v.Z[:] = R / (nodes.measures[:, np.newaxis] * gauge + ~free[:, np.newaxis]) / v.scale
        self._turn(nodes, v, np.zeros(v.width))
        return levels

    def _turn(self, nodes, v, beta):
        of = v.scalars
        P = v.Z.astype(np.float64) + beta * (0 if not beta.any() else v.P.astype(np.float64))
        size = np.abs(P).max(axis=0)
        of["unit"] = np.exp2(np.floor(np.log2(np.where(size > 0, size, 1.0))) - 13)
        v.P[:] = P / of["unit"]
        of["rp"] = np.einsum("i,il,il->l", nodes.pivots, v.Z, v.P, dtype=np.float64)

    def steps(self, rows, nodes, vectors, *, most):
        assert most >= 1
        v, of, free = vectors, vectors.scalars, nodes.kind == MOVING
        P = v.P.astype(np.float64)
        v.V[:] = 0
        for first, A in self._matrices(rows):
            own = slice(first, first + A.shape[0])
            v.V[own] = P[own] - nodes.unit * (A @ P) / nodes.pivots[own, np.newaxis]
        v.V[~free] = 0
        pMp = np.einsum("i,il,il->l", nodes.pivots, P, v.V)
        some = pMp > 0
        alpha = np.where(some, of["rp"] / np.where(some, pMp, 1), 0)
        v.Z -= alpha.astype(np.float32) * v.V
        v.T += (alpha * v.scale * P).astype(v.dtype)
        zMp = np.einsum("i,il,il->l", nodes.pivots, v.Z, v.V, dtype=np.float64)
        levels = np.zeros(v.width + 1, np.float32)
        levels[: v.width] = np.abs(v.Z * nodes.measures[:, np.newaxis]).max(axis=0)
        levels[-1] = np.abs(v.Z[:, : v.columns].sum(axis=1) * nodes.measures).max()
        self._turn(nodes, v, np.where(some, -zMp / np.where(some, pMp, 1), 0))
        return 1, levels

    def put_out(self, rows, nodes, vectors, h):  # noqa: ARG002
        v, free = vectors, nodes.kind == MOVING
        X = np.empty((nodes.n, v.block.width), v.dtype)
        X[:, : v.columns] = v.T[:, : v.columns]
        X[free, : v.columns] = np.clip(
            X[free, : v.columns], v.low[: v.columns], v.high[: v.columns]
        )
        if v.block.hidden:
            rest = 1 - X[:, : v.columns].sum(axis=1)
            X[:, v.columns] = np.where(free, np.clip(rest, v.low[-1], v.high[-1]), rest)
        X[nodes.kind == UNREACHED] = np.nan
        if h is not None:
            h[:] = np.where(free, v.T[:, v.columns], 0)
        assert not np.isnan(X[nodes.kind == HELD]).any()
        return X

    def prove(self, rows, nodes, ties, X, h):
        """As `isotherm.solvers.imbalance`, from what is on the device."""
        columns = X.shape[1]
        table = np.array(
            [
                self._of_node(i, A[[i - first]], nodes, ties, X, h)
                for first, A in self._matrices(rows)
                for i in first + np.flatnonzero(nodes.kind[first : first + A.shape[0]] == MOVING)
            ]
        )
        parts = table[:, : 5 * columns].max(axis=0).reshape(5, columns)
        return {
            "level": parts[0],
            "rounding": parts[1],
            "relative": parts[2],
            "high": parts[3],
            "low": -parts[4],
            "degrees": (table[:, -1].min(), table[:, -1].max()),
            "exits": (h[nodes.kind == MOVING].min(), h[nodes.kind == MOVING].max()),
            "n_nodes": len(table),
            "stray": bool(h[nodes.kind != MOVING].any()),
        }

    def _of_node(self, i, row, nodes, ties, X, h):
        both = np.column_stack([h, X]).astype(np.float64)
        terms = row.data[:, np.newaxis] * (both[row.indices] - both[i])
        sums, sizes, degree = terms.sum(axis=0), np.abs(terms).sum(axis=0), row.data.sum()
        count, whole = len(row.data), degree
        if ties is not None and ties.row_of[i] >= 0:
            tie, count = ties.row_of[i], count + 1
            term = ties.weights[tie] * (np.append(0.0, ties.values[tie]) - both[i])
            sums, whole = sums + term, degree + ties.weights[tie]
            sizes = sizes + np.abs(term) * (1 + ties.roundings / (count + 8))
        lost = nodes.leak * degree * both[i]
        (unit,), (tiny,) = rounding_of_sums(np.array([count]))
        rounding = unit * (sizes + np.abs(lost)) + tiny * (1 + np.abs(both[i]))
        r = sums - lost
        drain = -r[0] - rounding[0]
        drain = drain if drain > 0 else np.nan
        x, r, rounding = both[i, 1:], np.abs(r[1:]), rounding[1:]
        return np.concatenate([(r + rounding) / drain, rounding / drain, r / whole, x, -x, [whole]])

    def _matrices(self, rows):
        for chunk in rows.chunks():
            last = chunk.first + chunk.count
            start = rows.start[chunk.first : last + 1] - chunk.base
            ends = chunk.ends[: start[-1]]
            weights = np.ones(len(ends)) if chunk.weights is None else chunk.weights[: start[-1]]
            shape = (chunk.count, rows.n_nodes)
            yield chunk.first, sparse.csr_array((weights, ends, start), shape)


@dataclass(frozen=True)
class StandInEngine(CudaEngine):
    """The cuda engine on the stand-in."""

    stand_in: StandInDevice = field(default_factory=StandInDevice)

    def device(self):
        return self.stand_in
