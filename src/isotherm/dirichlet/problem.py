"""DirichletProblem: which nodes are held, tied, free, and which no heat can reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.compiled import core
from isotherm.dirichlet.boundary import Ties, as_values, check_leak, in_range, merged
from isotherm.dirichlet.reaching import Reaching
from isotherm.graph.rows import clean
from isotherm.read_only import cached_array, cached_property, read_only, seal

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from isotherm.graph import Graph


class DirichletProblem(Reaching):
    """Temperatures held on the boundary, Laplace's equation everywhere else (Section 2).

    Free nodes obey equation (1), with an optional leak τ of heat at each of them:
    ``(1 + τ) d_i T_i = Σ_j A_ij T_j``. Written for the free nodes F and the boundary S it is the
    linear system of equations (3) and (4), multiplied by the degrees so that it is symmetric::

        M X = B,   M = (1 + τ) D_F − A_FF = D_F ((1 + τ) I − Q),   B = A_FS Y = D_F R Y

    A tie adds its weight a to the diagonal and ``a y`` to B. M is an M-matrix: its inverse exists
    and has no negative entry, since every node of F has a path to the boundary or to a tie. Free
    nodes that have none, the *unreached* ones, are kept out of F.

    Parameters
    ----------
    graph : Graph
        Kept in other units where its weights come close to the limits of float64.
    boundary : int array of shape (s,)
        Positions of the nodes held. A node may come twice if its values are the same. There may be
        none if there are ties.
    values : array of shape (s,) or (s, k)
        Their temperatures Y, any real numbers; each column is a problem of its own.
    leak : float
        τ ≥ 0, heat lost at each free node; 0 is the paper.
    ties : Ties, optional
        Of nodes that are not held.
    is_reached : bool array of shape (n,), optional
        Nodes with a path to a seed, and the seeds, if known already.

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
        values: NDArray[np.floating],
        *,
        leak: float = 0.0,
        ties: Ties | None = None,
        is_reached: NDArray[np.bool_] | None = None,
    ) -> None:
        self.graph, self.ties = in_range(graph, ties if ties and len(ties.nodes) else None)
        self.heat: tuple[NDArray[np.intp], NDArray[np.float64]] | None = None
        self.leak = check_leak(leak)
        boundary = np.array(boundary, subok=True)  # a mask stays, and is refused
        rows = as_values(values, len(boundary), none_allowed=self.ties is not None)
        self.boundary, self.values = merged(graph, boundary, rows)
        self._found = [] if is_reached is None else [~is_reached]
        seal(self)

    def with_values(self, values: NDArray[np.floating]) -> DirichletProblem:
        """The same nodes held at, and tied to, other temperatures; in the order of `seeds`."""
        other = self._without("bounds", "one_hot", "_ranges", "sources", "is_heated")
        rows = as_values(values, self.n_seeds)
        other.values = read_only(rows[: len(self.boundary)])
        if self.ties is not None:
            other.ties = self.ties._replace(values=rows[len(self.boundary) :])
        return other

    def with_heat(
        self,
        nodes: NDArray[np.intp],
        rows: NDArray[np.float64],
        values: NDArray[np.float64] | None = None,
    ) -> DirichletProblem:
        """Heat put in at some free nodes, sorted, a row for each; seeds are at 0 by default."""
        if values is None:
            values = np.zeros((self.n_seeds, rows.shape[1]))
        other = self.with_values(values)
        other.heat = nodes, rows
        return other

    def with_leak(self, leak: float) -> DirichletProblem:
        """The same problem with another leak; itself if it has that one."""
        leak = check_leak(leak)
        if leak == self.leak:
            return self
        other = self._without("bounds", "one_hot", "diagonal", "capacities")
        other.leak = leak
        return other

    def without(self, places: NDArray[np.intp]) -> DirichletProblem:
        """The same with some seeds, by their place among all of them, entirely free."""
        kept = np.ones(self.n_seeds, dtype=bool)
        kept[places] = False
        held, ties = kept[: len(self.boundary)], self.ties
        if ties is not None:
            ties = ties.only(kept[len(self.boundary) :])
        return self.with_boundary(self.boundary[held], self.values[held], ties)

    def with_boundary(
        self, boundary: NDArray[np.intp], values: NDArray[np.floating], ties: Ties | None = None
    ) -> DirichletProblem:
        """The same graph and leak with other nodes held, in order, and tied."""
        known = boundary if ties is None else np.sort(np.concatenate([boundary, ties.nodes]))
        place = np.minimum(np.searchsorted(known, self.seeds), max(len(known) - 1, 0))
        # With all of these seeds, and others where their heat went anyway, it goes as far.
        as_far = len(known) and (known[place] == self.seeds).all()
        as_far = as_far and not self.is_unreached[known].any()
        return DirichletProblem(
            self.graph,
            boundary,
            values,
            leak=self.leak,
            ties=ties,
            is_reached=~self.is_unreached if as_far else None,
        )

    def holding(self, nodes: NDArray[np.intp], values: NDArray[np.floating]) -> DirichletProblem:
        """The same with further nodes held."""
        boundary, both = np.append(self.boundary, nodes), np.vstack([self.values, values])
        ties = self.ties
        if ties is not None:
            ties = ties.only(~np.isin(ties.nodes, nodes))
        order = np.argsort(boundary, kind="stable")
        return self.with_boundary(boundary[order], both[order], ties)

    @cached_array
    def free(self) -> NDArray[np.intp]:
        """Positions of the free nodes that heat reaches."""
        return self.is_free.nonzero()[0]

    @cached_array
    def unreached(self) -> NDArray[np.intp]:
        """Positions of the free nodes that it does not reach."""
        return self.is_unreached.nonzero()[0]

    @cached_property
    def n_free(self) -> int:
        """Number of free nodes that heat reaches."""
        return int(np.count_nonzero(self.is_free))

    @cached_property
    def degree_range(self) -> tuple[float, float]:
        """Least and greatest degree of a free node, ties included."""
        degrees = self.capacities[self.is_free]
        return float(degrees.min(initial=np.inf)), float(degrees.max(initial=0.0))

    @property
    def seeds(self) -> NDArray[np.intp]:
        """Positions of all nodes of which something is known: those held, then those tied."""
        if self.ties is None:
            return self.boundary
        return np.concatenate([self.boundary, self.ties.nodes])

    @property
    def seed_values(self) -> NDArray[np.float64]:
        """What is known of them, shape (n_seeds, k)."""
        if self.ties is None:
            return self.values
        return np.vstack([self.values, self.ties.values])

    @property
    def n_seeds(self) -> int:
        """Number of nodes held or tied."""
        return len(self.boundary) + (0 if self.ties is None else len(self.ties.nodes))

    @property
    def n_columns(self) -> int:
        """Number k of temperature columns."""
        return int(self.values.shape[1])

    @cached_array
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and greatest temperature of each column, by the maximum principle."""
        low, high, _ = self._ranges
        if self.heat is not None:
            return low, np.full_like(high, np.inf)
        if self.leak > 0:  # heat is lost to surroundings at temperature 0
            low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        return low, high

    @cached_property
    def one_hot(self) -> bool:
        """Whether the columns are classes: one 1 in each row of Y, no leak.

        The temperatures of a node then add up to 1.
        """
        return self.heat is None and self.leak == 0 and self._ranges[2]

    @cached_property
    def _ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
        """Least and greatest value of each column; whether each row has one 1, and zeros."""
        known = self.seed_values
        if core is not None:
            low, high = np.empty(self.n_columns), np.empty(self.n_columns)
            return low, high, core.value_ranges(np.ascontiguousarray(known), low, high)
        is_zero_or_one = ((known == 0) | (known == 1)).all()
        one_hot = bool(is_zero_or_one and (known.sum(axis=1) == 1).all())
        return known.min(axis=0), known.max(axis=0), one_hot

    # --- the split: A_FF, A_FS and what they make ---------------------------------------------

    @cached_array
    def degrees(self) -> NDArray[np.float64]:
        """Degrees d_F of the free nodes."""
        return self.graph.degrees[self.free]

    @cached_array
    def diagonal(self) -> NDArray[np.float64]:
        """The diagonal (1 + τ) d_F + a; a self loop's weight is in A_FF, not here."""
        return (1.0 + self.leak) * self.degrees + self.tie_weights[self.free]

    @cached_array
    def tie_weights(self) -> NDArray[np.float64]:
        """The weight a by which each node is tied, shape (n,); 0 where it is not."""
        weights = np.zeros(self.graph.n_nodes)
        if self.ties is not None:
            weights[self.ties.nodes] = self.ties.weights
        return weights

    @cached_array
    def capacities(self) -> NDArray[np.float64]:
        """Degrees d + a / (1 + τ) of all nodes, ties included, shape (n,)."""
        if self.ties is None:
            return self.graph.degrees
        return np.asarray(self.graph.degrees + self.tie_weights / (1.0 + self.leak))

    @property
    def pull(self) -> tuple[NDArray[np.intp], NDArray[np.float64]] | None:
        """Heat put in, by ties ``a y``: the nodes and a row for each; None if there is none."""
        if self.heat is not None or self.ties is None:
            return self.heat
        return self.ties.nodes, self.ties.weights[:, np.newaxis] * self.ties.values

    @property
    def inner(self) -> sparse.csr_array:
        """Weights A_FF among free nodes: each time a new object of the same arrays."""
        return clean(*self._blocks[0])

    @property
    def outer(self) -> sparse.csr_array:
        """Weights A_FS from free nodes to the boundary, likewise."""
        return clean(*self._blocks[1])

    @cached_array
    def _blocks(self) -> tuple[tuple[Any, ...], ...]:
        rows = self.graph.adjacency[self.free]
        blocks = rows[:, self.free], rows[:, self.boundary]
        return tuple((each.data, each.indices, each.indptr, each.shape) for each in blocks)

    @cached_array
    def sources(self) -> NDArray[np.float64]:
        """The right-hand sides B = A_FS Y, and what ties put in, shape (n_F, k)."""
        B = np.asarray(self.outer @ self.values)
        if self.pull is not None:
            nodes, rows = self.pull
            B[np.searchsorted(self.free, nodes)] += rows
        return B

    # --- arrays over all nodes ----------------------------------------------------------------

    def start(
        self, dtype: Any = np.float64, warm: NDArray[np.floating] | None = None
    ) -> NDArray[np.floating]:
        """Temperatures to start from, of shape (n, k).

        The boundary's at the boundary and NaN at unreached nodes, for good; at free nodes 0, or
        those of `warm` where it has any.
        """
        X: NDArray[np.floating] = np.zeros((self.graph.n_nodes, self.n_columns), dtype)
        if warm is not None:
            X = np.array(warm, dtype, order="C").reshape(X.shape)
            np.nan_to_num(X, copy=False, nan=0.0)
        X[self.boundary] = self.values
        X[self.unreached] = np.nan
        return X

    def over_nodes(self, free: float) -> NDArray[np.float64]:
        """A number at all free nodes, 0 on the boundary, NaN at unreached nodes."""
        whole = np.full(self.graph.n_nodes, free)
        whole[self.boundary] = 0.0
        whole[self.is_unreached] = np.nan
        return whole
