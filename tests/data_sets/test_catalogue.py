"""The list of data sets."""

import pytest

from isotherm import ParameterError, load_dataset
from isotherm.datasets import catalogue, dataset_names, describe, fetch_dataset
from site_files import FROM_NETWORK


def test_names_are_those_known_and_those_in_the_cache(home):
    assert dataset_names() == list(catalogue.KNOWN)
    home.mkdir()
    (home / "mine.npz").write_bytes(b"")
    (home / "cora.npz").write_bytes(b"")
    (home / "notes.txt").write_bytes(b"")
    (home / ".hidden.npz").write_bytes(b"")
    assert dataset_names() == [*catalogue.KNOWN, "mine"]
    assert dataset_names(home.parent) == list(catalogue.KNOWN)


def test_a_description_says_what_there_is_without_loading_it(home):
    assert describe("debian").bundled
    assert describe("debian").is_here
    cora = describe("cora")
    assert (cora.bundled, cora.cached, cora.is_here) == (False, False, False)
    assert len(cora.addresses) == 4
    home.mkdir()
    (home / "cora.npz").write_bytes(b"")
    (home / "mine.npz").write_bytes(b"")
    assert describe("cora").path == home / "cora.npz"
    assert describe("mine").cached
    assert describe("mine").paper is None


def test_addresses_are_those_of_the_sites():
    addresses = [address for name in FROM_NETWORK for address in describe(name).addresses]
    assert len(addresses) == len(set(addresses)) == 3 * 4 + 2 + 4
    assert all(address.startswith("https://") for address in addresses)
    assert "https://netset.telecom-paris.fr/datasets_npz/wikivitals+_npz.tar.gz" in addresses
    assert "https://snap.stanford.edu/data/email-Eu-core.txt.gz" in addresses


@pytest.mark.parametrize("name", ["nothing", "../cache/mine", "", "mine.npz"])
def test_an_unknown_name_is_an_error_that_lists_the_others(home, name):
    home.mkdir()
    (home / "mine.npz").write_bytes(b"")
    for function in (load_dataset, fetch_dataset, describe):
        with pytest.raises(ParameterError, match=r"unknown data set .* 'karate', .*'mine'"):
            function(name)
