"""A SciPy matrix whose parts were edited is refused, or is a graph; it never ends the process.

SciPy itself reads and writes outside of such matrices where it converts them.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse

from isotherm import DirichletClassifier, Graph, GraphError

N = 6


def put(part, *at):
    """Write into an array of a matrix."""

    def edit(A):
        array = getattr(A, part).copy()
        for place, value in at:
            array[place] = value
        setattr(A, part, array)

    return edit


def cut(part):
    return lambda A: setattr(A, part, getattr(A, part)[:-1])


def objects(A):
    A.data = A.data.astype(object)


def first_row(columns, numbers):
    def edit(A):
        A.rows[0], A.data[0] = columns, numbers

    return edit


def entry(key, value):
    return lambda A: A._dict.update({key: value})


COMPRESSED = {
    "outside": put("indices", (0, 10**6)),
    "below": put("indices", (0, -(10**6))),
    "falling to 0": put("indptr", (1, 10**6), (-1, 0)),
    "falling": put("indptr", (2, 0)),
    "past the end": put("indptr", (-1, 10**6)),
    "not from 0": put("indptr", (0, 10**6)),
    "fewer numbers": cut("data"),
    "fewer columns": cut("indices"),
    "fewer rows": cut("indptr"),
    "objects": objects,
}
EDITS = {
    "csr": COMPRESSED,
    "csc": COMPRESSED,
    "bsr": COMPRESSED,
    "coo": {
        "row outside": put("row", (0, 10**9)),
        "column below": put("col", (0, -(10**9))),
        "fewer numbers": cut("data"),
        "fewer rows": cut("row"),
        "objects": objects,
    },
    "dia": {
        "fewer diagonals": cut("data"),
        "more diagonals": lambda A: setattr(A, "offsets", np.arange(10**5)),
        "fewer offsets": cut("offsets"),
        "the same offset": lambda A: setattr(A, "offsets", np.zeros_like(A.offsets)),
    },
    "lil": {
        "fewer rows": cut("rows"),
        "more columns": first_row([0, 1, 2], [1.0]),
        "more numbers": first_row([0], [1.0] * 1000),
        "text": first_row([0], ["x"]),
        "outside": first_row([10**6], [1.0]),
        "no rows": first_row(3, 4),
    },
    "dok": {
        "outside": entry((99, 0), 1.0),
        "below": entry((0, -99), 1.0),
        "nothing": entry((0, 0), None),
        "text": entry((0, "a"), 1.0),
    },
}


@pytest.mark.parametrize("has_core", [True, False], ids=["with core", "without"])
@pytest.mark.parametrize("of", [sparse.coo_array, sparse.coo_matrix])
@pytest.mark.parametrize("case", [(kind, name) for kind in EDITS for name in EDITS[kind]], ids=str)
def test_a_matrix_whose_parts_do_not_fit_is_a_graph_error(case, of, has_core, rng, monkeypatch):
    from isotherm.graph import rows

    if not has_core:
        monkeypatch.setattr(rows, "core", None)
    kind, name = case
    A = of(rng.random((N, N)) * (rng.random((N, N)) < 0.5)).asformat(kind)
    EDITS[kind][name](A)
    path = Graph.from_edges(range(N - 1), range(1, N))
    model = DirichletClassifier().fit(path, {0: "a", N - 1: "b"})
    with warnings.catch_warnings():  # SciPy's, of types
        warnings.simplefilter("ignore")
        for take in (Graph.from_matrix, Graph.from_biadjacency, model.predict_proba):
            with pytest.raises(GraphError):
                take(A)
