"""Share: the rows of the matrix that one rank owns, and the problem on them."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
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


@dataclass(frozen=True, eq=False)
class Share:
    """What one rank knows of a graph.

    Nodes have numbers that all ranks agree on, and a rank owns those from one number to another. In
    its arrays of *all* nodes the own ones come first, then the ghosts: nodes of others that own
    rows lead to.

    Attributes
    ----------
    ranks : Ranks
    bounds : int array of shape (size + 1,)
        Rank r owns the nodes from ``bounds[r]`` to ``bounds[r + 1]``.
    rows : Rows
        Of all nodes; those of ghosts are empty.
    halo : Halo
    """

    ranks: Ranks
    bounds: NDArray[np.int64]
    rows: Rows
    halo: Halo

    @property
    def first(self) -> int:
        """The number of the first own node."""
        return int(self.bounds[self.ranks.rank])

    @property
    def n_own(self) -> int:
        """Own nodes."""
        return self.halo.n_own

    @property
    def n_all(self) -> int:
        """Own nodes and ghosts."""
        return self.rows.n_nodes

    @property
    def n_nodes(self) -> int:
        """Nodes of the graph, on whatever rank."""
        return int(self.bounds[-1])

    @cached_property
    def n_entries(self) -> int:
        """Entries of the whole matrix."""
        return self.ranks.total(len(self.rows.ends))

    @cached_property
    def longest(self) -> int:
        """Entries of the longest row of all."""
        return int(self.ranks.gathered(np.int64(self.rows.longest)).max())

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Of all nodes, ghosts included."""
        return np.asarray(self.halo.fill(self.rows.sums()))


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

    Attributes
    ----------
    is_free, is_unreached : bool arrays
        Of all nodes; neither at ghosts.
    lowest_seed : int array
        Of all nodes: the least number of a seed in their component, −1 where there is none.
    """

    ties = heat = None

    def __init__(
        self,
        share: Share,
        boundary: NDArray[np.intp],
        values: NDArray[np.float64],
        leak: float = 0.0,
    ) -> None:
        self.graph = share
        self.boundary, self.values = boundary, values
        self.leak = check_leak(leak)
        ranks = share.ranks
        self.n_seeds = ranks.total(len(boundary))
        if self.n_seeds == 0:
            raise LabelError("no seed: at least one node must have a label")
        self.lowest_seed = lowest_seeds(share, boundary)
        own = np.arange(share.n_all) < share.n_own
        self.is_unreached = own & (self.lowest_seed < 0)
        self.is_free = own & ~self.is_unreached
        self.is_free[boundary] = False
        self.n_free = ranks.total(np.count_nonzero(self.is_free))  # of all ranks

    def with_values(self, values: NDArray[np.float64]) -> SharedProblem:
        """The same nodes held at other temperatures."""
        other = copy(self)
        for name in ("bounds", "is_heated"):
            other.__dict__.pop(name, None)
        other.values = values
        return other

    def without(self, places: NDArray[np.intp]) -> SharedProblem:
        """The same with some of the own seeds free."""
        kept = np.ones(len(self.boundary), dtype=bool)
        kept[places] = False
        return SharedProblem(self.graph, self.boundary[kept], self.values[kept], self.leak)

    @property
    def n_columns(self) -> int:
        """Number k of temperature columns."""
        return int(self.values.shape[1])

    @property
    def seeds(self) -> NDArray[np.intp]:
        """Own nodes that are held."""
        return self.boundary

    @property
    def seed_values(self) -> NDArray[np.float64]:
        """Their temperatures."""
        return self.values

    @cached_property
    def free(self) -> NDArray[np.intp]:
        """Own nodes that are solved for."""
        return np.flatnonzero(self.is_free)

    @cached_property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and greatest temperature of each column, by the maximum principle."""
        low = self.values.min(axis=0, initial=np.inf)
        high = self.values.max(axis=0, initial=-np.inf)
        both = self.graph.ranks.gathered(np.array([low, -high])).min(axis=0)
        low, high = both[0], -both[1]
        if self.leak > 0:
            low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        return low, high

    @cached_property
    def degree_range(self) -> tuple[float, float]:
        """Least and greatest degree of a free node, on whatever rank."""
        degrees = self.graph.degrees[self.free]
        own = np.array([degrees.min(initial=np.inf), -degrees.max(initial=0.0)])
        least, most = self.graph.ranks.gathered(own).min(axis=0).tolist()
        return least, -most

    @property
    def capacities(self) -> NDArray[np.float64]:
        """The degrees: there are no ties."""
        return self.graph.degrees

    @cached_property
    def is_touching(self) -> NDArray[np.bool_]:
        """Which own seeds are next to a free node."""
        free = self.graph.halo.fill(self.is_free.astype(np.uint8)).view(np.bool_)
        entries, counts = self.graph.rows.entries(self.boundary)
        touching = np.zeros(len(counts), dtype=bool)
        of = np.repeat(np.arange(len(counts)), counts)
        touching[of[free[self.graph.rows.ends[entries]]]] = True
        return touching

    @cached_property
    def is_heated(self) -> NDArray[np.bool_]:
        """Columns with heat: some seed that is not at 0 touches a free node."""
        own = (self.values[self.is_touching] != 0).any(axis=0)
        return np.asarray(self.graph.ranks.gathered(own).any(axis=0))

    def over_nodes(self, free: float) -> NDArray[np.float64]:
        """A number at all free nodes and ghosts, 0 on the boundary, NaN at unreached nodes."""
        whole = np.full(self.graph.n_all, free)
        whole[self.boundary] = 0.0
        whole[self.is_unreached] = np.nan
        return whole
