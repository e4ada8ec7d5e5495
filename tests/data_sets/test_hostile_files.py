"""Arrays of strangers are data, never programs."""

import io

import numpy as np
import pytest
from scipy import sparse

from isotherm.errors import DatasetError
from isotherm.read.arrays import read_npy, read_sparse
from npz_files import npy, save_npz

pytestmark = pytest.mark.core_free


def test_a_npy_file_that_promises_more_than_it_holds_is_refused():
    whole = npy(np.arange(3))
    for data in (whole[:-1], whole + b"\0", whole.replace(b"(3,)", b"(9,)"), b"", whole[:20]):
        with pytest.raises(DatasetError):
            read_npy(data)
    for dtype in ("M8[s]", "c8", "i4,i4", object):
        with pytest.raises(DatasetError):
            read_npy(npy(np.zeros(2, dtype=dtype)))


def test_sparse_matrices_of_every_kind_are_read():
    dense = np.array([[0, 1.5, 0], [0, 0, 1], [0, 0, 0]])
    for kind in ("csr", "csc", "coo"):
        n, source, target, _ = read_sparse(save_npz(sparse.csr_matrix(dense).asformat(kind)))
        assert n == 3
        assert {frozenset(edge) for edge in zip(source, target, strict=True)} == {
            frozenset({0, 1}), frozenset({1, 2})
        }  # fmt: skip


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
def test_a_sparse_matrix_that_is_none_is_refused(changes, message):
    arrays = {"format": np.array(b"csr"), "shape": np.array([2, 2]), "data": np.ones(2),
              "indptr": np.array([0, 1, 2]), "indices": np.array([1, 0])}  # fmt: skip
    arrays = {key: array for key, array in (arrays | changes).items() if array is not None}
    file = io.BytesIO()
    np.savez(file, **arrays)
    with pytest.raises(DatasetError, match=message):
        read_sparse(file.getvalue())
