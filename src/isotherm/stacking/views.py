"""All views of a graph: what each says of nodes, of seeds left out, and of new nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from isotherm.graph.keys import least
from isotherm.read_only import Sealed, seal
from isotherm.stacking.embedding import of_unit_length
from isotherm.stacking.left_out import bounds_left_out, ratios_left_out
from isotherm.stacking.regression import Regression, regress
from isotherm.stacking.surroundings import STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy
    from numpy.typing import NDArray

    from isotherm.graph.keys import Keys
    from isotherm.stacking.flows import Flow
    from isotherm.stacking.left_out import Plan
    from isotherm.stacking.surroundings import Surroundings
    from isotherm.trust.leave_one_out import LeftOut

EMBEDDING = "embedding"
MOST_ROWS = 3000  # that a regression is fitted to


@dataclass(frozen=True, eq=False)
class Embedded(Sealed):
    """A regression on an embedding of the nodes, fitted to the seeds.

    Attributes
    ----------
    vectors : array of shape (n, p)
        Rows of unit length.
    seeds : int array of shape (s,)
        Positions.
    Y : array of shape (s, K)
        What is known of them, see `isotherm.stacking.regression.regress`.
    keys : array of shape (s,)
        By which some of them are drawn, if they are very many.
    regression : Regression
    """

    vectors: NDArray[np.float32]
    seeds: NDArray[np.intp]
    Y: NDArray[np.float64]
    keys: Keys
    regression: Regression = field(init=False)

    def __post_init__(self) -> None:
        every = np.arange(len(self.seeds))
        object.__setattr__(self, "regression", regress(*self._known(every)))
        seal(self)

    def _known(self, places: NDArray[np.intp]) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """What a regression is fitted to, of seeds at some places; of very many only some."""
        some = places[least(self.keys[places], MOST_ROWS)]
        return self.vectors[self.seeds[some]], self.Y[some]

    def at(self, rows: slice | NDArray[np.intp]) -> NDArray[np.float64]:
        """Log probabilities of some nodes, shape (m, K)."""
        return self.regression(self.vectors[rows])

    def left_out(self, chosen: Plan) -> NDArray[np.float64]:
        """Those of seeds by regressions that do not know them."""
        found = np.empty((len(chosen.places), self.Y.shape[1]))
        for rows in chosen.at_once:
            places = chosen.places[rows]
            others = np.setdiff1d(np.arange(len(self.seeds)), places)
            without = regress(*self._known(others), start=self.regression)
            found[rows] = without(self.vectors[self.seeds[places]])
        return found

    def extended(self, weights: scipy.sparse.csr_array) -> NDArray[np.float64]:
        """Those of new nodes, whose vectors are the means of their neighbours'."""
        return self.regression(of_unit_length(np.asarray(weights @ self.vectors, np.float32)))


@dataclass(frozen=True, eq=False)
class Views:
    """What there is to be combined; arrays have a first axis of E views.

    Attributes
    ----------
    flows : sequence of Flow
        The paper's is the first.
    embedded : Embedded or None
    surroundings : Surroundings or None
    """

    flows: Sequence[Flow]
    embedded: Embedded | None
    surroundings: Surroundings | None

    @property
    def names(self) -> list[str]:
        """What each view is."""
        names = [str(flow.kind) for flow in self.flows]
        names += [EMBEDDING] if self.embedded is not None else []
        return names + (list(STEPS) if self.surroundings is not None else [])

    @property
    def counts(self) -> NDArray[np.bool_]:
        """Which count from the start: all but the seeds around a node."""
        return np.array([name not in STEPS for name in self.names])

    def at(self, rows: slice | NDArray[np.intp]) -> NDArray[np.float64]:
        """What each view says of some nodes, shape (E, m, K); NaN where no heat reaches one."""
        return np.array([*(flow.ratios(rows) for flow in self.flows), *self._others(rows)])

    def bounds(self, rows: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Between which that is proven to be; what is no temperature is taken as it is."""
        low, high = zip(*(flow.bounds(rows) for flow in self.flows), strict=True)
        others = self._others(rows)
        return np.array([*low, *others]), np.array([*high, *others])

    def _others(self, rows: slice | NDArray[np.intp]) -> list[NDArray[np.float64]]:
        found = [] if self.embedded is None else [self.embedded.at(rows)]
        return found + ([] if self.surroundings is None else [*self.surroundings.at(rows)])

    def left_out(
        self, left: Sequence[LeftOut], chosen: Plan
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """What each says of seeds left out, given what they get in each flow; and its bounds."""
        others = [] if self.embedded is None else [self.embedded.left_out(chosen)]
        if self.surroundings is not None:
            others += [*self.surroundings.left_out(chosen.places)]
        low, high = zip(*map(bounds_left_out, left), strict=True)
        found = [ratios_left_out(one) for one in left]
        return np.array([*found, *others]), np.array([*low, *others]), np.array([*high, *others])

    def extended(
        self, weights: scipy.sparse.csr_array, degrees: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """What each says of new nodes, see `isotherm.stacking.flows.Flow.extended`."""
        found = [flow.extended(weights, degrees) for flow in self.flows]
        found += [] if self.embedded is None else [self.embedded.extended(weights)]
        found += [] if self.surroundings is None else [*self.surroundings.extended(weights)]
        return np.array(found)
