"""The true labels, where they are known: to play against, and to see how well the labels do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.classifier.classify import DirichletClassifier
from isotherm.errors import LabelError
from isotherm.page.labelling import class_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.job import ModelParameters
    from isotherm.page.snapshot import Snapshot

DRAWS = 5  # of random labels, for each number of them
MOST_TIMES = 16  # as many labels are tried at random before giving up
ORACLE = "oracle"  # who labels


class Score(NamedTuple):
    """How many of the nodes that were not labelled are right."""

    right: int
    total: int

    @property
    def share(self) -> float:
        """Of all that could be wrong; 1 where none is left."""
        return self.right / self.total if self.total else 1.0


class Truth:
    """The true labels of nodes.

    Parameters
    ----------
    graph : Graph
        Its ids are texts.
    labels : mapping {node: label}
    """

    def __init__(self, graph: Graph, labels: Mapping[str, str]) -> None:
        self._labels = {node: class_name(label) for node, label in labels.items()}
        self.classes = sorted(set(self._labels.values()))
        number = {name: k for k, name in enumerate(self.classes)}
        self._graph = graph
        self._codes = np.full(graph.n_nodes, -1)
        if self._labels:
            places = graph.positions(list(self._labels))
            self._codes[places] = [number[label] for label in self._labels.values()]

    def of(self, node: str) -> str:
        """The true label of a node.

        Raises
        ------
        LabelError
            If it is not known.
        """
        if node not in self._labels:
            raise LabelError(f"the oracle has no label for node {node[:80]!r}")
        return self._labels[node]

    def knows(self, node: str) -> bool:
        """Whether it can answer."""
        return node in self._labels

    def score(self, snapshot: Snapshot) -> Score:
        """How many labels that were not given are right."""
        number = {name: k for k, name in enumerate(self.classes)}
        code_of = np.array([number.get(name, -2) for name in snapshot.classes] + [-2])
        asked = (self._codes >= 0) & ~snapshot.is_seed
        right = asked & (code_of[snapshot.codes] == self._codes)
        return Score(int(right.sum()), int(asked.sum()))

    @property
    def n_known(self) -> int:
        """How many nodes it knows."""
        return len(self._labels)

    def random_labels(self, accuracy: float, most: int, parameters: ModelParameters) -> int | None:
        """How many labels at random are as accurate, in half of the draws; None if `most` are not.

        Found by bisection: where more labels do worse by chance, it may be off a bit.
        """
        known = np.flatnonzero(self._codes >= 0)
        if most < 1 or self._at_random(known, most, parameters) < accuracy:
            return None
        few, many = 0, most  # `few` do not do, `many` do
        while many - few > max(1, few // 20):
            middle = (few + many) // 2
            if self._at_random(known, middle, parameters) < accuracy:
                few = middle
            else:
                many = middle
        return many

    def _at_random(self, known: NDArray[np.intp], n: int, parameters: ModelParameters) -> float:
        shares = []
        for draw in range(DRAWS):
            some = np.random.default_rng([draw, n]).choice(known, n, replace=False)
            names = self._graph.names[some].tolist()
            labels = {node: self._labels[node] for node in names}
            model = DirichletClassifier(**parameters).fit(self._graph, labels)
            number = {name: k for k, name in enumerate(self.classes)}
            code_of = np.array([number[name] for name in model.classes_.tolist()] + [-2])
            free = np.setdiff1d(known, some)
            codes, _ = model.codes(free)
            shares.append(float((code_of[codes] == self._codes[free]).mean()))
        return float(np.median(shares))


def told(n_labels: int, score: Score, at_random: int | None, tried: int) -> str:
    """The result in words.

    Examples
    --------
    >>> told(38, Score(986, 1000), 70, 608)
    '38 labels, 98.6 % right; labels drawn at random would have taken 70'
    >>> told(1, Score(1, 2), None, 16)
    '1 label, 50.0 % right; labels drawn at random would have taken more than 16'
    """
    labels = f"{n_labels} label{'' if n_labels == 1 else 's'}"
    taken = f"more than {tried}" if at_random is None else str(at_random)
    share = 100 * score.share
    return f"{labels}, {share:.1f} % right; labels drawn at random would have taken {taken}"
