"""The paper's graphs are fetched once, checked, and no other; on a network full of accidents."""

import gc
import gzip
import hashlib
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

pytest.importorskip("pooch", reason="graphs are fetched by pooch")

from benchmarks import graphs as of_benchmarks
from conftest import SHARED_DATA
from isotherm import DatasetError, load_dataset
from paper import graphs
from paper.__main__ import main
from paper.printed import TABLE1, Counts
from paper.tests.site_files import SNAP, files_of, netset_members, tar

EDGES, LABELS = SNAP
# pooch leaves connections open after an error.
pytestmark = [
    pytest.mark.core_free,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
unchecked = pytest.mark.filterwarnings("ignore:.*no checksum is known")


class Site:
    """A server of a few files, some of which it breaks."""

    def __init__(self):
        self.files, self.asked = {}, []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.asked.append(self.path.lstrip("/"))
                if site.asked[-1] not in site.files:
                    self.send_error(404)
                    return
                body, announced = site.files[site.asked[-1]]
                self.send_response(200)
                self.send_header("Content-Length", str(announced))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"

    def put(self, files, cut=0):
        for name, body in files.items():
            self.files[name] = (body[: len(body) - cut], len(body))


@pytest.fixture
def site(monkeypatch):
    """All sources at one place, with the sizes of the stand-ins there; no checksum is known."""
    site = Site()
    for name, source in graphs.SOURCES.items():
        moved = graphs.Source(site.address, source.files, source.read)
        monkeypatch.setitem(graphs.SOURCES, name, moved)
        sizes = {4: Counts(6, 4, 3), 2: Counts(4, 2, 3), 1: Counts(3, 2, 2)}[len(source.files)]
        monkeypatch.setitem(TABLE1, name, sizes)
    monkeypatch.setattr(graphs, "FILES", "")
    monkeypatch.setattr(graphs, "GRAPHS", {})
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "127.0.0.1")
    thread = threading.Thread(target=site.server.serve_forever, args=(0.01,))
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()
    gc.collect()  # what pooch leaves open is closed here, where it is no warning


def know(monkeypatch, files):
    """Have the catalogue know the checksums of these files."""
    lines = [f"{hashlib.sha256(body).hexdigest()}  {name}" for name, body in files.items()]
    monkeypatch.setattr(graphs, "FILES", "\n".join(lines))


def left_behind(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@unchecked
@pytest.mark.parametrize("name", graphs.SOURCES)
def test_a_set_is_fetched_once_and_then_loaded_from_the_folder(site, tmp_path, name):
    source = graphs.SOURCES[name]
    site.put(files_of(name, source))
    path = graphs.fetch(name, tmp_path)
    found = load_dataset(name, tmp_path)
    assert path == tmp_path / f"{name}.npz"
    assert found.graph.n_nodes == len(found.labels) == TABLE1[name].nodes
    assert site.asked == list(source.files)
    assert graphs.fetch(name, tmp_path) == path
    path.unlink()
    graphs.fetch(name, tmp_path)  # made anew from the files that are kept
    assert site.asked == list(source.files)
    assert left_behind(tmp_path) == sorted([path.name, *source.files])


def test_what_is_known_beforehand_is_all_but_netset():
    for name in ("cora", "citeseer", "pubmed", "email"):
        source = graphs.SOURCES[name]
        assert all(re.fullmatch("[0-9a-f]{64}", source.checksum(file)) for file in source.files)
    assert set(graphs.GRAPHS) == {"polblogs"}
    assert set(graphs.SOURCES) == set(TABLE1)


def test_addresses_are_those_of_the_sites():
    addresses = [s.base + file for s in graphs.SOURCES.values() for file in s.files]
    assert len(addresses) == len(set(addresses)) == 3 * 4 + 2 + 4
    assert all(address.startswith("https://") for address in addresses)
    assert "https://netset.telecom-paris.fr/datasets_npz/wikivitals+_npz.tar.gz" in addresses
    assert "https://snap.stanford.edu/data/email-Eu-core.txt.gz" in addresses


def test_the_checksum_of_a_graph_is_that_of_the_results_that_are_kept():
    path = SHARED_DATA / "polblogs.npz"
    if not path.exists():
        pytest.skip("the shared data set polblogs is not here")
    found = load_dataset("polblogs", SHARED_DATA)
    with np.load(path) as arrays:
        labels = arrays["labels"]
    same = graphs.sites.Labelled(found.graph.adjacency, labels)
    assert graphs.fingerprint(same) == graphs.GRAPHS["polblogs"]


def test_a_file_that_is_not_the_one_known_is_refused_at_the_first_download(
    site, tmp_path, monkeypatch
):
    know(monkeypatch, SNAP)
    site.put(SNAP | {EDGES: gzip.compress(b"0 3\n")})
    with pytest.raises(DatasetError, match=r"could not download .*email-Eu-core\.txt\.gz"):
        graphs.fetch("email", tmp_path)
    assert left_behind(tmp_path) == []
    site.put(SNAP)
    graphs.fetch("email", tmp_path)
    assert load_dataset("email", tmp_path).graph.n_nodes == 4


def test_a_file_put_there_by_hand_is_used_if_it_is_the_one_known(site, tmp_path, monkeypatch):
    know(monkeypatch, SNAP)
    (tmp_path / "raw").mkdir()
    for name, body in SNAP.items():
        (tmp_path / "raw" / name).write_bytes(body)
    graphs.fetch("email", tmp_path)
    assert site.asked == []


def test_a_graph_that_is_not_the_one_known_is_refused_after_it_was_read(
    site, tmp_path, monkeypatch
):
    site.put({"polblogs_npz.tar.gz": tar(netset_members())})
    monkeypatch.setitem(graphs.GRAPHS, "polblogs", "0" * 64)
    with pytest.raises(
        DatasetError,
        match=r"PolBlogs is not what it was: the graph's SHA-256 .* was 0{64}\. Delete",
    ):
        graphs.fetch("polblogs", tmp_path)
    assert left_behind(tmp_path) == ["polblogs_npz.tar.gz"]
    (tmp_path / "polblogs_npz.tar.gz").unlink(missing_ok=True)
    found = graphs.sites.read_netset({"a": tar(netset_members())})
    monkeypatch.setitem(graphs.GRAPHS, "polblogs", graphs.fingerprint(found))
    graphs.fetch("polblogs", tmp_path)  # and the right one without a warning


def test_a_graph_of_other_sizes_than_in_table_1_is_refused(site, tmp_path, monkeypatch):
    site.put({"wikischools_npz.tar.gz": tar(netset_members())})
    monkeypatch.setitem(TABLE1, "wikischools", Counts(4_403, 100_329, 16))
    with pytest.raises(DatasetError, match=r"are \(3, 2, 2\), in Table 1 \(4403, 100329, 16\)"):
        graphs.fetch("wikischools", tmp_path)
    assert not (tmp_path / "wikischools.npz").exists()


def test_where_no_checksum_is_known_it_says_so(site, tmp_path):
    site.put({"wikischools_npz.tar.gz": tar(netset_members())})
    with pytest.warns(UserWarning, match="WikiSchools: no checksum is known, only its sizes"):
        graphs.fetch("wikischools", tmp_path)


@pytest.mark.parametrize("data", [b"<html>Try again later</html>", b"", b"\x1f\x8b\x00 damaged"])
def test_a_page_in_place_of_a_file_is_an_error_that_says_what_to_do(site, tmp_path, data):
    site.put({"wikischools_npz.tar.gz": data})
    with pytest.raises(DatasetError, match=r"is not what it was: .* Delete its files in .*raw"):
        graphs.fetch("wikischools", tmp_path)
    assert not (tmp_path / "wikischools.npz").exists()


def test_a_missing_file_is_an_error_with_the_address_and_the_place(site, tmp_path):
    with pytest.raises(DatasetError) as failure:
        graphs.fetch("email", tmp_path)
    message = str(failure.value)
    assert "404" in message
    assert f"{site.address}{EDGES}" in message
    assert str(tmp_path / "raw" / EDGES) in message
    assert left_behind(tmp_path) == []


def test_a_truncated_download_leaves_nothing(site, tmp_path):
    site.put(SNAP, cut=5)
    with pytest.raises(DatasetError, match="could not download"):
        graphs.fetch("email", tmp_path)
    assert left_behind(tmp_path) == []


@unchecked
def test_a_failure_half_way_keeps_the_files_that_are_whole(site, tmp_path):
    site.put({EDGES: SNAP[EDGES]})
    with pytest.raises(DatasetError, match="labels"):
        graphs.fetch("email", tmp_path)
    site.put(SNAP)
    graphs.fetch("email", tmp_path)
    assert site.asked == [EDGES, LABELS, LABELS]


def test_without_pooch_the_message_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DatasetError, match=r"pip install pooch, or save https://snap"):
        graphs.fetch("email", tmp_path)


@unchecked
def test_the_command_fetches_and_says_where_they_are_and_why_others_are_not(site, tmp_path, capsys):
    site.put(SNAP)
    assert main(["data", "--data", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert said.out == f"{tmp_path / 'email.npz'}\n"
    assert len(said.err.splitlines()) == len(TABLE1) - 1
    assert said.err.startswith(f"cora: could not download {site.address}ind.cora.graph: 404")


def test_a_server_that_is_not_there_is_said_in_one_short_line(site, tmp_path):
    site.server.shutdown()
    site.server.server_close()
    with pytest.raises(DatasetError, match=r"could not download .*refused.*; you can also") as told:
        graphs.fetch("email", tmp_path)
    assert len(str(told.value).replace(str(tmp_path), "")) < 250
    assert left_behind(tmp_path) == []


# --- of the benchmarks ----------------------------------------------------------------------------


def test_each_real_graph_of_the_benchmarks_is_fetched_or_says_where_it_comes_from():
    for name, graph in of_benchmarks.REAL_GRAPHS.items():
        assert (name in graphs.SOURCES) != bool(graph.origin), name
        assert re.fullmatch("[0-9a-f]{64}", graph.checksum)
    known = {name: graph.checksum for name, graph in of_benchmarks.REAL_GRAPHS.items()}
    assert graphs.GRAPHS.items() <= known.items()


def test_a_benchmark_takes_no_other_graph_for_a_real_one(tmp_path, monkeypatch):
    monkeypatch.setattr(of_benchmarks, "REAL", tmp_path)
    arrays = {"indptr": np.array([0, 1, 2]), "indices": np.array([1, 0]), "labels": np.arange(2)}
    np.savez(tmp_path / "cora.npz", **arrays)
    with pytest.raises(ValueError, match=r"cora\.npz is not the graph .* checksum is [0-9a-f]{64}"):
        of_benchmarks.real("cora")
    found = graphs.sites.labelled(2, np.array([0]), np.array([1]), np.arange(2))
    graph = of_benchmarks.RealGraph(graphs.fingerprint(found))
    monkeypatch.setitem(of_benchmarks.REAL_GRAPHS, "cora", graph)
    matrix, labels = of_benchmarks.real("cora")
    assert (matrix.nnz, labels.tolist()) == (2, [0, 1])


def test_graphs_that_are_not_there_are_left_out_and_said_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(of_benchmarks, "REAL", tmp_path)
    of_benchmarks.real_names.cache_clear()
    assert of_benchmarks.real_names() == of_benchmarks.real_names() == []
    of_benchmarks.real_names.cache_clear()
    said = capsys.readouterr().err
    assert said.startswith(f"left out, since {tmp_path} does not have them: cora, citeseer, ")
    assert len(said.splitlines()) == 1
