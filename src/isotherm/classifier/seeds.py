"""Seeds: what is known of the labels of nodes, and how strongly it holds them.

A label given for certain is a clamp: its node is held at temperature 1 in its class. What is known
may be weaker in two ways. A *distribution* over classes holds the node at these temperatures. A
*confidence* c below 1 does not hold the node but ties it to what is known of it, by an edge of
weight ``a = d c / (1 − c)`` to a further node that is held, so that at equilibrium::

    T_i = c y_i + (1 − c) · mean temperature of its neighbours

(without leak). The node is free, then, and may get another label than the one given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from isotherm.errors import IsothermError, LabelError, ParameterError
from isotherm.graph import Graph
from isotherm.labels import UNKNOWN, encode_labels, locate, number_classes

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    """

    nodes: NDArray[np.intp]
    codes: NDArray[np.intp]
    values: NDArray[Any]
    confidence: NDArray[np.float64] | None
    classes: NDArray[Any]

    @property
    def n_held(self) -> int:
        """How many are held: the first ones."""
        if self.confidence is None:
            return len(self.nodes)
        return int(np.count_nonzero(self.confidence == 1))

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of each class among the seeds."""
        return np.asarray(self.values.sum(axis=0) / len(self.values), dtype=np.float64)

    def bind(self, graph: Graph) -> tuple[Graph, NDArray[np.intp]]:
        """The graph with a further node for each tie, and the positions of what is held."""
        if self.confidence is None or self.n_held == len(self.nodes):
            return graph, self.nodes
        n, tied, c = graph.n_nodes, self.nodes[self.n_held :], self.confidence[self.n_held :]
        degrees = graph.degrees[tied]
        weights = np.where(degrees > 0, degrees, 1.0) * c / (1 - c)
        far = np.arange(len(tied))
        ties = sparse.csr_array((weights, (tied, far)), shape=(n, len(tied)))
        bound = sparse.block_array([[graph.adjacency, ties], [ties.T, None]], format="csr")
        return Graph.from_matrix(bound), np.concatenate([self.nodes[: self.n_held], n + far])


def read_seeds(labels: Any, graph: Graph, confidence: Any = None) -> Seeds:
    """What `labels` says, and how surely.

    Parameters
    ----------
    labels : array of shape (n,) or (n, K), or mapping or pandas Series {node: label}
        Labels, −1, None or NaN where unknown. A label may be a distribution {label: share}; rows
        of a matrix are distributions over the classes 0 … K − 1, NaN where unknown.
    graph : Graph
    confidence : number, array of shape (n,) or mapping {node: number}, optional
        Above 0 and up to 1, which is the default.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> seeds = read_seeds({0: "cold", 3: {"warm": 3, "cold": 1}}, path)
    >>> seeds.classes.tolist(), seeds.values.tolist()
    (['cold', 'warm'], [[1.0, 0.0], [0.25, 0.75]])
    """
    nodes, values, classes = _known(labels, graph)
    given = _confidence(confidence, graph, nodes)
    order = np.lexsort((nodes, np.zeros(len(nodes)) if given is None else given < 1))
    nodes, values = nodes[order], values[order]
    return Seeds(nodes, values.argmax(axis=1), values, None if given is None else given[order],
                 classes)  # fmt: skip


def _known(labels: Any, graph: Graph) -> tuple[NDArray[np.intp], NDArray[Any], NDArray[Any]]:
    """Nodes, the distribution over the classes of each, and the classes."""
    if isinstance(labels, Mapping) and any(isinstance(y, Mapping) for y in labels.values()):
        return _distributions(labels, graph)
    if isinstance(labels, np.ndarray) and labels.ndim == 2 and labels.shape[1] > 1:
        if len(labels) != graph.n_nodes:
            raise LabelError(f"{len(labels)} rows of shares for a graph of {graph.n_nodes} nodes")
        return _rows(labels, graph)
    codes, classes = encode_labels(labels, graph)
    nodes = np.flatnonzero(codes != UNKNOWN)
    # Lines 2 to 7 of Algorithm 1, all classes at once: one column of 0 and 1 per class.
    return nodes, np.equal.outer(codes[nodes], np.arange(len(classes))), classes


def _distributions(
    labels: Mapping[Any, Any], graph: Graph
) -> tuple[NDArray[np.intp], NDArray[Any], NDArray[Any]]:
    positions, given = locate(labels, graph)
    entries: list[tuple[int, Any, Any]] = []
    for i, label in zip(positions.tolist(), given.tolist(), strict=True):
        pairs = label.items() if isinstance(label, Mapping) else [(label, 1.0)]
        entries += [(i, each, share) for each, share in pairs]
    nodes, labels_of, shares = zip(*entries, strict=True) if entries else ((), (), ())
    column = np.empty(len(labels_of), dtype=object)
    column[:] = labels_of
    numbers, classes = number_classes(column)
    Y = np.zeros((graph.n_nodes, len(classes)))
    known = numbers != UNKNOWN
    np.add.at(Y, (np.array(nodes, dtype=np.intp)[known], numbers[known]), _numbers(shares)[known])
    return _rows(Y, graph, classes)


def _numbers(shares: Any) -> NDArray[np.float64]:
    try:
        return np.array(shares, dtype=np.float64)
    except (TypeError, ValueError):
        raise LabelError("the shares of a distribution {label: share} must be numbers") from None


def _rows(
    Y: NDArray[Any], graph: Graph, classes: NDArray[Any] | None = None
) -> tuple[NDArray[np.intp], NDArray[Any], NDArray[Any]]:
    """From rows of shares; those of NaN or of zeros say nothing."""
    if Y.dtype.kind not in "biuf":
        raise LabelError(f"rows of shares must be numbers, not {Y.dtype}")
    Y = Y.astype(np.float64)
    known = ~np.isnan(Y).all(axis=1) & (Y != 0).any(axis=1)
    nodes = np.flatnonzero(known)
    if len(nodes) == 0:
        raise LabelError("no seed: no node has a label")
    Y = Y[nodes]
    bad = ~(np.isfinite(Y) & (Y >= 0)).all(axis=1)
    if bad.any():
        where = graph.names[nodes[bad][:5]].tolist()
        raise LabelError(f"shares must be numbers ≥ 0; they are not at node(s) {where}")
    # Shares need not sum to 1, only be in proportion.
    Y = Y / Y.max(axis=1, keepdims=True)
    return nodes, Y / Y.sum(axis=1, keepdims=True), (
        np.arange(Y.shape[1]) if classes is None else classes
    )  # fmt: skip


def _confidence(
    confidence: Any, graph: Graph, nodes: NDArray[np.intp]
) -> NDArray[np.float64] | None:
    """The confidence in each seed; None if all are certain."""
    if confidence is None:
        return None
    of_node = np.ones(graph.n_nodes)
    try:
        if isinstance(confidence, Mapping):
            positions, given = locate(confidence, graph)
            of_node[positions] = given.astype(np.float64)
        else:
            given = np.asarray(confidence, dtype=np.float64)
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
    if not ((found > 0) & (found <= 1)).all():
        raise ParameterError("confidence must be above 0 and at most 1 at every seed")
    return None if (found == 1).all() else found
