"""What a solve has on the device: what belongs to nodes, and the vectors of a block of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.solvers.operator import root_measures

if TYPE_CHECKING:
    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.blocks import Block
    from isotherm.engines.cuda.device import Device
    from isotherm.engines.cuda.rows import DeviceRows

WIDTHS = (2, 4, 8, 16)  # numbers of a row
MOVING, HELD, UNREACHED = range(3)


def width_for(lanes: int) -> int:
    """Numbers in a row that has room for so many lanes.

    Examples
    --------
    >>> width_for(1), width_for(5), width_for(16)
    (2, 8, 16)
    """
    return next(width for width in WIDTHS if width >= lanes)


class Nodes:
    """Of one matrix: which nodes move, and the diagonal.

    Attributes
    ----------
    kind : uint8 array
        `MOVING`, `HELD` or `UNREACHED`.
    pivots, measures : float32 arrays
        The diagonal in units of `unit`, and the diagonal by the gauge of residuals.
    degrees, ties : float64 arrays
        Degrees without ties, and the weights of ties; None: there are none.
    unit : float
        A power of 2, so that weights fit into float32.
    root : bool
        See `isotherm.solvers.operator.root_measures`.
    leak : float
    """

    def __init__(self, rows: DeviceRows, problem: DirichletProblem, tol: float) -> None:
        device = rows.device
        xp, self.n = device.xp, problem.graph.n_nodes
        self.leak = problem.leak
        self.root = root_measures(problem, tol)
        free = device.upload(problem.is_free)
        others = xp.where(device.upload(problem.is_unreached), np.uint8(UNREACHED), np.uint8(HELD))
        self.kind = xp.where(free, np.uint8(MOVING), others)
        self.degrees = rows.degrees
        self.ties = None if problem.ties is None else device.upload(problem.tie_weights)
        _, greatest = problem.degree_range
        self.unit = float(np.ldexp(1.0, -int(np.frexp(greatest)[1]))) if greatest > 0 else 1.0
        capacity = self.degrees
        if self.ties is not None:
            capacity = capacity + self.ties / (1.0 + self.leak)
        diagonal = (1.0 + self.leak) * capacity
        gauge = xp.sqrt(capacity) if self.root else capacity
        self.pivots = xp.where(free, diagonal * self.unit, 1.0).astype(np.float32)
        self.measures = xp.where(free, diagonal / xp.where(free, gauge, 1.0), 0.0).astype(
            np.float32
        )
        self.gauge = gauge


@dataclass(frozen=True)
class Heat:
    """Heat that is put in at some nodes.

    Attributes
    ----------
    row_of : int32 array on the device, one entry per node
        The row of `rows`, or −1.
    rows : float64 array on the device
        A row for each of the nodes, an entry for each column of the problem.
    """

    row_of: Any
    rows: Any

    @classmethod
    def of(cls, device: Device, problem: DirichletProblem) -> Heat | None:
        """That of a problem; None if there is none."""
        if problem.pull is None:
            return None
        nodes, rows = problem.pull
        row_of = np.full(problem.graph.n_nodes, -1, dtype=np.int32)
        row_of[nodes] = np.arange(len(nodes))
        return cls(device.upload(row_of), device.upload(rows.astype(np.float64, copy=False)))


class Vectors:
    """Those of a block of columns, in rows of `width`; names as in ``kernels.cu``.

    Attributes
    ----------
    T, Z, P, V : arrays on the device, of shape (n, width)
    scale : float64 array of shape (width,)
        Temperatures are iterated in units of it; lane by lane.
    low, high : float64 arrays
        Bounds of the columns of the block, the hidden one included.
    """

    def __init__(
        self,
        device: Device,
        n_nodes: int,
        block: Block,
        dtype: type[np.floating],
        *,
        scale: Any,
        low: Any,
        high: Any,
        halves: bool,
    ) -> None:
        self.block = block
        self.columns = block.columns
        self.lanes = block.columns + block.exits
        self.width = width_for(self.lanes)
        self.dtype = np.dtype(dtype)
        self.low, self.high = np.asarray(low, np.float64), np.asarray(high, np.float64)
        self.scale = np.ones(self.width)
        self.scale[: self.columns] = scale[: self.columns]
        shape = (n_nodes, self.width)
        self.T = device.zeros(shape, dtype)
        self.Z = device.zeros(shape, np.float32)
        self.V = device.empty(shape, np.float32)
        self.P = device.empty(shape, np.float16 if halves else np.float32)
        self.scalars = device.kernels.scalars(self)
        self.graph: Any = None  # of launches, recorded; it holds on to these rooms
        self._device = device
        self._rooms: dict[str, Any] = {}

    def room(self, name: str, size: int, dtype: Any) -> Any:
        """An array for the sums of blocks of threads and the like; the largest asked for first."""
        if name not in self._rooms:
            self._rooms[name] = self._device.zeros(size, dtype)
        room = self._rooms[name]
        if len(room) < size:
            raise ValueError(f"{name} has room for {len(room)} numbers, not for {size}")
        return room

    def exits(self) -> Any:
        """The lane of the exit times."""
        return self.T[:, self.columns]


def bytes_per_node(width: int, itemsize: int) -> int:
    """Of the vectors of a block, and of what is given back."""
    return width * (2 * itemsize + 4 + 4 + 2)


BYTES_OF_NODE = (
    8 + 1 + 4 + 4 + 8 + 8 + 8 + 4 + 8
)  # start, kind, pivots, measures, degrees, ties, h, bins
