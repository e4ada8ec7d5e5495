"""A classifier that is kept up with labels as they change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.classifier.classify import DirichletClassifier
from isotherm.labels import Labels

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.graph import Graph
    from isotherm.job import ModelParameters
    from isotherm.solvers.options import Progress


class Follower:
    """Fits once, then updates: exactly, at the price of a column for each label that changed.

    Parameters
    ----------
    graph : Graph
    parameters : ModelParameters

    Attributes
    ----------
    classifier : HeatClassifier or None
        Fitted to the labels; None while there are none.

    Examples
    --------
    >>> from isotherm import Graph
    >>> follower = Follower(Graph.from_edges("abcd", "bcde"), {})
    >>> follower.follow({"a": "left", "e": "right"})
    >>> follower.follow({"a": "left", "c": "left", "e": "right"})
    >>> follower.classifier.labels_.tolist()
    ['left', 'left', 'left', 'right', 'right']
    >>> follower.follow({})
    >>> follower.classifier is None
    True
    """

    def __init__(self, graph: Graph, parameters: ModelParameters) -> None:
        self._graph, self._parameters = graph, parameters
        self._labels: Mapping[str, str] = {}
        self.classifier: HeatClassifier | None = None

    def follow(self, labels: Mapping[str, str], progress: Progress | None = None) -> None:
        """Have these labels from now on."""
        changes: dict[Hashable, str | None] = {
            node: labels.get(node)
            for node in labels.keys() | self._labels.keys()
            if labels.get(node) != self._labels.get(node)
        }
        if not labels:
            self.classifier = None
        elif self.classifier is None:
            fresh = DirichletClassifier(**self._parameters)
            self.classifier = fresh.fit(self._graph, labels, progress=progress)
        elif changes:
            drawn = labels.drawn if isinstance(labels, Labels) else None
            more = None if drawn is None else [node for node in changes if node in drawn]
            self.classifier.update(changes, drawn=more, progress=progress)
        self._labels = labels

    def forget(self) -> None:
        """Begin anew with the next labels."""
        self.classifier = None
