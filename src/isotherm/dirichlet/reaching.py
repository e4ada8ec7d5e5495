"""What heat reaches: found when it is asked for, since to look for it takes the whole graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from isotherm.dirichlet.boundary import reached
from isotherm.read_only import Sealed, cached_array, seal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph


class Reaching(Sealed):
    """The part of a `isotherm.dirichlet.DirichletProblem` that looks along the edges from seeds."""

    graph: Graph
    boundary: NDArray[np.intp]
    heat: tuple[NDArray[np.intp], NDArray[np.float64]] | None
    seeds: Any
    seed_values: Any
    n_seeds: Any
    n_columns: Any
    _found: list[NDArray[np.bool_]]  # `is_unreached`, once it is found, for all copies

    def _without(self, *names: str) -> Self:
        """A copy that has yet to find these."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        for name in names:
            other.__dict__.pop(name, None)
        return other

    @cached_array
    def is_unreached(self) -> NDArray[np.bool_]:
        """Free nodes without a path to a seed, as a mask."""
        if not self._found:
            self._found.append(~reached(self.graph, self.seeds))
        return self._found[0]

    @cached_array
    def is_free(self) -> NDArray[np.bool_]:
        """The free nodes that heat reaches, as a mask."""
        free = ~self.is_unreached
        free[self.boundary] = False
        return free

    @cached_array
    def seed_components(self) -> NDArray[np.integer[Any]]:
        """A number for each of the `seeds` that those of one component, and no others, share."""
        return np.asarray(self.graph.components[self.seeds])

    def told(
        self,
        *,
        is_reached: NDArray[np.bool_],
        is_touching: NDArray[np.bool_],
        seed_components: NDArray[np.integer[Any]],
    ) -> Self:
        """The same problem, told by an engine what it would search the whole graph for."""
        other = self._without("is_unreached", "is_free", "free", "unreached", "n_free")
        other._found = [~is_reached]
        vars(other).update(is_touching=is_touching, seed_components=seed_components)
        seal(other)
        return other

    @cached_array
    def is_heated(self) -> NDArray[np.bool_]:
        """Columns with heat: some seed that is not at 0 touches a free node, or is tied."""
        if self.heat is not None:
            return np.ones(self.n_columns, dtype=bool)
        return np.asarray((self.seed_values[self.is_touching] != 0).any(axis=0))

    @cached_array
    def is_touching(self) -> NDArray[np.bool_]:
        """Which seeds give heat to a free node: those that are next to one, and all ties."""
        rows = self.graph.rows.near(self.boundary)
        entries, counts = rows.entries(self.boundary)
        into_free = self.is_free[rows.ends[entries]]
        touching = np.zeros(self.n_seeds, dtype=bool)
        touching[len(counts) :] = True
        touching[np.repeat(np.arange(len(counts)), counts)[into_free]] = True
        return touching
