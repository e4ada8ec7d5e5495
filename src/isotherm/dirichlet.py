"""DirichletProblem: which nodes are held, which are free, which no heat can reach."""

from __future__ import annotations

import math
from copy import copy
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.errors import LabelError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from isotherm.graph import Graph


GREATEST_VALUE = 1e300  # so that differences of temperatures are finite
USUAL_DEGREES = (2.0**-200, 2.0**200)  # of the greatest degree, as it is; others are scaled to 1


class DirichletProblem:
    """Temperatures held on the boundary, Laplace's equation everywhere else (Section 2).

    Free nodes obey equation (1), with an optional leak τ of heat at each of them:
    ``(1 + τ) d_i T_i = Σ_j A_ij T_j``. Written for the free nodes F and the boundary S it is the
    linear system of equations (3) and (4), multiplied by the degrees so that it is symmetric::

        M X = B,   M = (1 + τ) D_F − A_FF = D_F ((1 + τ) I − Q),   B = A_FS Y = D_F R Y

    M is an M-matrix: its inverse exists and has no negative entry, since every node of F has a
    path to the boundary. Free nodes that have none, the *unreached* ones, are kept out of F.

    Parameters
    ----------
    graph : Graph
        Kept in other units where its weights come close to the limits of float64.
    boundary : int array of shape (s,)
        Positions of the nodes held. A node may come twice if its values are the same.
    values : array of shape (s,) or (s, k)
        Their temperatures Y, any real numbers; each column is a problem of its own.
    leak : float
        τ ≥ 0, heat lost at each free node; 0 is the paper.
    roundings : float
        How many times the weights were rounded before they got here, at the most: what is proven
        then holds for the weights that were meant.

    Attributes
    ----------
    boundary, free, unreached : int arrays
        Positions, each sorted; together every node once.
    is_free, is_unreached : bool arrays of shape (n,)
        The same as masks.
    values : array of shape (s, k)
        Y, in the order of `boundary`.

    Raises
    ------
    LabelError
        No seed, values that are not finite or not one row per seed, seeds in conflict.
    ParameterError
        A leak that is negative or not a number.

    Examples
    --------
    A path of four nodes held at 0 and 3 at its ends, and a fifth node apart.

    >>> from isotherm import Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], nodes=range(5))
    >>> problem = DirichletProblem(path, np.array([0, 3]), np.array([0.0, 3.0]))
    >>> problem.free.tolist(), problem.unreached.tolist()
    ([1, 2], [4])
    >>> problem.sources.ravel().tolist()
    [0.0, 3.0]
    """

    def __init__(
        self,
        graph: Graph,
        boundary: NDArray[np.intp],
        values: NDArray[Any],
        *,
        leak: float = 0.0,
        roundings: float = 0.0,
    ) -> None:
        self.graph = _in_range(graph)
        self.roundings = roundings
        self.leak = check_leak(leak)
        boundary = np.asarray(boundary)
        self.boundary, self.values = _merged(graph, boundary, _as_values(values, len(boundary)))
        self.is_unreached = ~_reached(graph, self.boundary)
        self.is_free = ~self.is_unreached
        self.is_free[self.boundary] = False

    def with_values(self, values: NDArray[Any]) -> DirichletProblem:
        """The same nodes held at other temperatures; `values` in the order of `boundary`."""
        other = self._without("bounds", "one_hot", "sources", "is_heated")
        other.values = _as_values(values, len(self.boundary))
        return other

    def with_leak(self, leak: float) -> DirichletProblem:
        """The same problem with another leak."""
        other = self._without("bounds", "one_hot", "diagonal", "exits")
        other.leak = check_leak(leak)
        return other

    def without(self, places: NDArray[np.intp]) -> DirichletProblem:
        """The same with some of the boundary free, by their place in it."""
        kept = np.ones(len(self.boundary), dtype=bool)
        kept[places] = False
        return self.with_boundary(self.boundary[kept], self.values[kept])

    def with_boundary(self, boundary: NDArray[np.intp], values: NDArray[Any]) -> DirichletProblem:
        """The same graph and leak with other nodes held."""
        return DirichletProblem(
            self.graph, boundary, values, leak=self.leak, roundings=self.roundings
        )

    def _without(self, *names: str) -> DirichletProblem:
        """A copy that has yet to find these."""
        other = copy(self)
        for name in names:
            other.__dict__.pop(name, None)
        return other

    @cached_property
    def free(self) -> NDArray[np.intp]:
        """Positions of the free nodes that heat reaches."""
        return np.flatnonzero(self.is_free)

    @cached_property
    def unreached(self) -> NDArray[np.intp]:
        """Positions of the free nodes that it does not reach."""
        return np.flatnonzero(self.is_unreached)

    @cached_property
    def n_free(self) -> int:
        """Number of free nodes that heat reaches."""
        return int(np.count_nonzero(self.is_free))

    @cached_property
    def degree_range(self) -> tuple[float, float]:
        """Least and greatest degree of a free node."""
        degrees = self.graph.degrees[self.is_free]
        return float(degrees.min(initial=np.inf)), float(degrees.max(initial=0.0))

    @property
    def n_seeds(self) -> int:
        """Number s of nodes held."""
        return len(self.boundary)

    @property
    def n_columns(self) -> int:
        """Number k of temperature columns."""
        return int(self.values.shape[1])

    @cached_property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and greatest temperature of each column, by the maximum principle."""
        low, high = self.values.min(axis=0), self.values.max(axis=0)
        if self.leak > 0:  # heat is lost to surroundings at temperature 0
            low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        return low, high

    @cached_property
    def one_hot(self) -> bool:
        """Whether the columns are classes: one 1 in each row of Y, no leak.

        The temperatures of a node then add up to 1.
        """
        is_zero_or_one = ((self.values == 0) | (self.values == 1)).all()
        return bool(self.leak == 0 and is_zero_or_one and (self.values.sum(axis=1) == 1).all())

    @cached_property
    def is_heated(self) -> NDArray[np.bool_]:
        """Columns with heat: some seed that is not at 0 touches a free node."""
        return np.asarray((self.values[self.is_touching] != 0).any(axis=0))

    @cached_property
    def is_touching(self) -> NDArray[np.bool_]:
        """Which of the boundary have a free neighbour, shape (s,)."""
        entries, counts = self.graph.rows.entries(self.boundary)
        into_free = self.is_free[self.graph.rows.ends[entries]]
        touching = np.zeros(len(counts), dtype=bool)
        touching[np.repeat(np.arange(len(counts)), counts)[into_free]] = True
        return touching

    # --- the split: A_FF, A_FS and what they make ---------------------------------------------

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Degrees d_F of the free nodes."""
        return self.graph.degrees[self.free]

    @cached_property
    def diagonal(self) -> NDArray[np.float64]:
        """The diagonal (1 + τ) d_F; a self loop's weight is in A_FF, not here."""
        return (1.0 + self.leak) * self.degrees

    @cached_property
    def _rows(self) -> sparse.csr_array:
        return self.graph.adjacency[self.free]

    @cached_property
    def inner(self) -> sparse.csr_array:
        """Weights A_FF among free nodes."""
        return self._rows[:, self.free]

    @cached_property
    def outer(self) -> sparse.csr_array:
        """Weights A_FS from free nodes to the boundary."""
        return self._rows[:, self.boundary]

    @cached_property
    def sources(self) -> NDArray[np.float64]:
        """The right-hand sides B = A_FS Y, shape (n_F, k)."""
        return np.asarray(self.outer @ self.values)

    @cached_property
    def exits(self) -> NDArray[np.float64]:
        """Weight by which each free node loses heat for good: A_FS 1 + τ d_F."""
        exits = self.outer @ np.ones(len(self.boundary))
        return np.asarray(exits + self.leak * self.degrees)

    # --- arrays over all nodes ----------------------------------------------------------------

    def start(
        self, dtype: Any = np.float64, warm: NDArray[Any] | None = None
    ) -> NDArray[np.floating[Any]]:
        """Temperatures to start from, of shape (n, k).

        The boundary's at the boundary and NaN at unreached nodes, for good; at free nodes 0, or
        those of `warm` where it has any.
        """
        shape = (self.graph.n_nodes, self.n_columns)
        X: NDArray[np.floating[Any]]
        if warm is None:
            X = np.zeros(shape, dtype)
        else:
            X = np.array(warm, dtype).reshape(shape)
            np.nan_to_num(X, copy=False, nan=0.0)
        X[self.boundary] = self.values
        X[np.flatnonzero(self.is_unreached)] = np.nan
        return X

    def over_nodes(self, free: float) -> NDArray[np.float64]:
        """A number at all free nodes, 0 on the boundary, NaN at unreached nodes."""
        whole = np.full(self.graph.n_nodes, free)
        whole[self.boundary] = 0.0
        whole[self.is_unreached] = np.nan
        return whole


def _in_range(graph: Graph) -> Graph:
    """The graph in units in which its weights can be worked with, which changes no temperature."""
    greatest = float(graph.degrees.max())
    if graph.rows.weights is None or USUAL_DEGREES[0] <= greatest <= USUAL_DEGREES[1]:
        return graph
    return graph.scaled(-int(np.frexp(greatest)[1]))


def _reached(graph: Graph, boundary: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Nodes with a path to the boundary, and the boundary."""
    rows = graph.rows
    if not rows.compiled:
        return np.isin(graph.components, graph.components[boundary])
    marked = np.zeros(graph.n_nodes, dtype=np.uint8)
    marked[boundary] = 1
    core.reach(rows.start, rows.ends, marked, n_threads())
    return marked.view(np.bool_)


def check_leak(leak: Any) -> float:
    """Return the leak as a float, or raise ParameterError."""
    if isinstance(leak, Real) and not isinstance(leak, bool) and 0 <= float(leak) < math.inf:
        return float(leak)
    raise ParameterError(f"leak must be a number ≥ 0, got {leak!r}")


def _as_values(values: NDArray[Any], n_seeds: int) -> NDArray[np.float64]:
    try:
        columns = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise LabelError(f"boundary values must be real numbers: {error}") from None
    if columns.ndim == 1:
        columns = columns[:, np.newaxis]
    if n_seeds == 0:
        raise LabelError("no seed: at least one node must have a known value")
    if columns.ndim != 2 or len(columns) != n_seeds or columns.shape[1] == 0:
        raise LabelError(f"{n_seeds} boundary nodes but values of shape {np.shape(values)}")
    if not np.isfinite(columns).all():
        raise LabelError("boundary values must be finite: a seed's temperature is known")
    if np.abs(columns).max() > GREATEST_VALUE:
        raise LabelError(f"boundary values beyond ±{GREATEST_VALUE:.0e}: scale them down")
    return columns


def _merged(
    graph: Graph, boundary: NDArray[np.intp], values: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Sort the boundary; merge nodes that come twice, unless their values differ."""
    if boundary.dtype.kind not in "iu":
        raise LabelError(f"boundary positions must be whole numbers, not {boundary.dtype}")
    outside = (boundary < 0) | (boundary >= graph.n_nodes)
    if outside.any():
        raise LabelError(f"no node at position {boundary[outside][0]}: there are {graph.n_nodes}")
    if (np.diff(boundary) > 0).all():
        return boundary, values  # sorted and each but once, as from a list of labels
    nodes, first, where = np.unique(boundary, return_index=True, return_inverse=True)
    conflict = (values[first][where] != values).any(axis=1)
    if conflict.any():
        names = graph.names[np.unique(boundary[conflict])[:5]].tolist()
        raise LabelError(f"seeds in conflict: two different values for node(s) {names}")
    return nodes, values[first]
