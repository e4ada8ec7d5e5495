"""The true labels, where they are known: to play against, and to see how well the labels do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.errors import LabelError
from isotherm.page.labelling import class_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isotherm.graph import Graph
    from isotherm.page.snapshot import Snapshot


class Score(NamedTuple):
    """How many of the nodes that were not labelled are right."""

    right: int
    total: int


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
