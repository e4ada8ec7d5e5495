"""Every constructor keeps the rules that `Graph` promises."""

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer

from isotherm import (
    AsymmetryWarning,
    DirichletClassifier,
    DirichletRegressor,
    Graph,
    GraphError,
    IsothermWarning,
    MultiLabelDirichletClassifier,
    StackedDirichletClassifier,
)
from other_libraries import igraph_path, polars_series


def dense(graph):
    return graph.adjacency.toarray()


def test_duplicates_of_unweighted_edges_merge():
    graph = Graph.from_edges([0, 1, 0, 0], [1, 0, 1, 2])
    assert dense(graph).tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert graph.n_edges == 2


def test_weights_of_duplicate_weighted_edges_add():
    graph = Graph.from_edges([0, 1, 0], [1, 0, 2], [1.0, 2.5, 1.0])
    assert dense(graph).tolist() == [[0, 3.5, 1], [3.5, 0, 0], [1, 0, 0]]


def test_duplicates_add_even_where_all_weights_are_one():
    assert dense(Graph.from_edges([0, 1], [1, 0], [1, 1]))[0, 1] == 2


def test_a_self_loop_is_kept_and_counts_once_in_the_degree_and_in_the_edges():
    graph = Graph.from_edges([0, 0], [0, 1], [3.0, 1.0])
    assert graph.degrees.tolist() == [4.0, 1.0]
    assert graph.n_edges == 2
    loops = Graph.from_matrix(np.eye(3))
    assert (loops.n_edges, loops.degrees.tolist()) == (3, [1, 1, 1])


def test_zero_weights_are_dropped_and_their_nodes_kept():
    graph = Graph.from_edges("ab", "bc", [1.0, 0.0])
    assert graph.names.tolist() == ["a", "b", "c"]
    assert (graph.n_edges, graph.adjacency.nnz) == (1, 2)
    explicit = sparse.csr_array(([0.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2))
    assert Graph.from_matrix(explicit).adjacency.nnz == 0


def test_isolated_nodes_are_kept():
    assert Graph.from_edges([0], [1], nodes=range(4)).n_nodes == 4
    assert Graph.from_matrix(np.zeros((3, 3))).n_edges == 0


def test_a_weighted_matrix_that_is_not_symmetric_becomes_a_plus_its_transpose():
    A = np.array([[1.0, 2, 0], [1, 0, 0], [0, 5, 0]])
    with pytest.warns(AsymmetryWarning, match=r"of 2 pairs of nodes .* \(by up to 5\)") as told:
        graph = Graph.from_matrix(A)
    assert np.array_equal(dense(graph), A + A.T)
    assert [str(one.filename) for one in told] == [__file__], "once, and it points to the caller"
    for symmetrised in (A + A.T, (A + A.T) / 2, np.maximum(A, A.T)):  # silences it
        assert np.array_equal(dense(Graph.from_matrix(symmetrised)), symmetrised)


@pytest.mark.parametrize(
    "model",
    [
        DirichletClassifier(),
        DirichletRegressor(),
        MultiLabelDirichletClassifier(),
        StackedDirichletClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fit_of_a_matrix_that_is_not_symmetric_warns_once(model):
    A = np.diag([1.0, 2, 3, 4, 5], k=1)
    y = [[0], *[None] * 4, [1]] if "Multi" in type(model).__name__ else [0, *[None] * 4, 1]
    with pytest.warns(AsymmetryWarning, match="5 pairs") as told:
        model.fit(A, y)
    assert [one.filename for one in told if one.category is AsymmetryWarning] == [__file__]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_differences_of_rounding_are_no_directions(kind, rng):
    """The last digits of a kernel may differ between its halves, on one processor or another."""
    A = rng.random((9, 9)).astype(kind)
    A = A + A.T
    A[2, 5] = np.nextafter(A[2, 5], kind(0))
    assert (dense(Graph.from_matrix(A)) >= 1.99 * A).all()
    A[2, 5] *= kind(0.99)
    with pytest.warns(AsymmetryWarning, match=r"of 1 pair of nodes"):
        Graph.from_matrix(A)


def test_neighbours_that_are_not_mutual_are_edges_without_a_warning(rng, caplog):
    A = KNeighborsTransformer(mode="connectivity", n_neighbors=2).fit_transform(rng.random((12, 2)))
    union = A.maximum(A.T)
    assert union.nnz > A.nnz
    with caplog.at_level("INFO", logger="isotherm"):
        graph = Graph.from_matrix(A)
    assert np.array_equal(dense(graph), union.toarray())
    assert f"{union.nnz - A.nnz} edges of a 0/1 matrix lead one way" in caplog.text


@pytest.mark.parametrize("dtype", [bool, int, float, np.float32, np.uint8])
def test_a_0_1_matrix_that_is_not_symmetric_becomes_the_union(dtype):
    A = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 1]], dtype=dtype)
    assert np.array_equal(dense(Graph.from_matrix(A)), np.maximum(A, A.T))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_every_sparse_format_gives_the_same_graph(kind, rng):
    A = rng.integers(0, 3, (8, 8)).astype(float)
    with pytest.warns(AsymmetryWarning):
        graph = Graph.from_matrix(sparse.coo_array(A).asformat(kind))
    assert np.array_equal(dense(graph), A + A.T)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("u1", 200, 100),
        ("u1", 200, 56),
        ("i1", 100, 100),
        ("u4", 2**32 - 1, 2),
        ("u8", 2**63, 2**63),
        ("i8", 2**62, 2**62),
        ("f4", 2**24, 1),
        ("?", 1, 1),
    ],
)
def test_entries_become_float64_before_two_of_them_are_added(kind, one, other):
    data, i, j = np.array([one, one, other, other]).astype(kind), [0, 1, 0, 1], [1, 0, 1, 0]
    coo = sparse.coo_array((data, (i, j)), shape=(2, 2))
    csr = sparse.csr_array((data[[0, 2, 1, 3]], [1, 1, 0, 0], [0, 2, 4]), shape=(2, 2))
    graphs = [Graph.from_matrix(coo), Graph.from_matrix(csr)]
    graphs.append(Graph.from_edges([0, 0], [1, 1], np.array([one, other], dtype=float)))
    graphs.append(Graph.from_biadjacency(sparse.coo_array((data[[0, 2]], ([0, 0], [0, 0])))))
    for graph in graphs:
        assert dense(graph).tolist() == [[0, float(one + other)], [float(one + other), 0]]


@pytest.mark.parametrize("end", ["row", "col"])
def test_a_coo_matrix_whose_ends_were_edited_is_refused(end):
    """SciPy itself writes outside of its memory for it."""
    for outside in (3, 10**9, -1, -(10**9)):
        A = sparse.coo_array((np.ones(2), ([0, 1], [1, 0])), shape=(3, 3))
        getattr(A, end)[0] = outside
        with pytest.raises(GraphError, match="damaged"):
            Graph.from_matrix(A)


@pytest.mark.parametrize("kind", [">f8", ">f4", ">i4", "<f8", "f2", "g"])
def test_a_dense_matrix_may_have_numbers_of_any_kind(kind):
    A = np.array([[0, 2], [2, 0]], dtype=kind)
    assert np.array_equal(dense(Graph.from_matrix(A)), [[0, 2], [2, 0]])


def test_a_weight_that_is_0_as_float64_is_no_edge():
    """As it is in a file, where 1e-4000 is read as 0; one too large is refused."""
    least, greatest = np.longdouble("1e-4000"), np.longdouble("1e4000")
    if not 0 < least < greatest < np.inf:
        pytest.skip("long doubles are float64 here")
    assert Graph.from_edges([0, 1], [1, 2], np.array([least, 1])).degrees.tolist() == [0, 1, 1]
    with pytest.raises(GraphError, match="infinit"):
        Graph.from_edges([0], [1], np.array([greatest]))


def test_a_message_names_a_node_as_its_user_does():
    with pytest.raises(GraphError, match="the weights at node 0 add up to infinity"):
        Graph.from_edges([0, 0], [1, 2], [1e308, 1e308])


def test_the_input_matrix_is_not_changed():
    unsorted = sparse.csr_array(
        (np.array([1.0, 0.0, 2.0]), np.array([2, 1, 0]), np.array([0, 2, 2, 3])), shape=(3, 3)
    )
    before = unsorted.copy()
    with pytest.warns(AsymmetryWarning):
        Graph.from_matrix(unsorted)
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(unsorted, part), getattr(before, part))


def test_indices_are_int32_while_they_fit():
    A = sparse.csr_array(np.ones((3, 3)))
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    for graph in (Graph.from_matrix(A), Graph.from_edges([0, 1], [1, 2])):
        assert graph.adjacency.indices.dtype == graph.adjacency.indptr.dtype == np.int32


def test_indices_are_int64_beyond(monkeypatch):
    # A graph of 2³¹ entries does not fit a test: the limit is moved instead.
    from isotherm.graph import rows

    monkeypatch.setattr(rows, "INT32_MAX", 3)
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    assert graph.adjacency.indices.dtype == graph.adjacency.indptr.dtype == np.int64


def test_biadjacency_puts_rows_first_then_columns():
    B = np.array([[1.0, 0, 2], [0, 0, 3]])
    graph = Graph.from_biadjacency(B)
    assert np.array_equal(dense(graph), np.block([[np.zeros((2, 2)), B], [B.T, np.zeros((3, 3))]]))


@pytest.mark.parametrize("shape", [(2, 3), (1, 4)])
def test_biadjacency_without_edges_keeps_all_nodes(shape):
    assert Graph.from_biadjacency(np.zeros(shape)).n_nodes == sum(shape)


# --- node ids -------------------------------------------------------------------------------------


RENAMED = {
    "renamed": lambda ids: Graph.from_edges(range(5), range(1, 6)).renamed(ids),
    "from_matrix": lambda ids: Graph.from_matrix(np.zeros((6, 6)), nodes=ids),
}


@pytest.mark.parametrize("way", RENAMED)
@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (list("ab"), "2 nodes for 6 rows"),
        (np.array(list("abcdefgh"), dtype=object), "8 nodes for 6 rows"),
        (pa.array(list("ab")), "2 nodes for 6 rows"),
        (list("aabcde"), "6 entries but only 5 different"),
        (pa.array(list("aabcde")), "6 entries but only 5 different"),
        (pa.chunked_array([list("aab"), list("cde")]), "6 entries but only 5 different"),
        ([None] * 6, "missing id"),
        (pa.array([*"abcde", None]), "missing id"),
        (np.full(6, np.nan), "missing id"),
        ([0, 1, 2, 3, 4, float("nan")], "missing id"),
        (np.zeros((6, 2)), "one dimension"),
        (3, "must be a sequence"),
        ([[1]] * 6, "hashable"),
    ],
    ids=lambda one: one.replace(" ", "-") if isinstance(one, str) else type(one).__name__,
)
def test_ids_that_are_not_one_for_each_node_are_refused(way, ids, said):
    with pytest.raises(GraphError, match=said):
        RENAMED[way](ids)


@pytest.mark.parametrize("way", RENAMED)
@pytest.mark.parametrize(
    "ids",
    [
        list("fedcba"),
        tuple("fedcba"),
        np.array(list("fedcba")),
        pa.array(list("fedcba")),
        pa.chunked_array([list("fed"), list("cba")]),
        pa.array(list("fedcba")).dictionary_encode(),
        [9, 8, 7, 6, 5, "a"],
    ],
    ids=["list", "tuple", "array", "Arrow", "chunks", "dictionary", "objects"],
)
def test_ids_of_any_sequence_name_the_nodes_in_their_order(way, ids):
    graph = RENAMED[way](ids)
    own = ids.to_pylist() if hasattr(ids, "to_pylist") else list(ids)
    assert graph.names.tolist() == own
    assert graph.positions([own[5], own[0]]).tolist() == [5, 0]


def test_a_missing_id_among_the_nodes_of_edges_is_refused():
    with pytest.raises(GraphError, match="missing id"):
        Graph.from_edges([0], [1], nodes=[0, 1, None])


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([10, 2, 33], [2, 10, 33]),
        (np.array([-5, 3, 2], dtype=np.int8), [-5, 2, 3]),
        (np.array([-128, 127, 0], dtype=np.int8), [-128, 0, 127]),
        (np.array([2**63 + 1, 2**63, 5], dtype=np.uint64), [5, 2**63, 2**63 + 1]),
        ([10**30, 5, 7], [5, 7, 10**30]),
        (["10", "2", "007"], ["007", "10", "2"]),
        ([(1, 2), (0, 5), (1, 0)], [(0, 5), (1, 0), (1, 2)]),
        ([2.5, 0.5, 1.5], [0.5, 1.5, 2.5]),
        ([3, "a", (1, 2)], [3, "a", (1, 2)]),
        ([True, False, True], [False, True]),
    ],
    ids=str,
)
def test_ids_of_any_hashable_type_are_sorted_where_they_can_be(ids, expected):
    graph = Graph.from_edges(ids, list(ids)[1:] + list(ids)[:1])
    assert graph.names.tolist() == expected
    assert graph.positions(expected).tolist() == list(range(len(expected)))


def test_int_and_string_ids_that_look_alike_stay_apart():
    graph = Graph.from_edges([1, "1"], ["1", "01"])
    assert graph.n_nodes == 3


def test_nodes_gives_the_order():
    graph = Graph.from_edges(["b"], ["a"], nodes=["c", "b", "a"])
    assert graph.names.tolist() == ["c", "b", "a"]
    assert graph.degrees.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "column",
    [
        list,
        tuple,
        iter,
        np.array,
        pd.Series,
        polars_series,
        pa.array,
        lambda x: pa.chunked_array([x[:1], x[1:]]),
        lambda x: pd.Series(x, dtype="category"),
        lambda x: pd.Series(x, dtype="string"),
        lambda x: pa.array(x).dictionary_encode(),
    ],
    ids=[
        "list", "tuple", "iterator", "numpy", "pandas", "polars", "arrow", "arrow chunks",
        "categorical", "pandas string", "arrow dictionary",
    ],
)  # fmt: skip
def test_columns_of_every_library_give_the_same_graph(column):
    graph = Graph.from_edges(column(["x", "y", "x"]), column(["y", "z", "y"]))
    assert graph.names.tolist() == ["x", "y", "z"]
    assert graph.n_edges == 2


@pytest.mark.parametrize("column", [list, np.array, pd.Series, polars_series, pa.array])
def test_integer_columns_with_weights(column):
    graph = Graph.from_edges(column([0, 1]), column([1, 2]), column([0.5, 2.0]))
    assert graph.degrees.tolist() == [0.5, 2.5, 2.0]


@pytest.mark.filterwarnings("ignore::isotherm.AsymmetryWarning")
def test_the_adjacency_matrix_is_canonical_however_it_was_made(rng):
    source, target = rng.integers(0, 30, (2, 300))
    half = rng.integers(0, 2, (30, 30)) * rng.random((30, 30))
    for graph in (
        Graph.from_edges(source, target),
        Graph.from_edges(source, target, rng.random(300)),
        Graph.from_matrix(half),
        Graph.from_matrix(half > 0),
        Graph.from_biadjacency(half),
    ):
        A = graph.adjacency
        fresh = sparse.csr_array((A.data, A.indices, A.indptr), shape=A.shape)
        assert fresh.has_canonical_format
        assert (A != A.T).nnz == 0
        assert A.data.min() > 0


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=1))
def test_ids_and_edges_survive_the_numbering(edges):
    source, target = zip(*edges, strict=True)
    graph = Graph.from_edges(source, target)
    i, j = graph.adjacency.nonzero()
    found = set(zip(graph.names[i].tolist(), graph.names[j].tolist(), strict=True))
    assert found == set(edges) | {(b, a) for a, b in edges}


# --- other libraries ------------------------------------------------------------------------------


def test_networkx_graphs_keep_names_weights_and_isolated_nodes():
    g = nx.Graph([("a", "b", {"weight": 2.0}), ("b", "c")])
    g.add_node("alone")
    graph = Graph.from_networkx(g)
    assert graph.names.tolist() == ["a", "b", "c", "alone"]
    assert np.array_equal(dense(graph), nx.to_numpy_array(g))


def test_networkx_weight_can_be_another_attribute_or_none():
    g = nx.Graph([("a", "b", {"weight": 2.0, "trust": 5.0})])
    assert dense(Graph.from_networkx(g, weight="trust"))[0, 1] == 5
    assert dense(Graph.from_networkx(g, weight=None))[0, 1] == 1


def test_directed_networkx_graphs_lose_their_direction():
    unweighted = nx.DiGraph([(0, 1), (1, 0), (1, 2)])
    with pytest.warns(IsothermWarning, match="direction of edges is ignored"):
        graph = Graph.from_networkx(unweighted)
    assert dense(graph).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    weighted = nx.DiGraph([(0, 1, {"weight": 2}), (1, 0, {"weight": 3})])
    with pytest.warns(IsothermWarning, match="direction of edges is ignored"):
        assert dense(Graph.from_networkx(weighted))[0, 1] == 5


def test_directed_igraph_graphs_lose_their_direction():
    path = igraph_path(2)
    path.to_directed("acyclic")
    with pytest.warns(IsothermWarning, match="direction of edges is ignored"):
        assert dense(Graph.from_igraph(path)).tolist() == [[0, 1], [1, 0]]


def test_parallel_networkx_edges_follow_the_rule_for_duplicates():
    assert dense(Graph.from_networkx(nx.MultiGraph([(0, 1), (0, 1)])))[0, 1] == 1
    heavy = nx.MultiGraph([(0, 1, {"weight": 2}), (0, 1, {"weight": 3})])
    assert dense(Graph.from_networkx(heavy))[0, 1] == 5


def test_igraph_graphs_keep_names_and_weights():
    g = igraph_path(3)
    g.add_vertex()
    assert dense(Graph.from_igraph(g))[0].tolist() == [0, 1, 0, 0]
    assert Graph.from_igraph(g).names.tolist() == [0, 1, 2, 3]
    assert not Graph.from_igraph(g).has_names
    g.vs["name"], g.es["weight"] = ["w", "x", "y", "z"], [2.0, 3.0]
    graph = Graph.from_igraph(g)
    assert graph.names.tolist() == ["w", "x", "y", "z"]
    assert graph.degrees.tolist() == [2, 5, 3, 0]


def test_from_any_tells_the_libraries_apart():
    path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    as_graph = Graph.from_matrix(path)
    assert Graph.from_any(as_graph) is as_graph
    for data in (path, np.array(path), sparse.coo_array(path), nx.path_graph(3)):
        assert dense(Graph.from_any(data)).tolist() == path


def test_from_any_takes_an_igraph_graph():
    assert dense(Graph.from_any(igraph_path(3))).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_duplicates_add_up_to_the_same_weight_in_both_directions(rng):
    source, target = rng.integers(0, 4, (2, 200))
    A = Graph.from_edges(source, target, rng.random(200)).adjacency
    assert (A != A.T).nnz == 0


def test_an_igraph_graph_weighs_the_same_with_names_and_without():
    g = igraph_path(2)
    g.add_edges([(1, 0), (0, 1)])
    g.es["weight"] = np.random.default_rng(2).random(3).tolist()
    unnamed = Graph.from_igraph(g)
    g.vs["name"] = ["x", "y"]
    assert Graph.from_igraph(g).degrees.tolist() == unnamed.degrees.tolist()


def test_nodes_have_names_if_somebody_chose_them():
    assert not Graph.from_matrix(np.ones((2, 2))).has_names
    assert not Graph.from_biadjacency(np.ones((2, 2))).has_names
    assert Graph.from_edges([0, 1], [1, 2]).has_names
    assert Graph.from_networkx(nx.path_graph(3)).has_names
    assert Graph.from_matrix(np.ones((2, 2)), nodes=[0, 1]).has_names


def test_a_data_frame_names_its_nodes():
    A = np.array([[0.0, 2, 0], [2, 0, 1], [0, 1, 0]])
    frame = pd.DataFrame(A, index=list("abc"), columns=list("abc"))
    for shuffled in (frame, frame[["c", "a", "b"]]):
        graph = Graph.from_matrix(shuffled)
        assert graph.names.tolist() == ["a", "b", "c"]
        assert np.array_equal(dense(graph), A)
    assert not Graph.from_matrix(pd.DataFrame(A)).has_names
    with pytest.raises(GraphError, match="name different nodes"):
        Graph.from_matrix(frame.rename(columns={"a": "z"}))


def test_an_attribute_that_no_networkx_edge_has_is_an_error():
    with pytest.raises(GraphError, match="no edge has an attribute 'trsut'"):
        Graph.from_networkx(nx.path_graph(3), weight="trsut")


def test_a_graph_of_the_wrong_library_gets_a_clear_error():
    with pytest.raises(GraphError, match="not an igraph graph"):
        Graph.from_igraph(nx.path_graph(3))


def test_an_igraph_graph_is_no_networkx_graph():
    with pytest.raises(GraphError, match="not a networkx graph"):
        Graph.from_networkx(igraph_path(3))


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
def test_numbers_that_scipy_has_no_sparse_matrices_of_are_taken(dtype):
    A = np.array([[0, 0.5], [0.5, 0]], dtype=dtype)
    assert Graph.from_matrix(A).degrees.tolist() == [0.5, 0.5]


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, -1], [-1, 0]], "Negative.*-1"),
        ([[0, np.nan], [1, 0]], "NaN"),
        ([[0, np.inf], [np.inf, 0]], "infinite"),
        (np.ones((2, 3)), "square.*2 × 3.*from_edges"),
        ([[1, 2], [3]], "same length"),
        (np.ones((0, 0)), "empty"),
        (np.ones(4), "1-dimensional"),
        (np.ones((2, 2, 2)), "3-dimensional"),
        (sparse.coo_array(np.ones(4)), "1-dimensional"),
        (np.array([[0, 1j], [1j, 0]]), "Complex.* real numbers"),
        (sparse.csr_array(np.array([[0, 1j], [1j, 0]])), "Complex.* real numbers"),
        (np.array([[0, None], [1, 0]], dtype=object), "NaN"),
        (np.array([["0", "1"], ["1", "0"]]), "real numbers"),
        ("graph", "cannot make a graph"),
        (None, "cannot make a graph"),
        (np.full((2, 2), 1e308), "add up to infinity"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_matrix_gets_a_clear_error(matrix, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_matrix(matrix)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [1]), "source has 2 entries but target has 1"),
        (([0], [1], [1.0, 2.0]), "1 edges but 2 weights"),
        (([0, 1], [1, 2], [1.0, -1.0]), r"Negative.* 1 of 2 .*first of these is -1.0 \(number 1\)"),
        (([0], [1], [10**400]), "real numbers"),
        (([0], [1], [np.nan]), "NaN"),
        (([0], [1], [None]), "NaN"),
        (([0], [1], [np.inf]), "infinite"),
        (([0], [1], ["heavy"]), "real numbers.*heavy"),
        (([0], [1], [1j]), "real numbers"),
        (([0], [1], ["1"]), "real numbers.*'1'"),
        (([0], [1], np.array(["1"])), "real numbers"),
        (({0, 1}, [1, 2]), "a set has none"),
        (([], []), "empty"),
        (([[1]], [2]), "hashable"),
        (([1], [{}]), "hashable"),
        (([1, None], [2, 3]), "edge 1 has a missing node id"),
        (([1.0, 2.0], [2.0, np.nan]), "edge 1 has a missing node id"),
        ((["a", "b"], ["b", None]), "edge 1 has a missing node id"),
        ((pd.Series(["a", None], dtype="string"), ["b", "c"]), "edge 1 has a missing node id"),
        ((3, 4), "sequence"),
        ((np.ones((2, 2)), [1, 2]), "one dimension"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_edge_list_gets_a_clear_error(arguments, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_edges(*arguments)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (["a", "c"], "outside `nodes`.*'b'"),
        (["a", "b", "a"], "3 entries but only 2 different"),
        ([["a"], "b"], "hashable"),
    ],
)
def test_bad_nodes_get_a_clear_error(nodes, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_edges(["a"], ["b"], nodes=nodes)


def test_a_matrix_with_the_wrong_number_of_names_is_refused():
    with pytest.raises(GraphError, match="2 nodes for 3 rows: give one per row"):
        Graph.from_matrix(np.ones((3, 3)), nodes=["a", "b"])


def test_a_graph_tells_its_size():
    assert repr(Graph.from_edges("ab", "bc")) == "Graph(n_nodes=3, n_edges=2)"
    assert repr(Graph.from_edges("a", "b")) == "Graph(n_nodes=2, n_edges=1)"


@pytest.mark.parametrize("columns", [1, 16, 21])
@pytest.mark.parametrize("weighted", [False, True])
def test_products_in_single_precision_are_those_of_scipy(columns, weighted):
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 50, (2, 200))
    graph = Graph.from_edges(source, target, rng.random(200) if weighted else None)
    X = rng.standard_normal((graph.n_nodes, columns), dtype=np.float32)
    assert graph.rows.multiply(X) == pytest.approx(graph.adjacency @ X, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_product_without_scipy_is_that_of_the_matrix(weighted):
    rng = np.random.default_rng(7)
    source, target = rng.integers(0, 40, (2, 90))  # some nodes have no edges, some have loops
    weight = rng.random(90) if weighted else None
    graph = Graph.from_edges(source, target, weight, nodes=range(45))
    assert graph.rows.are_few
    for dtype in (np.float32, np.float64):
        X = rng.random((45, 3)).astype(dtype)
        np.testing.assert_allclose(graph.rows.product(X), graph.adjacency @ X, rtol=1e-6)
    none = Graph.from_edges([], [], nodes=range(3)).rows
    assert (none.product(np.ones((3, 2))) == 0).all()


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize(
    ("part", "place", "number"),
    [("indptr", 0, 1), ("indptr", 1, 7), ("indptr", -1, 9), ("indices", 1, 7), ("indices", 0, -3),
     ("indices", 0, 2**40)],
)  # fmt: skip
def test_a_matrix_that_points_outside_of_itself_is_refused(kind, part, place, number):
    # SciPy reads and writes wherever such a matrix points to.
    matrix = kind(np.array([[0.0, 1, 1], [1, 0, 0], [1, 0, 0]]))
    matrix.indices = matrix.indices.astype(np.int64 if number > 2**31 else np.int32)
    getattr(matrix, part)[place] = number
    with pytest.raises(GraphError, match="the matrix is damaged"):
        Graph.from_matrix(matrix)
