"""What `fit` is given, whatever its kind → a graph, and what is known of its nodes."""

from __future__ import annotations

import warnings
from typing import Any

from isotherm.caller import (
    CROSS_VALIDATION,
    depth_of_caller,
    is_called_by,
    line_of_caller,
)
from isotherm.errors import IsothermWarning, LabelError
from isotherm.graph import Graph
from isotherm.graph.frames import column_names, is_frame
from isotherm.graph.nodes import as_column
from isotherm.labels import UNKNOWN, ByNode, number_classes
from isotherm.masked import with_none

NODE, LABEL = "node", "label"
CUT = (
    "cross-validation cuts the nodes that it holds out from the graph, and a scorer other than the "
    "default counts unknown labels as a class. Use leave_one_out() or isotherm evaluate instead: "
    "they score the known labels on the whole graph"
)

_told: set[tuple[str, int]] = set()  # lines of code that were warned of cross-validation


def graph_and_labels(
    X: Any, y: Any, estimator: object, *, indicator: bool = False
) -> tuple[Graph, Any]:
    """The graph, and the labels as an array or by node.

    Parameters
    ----------
    X : Graph, square matrix, networkx or igraph graph
    y : see `isotherm.DirichletClassifier.fit`
    estimator : object
        Whose `fit` it is, for messages.
    indicator : bool
        Whether a DataFrame of numbers has a column per label.

    Raises
    ------
    GraphError, LabelError
        No labels at all, no such attribute, a DataFrame whose columns do not say what they are.

    Examples
    --------
    >>> import networkx as nx
    >>> _, labels = graph_and_labels(nx.karate_club_graph(), "club", None)
    >>> labels[0], labels[33]
    ('Mr. Hi', 'Officer')
    """
    if y is None:
        raise LabelError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: pass "
            "the known labels"
        )
    if isinstance(y, str):
        y = _attribute(X, y)
    elif is_frame(y):
        y = _of_frame(y, indicator=indicator)
    return Graph.from_any(X), y


def warn_of_cross_validation(y: Any) -> None:
    """Warn where unknown labels meet scikit-learn's cross-validation, once for a line of code.

    Python would see to that, but forgets what it has shown whenever filters change, and
    scikit-learn changes them for each fold.
    """
    if not is_called_by(CROSS_VALIDATION) or line_of_caller() in _told:
        return
    if (number_classes(as_column(with_none(y), "labels"))[0] == UNKNOWN).any():
        _told.add(line_of_caller())
        warnings.warn(CUT, IsothermWarning, stacklevel=depth_of_caller())


def _attribute(g: Any, name: str) -> dict[Any, Any]:
    """What the nodes of a networkx or igraph graph have under a name."""
    if hasattr(g, "nodes") and callable(g.nodes):
        found = dict(g.nodes(data=name))
    elif hasattr(g, "vs"):
        given = g.vs[name] if name in g.vs.attributes() else [None] * g.vcount()
        nodes = g.vs["name"] if "name" in g.vs.attributes() else range(g.vcount())
        found = dict(zip(nodes, given, strict=True))
    else:
        raise LabelError(
            f"labels are {name!r}, the name of a node attribute: that works with a networkx or "
            f"igraph graph only, and this is a {type(g).__name__}. Pass the labels themselves"
        )
    if all(label is None for label in found.values()):
        raise LabelError(
            f"no node of the graph has an attribute {name!r}: name one that the nodes have"
        )
    return found


def _of_frame(frame: Any, *, indicator: bool) -> Any:
    """What a DataFrame says of the nodes: by a column of nodes, or by its index."""
    names = column_names(frame)
    if len(names) == 1 and not indicator:
        return frame[names[0]]
    if {NODE, LABEL} <= set(names):
        names = [NODE, LABEL]
    columns = [as_column(frame[name], "labels") for name in names]
    if indicator and all(column.dtype.kind in "biuf" for column in columns):
        return frame
    if len(columns) != 2:
        raise LabelError(
            "it is not clear which columns hold nodes and labels; the columns are "
            f"{', '.join(map(repr, names))}. Name them node and label, or choose two, as in "
            "frame[['account', 'status']]"
        )
    return ByNode(*columns)
