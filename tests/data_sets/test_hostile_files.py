"""Arrays of strangers are data, never programs."""

import numpy as np
import pytest
from scipy import sparse

from isotherm import DatasetError, GraphError, read_graph
from isotherm.read.arrays import read_npz
from npz_files import npy, npz_of, save_npz

pytestmark = pytest.mark.core_free


def test_a_npy_file_that_promises_more_than_it_holds_is_refused():
    whole = npy(np.arange(3))
    for data in (whole[:-1], whole + b"\0", whole.replace(b"(3,)", b"(9,)"), b"", whole[:20]):
        with pytest.raises(DatasetError):
            read_npz(npz_of(labels=data), ["labels"])
    for dtype in ("M8[s]", "c8", "i4,i4", object):
        with pytest.raises(DatasetError):
            read_npz(npz_of(labels=npy(np.zeros(2, dtype=dtype))), ["labels"])


@pytest.mark.filterwarnings("ignore:the matrix is not symmetric")
def test_sparse_matrices_of_every_kind_are_read(tmp_path):
    dense = np.array([[0, 1.5, 0], [0, 0, 1], [0, 0, 0]])
    for kind in ("csr", "csc", "coo"):
        path = tmp_path / f"{kind}.npz"
        path.write_bytes(save_npz(sparse.csr_matrix(dense).asformat(kind)))
        graph = read_graph(path)
        assert graph.n_nodes == 3
        assert np.array_equal(graph.adjacency.toarray(), dense + dense.T)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": np.array(b"dia")}, "format 'dia'"),
        ({"shape": np.array([2, 3])}, "square"),
        ({"shape": np.array([2])}, "not a SciPy sparse matrix"),
        ({"indptr": np.array([0, 1])}, "row pointers"),
        ({"indptr": np.array([0, 2**62, 2])}, "row pointers"),
        ({"indptr": np.array([0, 1, 2**50])}, "row pointers"),
        ({"indices": np.array([1])}, "fit together"),
        ({"data": None}, "not a SciPy sparse matrix"),
    ],
)
def test_a_sparse_matrix_that_is_none_is_refused(tmp_path, changes, message):
    arrays = {"format": np.array(b"csr"), "shape": np.array([2, 2]), "data": np.ones(2),
              "indptr": np.array([0, 1, 2]), "indices": np.array([1, 0])}  # fmt: skip
    arrays = {key: array for key, array in (arrays | changes).items() if array is not None}
    np.savez(tmp_path / "m.npz", **arrays)
    with pytest.raises(GraphError, match=message):
        read_graph(tmp_path / "m.npz")
