"""Downloads, on a network full of accidents."""

import io
import json
import socket
import sys
from types import SimpleNamespace

import pytest

from isotherm import load_dataset
from isotherm.datasets import catalogue, dataset_names, describe, fetch_dataset
from isotherm.datasets.download import _Receiver
from isotherm.errors import DatasetError, IsothermError
from site_files import FROM_NETWORK, SNAP, real_files


def left_behind(home):
    return [path.name for path in home.rglob("*")] if home.exists() else []


@pytest.mark.parametrize("name", FROM_NETWORK)
def test_a_set_is_fetched_once_and_then_loaded_from_the_cache(site, home, name):
    site.put(real_files(name))
    first = load_dataset(name)
    assert len(site.asked) == len(describe(name).files)
    assert all(asked.lstrip("/") in site.files for asked in site.asked)
    site.files.clear()
    again = load_dataset(name)
    assert (again.graph.adjacency != first.graph.adjacency).nnz == 0
    assert again.labels.tolist() == first.labels.tolist()
    assert fetch_dataset(name) == home / f"{name}.npz"
    records = json.loads((home / "checksums.json").read_text())
    assert set(records) == {f"{name}.npz", *(f"raw/{file}" for file in describe(name).files)}
    assert all(len(checksum) == 64 for checksum in records.values())
    assert not [file for file in left_behind(home) if file.endswith(".part")]


def test_a_packed_file_that_the_server_calls_an_encoding_is_read_all_the_same(site):
    site.put(SNAP, encoding="gzip")
    assert load_dataset("email").graph.n_nodes == 4


def test_a_server_that_tells_no_length_is_believed(site):
    site.put(SNAP, announced=None)
    assert load_dataset("email").graph.n_nodes == 4


def test_progress_tells_how_much_has_come(site):
    site.put(SNAP)
    told = []
    fetch_dataset("email", progress=lambda *report: told.append(report))
    assert told == [(name, len(body), len(body)) for name, body in SNAP.items()]


def test_a_missing_file_is_an_error_with_the_address_and_the_place(site, home):
    with pytest.raises(DatasetError) as failure:
        load_dataset("email")
    message = str(failure.value)
    assert "404" in message
    assert f"{site.address}email-Eu-core.txt.gz" in message
    assert str(home / "raw" / "email-Eu-core.txt.gz") in message
    assert not home.exists()
    assert isinstance(failure.value, IsothermError)


def test_a_server_that_is_not_there_is_such_an_error_too(monkeypatch, home):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as silent:  # has a port, but does not listen there
        silent.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        monkeypatch.setitem(catalogue.BASES, "snap", address)
        with pytest.raises(DatasetError, match=f"could not download {address}email"):
            load_dataset("email")
    assert left_behind(home) == []


def test_a_truncated_download_leaves_nothing(site, home):
    body = SNAP["email-Eu-core.txt.gz"]
    site.put({"email-Eu-core.txt.gz": body[:-5]}, announced=len(body))
    with pytest.raises(DatasetError, match="could not download"):
        load_dataset("email")
    assert left_behind(home) == []


def test_a_truncated_download_is_noticed_even_if_the_library_does_not(home, monkeypatch):
    import pooch

    def short(_, address, receiver, pooch):  # noqa: ARG001
        receiver.total = 10
        receiver.write(b"12345")

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", short)
    with pytest.raises(DatasetError, match="ended after 5 of 10 bytes"):
        load_dataset("email")
    assert left_behind(home) == []


def test_a_download_without_end_is_cut(site, home, monkeypatch):
    monkeypatch.setattr("isotherm.datasets.download.MOST_BYTES", 20)
    site.put(SNAP)
    with pytest.raises(DatasetError, match="more than 20 bytes"):
        load_dataset("email")
    assert left_behind(home) == []


def test_an_interrupt_leaves_nothing(site, home):
    site.put(SNAP)

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_dataset("email", progress=interrupt)
    assert left_behind(home) == []


def test_a_redirection_must_not_leave_https():
    receiver = _Receiver(io.BytesIO(), "file", None)
    receiver.answer(SimpleNamespace(url="https://a.example/file"))
    receiver.answer(SimpleNamespace(url="https://b.example/file"))
    with pytest.raises(ValueError, match=r"redirects to http://c\.example"):
        receiver.answer(SimpleNamespace(url="http://c.example/file"))


def test_a_failure_half_way_keeps_the_files_that_are_whole(site):
    first, second = SNAP
    site.put({first: SNAP[first]})
    with pytest.raises(DatasetError, match="labels"):
        load_dataset("email")
    site.put({second: SNAP[second]})
    load_dataset("email")
    assert [path.lstrip("/") for path in site.asked] == [first, second, second]


def test_a_page_in_place_of_a_file_is_forgotten(site, home):
    site.put(dict.fromkeys(SNAP, b"<html>Try again later</html>"))
    with pytest.raises(DatasetError, match="line 1: expected 2 whole"):
        load_dataset("email")
    assert left_behind(home) in ([], ["checksums.json", "raw"], ["raw", "checksums.json"])
    site.put(SNAP)
    assert load_dataset("email").graph.n_nodes == 4


def test_a_file_put_there_by_hand_is_used_and_kept(site, home):
    (home / "raw").mkdir(parents=True)
    for name, body in SNAP.items():
        (home / "raw" / name).write_bytes(body)
    assert load_dataset("email").graph.n_nodes == 4
    assert site.asked == []


def test_without_pooch_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert load_dataset("karate").graph.n_nodes == 34
    with pytest.raises(DatasetError, match=r"https://snap.*pip install 'isotherm\[data\]'"):
        load_dataset("email")
    monkeypatch.delenv("ISOTHERM_DATA")
    assert dataset_names() == list(catalogue.KNOWN)
    assert load_dataset("karate").graph.n_nodes == 34
    with pytest.raises(DatasetError, match=r"pip install 'isotherm\[data\]'"):
        load_dataset("email")


def test_by_default_the_cache_is_the_platforms(monkeypatch, tmp_path):
    import pooch

    monkeypatch.delenv("ISOTHERM_DATA")
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
    (tmp_path / "isotherm").mkdir()
    (tmp_path / "isotherm" / "mine.npz").write_bytes(b"")
    assert "mine" in dataset_names()
