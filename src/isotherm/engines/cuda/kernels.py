"""The kernels of ``kernels.cu``: compiled for the shape of a block of columns, and launched.

CuPy compiles them when they are first needed, which takes seconds, and keeps them in a folder.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.engines.cuda.records import (
    bounds_record,
    nodes_record,
    rows_record,
    scalars_record,
    ties_record,
)
from isotherm.engines.cuda.rows import BINS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from isotherm.engines.cuda.device import Device
    from isotherm.engines.cuda.records import DeviceTies
    from isotherm.engines.cuda.rows import Bin, Chunk, DeviceRows
    from isotherm.engines.cuda.vectors import Heat, Nodes, Vectors

THREADS = 256  # of a block, as in kernels.cu
BLOCKS_AT_ONCE = 8  # of each multiprocessor
PROVEN_AT_ONCE = 4  # columns: more take so many registers that few threads run
SHORT = 1 << 23  # numbers of a step that is so short that launching it takes longer
STEPS_AT_ONCE = 4  # of such

NUMBERS = {"float16": "__half", "float32": "float", "float64": "double"}


def source() -> str:
    """The text of ``kernels.cu``."""
    return files(__package__).joinpath("kernels.cu").read_text(encoding="utf-8")


def instances(width: int, number: str, direction: str, *, weighted: bool) -> list[str]:
    """The kernels that a block of that shape needs, by their names with parameters.

    Examples
    --------
    >>> instances(8, "float", "__half", weighted=False)[0]
    'product<8, 4, __half, false>'
    """
    flag = str(weighted).lower()
    groups = [group for group, _ in BINS]
    return [
        *(f"product<{width}, {group}, {direction}, {flag}>" for group in groups),
        *(
            f"weigh<{width}, {group}, {number}, {flag}, {cold}>"
            for group in groups
            for cold in ("true", "false")
        ),
        f"find_step<{width}>",
        f"descend<{width}>",
        f"find_turn<{width}>",
        f"advance<{width}, {direction}, {number}>",
        f"clip<{width}, {number}>",
        f"put_out<{width}, {number}>",
    ]


def proof_instances(number: str, *, weighted: bool) -> list[str]:
    """Those that the proof needs."""
    flag = str(weighted).lower()
    return [f"prove<{PROVEN_AT_ONCE}, {group}, {number}, {flag}>" for group, _ in BINS]


class CudaKernels:
    """What the rest of the engine asks of a device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.xp = device.xp
        properties = self.xp.cuda.runtime.getDeviceProperties(self.xp.cuda.Device().id)
        self.most_blocks = BLOCKS_AT_ONCE * int(properties["multiProcessorCount"])
        self._compiled: dict[tuple[Any, ...], dict[str, Any]] = {}

    @classmethod
    @cache
    def on(cls, device: Device) -> CudaKernels:
        """Those of a device, once."""
        return cls(device)

    # --- one block of columns -----------------------------------------------------------------

    def scalars(self, vectors: Vectors) -> Any:
        """The room for what is known of each column."""
        return self.device.upload(scalars_record(vectors).view(np.uint8))

    def begin(
        self, rows: DeviceRows, nodes: Nodes, vectors: Vectors, heat: Heat | None, *, cold: bool
    ) -> NDArray[np.float32]:
        """Residuals of T as it is, within its bounds, and a first direction; their levels."""
        v, of = vectors, self._functions(rows, vectors)
        record = nodes_record(nodes, heat, v.block.first)
        if not cold:
            self._over(
                nodes.n * v.columns,
                of[f"clip<{v.width}, {_name(v.dtype)}>"],
                record,
                bounds_record(v),
                v.T,
                np.int32(v.columns),
            )
        counted = 0
        n_blocks = self.n_blocks(rows)
        levels = v.room("levels", n_blocks * (v.width + 1), np.float32)
        largest = v.room("largest", n_blocks * v.width, np.float32)
        for chunk, part, blocks in self._launches(rows):
            flags = f"{_flag(rows.weighted)}, {_flag(cold)}"
            kernel = of[f"weigh<{v.width}, {part.group}, {_name(v.dtype)}, {flags}>"]
            kernel((blocks,), (THREADS,), (
                rows_record(rows, nodes, chunk, part), record, v.scalars, v.T, v.Z,
                np.int32(v.columns), np.int32(v.lanes), np.int32(v.block.hidden),
                levels[counted * (v.width + 1) :], largest[counted * v.width :],
            ))  # fmt: skip
            counted += blocks
        seen = v.room("seen", v.width + 1, np.float32)
        of[f"find_turn<{v.width}>"]((1,), (32 * v.width,), (
            v.scalars, largest, levels, largest, np.int32(counted), np.int32(1), seen,
        ))  # fmt: skip
        v.P.fill(0)
        self._advance(nodes, v, of)
        return self.seen(v)

    def steps(
        self, rows: DeviceRows, nodes: Nodes, vectors: Vectors, *, most: int
    ) -> tuple[int, NDArray[np.float32]]:
        """One step, or a few if they are short; how many, and the levels after the last."""
        short = rows.n_entries * vectors.width < SHORT
        count = STEPS_AT_ONCE if short else 1
        if most < count or not rows.is_resident:
            self._step(rows, nodes, vectors)
            return 1, self.seen(vectors)
        if vectors.graph is None:
            self._step(rows, nodes, vectors)  # compiles, and makes room
            stream = self.xp.cuda.get_current_stream()
            stream.begin_capture()
            try:
                for _ in range(count):
                    self._step(rows, nodes, vectors)
            finally:
                vectors.graph = stream.end_capture()
            return 1, self.seen(vectors)
        vectors.graph.launch()
        return count, self.seen(vectors)

    def _step(self, rows: DeviceRows, nodes: Nodes, vectors: Vectors) -> None:
        v, of = vectors, self._functions(rows, vectors)
        record, counted = nodes_record(nodes), 0
        pMp = v.room("pMp", self.n_blocks(rows) * v.width, np.float64)
        for chunk, part, blocks in self._launches(rows):
            kernel = of[
                f"product<{v.width}, {part.group}, {_name(v.P.dtype)}, {_flag(rows.weighted)}>"
            ]
            kernel((blocks,), (THREADS,), (
                rows_record(rows, nodes, chunk, part), record, v.P, v.V, pMp[counted * v.width :],
            ))  # fmt: skip
            counted += blocks
        blocks = self._blocks(nodes.n * v.width)
        rp = v.room("rp", blocks * v.width, np.float64)
        of[f"find_step<{v.width}>"]((1,), (32 * v.width,), (
            v.scalars, pMp, np.int32(counted), rp, np.int32(blocks),
        ))  # fmt: skip
        zMp = v.room("zMp", blocks * v.width, np.float64)
        levels = v.room("levels", blocks * (v.width + 1), np.float32)
        largest = v.room("largest", blocks * v.width, np.float32)
        of[f"descend<{v.width}>"]((blocks,), (THREADS,), (
            record, v.scalars, v.Z, v.V, np.int32(v.columns), np.int32(v.block.hidden),
            zMp, levels, largest,
        ))  # fmt: skip
        of[f"find_turn<{v.width}>"]((1,), (32 * v.width,), (
            v.scalars, zMp, levels, largest, np.int32(blocks), np.int32(0),
            v.room("seen", v.width + 1, np.float32),
        ))  # fmt: skip
        self._advance(nodes, v, of)

    def _advance(self, nodes: Nodes, v: Vectors, of: Any) -> None:
        blocks = self._blocks(nodes.n * v.width)
        kernel = of[f"advance<{v.width}, {_name(v.P.dtype)}, {_name(v.dtype)}>"]
        kernel((blocks,), (THREADS,), (
            nodes_record(nodes), v.scalars, v.T, v.Z, v.P,
            v.room("rp", blocks * v.width, np.float64),
        ))  # fmt: skip

    def seen(self, vectors: Vectors) -> NDArray[np.float32]:
        """Levels of the lanes after the last step; in the last place, of the hidden column."""
        found: NDArray[np.float32] = vectors.room("seen", vectors.width + 1, np.float32).get()
        return found

    def put_out(self, rows: DeviceRows, nodes: Nodes, vectors: Vectors, h: Any | None) -> Any:
        """Temperatures as they are given back, of shape (n, columns of the block); h if wanted."""
        v, of = vectors, self._functions(rows, vectors)
        X = self.device.empty((nodes.n, v.block.width), v.dtype)
        self._over(
            nodes.n,
            of[f"put_out<{v.width}, {_name(v.dtype)}>"],
            nodes_record(nodes),
            bounds_record(v),
            v.T,
            np.int32(v.columns),
            np.int32(v.block.hidden),
            X,
            np.int32(v.block.width),
            h,
        )
        return X

    # --- the proof ----------------------------------------------------------------------------

    def prove(
        self, rows: DeviceRows, nodes: Nodes, ties: DeviceTies | None, X: Any, h: Any
    ) -> dict[str, Any]:
        """The numbers of an `Imbalance`, for the columns of X."""
        width, columns = X.shape[1], PROVEN_AT_ONCE
        number = _name(X.dtype)
        of = self._proofs(rows, number)
        n_blocks, size = self.n_blocks(rows), 5 * columns + 6
        found: list[NDArray[np.float64]] = []
        for first in range(0, width, columns):
            count = min(columns, width - first)
            room, counted = self.device.empty(n_blocks * size, np.float64), 0
            for chunk, part, blocks in self._launches(rows):
                kernel = of[f"prove<{columns}, {part.group}, {number}, {_flag(rows.weighted)}>"]
                kernel((blocks,), (THREADS,), (
                    rows_record(rows, nodes, chunk, part), nodes_record(nodes),
                    ties_record(ties, first),
                    X.reshape(-1)[first:], np.int64(width), np.int32(count), h,
                    room[counted * size :],
                ))  # fmt: skip
                counted += blocks
            parts = room[: counted * size].get().reshape(counted, size)
            found.append(_joined(parts, columns, count))
        return _evidence(found)

    # --- launches -----------------------------------------------------------------------------

    def _blocks(self, threads: int) -> int:
        return max(1, min(-(-threads // THREADS), self.most_blocks))

    def n_blocks(self, rows: DeviceRows) -> int:
        """At most, of all launches that go through the rows."""
        return rows.n_launches * self.most_blocks

    def _launches(self, rows: DeviceRows) -> Iterator[tuple[Chunk, Bin, int]]:
        for chunk in rows.chunks():
            for part in chunk.bins:
                yield chunk, part, self._blocks(part.count * part.group)

    def _over(self, threads: int, kernel: Any, *arguments: Any) -> None:
        kernel((self._blocks(threads),), (THREADS,), arguments)

    def _functions(self, rows: DeviceRows, v: Vectors) -> dict[str, Any]:
        """The kernels for a block, by their names with parameters."""
        key = (v.width, _name(v.dtype), _name(v.P.dtype), rows.weighted)
        if key not in self._compiled:
            self._compiled[key] = self._compile(instances(*key[:3], weighted=rows.weighted))
        return self._compiled[key]

    def _proofs(self, rows: DeviceRows, number: str) -> dict[str, Any]:
        key = (number, rows.weighted)
        if key not in self._compiled:
            self._compiled[key] = self._compile(proof_instances(number, weighted=rows.weighted))
        return self._compiled[key]

    def _compile(self, names: list[str]) -> dict[str, Any]:
        module = self.xp.RawModule(code=source(), options=("--std=c++17",), name_expressions=names)
        return {name: module.get_function(name) for name in names}


def _name(dtype: Any) -> str:
    return NUMBERS[np.dtype(dtype).name]


def _flag(value: bool) -> str:
    return str(bool(value)).lower()


def _joined(parts: NDArray[np.float64], columns: int, count: int) -> NDArray[np.float64]:
    """What all blocks of threads found, in one row; NaN stays."""
    with np.errstate(invalid="ignore"):
        found = parts.max(axis=0)
    found[5 * columns + 4] = parts[:, 5 * columns + 4].sum()
    kept = [k * columns + column for k in range(5) for column in range(count)]
    return np.concatenate([found[kept], found[5 * columns :]])


def _evidence(found: list[NDArray[np.float64]]) -> dict[str, Any]:
    tables = [one[:-6].reshape(5, -1) for one in found]
    level, rounding, relative, high, minus_low = np.concatenate(tables, axis=1)
    minus_least, greatest, minus_shortest, longest, n_nodes, stray = found[0][-6:]
    return {
        "level": level,
        "rounding": rounding,
        "relative": relative,
        "low": -minus_low,
        "high": high,
        "degrees": (float(-minus_least), float(greatest)),
        "exits": (float(-minus_shortest), float(longest)),
        "n_nodes": int(n_nodes),
        "stray": bool(stray),
    }
