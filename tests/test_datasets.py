"""Data sets: what is bundled, what is cached, and what comes from a network full of accidents."""

import gzip
import io
import json
import pickle
import runpy
import socket
import sys
import tarfile
import threading
import time
import zipfile
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from conftest import SHARED_DATA
from isotherm import ParameterError, load_dataset
from isotherm.datasets import catalogue, dataset_names, describe, fetch_dataset
from isotherm.datasets.bundled import FOLDER
from isotherm.datasets.download import _Receiver
from isotherm.errors import DatasetError, IsothermError
from isotherm.read.archives import gunzip, tar_members
from isotherm.read.arrays import read_npy, read_npz, read_sparse
from isotherm.read.packed import Packed
from isotherm.read.unpickle import load_array, load_neighbours

SCRIPT = Path(__file__).parents[1] / "scripts" / "debian_packages.py"
FROM_NETWORK = [name for name, info in catalogue.KNOWN.items() if not info.bundled]


# --- a small network ----------------------------------------------------------------------------


class Site:
    """A server of a few files, some of which it breaks."""

    def __init__(self):
        self.files = {}
        self.asked = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.asked.append(self.path)
                name = self.path.lstrip("/")
                if name not in site.files:
                    self.send_error(404)
                    return
                body, announced, encoding = site.files[name]
                self.send_response(200)
                if announced is not None:
                    self.send_header("Content-Length", str(announced))
                if encoding:
                    self.send_header("Content-Encoding", encoding)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"

    def put(self, files, *, announced=..., encoding=None):
        for name, body in files.items():
            length = len(body) if announced is ... else announced
            self.files[name] = (body, length, encoding)


@pytest.fixture
def site(monkeypatch):
    site = Site()
    for base in catalogue.BASES:
        monkeypatch.setitem(catalogue.BASES, base, site.address)
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "127.0.0.1")
    thread = threading.Thread(target=site.server.serve_forever, args=(0.01,))
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A cache of its own for every test; never the user's."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ISOTHERM_DATA", str(folder))
    return folder


def left_behind(home):
    return [path.name for path in home.rglob("*")] if home.exists() else []


# --- small files in the real formats ------------------------------------------------------------


class Python2Pickler(pickle._Pickler):
    """Writes what Python 2 wrote: one type for bytes and text, the old names of modules."""

    dispatch = dict(pickle._Pickler.dispatch)  # noqa: RUF012 - as in its base

    def save_bytes(self, data):
        self.write(pickle.BINSTRING + len(data).to_bytes(4, "little") + data)
        self.memoize(data)

    dispatch[bytes] = save_bytes

    def save_text(self, text):
        self.save_bytes(text.encode("latin-1"))

    dispatch[str] = save_text


def python2_pickle(value):
    file = io.BytesIO()
    Python2Pickler(file, protocol=2).dump(value)
    return file.getvalue().replace(b"cnumpy._core.", b"cnumpy.core.")


def planetoid_files(name):
    """Six nodes: 0 – 3 have their labels in ally, 4 and 5 are tested, in the order 5, 4."""
    graph = defaultdict(list, {0: [1, 1, 3], 1: [0, 2], 2: [1, 2], 3: [0], 4: [5], 5: [4]})
    return {
        f"ind.{name}.graph": python2_pickle(graph),
        f"ind.{name}.ally": python2_pickle(np.eye(3, dtype=np.int32)[[0, 1, 2, 0]]),
        f"ind.{name}.ty": python2_pickle(np.eye(3, dtype=np.int32)[[1, 2]]),
        f"ind.{name}.test.index": b"5\n4\n",
    }


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def save_npz(matrix):
    file = io.BytesIO()
    sparse.save_npz(file, matrix)
    return file.getvalue()


def tar(members):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, data in members:
            member = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return file.getvalue()


def netset_members(*, names=("pi", "e", "τ")):
    directed = sparse.csr_matrix(np.array([[0, 1, 0], [0, 0, 2], [0, 0, 1]]))
    return [
        ("./adjacency.npz", save_npz(directed)),
        ("./labels.npy", npy(np.array([0, 1, -1]))),
        ("./names.npy", npy(np.array(names, dtype=object))),
        ("./names_labels.npy", npy(np.array(["odd", "even"]))),
        ("./meta.p", pickle.dumps(print)),  # never looked at
    ]


SNAP = {
    "email-Eu-core.txt.gz": gzip.compress(b"0 1\n1 0\n2 1\n2 2\n"),
    "email-Eu-core-department-labels.txt.gz": gzip.compress(b"0 7\n1 7\n2 3\n3 0\n"),
}


def real_files(name):
    info = catalogue.KNOWN[name]
    if info.site == "planetoid":
        return planetoid_files(name)
    return SNAP if info.site == "snap" else {info.files[0]: tar(netset_members())}


# --- bundled ------------------------------------------------------------------------------------


def test_karate_club_is_as_it_was():
    club = load_dataset("karate")
    assert (club.graph.n_nodes, club.graph.n_edges) == (34, 78)
    assert sorted(set(club.labels)) == ["Mr. Hi", "Officer"]
    assert "Zachary" in club.source


@pytest.fixture(scope="module")
def debian():
    start = time.perf_counter()
    found = load_dataset("debian")
    assert time.perf_counter() - start < 5  # 0.2 s; more only where the machine is busy
    return found


def test_debian_is_a_large_graph_in_a_small_file(debian):
    assert 60_000 < debian.graph.n_nodes < 66_000
    assert 250_000 < debian.graph.n_edges < 350_000
    assert 50 <= len(np.unique(debian.labels)) <= 70
    assert (FOLDER / "debian.npz").stat().st_size < 2_000_000


def test_debian_packages_have_names_and_sections(debian):
    names = debian.graph.names
    assert len(np.unique(names)) == debian.graph.n_nodes
    assert not any("/" in section for section in np.unique(debian.labels))
    section = dict(zip(names.tolist(), debian.labels.tolist(), strict=True))
    expected = {"python3": "python", "bash": "shells", "libc6": "libs", "gcc": "devel"}
    assert {name: section[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [("bash", "libc6"), ("bash", "bash-doc"), ("python3", "python3-minimal"), ("gcc", "cpp")],
)
def test_debian_has_well_known_dependencies(debian, one, other):
    i, j = debian.graph.positions([one, other])
    assert debian.graph.adjacency[i, j] == debian.graph.adjacency[j, i] == 1
    assert debian.graph.adjacency.diagonal().sum() == 0


PACKAGES = """\
Package: shell
Section: shells
Depends: libbase (>= 2.36), debianutils (>= 5.6-0.1) | oldutils:any, nowhere
Pre-Depends: libterm [amd64] <!nocheck>
Description: a shell
 Depends: not a field

Package: libbase
Section: contrib/libs
Recommends: libterm,
 libmath+extra
Breaks: oldutils

Package: libterm
Section: libs
Depends: libterm

Package: libmath+extra
Section: math
Enhances: shell

Package: oldutils
Section: utils

Package: shell
Section: admin
Suggests: libmath+extra
"""


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_the_script_makes_a_graph_of_a_package_index(tmp_path, capsys, suffix):
    if not SCRIPT.exists():
        pytest.skip("the scripts of the repository are not here")
    import lzma

    pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[suffix]
    index, out = tmp_path / f"Packages{suffix}", tmp_path / "out.npz"
    index.write_bytes(pack(PACKAGES.encode()))
    main = runpy.run_path(str(SCRIPT))["main"]
    main([str(index), str(out)])
    assert "n_nodes=5, n_edges=6" in capsys.readouterr().out
    made = load_dataset("out", tmp_path)
    assert made.graph.names.tolist() == ["libbase", "libmath+extra", "libterm", "oldutils", "shell"]
    assert made.labels.tolist() == ["libs", "math", "libs", "utils", "shells"]
    pairs = {("libbase", "libmath+extra"), ("libbase", "libterm"), ("libbase", "shell"),
             ("libmath+extra", "shell"), ("libterm", "shell"), ("oldutils", "shell")}  # fmt: skip
    names = made.graph.names
    found = {(names[i], names[j]) for i, j in zip(*made.graph.adjacency.nonzero(), strict=True)}
    assert {pair for pair in found if pair[0] < pair[1]} == pairs
    first = out.read_bytes()
    main([str(index), str(out)])
    assert out.read_bytes() == first


# --- the list -----------------------------------------------------------------------------------


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


# --- from the network ---------------------------------------------------------------------------


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


def test_planetoid_files_become_the_graph_they_are(site):
    site.put(planetoid_files("cora"))
    cora = load_dataset("cora")
    expected = np.zeros((6, 6))
    for i, j in [(0, 1), (0, 3), (1, 2), (2, 2), (4, 5)]:
        expected[i, j] = expected[j, i] = 1
    assert (cora.graph.adjacency.toarray() == expected).all()
    assert cora.labels.tolist() == [0, 1, 2, 0, 2, 1]


def test_citeseer_loses_what_is_no_paper_of_it(site):
    files = planetoid_files("citeseer")
    # Node 6 is tested but alone; 7 is in the graph only; 8 has a self loop only.
    graph = defaultdict(list, {0: [1, 7], 1: [0, 1], 2: [3], 3: [2], 4: [5], 5: [4], 6: [],
                               7: [0], 8: [8]})  # fmt: skip
    files["ind.citeseer.graph"] = python2_pickle(graph)
    files["ind.citeseer.ty"] = python2_pickle(np.eye(3, dtype=np.int32)[[1, 2, 0, 1]])
    files["ind.citeseer.test.index"] = b"5\n4\n6\n8\n"
    site.put(files)
    citeseer = load_dataset("citeseer")
    assert citeseer.labels.tolist() == [0, 1, 2, 0, 2, 1]
    edges = np.argwhere(sparse.triu(citeseer.graph.adjacency).toarray())
    assert edges.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_netset_archives_become_graphs_with_names(site):
    site.put({"wikivitals_npz.tar.gz": tar(netset_members())})
    vitals = load_dataset("wikivitals")
    assert vitals.graph.names.tolist() == ["pi", "e", "τ"]
    assert vitals.labels.tolist() == ["odd", "even", None]
    assert vitals.graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 1]]


def test_names_that_are_not_all_different_give_way_to_positions(site):
    members = netset_members(names=("pi", "e", "e"))
    members[3] = ("./names_labels.npy", npy(np.array(["odd", "odd"])))
    site.put({"wikivitals_npz.tar.gz": tar(members)})
    vitals = load_dataset("wikivitals")
    assert vitals.graph.names.tolist() == [0, 1, 2]
    assert vitals.labels.tolist() == [0, 1, -1]


def test_netset_labels_may_be_strings_or_have_no_names(site):
    members = netset_members()
    members[1] = ("labels.npy", npy(np.array(["b", "a", "b"])))
    site.put({"polblogs_npz.tar.gz": tar(members)})
    assert load_dataset("polblogs").labels.tolist() == ["b", "a", "b"]
    members = netset_members()
    del members[2:]
    site.put({"wikischools_npz.tar.gz": tar([(f"wikischools/{n[2:]}", d) for n, d in members])})
    schools = load_dataset("wikischools")
    assert schools.labels.tolist() == [0, 1, -1]
    assert not schools.graph.has_names


def test_snap_files_become_a_graph_of_all_labelled_nodes(site):
    site.put(SNAP)
    email = load_dataset("email")
    assert email.graph.adjacency.toarray().tolist() == [
        [0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]
    ]  # fmt: skip
    assert email.labels.tolist() == [7, 7, 3, 0]


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


# --- accidents on the way -----------------------------------------------------------------------


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
    with pytest.raises(ValueError, match=r"leads to http://c\.example"):
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


# --- checksums ----------------------------------------------------------------------------------


def test_a_set_that_changed_in_the_cache_is_refused(site, home):
    site.put(SNAP)
    load_dataset("email")
    path = home / "email.npz"
    path.write_bytes(path.read_bytes() + b"\0")
    for function in (load_dataset, fetch_dataset):
        with pytest.raises(DatasetError, match=r"email\.npz is not what it was: .* delete") as e:
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
    with pytest.raises(DatasetError, match=r"email-Eu-core\.txt\.gz is not what it was"):
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


@pytest.mark.parametrize("text", ["{", "[]", '{"email.npz": 3}', "\xff"])
def test_a_damaged_list_of_checksums_is_an_error(home, text):
    home.mkdir()
    (home / "checksums.json").write_text(text, encoding="latin-1")
    (home / "email.npz").write_bytes(Packed.from_bytes(cached()).to_bytes())
    with pytest.raises(DatasetError, match=r"checksums"):
        load_dataset("email")


# --- hostile files ------------------------------------------------------------------------------


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
    with pytest.raises(DatasetError, match="more than 100000 bytes"):
        tar_members(bomb, ["labels.npy"], most=10**5)
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        member = tarfile.TarInfo("labels.npy")
        member.size = 10**12
        archive.addfile(member, None)
    with pytest.raises(DatasetError, match="1000000000000 bytes"):
        tar_members(plain.getvalue(), ["labels.npy"])


def test_a_damaged_archive_is_refused():
    whole = tar(netset_members())
    for data in (whole[:-20], whole[:50] + b"?" + whole[51:], b"no archive" * 100):
        with pytest.raises(DatasetError):
            tar_members(data, ["labels.npy"])
    with pytest.raises(DatasetError, match="two files 'a'"):
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


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (b"0 1\n1 two\n", r"email-Eu-core\.txt\.gz, line 2: .* '1 two'"),
        (b"# comment\n\n0 1 2\n", "line 3"),
        (b"0 1\n-1 2\n", "line 2"),
        (b"0 1\n1 1.5\n", "line 2"),
        (b"0 1\n1 " + b"9" * 30, "line 2"),
        (b"0 1\n\xff\xfe", "line 2"),
        (b"0 1\n1 99\n", "names node 99, which has no label"),
    ],
)
def test_a_malformed_edge_list_is_an_error_with_the_line(site, edges, message):
    site.put(SNAP | {"email-Eu-core.txt.gz": gzip.compress(edges)})
    with pytest.raises(DatasetError, match=message):
        load_dataset("email")


def test_labels_that_contradict_each_other_are_refused(site):
    name = "email-Eu-core-department-labels.txt.gz"
    site.put(SNAP | {name: gzip.compress(b"0 1\n1 1\n2 3\n0 2\n")})
    with pytest.raises(DatasetError, match="two labels"):
        load_dataset("email")


@pytest.mark.parametrize(
    ("part", "data", "message"),
    [
        ("test.index", b"5\nx\n", r"test\.index, line 2"),
        ("test.index", b"5\n", "1 nodes, but"),
        ("test.index", b"5\n400\n", "names node 400"),
        ("ally", python2_pickle(np.ones((4, 3), dtype=np.int32)), "two labels"),
        ("ty", python2_pickle(np.arange(2)), "shape"),
        ("graph", python2_pickle(np.arange(2)), "where a dict should be"),
        ("graph", b"", "damaged pickle"),
    ],
)
def test_planetoid_files_that_do_not_fit_together_are_refused(site, part, data, message):
    site.put(planetoid_files("pubmed") | {f"ind.pubmed.{part}": data})
    with pytest.raises(DatasetError, match=message):
        load_dataset("pubmed")


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
        ({"shape": np.array([2])}, "not a sparse matrix"),
        ({"indptr": np.array([0, 1])}, "row pointers"),
        ({"indptr": np.array([0, 2**62, 2])}, "row pointers"),
        ({"indptr": np.array([0, 1, 2**50])}, "row pointers"),
        ({"indices": np.array([1])}, "fit together"),
        ({"data": None}, "not a sparse matrix"),
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


# --- the format of the cache --------------------------------------------------------------------


def cached(**changes):
    """A file of the cache: a path of three nodes, the last with a self loop."""
    arrays = {
        "indptr": np.array([0, 1, 3, 5]),
        "indices": np.array([1, 0, 2, 1, 2]),
        "labels": np.array([0, -1, 1]),
    }
    file = io.BytesIO()
    given = {key: array for key, array in (arrays | changes).items() if array is not None}
    np.savez_compressed(file, **given)
    return file.getvalue()


def test_any_file_of_the_format_is_a_data_set(tmp_path):
    (tmp_path / "mine.npz").write_bytes(cached(extra=np.arange(3)))
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
        ({"labels": np.array([0, -2, 1])}, "from -1 on"),
        ({"labels": np.array([0.0, 1.0, 2.0])}, "whole numbers, not float64"),
        ({"labels": np.array([0, None, 1], dtype=object)}, "'labels' is an array of objects"),
        ({"indptr": np.array([0, 1, 3, 9])}, "ends in 9, but 'indices' has 5"),
        ({"indptr": np.array([0, 4, 3, 5])}, "do not go up from 0"),
        ({"indptr": np.array([0, 2**62 + 1, -(2**62) - 1, 5])}, "do not go up from 0"),
        ({"indptr": np.array([1, 2, 3, 5])}, "do not go up from 0"),
        ({"indptr": np.array([], dtype=int)}, "do not go up from 0"),
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
    (tmp_path / "mine.npz").write_bytes(cached(**changes))
    with pytest.raises(
        DatasetError, match=rf"mine\.npz is not a data set of isotherm: .*{message}"
    ):
        load_dataset("mine", tmp_path)


def test_a_file_that_is_damaged_is_an_error(tmp_path):
    whole = cached()
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
        read_npz(file.getvalue(), ["labels"], most=1000)
    assert read_npz(file.getvalue(), ["names"], most=1000) == {}


def test_what_is_packed_comes_out_as_it_went_in():
    names = np.array(["a", "ß", "c"])
    whole = Packed.from_bytes(cached(names=names, label_names=np.array(["no", "yes"])))
    for small in (False, True):
        data = whole.to_bytes(small=small)
        assert data == whole.to_bytes(small=small)
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            assert set(file.files) == {"indptr", "indices", "labels", "names", "label_names"}
            assert file["names"].tolist() == names.tolist()
        again = Packed.from_bytes(data)
        assert again.label_array().tolist() == ["no", None, "yes"]
        assert again.graph().names.tolist() == names.tolist()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {1980}


@pytest.mark.parametrize(
    "name",
    ["cora", "citeseer", "pubmed", "email", "polblogs",
     "lastfm_asia", "amazon_photo", "fashion_mnist_knn10_graph", "wikischools2007"],
)  # fmt: skip
def test_the_shared_data_are_a_filled_cache(site, name):
    if not (SHARED_DATA / f"{name}.npz").exists():
        pytest.skip(f"the shared data set {name} is not here")
    before = sorted(SHARED_DATA.iterdir())
    found = load_dataset(name, SHARED_DATA)
    info = describe(name, SHARED_DATA)
    assert info.cached
    if info.paper is not None:
        sizes = (found.graph.n_nodes, found.graph.adjacency.nnz // 2, len(np.unique(found.labels)))
        assert sizes == info.paper
    assert site.asked == []
    assert sorted(SHARED_DATA.iterdir()) == before
