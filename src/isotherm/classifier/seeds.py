"""Seeds: what is known of the labels of nodes, and how strongly it holds them.

A label given for certain is a clamp: its node is held at temperature 1 in its class. What is known
may be weaker in two ways. A *distribution* over classes holds the node at these temperatures. A
*confidence* c below 1 does not hold the node but ties it to what is known of it, by the weight
``a = d c / (1 − c)``, so that at equilibrium::

    T_i = c y_i + (1 − c) · mean temperature of its neighbours

(without leak). The node is free, then, and may get another label than the one given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.dirichlet import DirichletProblem, Ties
from isotherm.errors import IsothermError, LabelError, ParameterError
from isotherm.graph.nodes import list_to_column
from isotherm.labels import (
    UNKNOWN,
    as_mapping,
    drawn_positions,
    known_labels,
    locate,
    number_classes,
    scattered,
)
from isotherm.masked import has_masked, refuse_masked, refuse_masked_items, with_nan
from isotherm.memory import check_room

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph


LEAST_TIE = float(np.finfo(np.float64).tiny)  # the least weight that has all its digits


class Seeds(NamedTuple):
    """What is known, a row for each seed: first those held, then those tied, each by position.

    Attributes
    ----------
    nodes : int array of shape (s,)
        Positions in the graph.
    codes : int array of shape (s,)
        The class of each, the most likely one.
    values : array of shape (s, K)
        The temperatures of what each is held at or tied to: rows that sum to 1.
    confidence : array of shape (s,) or None
        None if all are 1.
    classes : array of shape (K,)
    drawn : bool array of shape (s,) or None
        Whether each was drawn at random; None if that is not known.
    """

    nodes: NDArray[np.intp]
    codes: NDArray[np.intp]
    values: NDArray[np.floating]
    confidence: NDArray[np.float64] | None
    classes: NDArray[np.generic]
    drawn: NDArray[np.bool_] | None = None

    @property
    def n_held(self) -> int:
        """How many are held: the first ones."""
        if self.confidence is None:
            return len(self.nodes)
        return int(np.count_nonzero(self.confidence == 1))

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of each class among the seeds."""
        if self.values.dtype == bool:  # each is of one class
            counts = np.bincount(self.codes, minlength=len(self.classes))
        else:
            counts = self.values.sum(axis=0)
        return np.asarray(counts / len(self.values))

    @property
    def counts(self) -> NDArray[np.float64]:
        """The values, each row times how sure it is."""
        sure = 1.0 if self.confidence is None else self.confidence[:, np.newaxis]
        return np.asarray(self.values * sure, dtype=np.float64)

    def held_codes(self, n: int) -> NDArray[np.intp]:
        """The class of each of n nodes that is held; −1 at others."""
        return scattered(self.nodes[: self.n_held], self.codes[: self.n_held], n)

    def bind(self, graph: Graph, leak: float) -> DirichletProblem:
        """The problem they make."""
        held = slice(self.n_held)
        return DirichletProblem(
            graph, self.nodes[held], self.values[held], leak=leak, ties=self._ties(graph)
        )

    def _ties(self, graph: Graph) -> Ties | None:
        if self.confidence is None or self.n_held == len(self.nodes):
            return None
        tied = slice(self.n_held, None)
        nodes, c = self.nodes[tied], self.confidence[tied]
        degrees = graph.degrees[nodes]
        weights = np.where(degrees > 0, degrees, 1.0) * (c / (1 - c))
        known = weights >= LEAST_TIE
        weights[~known] = LEAST_TIE
        # Of a degree, and of what is made of it; nothing is proven of ties too weak for float64.
        roundings = graph.rows.longest + 4 if known.all() else math.inf
        return Ties(nodes, weights, self.values[tied].astype(np.float64), roundings)

    def only(self, some: NDArray[np.intp]) -> Seeds:
        """Some of them, with the same classes."""
        confidence = None if self.confidence is None else self.confidence[some]
        return self._replace(
            nodes=self.nodes[some],
            codes=self.codes[some],
            values=self.values[some],
            confidence=confidence,
            drawn=None if self.drawn is None else self.drawn[some],
        )

    @property
    def drawn_nodes(self) -> NDArray[np.intp] | None:
        """Positions of those drawn at random."""
        return None if self.drawn is None else self.nodes[self.drawn]

    def with_drawn(self, nodes: NDArray[np.intp] | None) -> Seeds:
        """The same, those at some positions drawn at random; None if that is not known."""
        if nodes is None and self.drawn is None:
            return self
        return self._replace(drawn=None if nodes is None else np.isin(self.nodes, nodes))

    def with_changes(self, changes: Mapping[int, object | None]) -> Seeds:
        """Labels added, changed (both are certain then) or, None, withdrawn.

        Parameters
        ----------
        changes : mapping {position: label or None}
        """
        at = np.fromiter(changes, dtype=np.intp, count=len(changes))
        kept = ~np.isin(self.nodes, at)
        given = {i: label for i, label in changes.items() if label is not None}
        new = np.fromiter(given, dtype=np.intp, count=len(given))
        all_labels = [*self.classes.tolist(), *given.values()]
        numbers, classes = number_classes(list_to_column(all_labels))
        n_old, K = len(self.classes), len(classes)
        if self.confidence is None and n_old == K and kept.all():
            return self._with_more(new, numbers[n_old:]).with_drawn(self.drawn_nodes)
        values = np.zeros((int(kept.sum()) + len(new), K))
        values[: len(values) - len(new), numbers[:n_old]] = self.values[kept]
        values[np.arange(len(values) - len(new), len(values)), numbers[n_old:]] = 1.0
        nodes = np.concatenate([self.nodes[kept], new])
        sure = np.ones(len(self.nodes)) if self.confidence is None else self.confidence
        confidence = np.concatenate([sure[kept], np.ones(len(new))])
        order = np.lexsort((nodes, confidence < 1))
        there = values.any(axis=0)
        values, confidence = values[order][:, there], confidence[order]
        if len(values) == 0:
            raise LabelError("no seed would be left: at least one node must have a label")
        return Seeds(
            nodes[order],
            values.argmax(axis=1),
            values,
            None if (confidence == 1).all() else confidence,
            classes[there],
        ).with_drawn(self.drawn_nodes)

    def _with_more(self, nodes: NDArray[np.intp], codes: NDArray[np.intp]) -> Seeds:
        """Further ones, of classes that there are; all are certain."""
        order = np.argsort(nodes)
        nodes, codes = nodes[order], codes[order]
        at = np.searchsorted(self.nodes, nodes)
        rows = np.equal.outer(codes, np.arange(len(self.classes)))
        return self._replace(
            nodes=np.insert(self.nodes, at, nodes),
            codes=np.insert(self.codes, at, codes),
            values=np.insert(self.values, at, rows, axis=0),
        )


def read_seeds(labels: Any, graph: Graph, confidence: Any = None, drawn: Any = None) -> Seeds:
    """What `labels` says, how surely, and which of them were drawn at random.

    Parameters
    ----------
    labels : array of shape (n,) or (n, K), or mapping or pandas Series {node: label}
        Labels, −1, None or NaN where unknown. A label may be a distribution {label: share}; rows
        of a matrix are distributions over the classes 0 … K − 1, NaN where unknown. A class that
        no seed has a share of is left out.
    graph : Graph
    confidence : number, array of shape (n,), or mapping or Series {node: number}, optional
        Above 0 and up to 1, which is the default.
    drawn : iterable of ids, or bool array of shape (n,), optional
        By default those of `labels`, if these are `isotherm.Labels`.

    Examples
    --------
    >>> from isotherm import Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> seeds = read_seeds({0: "cold", 3: {"warm": 3, "cold": 1}}, path)
    >>> seeds.classes.tolist(), seeds.values.tolist()
    (['cold', 'warm'], [[1.0, 0.0], [0.25, 0.75]])
    """
    seeds = _known(labels, graph).with_drawn(drawn_positions(drawn, labels, graph))
    given = _confidence(confidence, graph, seeds.nodes)
    if given is None:
        return seeds
    return seeds._replace(confidence=given).only(np.argsort(given < 1, kind="stable"))


def _known(labels: Any, graph: Graph) -> Seeds:
    """What labels say, all of it for certain."""
    if isinstance(labels, np.ndarray) and labels.ndim == 2 and labels.shape[1] > 1:
        if len(labels) != graph.n_nodes:
            raise LabelError(
                f"{len(labels)} rows of shares for a graph of {graph.n_nodes} nodes; give one row "
                "per node (NaN where unknown)"
            )
        if labels.dtype.kind not in "biuf":
            raise LabelError(f"rows of shares must be numbers, got type {labels.dtype}")
        given = with_nan(labels)
        nodes = np.flatnonzero(~np.isnan(given).all(axis=1))
        refuse_masked(labels[nodes], "shares", LabelError)
        return _shares(nodes, labels[nodes].astype(np.float64), np.arange(labels.shape[1]), graph)
    if _has_distributions(labels):
        return _distributions(*locate(labels, graph), graph)
    nodes, codes, classes = known_labels(labels, graph)
    _refuse_continuous(classes)
    check_room(graph.n_nodes, len(classes), len(nodes))
    # Lines 2 to 7 of Algorithm 1, all classes at once: one column of 0 and 1 per class.
    values = np.equal.outer(codes, np.arange(len(classes)))
    return Seeds(nodes, codes, values, None, classes)


def _refuse_continuous(classes: NDArray[np.generic]) -> None:
    """Raise LabelError where labels are measurements rather than names of classes."""
    if classes.dtype.kind == "f" and not np.equal(classes, np.floor(classes)).all():
        odd = classes[classes != np.floor(classes)][0]
        raise LabelError(
            f"labels are continuous, such as {odd}: predict numbers with DirichletRegressor, or "
            "turn them into text if each stands for a class"
        )


def _has_distributions(labels: Any) -> bool:
    """Whether a label is itself a mapping; only where Python objects are there anyhow."""
    if isinstance(labels, np.ndarray) and labels.dtype != object:
        return False
    given = labels.values() if isinstance(labels, Mapping) else labels
    of_objects = str(getattr(given, "dtype", "")) == "object"
    listed = isinstance(labels, Mapping | list | tuple)
    return (listed or of_objects) and any(isinstance(label, Mapping) for label in given)


def _distributions(positions: NDArray[np.intp], given: NDArray[np.generic], graph: Graph) -> Seeds:
    """From labels of which some are mappings {label: share}."""
    nodes, rows = np.unique(positions, return_inverse=True)
    entries: list[tuple[int, Any, Any]] = []
    for row, label in zip(rows.tolist(), given.tolist(), strict=True):
        pairs = label.items() if isinstance(label, Mapping) else [(label, 1.0)]
        entries += [(row, each, share) for each, share in pairs]
    row_of, labels, shares = zip(*entries, strict=True) if entries else ((), (), ())
    numbers, classes = number_classes(list_to_column(list(labels)))
    known = numbers != UNKNOWN
    check_room(graph.n_nodes, len(classes), len(nodes))
    Y = np.zeros((len(nodes), len(classes)))
    refuse_masked_items(shares, "the shares of a distribution", LabelError)
    try:
        share_of = np.array(shares, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise LabelError(
            f"the shares of a distribution {{label: share}} must be numbers: {error}"
        ) from None
    np.add.at(Y, (np.array(row_of, dtype=np.intp)[known], numbers[known]), share_of[known])
    return _shares(nodes, Y, classes, graph)


def _shares(
    nodes: NDArray[np.intp], Y: NDArray[np.float64], classes: NDArray[np.generic], graph: Graph
) -> Seeds:
    """Rows that sum to 1; those of zeros say nothing, and a class that nobody has is none."""
    some = (Y != 0).any(axis=1)
    nodes, Y = nodes[some], Y[some]
    if len(nodes) == 0:
        raise LabelError("no seed: no node has a label; give at least one node a label")
    bad = ~(np.isfinite(Y) & (Y >= 0)).all(axis=1)
    if bad.any():
        where = graph.names[nodes[bad][:5]].tolist()
        odd = next(share for share in Y[bad][0].tolist() if not 0 <= share < np.inf)
        raise LabelError(f"shares must be finite numbers ≥ 0, got {odd:g} at node(s) {where}")
    there = Y.any(axis=0)
    Y, classes = Y[:, there], classes[there]
    Y = Y / Y.max(axis=1, keepdims=True)  # shares need only be in proportion, whatever their size
    Y /= Y.sum(axis=1, keepdims=True)
    return Seeds(nodes, Y.argmax(axis=1), Y, None, classes)


def _confidence(
    confidence: Any, graph: Graph, nodes: NDArray[np.intp]
) -> NDArray[np.float64] | None:
    """The confidence in each seed; None if all are certain."""
    if confidence is None:
        return None
    of_node = np.ones(graph.n_nodes)
    try:
        by_node = as_mapping(confidence, graph)
        if by_node is not None:
            of_node[graph.positions(by_node[0])] = by_node[1].astype(np.float64)
        else:
            given = np.asarray(with_nan(confidence), dtype=np.float64)
            if given.ndim and given.shape != of_node.shape:
                raise ParameterError(
                    f"confidence of shape {given.shape} for a graph of {graph.n_nodes} nodes: give "
                    "one number, one per node, or a mapping {node: number}"
                )
            of_node[:] = given
    except IsothermError:
        raise
    except (TypeError, ValueError) as error:
        raise ParameterError(f"confidence must be numbers: {error}") from None
    found = of_node[nodes]
    bad = ~((found > 0) & (found <= 1))
    if bad.any():
        (node,) = graph.names[nodes[bad][:1]].tolist()
        raise ParameterError(
            f"confidence must be above 0 and at most 1 at every seed, got {found[bad][0]:g} at "
            f"node {node!r}" + (", where it is masked" if has_masked(confidence) else "")
        )
    return None if (found == 1).all() else found
