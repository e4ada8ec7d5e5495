"""Nodes that were not fitted, known by their weights to those that were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from isotherm.errors import GraphError
from isotherm.graph.weights import as_weight_matrix
from isotherm.masked import refuse_masked_items

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from isotherm.graph.nodes import NodeIndex


def extend(
    weights: scipy.sparse.csr_array, T: NDArray[np.floating], leak: float, *, abstain: bool
) -> NDArray[np.float64]:
    """Temperatures of new nodes: equation (2), fitted ones held.

    Fitted nodes without a temperature are not looked at: joined to the rest by the new
    node alone, they would take its temperature and not change it. A new node without
    neighbours has none, or 0 if nodes do not abstain.
    """
    T = T.reshape(len(T), -1)
    usable = np.flatnonzero(~np.isnan(T[:, 0]))
    weights = weights[:, usable]
    total = weights @ np.ones(len(usable))
    if not np.isfinite(total).all():
        bad = int(np.flatnonzero(~np.isfinite(total))[0])
        raise GraphError(
            f"the weights of a new node (row {bad}) add up to infinity: scale them down"
        )
    with np.errstate(invalid="ignore"):  # 0 / 0 where a new node has no neighbour
        extended = (weights @ T[usable]) / ((1 + leak) * total)[:, np.newaxis]
    if not abstain:
        extended[total == 0] = 0.0
    return np.asarray(extended, dtype=np.float64)


def read_new_nodes(rows: Any, nodes: NodeIndex, estimator: str) -> scipy.sparse.csr_array:
    """The weights of new nodes to the fitted ones, checked; see `DirichletClassifier.predict`."""
    if isinstance(rows, Mapping) and not scipy.sparse.issparse(rows):  # DOK is both
        rows = _weights_of(rows, nodes)
    if not scipy.sparse.issparse(rows):
        rows = np.asanyarray(rows)  # a mask is kept
    if rows.ndim != 2:
        raise GraphError(
            f"new nodes must be the rows of a matrix of weights, got shape {rows.shape}. "
            "Reshape your data; for a single node use X.reshape(1, -1)"
        )
    weights = as_weight_matrix(rows)
    if rows.shape[1] != len(nodes):
        raise GraphError(
            f"X has {rows.shape[1]} features, but {estimator} is expecting {len(nodes)} "
            "features as input: new nodes must be the rows of a matrix of weights, with one "
            "column for each fitted node"
        )
    return weights


def _weights_of(
    new: Mapping[Hashable, Mapping[Hashable, float]], nodes: NodeIndex
) -> scipy.sparse.csr_array:
    """The rows of new nodes given by the ids of their neighbours, in the order given."""
    ends = [node for neighbours in new.values() for node in neighbours]
    weights = [weight for neighbours in new.values() for weight in neighbours.values()]
    own = np.repeat(np.arange(len(new)), [len(neighbours) for neighbours in new.values()])
    found = nodes.positions(ends) if ends else np.empty(0, np.intp)
    refuse_masked_items(weights, "the weights of a new node", GraphError)
    try:
        numbers = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise GraphError(f"the weights of a new node must be numbers: {error}") from None
    return scipy.sparse.csr_array((numbers, (own, found)), shape=(len(new), len(nodes)))
