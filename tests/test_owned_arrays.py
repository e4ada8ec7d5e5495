"""What callers do with arrays that they gave, or that they were given, changes no answer."""

import copy
import inspect
import pickle
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

from isotherm import (
    DirichletClassifier,
    DirichletProblem,
    DirichletRegressor,
    Graph,
    GraphError,
    MultiLabelDirichletClassifier,
    StackedDirichletClassifier,
    read_only,
    solve_dirichlet,
)
from isotherm.compiled import core
from oracle import random_graph

pytestmark = pytest.mark.hostile

SEEDS = {0: "a", 1: "b", 2: "c", 3: "a"}
COPIES = {
    "pickled": lambda it: pickle.loads(pickle.dumps(it)),  # noqa: S301  # our own
    "copied": copy.deepcopy,
}


def csr(rng, kind=float, *, weighted=False, wide=False, of=sparse.csr_array):
    """A clean symmetric matrix, as SciPy has them; its index arrays are of 32 or 64 bits."""
    own = random_graph(rng, 60, degree=5, weighted=weighted).adjacency
    width = np.int64 if wide else np.int32
    parts = own.data.astype(kind), own.indices.astype(width), own.indptr.astype(width)
    return of(parts, shape=own.shape)


def arrays_of(graph):
    return [a for a in (graph.rows.start, graph.rows.ends, graph.rows.weights) if a is not None]


@pytest.mark.parametrize("wide", [False, True], ids=["int32", "int64"])
@pytest.mark.parametrize("of", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("kind", "weighted"),
    [(float, False), (float, True), (bool, False), (np.int64, False), (np.float32, False)],
)
def test_a_graph_shares_no_array_with_its_matrix(kind, weighted, of, wide, rng):
    A = csr(rng, kind, weighted=weighted, wide=wide, of=of)
    graph = Graph.from_matrix(A)
    for own in [*arrays_of(graph), graph.degrees, graph.adjacency.data]:
        for given in (A.data, A.indices, A.indptr):
            assert not np.shares_memory(own, given)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("edit", ["an edge away", "shuffled", "squared"])
def test_a_matrix_edited_later_changes_no_answer(edit, weighted, rng):
    A = csr(rng, weighted=weighted)
    right = DirichletClassifier().fit(Graph.from_matrix(A.copy()), SEEDS)
    graph = Graph.from_matrix(A)
    fitted = DirichletClassifier().fit(graph, SEEDS)
    if edit == "an edge away":
        i = int(np.flatnonzero(np.diff(A.indptr))[0])
        j = int(A.indices[A.indptr[i]])
        A[i, j] = A[j, i] = 0
        A.eliminate_zeros()
    elif edit == "shuffled":
        rng.shuffle(A.indices)
    else:
        A.data[:] = 3 * A.data**2
    again = DirichletClassifier().fit(graph, SEEDS)
    assert np.array_equal(again.temperatures_, right.temperatures_, equal_nan=True)
    right.update({10: "b"})
    for model in (fitted, again):
        model.update({10: "b"})
        assert np.array_equal(model.temperatures_, right.temperatures_, equal_nan=True)


@pytest.mark.filterwarnings("ignore::isotherm.AsymmetryWarning")
def test_what_scipy_has_noted_of_a_matrix_is_not_believed():
    shuffled = sparse.csr_array(
        (np.array([2.0, 1, 1, 2]), np.array([2, 1, 0, 0]), np.array([0, 2, 3, 4])), shape=(3, 3)
    )
    shuffled.has_canonical_format = True
    asymmetric = shuffled.copy()
    asymmetric.data[0] = 5.0
    asymmetric.has_canonical_format = True
    for A in (shuffled, asymmetric):
        rows = Graph.from_matrix(A).rows
        assert rows.ends.tolist() == [1, 2, 0, 0]
    assert rows.weights.tolist() == [2, 7, 2, 7]


def test_a_matrix_that_the_core_refuses_is_a_graph_error(rng, monkeypatch):
    from isotherm.graph import rows

    if rows.core is None:
        pytest.skip("needs the core")

    class Refusing:
        def inspect(self, *_):
            raise ValueError("start does not fit ends")

    monkeypatch.setattr(rows, "core", Refusing())
    with pytest.raises(GraphError, match="damaged: start does not fit ends; make it again"):
        Graph.from_matrix(csr(rng))


@pytest.mark.parametrize("make", ["renamed", "from_matrix", "from_edges"])
@pytest.mark.parametrize("kind", [str, object, "datetime64[D]"])
def test_ids_edited_later_are_not_those_of_the_graph(make, kind):
    ids = np.arange(100, 104).astype("datetime64[D]").astype(kind)
    given = ids.copy()
    path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    graph = {
        "renamed": lambda: path.renamed(given),
        "from_matrix": lambda: Graph.from_matrix(path.adjacency, nodes=given),
        "from_edges": lambda: Graph.from_edges(given[:3], given[1:], nodes=given),
    }[make]()
    given[:] = given[::-1].copy()
    assert graph.names.tolist() == ids.tolist()
    assert graph.positions(ids).tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        graph.names[0] = ids[1]


@pytest.mark.parametrize("how", ["as made", *COPIES])
@pytest.mark.parametrize("weighted", [False, True])
def test_arrays_of_a_graph_are_read_only(how, weighted, rng):
    graph = random_graph(rng, 40, weighted=weighted)
    graph = graph.renamed(np.array([f"n{k:02}" for k in range(40)]))
    whole = graph.adjacency.toarray(), graph.degrees.copy(), graph.components.copy()
    if how != "as made":
        graph = COPIES[how](graph)
    A = graph.adjacency
    handed_out = [*arrays_of(graph), graph.degrees, graph.components, graph.names]
    for array in [*handed_out, A.data, A.indices, A.indptr]:
        assert not array.flags.writeable
    for found, before in zip((A.toarray(), graph.degrees, graph.components), whole, strict=True):
        assert np.array_equal(found, before)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_an_entry_put_into_the_adjacency_matrix_is_not_one_of_the_graph():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    for i, j in ((0, 1), (0, 3)):
        with pytest.raises(ValueError, match="read-only"):
            graph.adjacency[i, j] = 2.0
    graph.adjacency.data = np.zeros(6)  # of that object only
    assert graph.adjacency.data.tolist() == [1.0] * 6


def kept_arrays(thing, again, name="", seen=None):
    """All arrays that an object hands out and goes on using, by name, however deep within it."""
    seen = set() if seen is None else seen
    if isinstance(thing, np.ndarray):
        if np.shares_memory(thing, again):  # else a copy: whoever writes to it writes to her own
            yield name, thing
    elif sparse.issparse(thing):
        for key in ("data", "indices", "indptr"):
            yield from kept_arrays(getattr(thing, key), getattr(again, key), f"{name}.{key}", seen)
    elif isinstance(thing, (tuple, list)):
        for k, (one, other) in enumerate(zip(thing, again, strict=True)):
            yield from kept_arrays(one, other, f"{name}.{k}", seen)
    elif type(thing).__module__.startswith("isotherm") and id(thing) not in seen:
        seen.add(id(thing))
        for key in [key for key in dir(thing) if not key.startswith("_")]:
            try:
                one, other = getattr(thing, key), getattr(thing, key)
            except Exception:  # noqa: S112  # not of this one
                continue
            if not inspect.isroutine(one):
                yield from kept_arrays(one, other, f"{name}.{key}", seen)


def fitted_models(graph):
    y = {i: "abc"[i // 3 % 3] for i in range(0, 60, 3)}
    yield DirichletClassifier().fit(graph, y)
    yield DirichletClassifier(leak=0.1, unreached="zero").fit(graph, y, {0: 0.5, 3: 0.5})
    yield DirichletClassifier().fit(graph, y).update({1: "b", 2: "d", 0: None})
    yield StackedDirichletClassifier().fit(graph, y)
    yield DirichletRegressor().fit(graph, {0: 0.0, 1: 2.0})
    yield MultiLabelDirichletClassifier().fit(graph, {i: {label} for i, label in y.items()})


@pytest.mark.parametrize("how", ["as made", *COPIES])
def test_arrays_of_a_fitted_estimator_are_read_only(how, rng):
    for model in fitted_models(random_graph(rng, 60, degree=5)):
        model.predict_proba() if hasattr(model, "predict_proba") else model.spot_check()
        model = model if how == "as made" else COPIES[how](model)
        found = dict(kept_arrays(model, model))
        assert len(found) > 15
        last = {name.rpartition(".")[2] for name in found}
        assert {"temperatures_", "error_bound", "boundary", "is_free", "names_"} <= last
        assert {".problem_.inner.data", ".problem_.outer.indices"} <= found.keys()
        if isinstance(model, StackedDirichletClassifier):
            assert {"vectors", "offsets", "shift"} <= last
        assert [name for name, array in found.items() if array.flags.writeable] == []


class Pair(NamedTuple):
    left: object
    right: object


def locked(array):
    array.setflags(write=False)
    return array


@pytest.mark.skipif(core is None, reason="isotherm was built without its core")
@pytest.mark.parametrize(
    "value",
    [
        np.arange(3),
        np.zeros((0, 2)),
        np.array("a", dtype=object),
        locked(np.arange(3)),
        np.ma.masked_array([1, 2], [True, False]),
        np.arange(6).view(np.recarray),
        (),
        (1, "a", None),
        (np.arange(2), 3),
        (locked(np.arange(2)), (np.arange(3), ("a", np.arange(4)))),
        (locked(np.arange(2)), 3),
        Pair(np.arange(2), None),
        Pair(1, 2),
        [np.arange(2)],
        {"a": np.arange(2)},
        sparse.eye_array(3, format="csr"),
        None,
        2.5,
    ],
    ids=repr,
)
def test_the_core_seals_what_python_seals(value):
    def compare(found, expected, before):
        assert type(found) is type(expected)
        if isinstance(expected, np.ndarray):
            assert not found.flags.writeable
            assert np.shares_memory(found, before) or not before.size
            assert (found is before) == (expected is before)
        elif isinstance(expected, tuple):
            assert (found is before) == (expected is before)
            for parts in zip(found, expected, before, strict=True):
                compare(*parts)
        else:
            assert found is expected is before

    compare(read_only.read_only(value), read_only.plain_read_only(value), value)
    thing = SimpleNamespace(first=1, value=value, last=value)
    read_only.seal(thing)
    assert list(vars(thing)) == ["first", "value", "last"]
    compare(thing.value, read_only.plain_read_only(value), value)


def test_what_a_problem_is_given_is_its_own():
    path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    boundary, values = np.array([0, 4]), np.array([[1.0], [0.0]])
    problem = DirichletProblem(path, boundary, values)
    boundary[0], values[0] = 2, 7.0
    assert problem.boundary.tolist() == [0, 4]
    assert problem.values.tolist() == [[1.0], [0.0]]
    assert boundary.flags.writeable  # the caller's stay as they are
    assert values.flags.writeable


def test_temperatures_and_their_bounds_are_read_only():
    solution = solve_dirichlet(Graph.from_edges([0, 1, 2], [1, 2, 3]), [0, 3], [0.0, 3.0])
    for array in (solution.temperatures, solution.error_bound, solution.certificate.nodes):
        with pytest.raises(ValueError, match="read-only"):
            array[1] = 0
