"""Labels as users have them → seeds, and class numbers → labels as users had them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.classes import UNKNOWN as UNKNOWN
from isotherm.classes import number_known
from isotherm.errors import GraphError, LabelError
from isotherm.graph.nodes import as_column
from isotherm.masked import refuse_masked, with_none

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from isotherm.graph import Graph


class ByNode(NamedTuple):
    """Labels by node; a node may come several times."""

    nodes: NDArray[np.generic]
    labels: NDArray[np.generic]


class Labels(dict[Any, Any]):
    """Labels by node, and which of them were drawn at random: these are judged, and no others.

    Parameters
    ----------
    labels : mapping {node: label}
    drawn : iterable of nodes, optional
        By default it is not known which were.

    Attributes
    ----------
    drawn : frozenset or None

    Examples
    --------
    >>> from isotherm import DirichletClassifier, Graph, Labels
    >>> path = Graph.from_edges("abcd", "bcde")
    >>> labels = Labels({"a": "left", "c": "left", "e": "right"}, drawn=["a", "c"])
    >>> labels, sorted(labels.drawn)
    ({'a': 'left', 'c': 'left', 'e': 'right'}, ['a', 'c'])
    >>> print(DirichletClassifier().fit(path, labels).expected_accuracy())
    nan (0.000 to 1.000)
    """

    def __init__(self, labels: Any = (), drawn: Iterable[Hashable] | None = None) -> None:
        super().__init__(labels)
        if drawn is not None:
            _refuse_odd(drawn)
        self.drawn = None if drawn is None else frozenset(drawn)


def _refuse_odd(drawn: Any) -> None:
    if isinstance(drawn, str | Mapping) or not isinstance(drawn, Iterable):
        raise LabelError(
            "drawn must be the ids of the nodes whose labels were drawn at random, or one truth "
            f"value per node, got {drawn!r:.60}"
        )


def drawn_positions(drawn: Any, labels: Any, graph: Graph) -> NDArray[np.intp] | None:
    """Positions of the nodes whose labels were drawn at random; None if that is not known.

    Parameters
    ----------
    drawn : iterable of ids, or bool array of shape (n,), or None
    labels : labels of any kind
        Which may know it themselves.
    graph : Graph

    Raises
    ------
    LabelError, UnknownNode
        If it is neither.
    """
    if drawn is None and isinstance(labels, Labels):
        drawn = labels.drawn
    if drawn is None:
        return None
    if str(getattr(drawn, "dtype", "")) in ("bool", "boolean"):
        refuse_masked(drawn, "drawn", LabelError)
        if hasattr(drawn, "isna") and drawn.isna().any():
            raise LabelError("drawn has missing values: say True or False of each node")
        if hasattr(drawn, "iloc"):  # a pandas Series names nodes by its index
            return graph.positions(as_column(drawn.index[drawn.to_numpy(dtype=bool)], "drawn"))
        given = np.asarray(drawn)
        if given.shape != (graph.n_nodes,):
            raise LabelError(
                f"drawn has shape {given.shape} for a graph of {graph.n_nodes} nodes: give one "
                "truth value per node, or the ids of the nodes whose labels were drawn at random"
            )
        return np.flatnonzero(given)
    _refuse_odd(drawn)
    ids = list(drawn)
    positions = graph.positions(as_column(ids, "drawn"))
    if len(np.unique(positions)) < len(positions):
        raise LabelError(
            "drawn names a node twice: give the id of each once, or a bool array of one truth "
            "value per node"
        )
    return positions


def encode_labels(labels: Any, graph: Graph) -> tuple[NDArray[np.intp], NDArray[np.generic]]:
    """Class number of each node, −1 where unknown, and the classes.

    Parameters
    ----------
    labels : array of shape (n,), or mapping or pandas Series {node: label}
        −1, None and NaN stand for unknown. Labels may be ints, strings, bools, floats, mixed.
    graph : Graph

    Returns
    -------
    codes : int array of shape (n,)
    classes : array of shape (K,)
        As they were given; sorted where they can be compared, else by type and as written.

    Raises
    ------
    LabelError
        Wrong length, no label at all, two different labels for one node.
    UnknownNode
        A label for a node that is not in the graph.

    Examples
    --------
    >>> from isotherm import Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> codes, classes = encode_labels({0: "warm", 3: "cold"}, path)
    >>> codes.tolist(), classes.tolist()
    ([1, -1, -1, 0], ['cold', 'warm'])
    """
    nodes, numbers, classes = known_labels(labels, graph)
    return scattered(nodes, numbers, graph.n_nodes), classes


def known_labels(
    labels: Any, graph: Graph
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.generic]]:
    """Nodes whose label is known, sorted, the class number of each, and the classes.

    See `encode_labels`.
    """
    by_node = as_mapping(labels, graph)
    positions = None if by_node is None else graph.positions(by_node[0])
    given = _one_per_node(labels, graph) if by_node is None else by_node[1]
    known, numbers, classes = number_known(given)
    if len(classes) == 0:
        raise LabelError(
            "no seed: every label is unknown (-1, None or NaN); give at least one node a label"
        )
    if positions is None:
        return known, numbers, classes
    seeds = positions[known]
    codes = scattered(seeds, numbers, graph.n_nodes)
    clash = codes[seeds] != numbers
    if clash.any():
        nodes = graph.names[np.unique(seeds[clash])[:5]].tolist()
        raise LabelError(
            f"conflicting seeds: two different labels for node(s) {nodes}; give each node one"
        )
    nodes = np.flatnonzero(codes != UNKNOWN)
    return nodes, codes[nodes], classes


def scattered(nodes: NDArray[np.intp], numbers: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """The numbers of some of n nodes among all of them; −1 at the others."""
    whole = np.empty(n, dtype=np.intp)
    whole.fill(UNKNOWN)
    whole[nodes] = numbers
    return whole


def locate(labels: Any, graph: Graph) -> tuple[NDArray[np.intp], NDArray[np.generic]]:
    """Positions of the nodes that `labels` speaks of, and what it says of each."""
    by_node = as_mapping(labels, graph)
    if by_node is not None:
        nodes, given = by_node
        return graph.positions(nodes), given
    return np.arange(graph.n_nodes), _one_per_node(labels, graph)


def _one_per_node(labels: Any, graph: Graph) -> NDArray[np.generic]:
    """What a plain array says of the nodes, in their order."""
    if isinstance(labels, np.ndarray) and labels.ndim == 2 and labels.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning  # slow to load, and seldom needed

        said = "A column-vector y was passed when a 1d array was expected: pass y.ravel()"
        warnings.warn(said, DataConversionWarning, stacklevel=2)
        labels = labels[:, 0]
    try:
        given = as_column(with_none(labels), "labels")
    except GraphError as error:
        raise LabelError(f"{error}; or pass a mapping {{node: label}}") from None
    if len(given) != graph.n_nodes:
        raise LabelError(
            f"{len(given)} labels for a graph of {graph.n_nodes} nodes; give one per node "
            "(-1, None or NaN where unknown) or a mapping {node: label}"
        )
    return given


def as_mapping(labels: Any, graph: Graph) -> tuple[NDArray[np.generic], NDArray[np.generic]] | None:
    """Nodes and labels of a mapping or pandas Series; None for a plain array.

    A Series names nodes by its index. On a graph without names (a matrix) scikit-learn's habit
    is by position; where a Series of full length could mean both, that is an error.
    """
    if isinstance(labels, np.ndarray):
        return None
    if isinstance(labels, ByNode):
        return labels
    if isinstance(labels, Mapping):
        return as_column(list(labels), "nodes"), as_column(list(labels.values()), "labels")
    if not hasattr(labels, "iloc") or not hasattr(labels, "index"):
        return None
    index = as_column(labels.index, "index")
    if not graph.has_names and len(index) == graph.n_nodes:
        own = np.arange(graph.n_nodes)
        whole = index.dtype.kind in "iu"
        if not whole or np.array_equal(index, own) or not np.array_equal(np.sort(index), own):
            return None
        raise LabelError(
            "a Series whose index is a permutation of 0 … n − 1 is ambiguous: it can be read by "
            "index or by position. Pass labels.to_dict() for the first, labels.to_numpy() for the "
            "second"
        )
    return index, as_column(labels, "labels")


def number_classes(given: NDArray[np.generic]) -> tuple[NDArray[np.intp], NDArray[np.generic]]:
    """Number the labels found; unknown ones get −1."""
    known, numbers, classes = number_known(given)
    return scattered(known, numbers, len(given)), classes


def decode_labels(codes: NDArray[np.intp], classes: NDArray[np.generic]) -> NDArray[np.generic]:
    """Labels of class numbers; where there is none: −1, NaN, NaT or None, as the type allows.

    Examples
    --------
    >>> decode_labels(np.array([1, -1]), np.array(["cold", "warm"])).tolist()
    ['warm', None]
    >>> decode_labels(np.array([1, -1]), np.array([10, 20])).tolist()
    [20, -1]
    """
    if not (codes == UNKNOWN).any():
        return classes[codes]
    none: Any = None
    if classes.dtype.kind in "iu" and np.can_cast(classes.dtype, np.int64):
        classes, none = classes.astype(np.int64), UNKNOWN
    elif classes.dtype.kind in "fmM":
        none = np.array("nan" if classes.dtype.kind == "f" else "NaT", dtype=classes.dtype)
    else:
        classes = classes.astype(object)
    with_none = np.empty(len(classes) + 1, dtype=classes.dtype)
    with_none[:-1], with_none[-1] = classes, none
    return with_none[codes]  # −1 is the last
