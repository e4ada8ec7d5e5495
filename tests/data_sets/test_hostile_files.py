"""Archives, pickles and arrays of strangers are data, never programs."""

import gzip
import io
import pickle
import tarfile

import numpy as np
import pytest
from scipy import sparse

from isotherm import load_dataset
from isotherm.datasets import describe
from isotherm.datasets.formats.archives import gunzip, tar_members
from isotherm.datasets.formats.arrays import read_npy, read_sparse
from isotherm.datasets.formats.unpickle import load_array, load_neighbours
from isotherm.errors import DatasetError
from site_files import netset_members, npy, planetoid_files, python2_pickle, save_npz, tar


def hostile_members():
    for name in ("../labels.npy", "/etc/labels.npy", "a/../../labels.npy"):
        yield tarfile.TarInfo(name)
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
        member = tarfile.TarInfo("names.npy")
        member.type, member.linkname = kind, "/etc/passwd"
        yield member


@pytest.mark.parametrize("member", [*hostile_members()], ids=lambda m: m.name + m.type.decode())
def test_an_archive_with_a_hostile_member_is_refused(site, member):
    site.put({"polblogs_npz.tar.gz": tar([*netset_members(), (member, b"")])})
    with pytest.raises(DatasetError, match=r"polblogs_npz\.tar\.gz: the archive has a (mem|link)"):
        load_dataset("polblogs")
    assert not describe("polblogs").cached


def test_an_archive_is_refused_for_its_size():
    bomb = tar([("labels.npy", bytes(10**6))])
    assert len(bomb) < 10_000
    with pytest.raises(DatasetError, match="more than 100,000 bytes"):
        tar_members(bomb, ["labels.npy"], most=10**5)
    member = tarfile.TarInfo("labels.npy")
    member.size = 10**12
    with pytest.raises(DatasetError, match="1,000,000,000,000 bytes"):
        tar_members(member.tobuf() + bytes(2 * tarfile.BLOCKSIZE), ["labels.npy"])


def test_a_damaged_archive_is_refused():
    whole = tar(netset_members())
    for data in (whole[:-20], whole[:50] + b"?" + whole[51:], b"no archive" * 100):
        with pytest.raises(DatasetError):
            tar_members(data, ["labels.npy"])
    with pytest.raises(DatasetError, match="two files named 'a'"):
        tar_members(tar([("x/a", b"1"), ("y/a", b"2")]), ["a"])


def test_an_archive_without_labels_is_refused(site):
    site.put({"polblogs_npz.tar.gz": tar(netset_members()[:1])})
    with pytest.raises(DatasetError, match=r"no labels\.npy"):
        load_dataset("polblogs")


def test_gzip_data_may_come_in_parts_but_not_cut():
    parts = gzip.compress(b"0 1\n") + gzip.compress(b"1 2\n")
    assert gunzip(parts) == b"0 1\n1 2\n"
    with pytest.raises(DatasetError, match="too early"):
        gunzip(parts[:-3])
    with pytest.raises(DatasetError, match="more than 7 bytes"):
        gunzip(parts, most=7)
    assert gunzip(parts, most=8)


class Evil:
    def __reduce__(self):
        return exec, ("raise SystemExit('the pickle was run')",)


@pytest.mark.parametrize("protocol", range(5))
def test_a_pickle_of_a_forbidden_class_is_refused_and_not_run(site, protocol):
    evil = pickle.dumps(Evil(), protocol=protocol)
    for part in ("graph", "ally"):
        site.put(planetoid_files("cora") | {f"ind.cora.{part}": evil})
        with pytest.raises(DatasetError, match=rf"ind\.cora\.{part}: the pickle asks for .*exec"):
            load_dataset("cora")
    assert not describe("cora").cached


def test_names_that_hide_a_forbidden_class_are_refused(site):
    names = npy(np.array([Evil(), "e", "i"], dtype=object))
    site.put({"polblogs_npz.tar.gz": tar([*netset_members()[:2], ("names.npy", names)])})
    with pytest.raises(DatasetError, match=r"names\.npy: the pickle asks for builtins\.exec"):
        load_dataset("polblogs")


@pytest.mark.parametrize(
    "value",
    [[1, 2], {"a": [1]}, {0: 1}, {0: ["x"]}, {0: [-1]}, {0: [2**40]}, {0: [True]}, {0: (1,)}],
    ids=repr,
)
def test_a_pickle_of_something_else_than_a_graph_is_refused(value):
    with pytest.raises(DatasetError, match="pickled"):
        load_neighbours(pickle.dumps(value))


@pytest.mark.parametrize(
    "array",
    [np.array([1, 2], dtype=">i4"), np.eye(3, dtype=np.float64, order="F"), np.zeros((0, 2)),
     np.array([[True], [False]]), np.array(["é", ""], dtype=object)],
    ids=lambda array: array.dtype.str,
)  # fmt: skip
def test_arrays_in_pickles_come_out_as_they_went_in(array):
    for data in (python2_pickle(array), *(pickle.dumps(array, protocol=p) for p in (3, 4))):
        if array.dtype == object and data[1] == 2:
            continue  # Python 2 text is not what names are stored as
        assert load_array(data).tolist() == array.tolist()


def test_damaged_and_odd_pickles_are_refused():
    whole = pickle.dumps(np.arange(5), protocol=4)
    for cut in range(len(whole)):
        with pytest.raises(DatasetError):
            load_array(whole[:cut])
    too_long = whole.replace(b"K\x05\x85", b"K\x06\x85")
    assert too_long != whole
    with pytest.raises(DatasetError, match=r"shape \(6,\)"):
        load_array(too_long)
    for odd in (np.array(["x"]), np.array([1j]), np.array([(1, 2)], dtype="i4,i4"), [1], None):
        with pytest.raises(DatasetError):
            load_array(pickle.dumps(odd, protocol=4))
    # A pickle that tries to change the classes that stand in for NumPy's.
    with pytest.raises(DatasetError, match="damaged pickle"):
        load_array(b"\x80\x02cnumpy\nndarray\nN}U\x07checkedK\x01s\x86b.")


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
