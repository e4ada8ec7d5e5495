"""A file that changed is refused, in the cache and on the network."""

import dataclasses
import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from conftest import CliRun
from isotherm import load_dataset
from isotherm.datasets import catalogue, fetch_dataset
from isotherm.datasets.formats.labelled_graph import LabelledGraph
from isotherm.errors import DatasetError
from site_files import FROM_NETWORK, SNAP, cached


def test_a_set_that_changed_in_the_cache_is_refused(site, home):
    site.put(SNAP)
    load_dataset("email")
    path = home / "email.npz"
    path.write_bytes(path.read_bytes() + b"\0")
    for function in (load_dataset, fetch_dataset):
        with pytest.raises(DatasetError, match=r"email\.npz has changed: .* delete") as e:
            function("email")
        expected = json.loads((home / "checksums.json").read_text())["email.npz"]
        assert expected in str(e.value)
    path.unlink()
    assert load_dataset("email").graph.n_nodes == 4  # made anew from the files kept


def test_a_downloaded_file_that_changed_in_the_cache_is_refused(site, home):
    site.put(SNAP)
    load_dataset("email")
    (home / "email.npz").unlink()
    raw = home / "raw" / "email-Eu-core.txt.gz"
    raw.write_bytes(gzip.compress(b"0 3\n"))
    with pytest.raises(DatasetError, match=r"email-Eu-core\.txt\.gz has changed"):
        load_dataset("email")
    assert raw.exists()


def test_a_file_that_changed_on_the_network_is_refused(site, home):
    site.put(SNAP)
    load_dataset("email")
    (home / "email.npz").unlink()
    (home / "raw" / "email-Eu-core.txt.gz").unlink()
    site.put({"email-Eu-core.txt.gz": gzip.compress(b"0 3\n")})
    with pytest.raises(DatasetError, match=r"SHA-256 is .* but was .*checksums\.json"):
        load_dataset("email")
    assert not (home / "raw" / "email-Eu-core.txt.gz").exists()


def pinned(monkeypatch, files):
    """Have the catalogue know the checksums of these files."""
    known = {name: hashlib.sha256(body).hexdigest() for name, body in files.items()}
    info = dataclasses.replace(catalogue.KNOWN["email"], files=known)
    monkeypatch.setitem(catalogue.KNOWN, "email", info)
    return info


def test_a_file_that_is_not_the_one_known_is_refused_at_the_first_download(site, home, monkeypatch):
    pinned(monkeypatch, SNAP)
    site.put(SNAP | {"email-Eu-core.txt.gz": gzip.compress(b"0 3\n")})
    with pytest.raises(DatasetError, match=r"has changed: .* should be .* was kept"):
        load_dataset("email")
    assert not home.exists()
    site.put(SNAP)
    assert load_dataset("email").graph.n_nodes == 4


def test_a_file_put_there_by_hand_must_be_the_one_known(site, home, monkeypatch):
    pinned(monkeypatch, SNAP)
    (home / "raw").mkdir(parents=True)
    for name, body in SNAP.items():
        (home / "raw" / name).write_bytes(body)
    (home / "raw" / "email-Eu-core.txt.gz").write_bytes(gzip.compress(b"0 3\n"))
    with pytest.raises(DatasetError, match=r"email-Eu-core\.txt\.gz has changed: .* should"):
        load_dataset("email")
    (home / "raw" / "email-Eu-core.txt.gz").write_bytes(SNAP["email-Eu-core.txt.gz"])
    assert load_dataset("email").graph.n_nodes == 4
    assert site.asked == []


def test_what_is_known_beforehand_is_said(tmp_path):
    known = {name for name in FROM_NETWORK if "isotherm knows" in catalogue.KNOWN[name].check}
    assert known == {"cora", "citeseer", "pubmed", "email"}
    for name in known:
        for checksum in catalogue.KNOWN[name].files.values():
            assert re.fullmatch("[0-9a-f]{64}", checksum)
    first = catalogue.KNOWN["polblogs"].check
    assert first.startswith("on first use: the checksum of the first download is kept")
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
    assert first in " ".join(page.split())
    run = CliRun(tmp_path)
    assert f"checked {first}" in run("datasets", "info", "polblogs").stdout
    assert "checked by checksums that isotherm knows" in run("datasets", "info", "cora").stdout


@pytest.mark.parametrize("text", ["{", "[]", '{"email.npz": 3}', "\xff"])
def test_a_damaged_list_of_checksums_is_an_error(home, text):
    home.mkdir()
    (home / "checksums.json").write_text(text, encoding="latin-1")
    (home / "email.npz").write_bytes(LabelledGraph.from_bytes(cached()).to_bytes())
    with pytest.raises(DatasetError, match=r"checksums"):
        load_dataset("email")
