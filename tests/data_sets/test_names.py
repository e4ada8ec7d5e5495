"""Which data sets there are, and which there are not."""

import ast
from pathlib import Path

import pytest

import isotherm
from isotherm import DatasetError, ParameterError, load_dataset
from isotherm.datasets import dataset_names
from npz_files import dataset_file

pytestmark = pytest.mark.core_free


def test_names_are_those_bundled_and_those_in_the_folder(tmp_path):
    assert dataset_names() == ["karate", "debian"]
    for name in ("mine.npz", "karate.npz", "notes.txt", ".hidden.npz"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "folder.npz").mkdir()
    assert dataset_names(tmp_path) == ["karate", "debian", "mine"]
    assert dataset_names(tmp_path / "nowhere") == ["karate", "debian"]


def test_a_bundled_set_is_not_replaced_by_a_file_of_its_name(tmp_path):
    (tmp_path / "karate.npz").write_bytes(dataset_file())
    assert load_dataset("karate", tmp_path).graph.n_nodes == 34


@pytest.mark.parametrize("name", ["nothing", "../cache/mine", "", "mine.npz", "folder/mine"])
def test_an_unknown_name_is_an_error_that_lists_the_others(tmp_path, name):
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / "mine.npz").write_bytes(dataset_file())
    with pytest.raises(ParameterError, match=r"unknown data set .* 'karate', 'debian' come with"):
        load_dataset(name, folder)
    with pytest.raises(ParameterError, match="no folder was named"):
        load_dataset("mine")
    assert load_dataset("mine", folder).graph.n_nodes == 3


def test_a_file_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "mine.npz").write_bytes(dataset_file())
    monkeypatch.setattr("isotherm.datasets.LARGEST_DATA_SET", 20)
    with pytest.raises(DatasetError, match="larger than a data set may be, 20 bytes"):
        load_dataset("mine", tmp_path)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DatasetError, match=r"cannot read .*mine\.npz: Permission denied"):
        load_dataset("mine", tmp_path)


def test_nothing_in_the_package_fetches_from_the_network():
    """Only the labelling page has a socket, which it listens on; so have ranks on their own."""
    fetchers = {"urllib.request", "http.client", "ftplib", "requests", "httpx", "pooch"}
    users = set()
    root = Path(isotherm.__file__).parent
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            assert not fetchers & {*names}, path
            if {"socket", "ssl"} & {*names}:
                users.add(path.relative_to(root).parts[0])
    assert users <= {"page", "distributed"}
