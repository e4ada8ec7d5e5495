"""What is known at one moment: nobody changes it, so that any thread may read it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from isotherm.classifier.estimator import SEED, STATUS
from isotherm.graph.keys import least, node_keys, salted
from isotherm.labels import UNKNOWN
from isotherm.read_only import cached_property
from isotherm.trust.calibrate import calibrate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.graph import Graph

    Probabilities = Callable[[NDArray[np.float64]], NDArray[np.float64]]

BINS = 100  # of probabilities
SAMPLED = 5000  # nodes that tell the spread of scores

_samples: WeakKeyDictionary[Graph, NDArray[np.intp]] = WeakKeyDictionary()


class Snapshot:
    """The answers of a model after so many acts.

    Parameters
    ----------
    version : int
        Of the labels that are folded in.
    n_nodes : int
    model : HeatClassifier or None
        Fitted; None while there is no label. It is copied, and a copy has a session of its own.
    probabilities : callable, optional
        Scores → probabilities, from an earlier moment; rough ones without it.

    Attributes
    ----------
    classes : list of str
        In the model's order, which the codes number.
    is_judged : bool
        Whether probabilities are calibrated on these labels.
    bins : list of int or None
        How many free nodes have a label of each probability, in hundredths; once it was counted.
    """

    def __init__(
        self,
        version: int,
        n_nodes: int,
        model: HeatClassifier | None = None,
        probabilities: Probabilities | None = None,
    ) -> None:
        self.version, self.n_nodes = version, n_nodes
        self.model = None if model is None else copy.copy(model)
        self.classes: list[str] = [] if model is None else model.classes_.tolist()
        self.is_judged = False
        self.bins: list[int] | None = None
        self._probabilities = probabilities

    @property
    def n_classes(self) -> int:
        """How many classes have a label."""
        return len(self.classes)

    @property
    def probabilities(self) -> Probabilities | None:
        """Scores → probabilities."""
        return self._probabilities

    def judge(self) -> None:
        """Calibrate probabilities: seeds are left out, which takes its time."""
        if self.model is not None and self.n_classes > 1:
            self._probabilities = self.model.calibration_
            self.is_judged = True
            for found_before in ("certainty", "_map"):
                self.__dict__.pop(found_before, None)

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """Of each node the number of its class, −1 without one."""
        if self.model is None:
            return np.full(self.n_nodes, UNKNOWN)
        return self.model.codes(slice(0, self.n_nodes))[0]

    @cached_property
    def status(self) -> NDArray[np.intp]:
        """Of each node the number in `STATUS`; that of an unreached one without a model."""
        if self.model is None:
            return np.full(self.n_nodes, STATUS.index("unreached"))
        return self.model.codes(slice(0, self.n_nodes))[1]

    @property
    def is_seed(self) -> NDArray[np.bool_]:
        """Nodes whose label was given."""
        return np.asarray(self.status == STATUS.index(SEED))

    @cached_property
    def certainty(self) -> NDArray[np.float32]:
        """Of each node the probability of its label: 1 where it was given, 0 without one."""
        found = np.zeros(self.n_nodes, dtype=np.float32)
        for first in range(0, self.n_nodes, 1 << 16):
            rows = np.arange(first, min(first + (1 << 16), self.n_nodes))
            found[rows] = self.certainty_of(rows)
        return found

    def certainty_of(self, nodes: NDArray[np.intp]) -> NDArray[np.float64]:
        """The same of some nodes, without looking at all others."""
        codes, seeds = self.codes[nodes], self.is_seed[nodes]
        P = self.shares(nodes)
        found = P[np.arange(len(nodes)), codes] if P.shape[1] else np.zeros(len(nodes))
        return np.where(codes == UNKNOWN, 0.0, np.where(seeds, 1.0, found))

    def shares(self, nodes: NDArray[np.intp]) -> NDArray[np.float64]:
        """The probabilities of the classes at some nodes; of no class where no heat comes."""
        if self.model is None:
            return np.zeros((len(nodes), 0))
        if self.n_classes == 1:
            return np.asarray((self.codes[nodes] != UNKNOWN)[:, np.newaxis].astype(np.float64))
        return np.nan_to_num(self._map(self.model.some_scores(nodes)))

    @cached_property
    def _map(self) -> Probabilities:
        known = self._probabilities
        if known is not None and len(getattr(known, "offsets", ())) == self.n_classes:
            return known
        return calibrate(np.empty((0, self.n_classes)), np.empty(0, np.intp), self._spread())

    def _spread(self) -> float:
        """How far scores lie from their mean, at some nodes."""
        assert self.model is not None  # noqa: S101  # asked for with several classes only
        some = _sample(self.model.problem_.graph)
        S = self.model.some_scores(some[~self.is_seed[some]])
        S = S[np.isfinite(S).all(axis=1)]
        found = float(np.sqrt(((S - S.mean(axis=1, keepdims=True)) ** 2).mean())) if S.size else 0.0
        return found or 1.0

    def sizes(self) -> dict[str, int]:
        """How many nodes are of each class, seeds included."""
        counts = np.bincount(self.codes[self.codes >= 0], minlength=self.n_classes)
        return dict(zip(self.classes, counts.tolist(), strict=True))

    def count(self) -> None:
        """Count how many free nodes have a label of each probability."""
        places = (self.certainty[~self.is_seed] * BINS).astype(np.intp)
        self.bins = np.bincount(np.minimum(places, BINS - 1), minlength=BINS).tolist()


def _sample(graph: Graph) -> NDArray[np.intp]:
    """Nodes drawn by key, once for a graph."""
    if graph not in _samples:
        _samples[graph] = least(salted(node_keys(graph.nodes), "snapshot"), SAMPLED)
    return _samples[graph]
