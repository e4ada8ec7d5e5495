"""What may be a boundary: checks of what is given, and which nodes it reaches."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.errors import LabelError, NotEnoughMemory, ParameterError
from isotherm.masked import refuse_masked
from isotherm.memory import SMALL, free_memory, size_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph

GREATEST_VALUE = 1e300  # so that differences of temperatures are finite
FEW_ENTRIES = 1 << 15  # of a graph whose components are soon found, once for all its problems
SCALED = 16  # bytes per entry while weights are copied in other units
USUAL_DEGREES = (2.0**-200, 2.0**200)  # of the greatest degree, as it is; others are scaled to 1


class Ties(NamedTuple):
    """Free nodes drawn towards what is known of them, each by a weight: Robin's condition.

    Attributes
    ----------
    nodes : int array of shape (t,)
        Positions, sorted.
    weights : array of shape (t,)
        a > 0: the balance of heat at such a node has the further term ``a (y − T)``.
    values : array of shape (t, k)
        y.
    roundings : float
        How many times a weight was rounded before it got here, at the most: what is proven then
        holds for the weights that were meant.
    """

    nodes: NDArray[np.intp]
    weights: NDArray[np.float64]
    values: NDArray[np.float64]
    roundings: float = 0.0

    def only(self, some: NDArray[np.bool_]) -> Ties:
        """Some of them, by a mask."""
        return self._replace(
            nodes=self.nodes[some], weights=self.weights[some], values=self.values[some]
        )


def in_range(graph: Graph, ties: Ties | None) -> tuple[Graph, Ties | None]:
    """Both in units in which weights can be worked with, which changes no temperature."""
    if not graph.rows.has_weights:
        return graph, ties
    greatest = float(graph.degrees.max())
    if USUAL_DEGREES[0] <= greatest <= USUAL_DEGREES[1]:
        return graph, ties
    if graph.rows.is_mapped:
        _check_room_to_scale(graph)
    exponent = -int(np.frexp(greatest)[1])
    scaled = graph.scaled(exponent)
    if ties is None or scaled is graph:
        return scaled, ties
    weights = np.ldexp(ties.weights, exponent)
    if not np.array_equal(np.ldexp(weights, -exponent), ties.weights):
        return graph, ties
    return scaled, ties._replace(weights=weights)


def _check_room_to_scale(graph: Graph) -> None:
    """Refuse to copy the weights of a saved graph where there is no room for them."""
    needed, free = SCALED * graph.rows.n_entries, free_memory()
    if needed > SMALL and free is not None and needed > free:
        raise NotEnoughMemory(
            f"weights as large or as small as those of this graph are worked with in a copy, which "
            f"takes {size_text(needed)} of memory ({needed:,} bytes), and {size_text(free)} is "
            "free: scale the weights so that degrees are near 1, and save the graph again"
        )


def reached(graph: Graph, boundary: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Nodes with a path to the boundary, and the boundary; as a new array."""
    rows = graph.rows
    if not rows.compiled or rows.n_entries <= FEW_ENTRIES:
        has_seed = np.zeros(graph.n_nodes, dtype=bool)  # of each component
        has_seed[graph.components[boundary]] = True
        return has_seed[graph.components]
    marked = np.zeros(graph.n_nodes, dtype=np.uint8)
    marked[boundary] = 1
    core.reach(rows.start, rows.ends, marked, n_threads())
    return marked.view(np.bool_)


def check_leak(leak: Any) -> float:
    """Return the leak as a float, or raise ParameterError."""
    is_number = type(leak) is float or (isinstance(leak, Real) and not isinstance(leak, bool))
    if is_number and 0 <= float(leak) < math.inf:
        return float(leak)
    raise ParameterError(f"leak must be a number ≥ 0, got {leak!r}")


def as_values(
    values: NDArray[np.floating], n_seeds: int, *, none_allowed: bool = False
) -> NDArray[np.float64]:
    """What seeds are held at, shape (s, k), as a copy; or raise LabelError."""
    refuse_masked(values, "boundary values", LabelError)
    try:
        columns = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise LabelError(f"boundary values must be real numbers: {error}") from None
    if columns.ndim == 1:
        columns = columns[:, np.newaxis]
    if n_seeds == 0 and not none_allowed:
        raise LabelError("no seed: at least one node must have a known value")
    if columns.ndim != 2 or len(columns) != n_seeds or columns.shape[1] == 0:
        raise LabelError(
            f"{n_seeds} boundary nodes but values of shape {np.shape(values)}: give one row of "
            "values per boundary node"
        )
    if np.asarray(values).dtype == bool:  # classes
        return columns
    greatest = np.abs(columns).max(initial=0.0)
    if not np.isfinite(greatest):
        odd = columns[~np.isfinite(columns)][0]
        raise LabelError(
            f"boundary values must be finite, got {odd:g}: leave out nodes whose value is unknown"
        )
    if greatest > GREATEST_VALUE:
        raise LabelError(
            f"boundary values must be within ±{GREATEST_VALUE:.0e}, got {greatest:g}: scale them "
            "down"
        )
    return columns


def merged(
    graph: Graph, boundary: NDArray[np.intp], values: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Sort the boundary; merge nodes that come twice, unless their values differ."""
    refuse_masked(boundary, "boundary nodes", LabelError)
    if boundary.dtype.kind not in "iu":
        raise LabelError(
            f"boundary positions must be whole numbers, got numbers of type {boundary.dtype}"
        )
    is_sorted = (boundary[1:] > boundary[:-1]).all()
    if is_sorted and (len(boundary) == 0 or 0 <= boundary[0] <= boundary[-1] < graph.n_nodes):
        return boundary, values  # each but once, as from a list of labels
    if boundary.min(initial=0) < 0 or boundary.max(initial=0) >= graph.n_nodes:
        outside = boundary[(boundary < 0) | (boundary >= graph.n_nodes)]
        raise LabelError(
            f"there is no node at position {outside[0]}: the last one is {graph.n_nodes - 1}"
        )
    nodes, first, where = np.unique(boundary, return_index=True, return_inverse=True)
    conflict = (values[first][where] != values).any(axis=1)
    if conflict.any():
        names = graph.names[np.unique(boundary[conflict])[:5]].tolist()
        raise LabelError(
            f"conflicting seeds: two different values for node(s) {names}; give each node one"
        )
    return nodes, values[first]
