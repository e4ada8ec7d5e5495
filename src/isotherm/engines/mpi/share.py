"""Share: the rows of the matrix that one rank owns, and the problem on them."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from isotherm.dirichlet.boundary import check_leak
from isotherm.engines.mpi.components import lowest_seeds
from isotherm.errors import LabelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.mpi.halo import Halo
    from isotherm.engines.mpi.ranks import Ranks
    from isotherm.graph.rows import Rows

    Reached = tuple[NDArray[np.int64], NDArray[np.bool_]]


class Share:
    """What one rank knows of a graph.

    Nodes have numbers that all ranks agree on, and a rank owns those from one number to another. In
    its arrays of *all* nodes the own ones come first, then the ghosts: nodes of others that own
    rows lead to.

    Parameters
    ----------
    ranks : Ranks
    bounds : int array of shape (size + 1,)
        Rank r owns the nodes from ``bounds[r]`` to ``bounds[r + 1]``.
    rows : Rows
        Of all nodes; those of ghosts are empty.
    halo : Halo

    Attributes
    ----------
    n_own, n_all, n_nodes : int
        Own nodes, these and ghosts, and nodes of the whole graph.
    first : int
        The number of the first own node.
    n_entries, longest : int
        Entries of the whole matrix, and of its longest row.
    """

    # What takes all ranks to find is found at once: none may wait here for others.
    def __init__(self, ranks: Ranks, bounds: NDArray[np.int64], rows: Rows, halo: Halo) -> None:
        self.ranks, self.bounds, self.rows, self.halo = ranks, bounds, rows, halo
        self.first, self.n_nodes = int(bounds[ranks.rank]), int(bounds[-1])
        self.n_own, self.n_all = halo.n_own, rows.n_nodes
        sizes = ranks.gathered(np.array([len(rows.ends), rows.longest], dtype=np.int64))
        self.n_entries, self.longest = int(sizes[:, 0].sum()), int(sizes[:, 1].max())

    @property
    def degrees(self) -> NDArray[np.float64]:
        """Of own nodes, found each time: they are seldom needed."""
        return self.rows.sums()[: self.n_own].copy()


class SharedProblem:
    """A Dirichlet problem of which each rank has a share; see `isotherm.dirichlet`.

    Parameters
    ----------
    share : Share
    boundary : int array of shape (s,)
        Own nodes that are held, by their places among own nodes, sorted.
    values : array of shape (s, k)
        Their temperatures.
    leak : float
    reached : pair of arrays, optional
        `lowest_seed` and `is_unreached`, see below; found if they are not known. All ranks know
        them, or none.

    Attributes
    ----------
    is_free : bool array of shape (n_all,)
        Of all nodes; not at ghosts.
    is_unreached : bool array of shape (n_own,)
    lowest_seed : int array of shape (s,)
        The least number of a seed in the component of each own seed.
    n_own_free : int
        Own nodes that are solved for.
    is_touching : bool array of shape (s,)
        Which own seeds are next to a free node.
    n_seeds, n_free : int
        On all ranks together.
    degree_range : tuple of two floats
        Least and greatest degree of a free node, on whatever rank.
    bounds : tuple of two arrays of shape (k,)
        Least and greatest temperature of each column, by the maximum principle.
    is_heated : bool array of shape (k,)
        Columns with heat: some seed that is not at 0 touches a free node.
    """

    ties = heat = None

    def __init__(
        self,
        share: Share,
        boundary: NDArray[np.intp],
        values: NDArray[np.float64],
        leak: float = 0.0,
        *,
        reached: Reached | None = None,
    ) -> None:
        self.graph = share
        self.boundary, self.values = boundary, values
        self.leak = check_leak(leak)
        ranks = share.ranks
        self.n_seeds = ranks.total(len(boundary))
        if self.n_seeds == 0:
            ranks.refuse(LabelError("no seed: at least one node must have a label"))
        self.lowest_seed, self.is_unreached = reached or _reached(share, boundary)
        self.is_free = np.zeros(share.n_all, dtype=bool)
        self.is_free[: share.n_own] = ~self.is_unreached
        self.is_free[boundary] = False
        self.n_own_free = int(np.count_nonzero(self.is_free))
        self.n_free = ranks.total(self.n_own_free)  # of all ranks
        self.degree_range = self._degree_range()
        self.is_touching = self._touching()
        self._look_at_values()

    def with_values(self, values: NDArray[np.float64]) -> SharedProblem:
        """The same nodes held at other temperatures."""
        other = copy(self)
        other.values = values
        other._look_at_values()
        return other

    def without(self, places: NDArray[np.intp]) -> SharedProblem:
        """The same with some of the own seeds free."""
        kept = np.ones(len(self.boundary), dtype=bool)
        kept[places] = False
        # Components are what they were; those whose first seed stays still have it.
        gone = self.graph.first + self.boundary[places]
        changed = self.graph.ranks.any((self.lowest_seed[places] == gone).any())
        reached = None if changed else (self.lowest_seed[kept], self.is_unreached)
        return SharedProblem(
            self.graph, self.boundary[kept], self.values[kept], self.leak, reached=reached
        )

    @property
    def n_columns(self) -> int:
        """Number k of temperature columns."""
        return int(self.values.shape[1])

    @property
    def free(self) -> NDArray[np.intp]:
        """Own nodes that are solved for."""
        return np.flatnonzero(self.is_free)

    @property
    def seeds(self) -> NDArray[np.intp]:
        """Own nodes that are held."""
        return self.boundary

    @property
    def seed_values(self) -> NDArray[np.float64]:
        """Their temperatures."""
        return self.values

    @property
    def capacities(self) -> NDArray[np.float64]:
        """The degrees: there are no ties."""
        return self.graph.degrees

    def _look_at_values(self) -> None:
        """Bounds of the columns, and which of them have heat; all ranks at once."""
        low = self.values.min(axis=0, initial=np.inf)
        high = self.values.max(axis=0, initial=-np.inf)
        heated = (self.values[self.is_touching] != 0).any(axis=0)
        found = self.graph.ranks.gathered(np.array([low, -high, ~heated])).min(axis=0)
        low, high = found[0], -found[1]
        if self.leak > 0:  # heat is lost to surroundings at temperature 0
            low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        self.bounds = low, high
        self.is_heated: NDArray[np.bool_] = found[2] == 0

    def _touching(self) -> NDArray[np.bool_]:
        free = self.graph.halo.fill(self.is_free.astype(np.uint8)).view(np.bool_)
        entries, counts = self.graph.rows.entries(self.boundary)
        touching = np.zeros(len(counts), dtype=bool)
        of = np.repeat(np.arange(len(counts)), counts)
        touching[of[free[self.graph.rows.ends[entries]]]] = True
        return touching

    def _degree_range(self) -> tuple[float, float]:
        degrees = self.graph.degrees[self.is_free[: self.graph.n_own]]
        own = np.array([degrees.min(initial=np.inf), -degrees.max(initial=0.0)])
        least, most = self.graph.ranks.gathered(own).min(axis=0).tolist()
        return least, -most

    def over_nodes(self, free: float) -> NDArray[np.float64]:
        """A number at own free nodes, 0 on the boundary, NaN at unreached nodes."""
        whole = np.full(self.graph.n_own, free)
        whole[self.boundary] = 0.0
        whole[self.is_unreached] = np.nan
        return whole


def _reached(share: Share, boundary: NDArray[np.intp]) -> Reached:
    lowest = lowest_seeds(share, boundary)
    return lowest[boundary], lowest < 0
