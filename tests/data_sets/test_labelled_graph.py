"""The format of data sets."""

import io
import zipfile

import numpy as np
import pytest

from conftest import SHARED_DATA
from isotherm import load_dataset
from isotherm.errors import DatasetError
from isotherm.read.arrays import read_npz
from isotherm.read.npz import LabelledGraph
from npz_files import dataset_file
from paper.printed import TABLE1

pytestmark = pytest.mark.core_free


def test_any_file_of_the_format_is_a_data_set(tmp_path):
    (tmp_path / "mine.npz").write_bytes(dataset_file(extra=np.arange(3)))
    mine = load_dataset("mine", tmp_path)
    assert (mine.graph.n_nodes, mine.graph.n_edges) == (3, 3)
    assert mine.labels.tolist() == [0, -1, 1]
    assert mine.graph.names.tolist() == [0, 1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["mine.npz"]  # nothing is written


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": None}, "no array 'labels'"),
        ({"labels": np.array([0, 1])}, "'labels' must be 3 numbers"),
        ({"labels": np.array([0, -2, 1])}, "numbers ≥ -1, got shape .* with least value -2"),
        ({"labels": np.array([0.0, 1.0, 2.0])}, "whole numbers, got float64"),
        ({"labels": np.array([0, None, 1], dtype=object)}, "'labels' is an array of objects"),
        ({"indptr": np.array([0, 1, 3, 9])}, "ends with 9, but 'indices' has 5"),
        ({"indptr": np.array([0, 4, 3, 5])}, "do not increase from 0"),
        ({"indptr": np.array([0, 2**62 + 1, -(2**62) - 1, 5])}, "do not increase from 0"),
        ({"indptr": np.array([1, 2, 3, 5])}, "do not increase from 0"),
        ({"indptr": np.array([], dtype=int)}, "do not increase from 0"),
        ({"indices": np.array([1, 0, 3, 1, 2])}, r"must be in 0 … 2"),
        ({"indices": np.array([1, 0, -1, 1, 2])}, r"must be in 0 … 2"),
        ({"indices": np.array([[1, 0, 2, 1, 2]])}, r"shape \(1, 5\)"),
        ({"indices": np.array([1, 2, 2, 1, 2])}, "entry twice"),
        ({"indices": np.array([2, 0, 2, 1, 2])}, "not symmetric"),
        ({"names": np.array(["a", "b"])}, "2 'names' for 3 nodes"),
        ({"names": np.arange(3)}, "must be strings"),
        ({"names": np.array(["a", "b", "c"], dtype=object)}, "'names' is an array of objects"),
        ({"label_names": np.array(["x"])}, "label 1, but only 1 'label_names'"),
        ({"label_names": np.array([["x"], ["y"]])}, "must be strings"),
    ],
)
def test_a_file_that_is_not_of_the_format_is_an_error_that_says_why(tmp_path, changes, message):
    (tmp_path / "mine.npz").write_bytes(dataset_file(**changes))
    with pytest.raises(
        DatasetError, match=rf"mine\.npz is not a data set for isotherm: .*{message}"
    ):
        load_dataset("mine", tmp_path)


def test_a_file_that_is_damaged_is_an_error(tmp_path):
    whole = dataset_file()
    middle = len(whole) // 3
    damaged = whole[:middle] + bytes(byte ^ 255 for byte in whole[middle : middle + 40])
    for data in (b"", b"PK", whole[:-30], damaged + whole[middle + 40 :]):
        (tmp_path / "mine.npz").write_bytes(data)
        with pytest.raises(DatasetError, match=r"mine\.npz is not a data set"):
            load_dataset("mine", tmp_path)


def test_a_file_that_unpacks_to_too_much_is_refused():
    file = io.BytesIO()
    np.savez_compressed(file, labels=np.zeros(10**6, dtype=np.int8))
    with pytest.raises(DatasetError, match="more than 1000 bytes"):
        read_npz(file, ["labels"], most=1000)
    assert read_npz(file, ["names"], most=1000) == {}


def test_what_is_packed_comes_out_as_it_went_in():
    names = np.array(["a", "ß", "c"])
    whole = LabelledGraph.from_bytes(dataset_file(names=names, label_names=np.array(["no", "yes"])))
    for small in (False, True):
        data = whole.to_bytes(small=small)
        assert data == whole.to_bytes(small=small)
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            assert set(file.files) == {"indptr", "indices", "labels", "names", "label_names"}
            assert file["names"].tolist() == names.tolist()
        again = LabelledGraph.from_bytes(data)
        assert again.label_array().tolist() == ["no", None, "yes"]
        assert again.graph().names.tolist() == names.tolist()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {1980}


@pytest.mark.parametrize(
    "name",
    ["cora", "citeseer", "pubmed", "email", "polblogs",
     "lastfm_asia", "amazon_photo", "fashion_mnist_knn10_graph", "wikischools2007"],
)  # fmt: skip
def test_the_shared_data_are_data_sets(name):
    if not (SHARED_DATA / f"{name}.npz").exists():
        pytest.skip(f"the shared data set {name} is not here")
    before = sorted(SHARED_DATA.iterdir())
    found = load_dataset(name, SHARED_DATA)
    assert found.graph.n_nodes == len(found.labels)
    if name in TABLE1:
        sizes = (found.graph.n_nodes, found.graph.adjacency.nnz // 2, len(np.unique(found.labels)))
        assert sizes == TABLE1[name]
    assert sorted(SHARED_DATA.iterdir()) == before
