"""Graph: one validated symmetric adjacency matrix and the names of its nodes."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from isotherm.errors import GraphError, IsothermWarning
from isotherm.graph.ends import DIRECTED, as_ends, networkx_edges, side_names, two_sides
from isotherm.graph.frames import edge_columns, is_frame, matrix_of_frame
from isotherm.graph.ids import index_of
from isotherm.graph.nodes import NodeIndex, as_column, encode
from isotherm.graph.rows import Rows, clean, rows_from_edges, rows_from_matrix
from isotherm.graph.texts import TextNumbers, text_column, text_order
from isotherm.graph.weights import as_csr, as_weight_matrix, not_square, weighted_ends
from isotherm.read_only import cached_array, cached_property

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray


class Graph:
    """An undirected weighted graph. Build it with one of the ``from_…`` constructors.

    The rules they share:

    - edges have no direction: a non-symmetric matrix becomes ``A + Aᵀ``, with a warning, or the
      union of the two where all its entries are 0 or 1;
    - duplicates of unweighted edges merge, weights of duplicate weighted edges add;
    - a self loop is kept and counts once in its node's degree;
    - edges of weight zero are dropped, nodes without edges are kept;
    - weights are float64 (what rounds to 0 there is 0), finite and not negative.

    A graph owns its arrays: what becomes of a matrix, of ids or weights after they were given
    changes nothing. What it hands out is read-only; work on a copy of it.

    Attributes
    ----------
    adjacency : scipy.sparse.csr_array of shape (n, n)
        Symmetric, sorted, without duplicates or zeros; its arrays are made on first use, since a
        0/1 graph stores no weights.
    names : ndarray of shape (n,)
        The id of each node.
    degrees : ndarray of shape (n,)
        The vector ``d = A1``.
    n_nodes : int
        Number of nodes, those without edges included.
    rows : Rows
        What is stored of the adjacency matrix.
    sides : pair of str or None
        The two kinds of nodes of a bipartite graph, where each has ids of its own.

    Examples
    --------
    >>> from isotherm import Graph
    >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cyd"], [2.0, 1.0])
    >>> graph.n_nodes, graph.names.tolist(), graph.degrees.tolist()
    (3, ['ann', 'bob', 'cyd'], [2.0, 3.0, 1.0])
    """

    rows: Rows
    sides: tuple[str, str] | None

    def __init__(
        self,
        rows: Rows,
        nodes: NodeIndex | None = None,
        sides: tuple[str, str] | None = None,
    ) -> None:
        self.rows, self.sides, self.n_nodes = rows, sides, rows.n_nodes
        self._nodes = NodeIndex(self.n_nodes, given=False) if nodes is None else nodes
        if self.n_nodes == 0:
            raise GraphError("the graph is empty: it needs at least one node")
        if rows.is_mapped:  # it was seen to when it was saved, and is again when edges are used
            return
        if rows.weights is not None and not np.isfinite(self.degrees).all():
            (node, *_) = self.names[~np.isfinite(self.degrees)].tolist()
            raise GraphError(f"the weights at node {node!r} add up to infinity: scale them down")

    # --- constructors -----------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        source: Any,
        target: Any = None,
        weight: Any = None,
        *,
        nodes: Any = None,
        bipartite: bool = False,
    ) -> Graph:
        """Graph from the two ends of each edge.

        Parameters
        ----------
        source, target : sequences of length m
            Node ids: anything hashable. Arrays, lists, pandas, polars and pyarrow columns. Or, as
            `source` alone, a DataFrame whose columns are named source, target and, if there are
            weights, weight; if there are only two, whatever their names.
        weight : sequence of length m, optional
            Without it the graph is unweighted.
        nodes : sequence of length n, optional
            All node ids, in the order you want; this is how to have nodes without edges. By
            default the ids found, sorted if they can be compared, else in order of appearance.
        bipartite : bool
            Whether the two ends are nodes of two kinds, each with its own ids. Nodes are then
            named by their column and their id, as in ``"customer:7"``; columns without a name are
            ``"source"`` and ``"target"``.

        Raises
        ------
        GraphError
            Columns of different lengths; negative, infinite or missing weights; missing,
            unhashable or unknown ids.

        Examples
        --------
        >>> graph = Graph.from_edges(["ada", "bob", "bob"], ["bob", "cyd", "ada"])
        >>> graph.names.tolist(), graph.n_edges, graph.degrees.tolist()
        (['ada', 'bob', 'cyd'], 2, [1.0, 2.0, 1.0])
        >>> Graph.from_edges([7, 8], [7, 7], bipartite=True).names.tolist()
        ['source:7', 'source:8', 'target:7']
        """
        if target is None:
            if not is_frame(source):
                raise GraphError(f"target is missing; source is not a DataFrame: {source!r:.80}")
            source, target, weight = edge_columns(source)
        if bipartite:
            return cls._from_two_sides(source, target, weight, nodes)
        texts = (text_column(source), text_column(target))
        if nodes is None and texts[0] is not None and texts[1] is not None:
            return cls._from_texts(texts[0], texts[1], weight)
        ends = as_ends(source, target)
        index, (i, j) = encode(ends, None if nodes is None else as_column(nodes, "nodes"))
        return cls(rows_from_edges(len(index), *weighted_ends(i, j, weight)), index)

    @classmethod
    def _from_two_sides(cls, source: Any, target: Any, weight: Any, nodes: Any) -> Graph:
        """From the ends of edges between nodes of two kinds."""
        if nodes is not None:
            raise GraphError("nodes= and bipartite=True do not go together: leave one of them out")
        index, (i, j), sides = two_sides(source, target)
        return cls(rows_from_edges(len(index), *weighted_ends(i, j, weight)), index, sides)

    @classmethod
    def _from_texts(cls, source: Any, target: Any, weight: Any) -> Graph:
        """From columns of Arrow: no Python object is made for a row."""
        numbers = TextNumbers()
        i, j, texts = numbers.encode(source), numbers.encode(target), numbers.texts()
        order = text_order(texts)
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        ranked = cls.from_edges(rank[i], rank[j], weight, nodes=range(len(order)))
        return cls(ranked.rows, NodeIndex(texts.take(order)))

    @classmethod
    def from_matrix(cls, adjacency: Any, *, nodes: Any = None) -> Graph:
        """Graph from a square adjacency matrix, SciPy sparse or dense, or a pandas DataFrame.

        The graph has arrays of its own: 4 bytes for each entry (8 for edge and mirror image), and
        8 more if there are weights other than 1. Delete the matrix if memory is short.

        Parameters
        ----------
        adjacency : matrix of shape (n, n)
            Where it is not symmetric the graph is that of ``A + Aᵀ``, with an `AsymmetryWarning`;
            where it is of 0 and 1, that of the union, which is only logged.
        nodes : sequence of length n, optional
            The node ids; by default 0 … n − 1, or the index of a DataFrame.

        Raises
        ------
        GraphError
            Not two-dimensional, not square, empty, or not of finite non-negative real numbers.

        Examples
        --------
        >>> Graph.from_matrix([[0, 1], [0, 0]]).adjacency.toarray().tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        if hasattr(adjacency, "columns") and hasattr(adjacency, "reindex"):
            adjacency, nodes = matrix_of_frame(adjacency, nodes)
        matrix = as_csr(adjacency)
        if matrix.shape[0] != matrix.shape[1]:
            raise not_square(matrix)
        index = None if nodes is None else index_of(nodes, matrix.shape[0])
        return cls(rows_from_matrix(matrix), index)

    @classmethod
    def from_biadjacency(cls, matrix: Any) -> Graph:
        """Bipartite graph from the weights between its two sides: rows first, then columns.

        The index and the columns of a DataFrame name the nodes. If they have ids in common, these
        become ``"row:7"`` and ``"column:7"``, or use the names of the index and the columns.

        Examples
        --------
        >>> Graph.from_biadjacency([[1, 1, 0], [0, 1, 1]])
        Graph(n_nodes=5, n_edges=4)
        """
        names = side_names(matrix)
        block = as_weight_matrix(matrix)
        whole = scipy.sparse.block_array([[None, block], [block.T, None]], format="csr")
        whole.sum_duplicates()
        return cls(Rows.of(whole), None if names is None else encode([], names)[0])

    @classmethod
    def from_networkx(cls, g: Any, weight: str | None = "weight") -> Graph:
        """Graph from any networkx graph; directed ones lose their direction, with a warning.

        Parameters
        ----------
        g : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        weight : str or None
            The edge attribute that holds the weight. Edges without it weigh 1; if no edge has
            it the graph is unweighted.
        """
        if not hasattr(g, "edges"):
            raise GraphError(f"not a networkx graph: {type(g).__name__}")
        if g.is_directed():
            warnings.warn(DIRECTED, IsothermWarning, stacklevel=2)
        return cls.from_edges(*networkx_edges(g, weight), nodes=list(g.nodes))

    @classmethod
    def from_igraph(cls, g: Any) -> Graph:
        """Graph from an igraph graph; uses edge ``weight`` and vertex ``name`` if it has them."""
        if not hasattr(g, "get_edgelist"):
            raise GraphError(f"not an igraph graph: {type(g).__name__}")
        if g.is_directed():
            warnings.warn(DIRECTED, IsothermWarning, stacklevel=2)
        source, target = np.array(g.get_edgelist(), dtype=np.intp).reshape(-1, 2).T
        weight = g.es["weight"] if "weight" in g.es.attributes() else None
        graph = cls.from_edges(source, target, weight, nodes=np.arange(g.vcount()))
        if "name" not in g.vs.attributes():
            return cls(graph.rows)
        index, _ = encode([], as_column(g.vs["name"], "names"))
        return cls(graph.rows, index)

    @classmethod
    def from_any(cls, data: Any) -> Graph:
        """Graph from a Graph, a matrix, or a networkx or igraph graph, depending on its type."""
        if isinstance(data, Graph):
            return data
        for package, build in (("networkx", cls.from_networkx), ("igraph", cls.from_igraph)):
            module = sys.modules.get(package)  # its graphs exist only where it was imported
            if module is not None and isinstance(data, module.Graph):
                return build(data)
        return cls.from_matrix(data)

    # --- what a graph knows of itself ---------------------------------------------------------

    @cached_property
    def n_edges(self) -> int:
        """Number of edges; each edge and each self loop counts once."""
        return (self.rows.n_entries + self.rows.n_loops()) // 2

    @property
    def degrees(self) -> NDArray[np.float64]:
        """The vector ``d = A1``, of shape (n,)."""
        self.rows.look()
        return self._degrees

    @cached_array
    def _degrees(self) -> NDArray[np.float64]:
        return self.rows.sums()

    @property
    def adjacency(self) -> scipy.sparse.csr_array:
        """The adjacency matrix A, of shape (n, n): each time a new object of the same arrays."""
        self.rows.look()
        return clean(*self._parts)

    @cached_array
    def _parts(self) -> tuple[Any, ...]:
        matrix = self.rows.matrix()
        return matrix.data, matrix.indices, matrix.indptr

    @property
    def names(self) -> NDArray[np.generic]:
        """The id of each node, array of shape (n,)."""
        return self._nodes.ids

    @property
    def nodes(self) -> NodeIndex:
        """The ids of the nodes, in the form in which they are kept."""
        return self._nodes

    def renamed(self, ids: Any, sides: tuple[str, str] | None = None) -> Graph:
        """The same graph with other ids, checked as `nodes` of `from_edges` is."""
        return Graph(self.rows, index_of(ids, self.n_nodes), sides)

    def scaled(self, exponent: int) -> Graph:
        """The same graph with all weights times a power of two; itself if digits would be lost."""
        weights = np.ones(self.rows.n_entries) if self.rows.weights is None else self.rows.weights
        scaled = np.ldexp(weights, exponent)
        if not np.array_equal(np.ldexp(scaled, -exponent), weights):
            return self
        return Graph(Rows(self.rows.start, self.rows.ends, scaled), self._nodes, self.sides)

    @property
    def has_names(self) -> bool:
        """Whether the nodes were given ids; those of a mere matrix are its positions."""
        return self._nodes.given

    @cached_array
    def components(self) -> NDArray[np.int32]:
        """The connected component of each node, numbered from 0; array of shape (n,)."""
        return self.rows.components()

    def positions(self, nodes: Iterable[Hashable]) -> NDArray[np.intp]:
        """Positions of the nodes with these ids.

        Raises
        ------
        UnknownNode
            If some are not nodes of the graph.
        """
        return self._nodes.positions(nodes)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Save the graph to a file, usually ``….iso``, which `isotherm.read_graph` then maps.

        The file is written completely or not at all, and replaces another only with `force`.

        Raises
        ------
        GraphError
            Ids that are neither text nor whole numbers.
        FileError
            A file that already exists, or that cannot be written.
        """
        from isotherm.graph.saved import save_graph

        save_graph(self, path, force=force)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is found again; of a graph in a file only where that is."""
        found = {"_degrees", "components", "_parts"}
        return {name: value for name, value in [*vars(self).items()] if name not in found}

    def __repr__(self) -> str:
        return f"Graph(n_nodes={self.n_nodes}, n_edges={self.n_edges})"
