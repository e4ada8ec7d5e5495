"""The structs of ``kernels.cu``, as they are handed to kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.cuda.rows import Bin, Chunk, DeviceRows
    from isotherm.engines.cuda.vectors import Heat, Nodes, Vectors

POINTER, INT64 = np.uint64, np.int64
# As the structs of these names in kernels.cu.
ROWS = np.dtype(
    [
        *((name, POINTER) for name in ("start", "ends", "weights", "nodes")),
        *((name, INT64) for name in ("base", "first", "count")),
        ("weight_unit", np.float64),
    ],
    align=True,
)
NODES = np.dtype(
    [
        *(
            (name, POINTER)
            for name in ("kind", "pivots", "measures", "degrees", "ties", "heat_row", "heat")
        ),
        *((name, INT64) for name in ("n", "heat_stride", "heat_first")),
        ("leak", np.float64),
        ("root", np.int32),
    ],
    align=True,
)
TIES = np.dtype(
    [
        *((name, POINTER) for name in ("row_of", "weights", "values")),
        *((name, INT64) for name in ("stride", "first")),
        ("roundings", np.float64),
    ],
    align=True,
)
BOUNDS = np.dtype([("low", np.float64, 17), ("high", np.float64, 17)], align=True)
SCALARS = np.dtype(
    [
        *((name, np.float64, 16) for name in ("scale", "along", "pMp", "size", "unit")),
        *((name, np.float32, 16) for name in ("alpha", "beta", "stored")),
    ],
    align=True,
)
RECORDS = {"Rows": ROWS, "Nodes": NODES, "Ties": TIES, "Bounds": BOUNDS, "Scalars": SCALARS}


class DeviceTies(NamedTuple):
    """Ties as the proof sees them: arrays on the device."""

    row_of: Any
    weights: Any
    values: Any
    roundings: float


def _address(array: Any) -> int:
    return 0 if array is None else int(array.data.ptr)


def rows_record(rows: DeviceRows, nodes: Nodes, chunk: Chunk, part: Bin) -> NDArray[Any]:
    """The rows of a bin, as a launch works on them."""
    record = np.zeros(1, ROWS)
    record[0] = (
        _address(rows.start), _address(chunk.ends), _address(chunk.weights), _address(part.nodes),
        chunk.base, chunk.first, part.count, nodes.unit,
    )  # fmt: skip
    return record


def nodes_record(nodes: Nodes, heat: Heat | None = None, first: int = 0) -> NDArray[Any]:
    """What belongs to nodes; `first` is the column at which the heat of a block begins."""
    record = np.zeros(1, NODES)
    record[0] = (
        _address(nodes.kind), _address(nodes.pivots), _address(nodes.measures),
        _address(nodes.degrees), _address(nodes.ties),
        0 if heat is None else _address(heat.row_of), 0 if heat is None else _address(heat.rows),
        nodes.n, 0 if heat is None else heat.rows.shape[1], first, nodes.leak,
        nodes.root,
    )  # fmt: skip
    return record


def ties_record(ties: DeviceTies | None, first: int) -> NDArray[Any]:
    """Ties, from a column on; none if there are none."""
    record = np.zeros(1, TIES)
    if ties is not None:
        record[0] = (
            _address(ties.row_of), _address(ties.weights), _address(ties.values),
            ties.values.shape[1], first, ties.roundings,
        )  # fmt: skip
    return record


def bounds_record(v: Vectors) -> NDArray[Any]:
    """Least and greatest temperatures of the columns of a block."""
    record = np.zeros(1, BOUNDS)
    record["low"][0, : len(v.low)] = v.low
    record["high"][0, : len(v.high)] = v.high
    return record


def scalars_record(v: Vectors) -> NDArray[Any]:
    """To begin with."""
    record = np.zeros(1, SCALARS)
    record["scale"] = 1.0
    record["scale"][0, : v.width] = v.scale
    record["unit"] = 1.0
    return record
