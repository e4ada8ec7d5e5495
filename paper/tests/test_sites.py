"""What the sites offer becomes graphs, or an error that says what is wrong; nothing is run."""

import gzip
import pickle
import tarfile
from collections import defaultdict

import numpy as np
import pytest
from scipy import sparse

from isotherm import DatasetError
from npz_files import npy
from paper import sites
from paper.tests.site_files import SNAP, netset_members, planetoid_files, python2_pickle, tar

pytestmark = pytest.mark.core_free


def edges_of(found):
    return np.argwhere(sparse.triu(found.adjacency).toarray()).tolist()


def netset(members):
    return sites.read_netset({"polblogs_npz.tar.gz": tar(members)})


def test_planetoid_files_become_the_graph_they_are():
    cora = sites.read_planetoid(planetoid_files("cora"))
    assert edges_of(cora) == [[0, 1], [0, 3], [1, 2], [2, 2], [4, 5]]
    assert (cora.adjacency != cora.adjacency.T).nnz == 0
    assert set(cora.adjacency.data) == {1.0}
    assert cora.labels.tolist() == [0, 1, 2, 0, 2, 1]


def test_citeseer_loses_what_is_no_paper_of_it():
    files = planetoid_files("citeseer")
    # Node 6 is tested but alone; 7 is in the graph only; 8 has a self loop only.
    graph = defaultdict(list, {0: [1, 7], 1: [0, 1], 2: [3], 3: [2], 4: [5], 5: [4], 6: [],
                               7: [0], 8: [8]})  # fmt: skip
    files["ind.citeseer.graph"] = python2_pickle(graph)
    files["ind.citeseer.ty"] = python2_pickle(np.eye(3, dtype=np.int32)[[1, 2, 0, 1]])
    files["ind.citeseer.test.index"] = b"5\n4\n6\n8\n"
    citeseer = sites.read_citeseer(files)
    assert citeseer.labels.tolist() == [0, 1, 2, 0, 2, 1]
    assert edges_of(citeseer) == [[0, 1], [2, 3], [4, 5]]


def test_netset_archives_become_graphs_with_names_of_classes():
    vitals = netset(netset_members())
    assert vitals.classes.tolist() == ["odd", "even"]
    assert vitals.labels.tolist() == [0, 1, -1]
    assert vitals.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 1]]


def test_netset_labels_may_be_strings_or_have_no_names():
    members = netset_members()
    members[1] = ("labels.npy", npy(np.array(["b", "a", "b"])))
    found = netset(members)
    assert found.classes[found.labels].tolist() == ["b", "a", "b"]
    found = netset([(f"wikischools/{name[2:]}", data) for name, data in netset_members()[:2]])
    assert (found.labels.tolist(), found.classes) == ([0, 1, -1], None)
    members = netset_members()
    members[3] = ("./names_labels.npy", npy(np.array(["odd", "even"], dtype=object)))
    assert netset(members).classes.tolist() == ["odd", "even"]
    members[3] = ("./names_labels.npy", npy(np.array(["odd"])))
    assert netset(members).classes is None


def test_snap_files_become_a_graph_of_all_labelled_nodes():
    for files in (SNAP, {name: gzip.decompress(data) for name, data in SNAP.items()}):
        email = sites.read_snap(files)
        assert edges_of(email) == [[0, 1], [1, 2], [2, 2]]
        assert email.labels.tolist() == [7, 7, 3, 0]


class Evil:
    def __reduce__(self):
        return exec, ("raise SystemExit('the pickle was run')",)


@pytest.mark.parametrize("protocol", range(5))
def test_a_pickle_of_a_forbidden_class_is_refused_and_not_run(protocol):
    evil = pickle.dumps(Evil(), protocol=protocol)
    for part in ("graph", "ally"):
        with pytest.raises(DatasetError, match=r"the pickle asks for .*exec"):
            sites.read_planetoid(planetoid_files("cora") | {f"ind.cora.{part}": evil})


@pytest.mark.parametrize("name", ["load", "frombuffer", "fromfile", "memmap"])
def test_a_pickle_gets_no_other_function_of_numpy(name):
    evil = f"cnumpy\n{name}\n(S'a'\ntR.".encode()
    with pytest.raises(DatasetError, match=f"the pickle asks for numpy.{name}"):
        sites.read_planetoid(planetoid_files("cora") | {"ind.cora.graph": evil})


def test_names_that_hide_a_forbidden_class_are_refused():
    members = netset_members()
    members[3] = ("names_labels.npy", npy(np.array([Evil(), "e"], dtype=object)))
    with pytest.raises(DatasetError, match=r"the pickle asks for builtins\.exec"):
        netset(members)


def hostile_members():
    for name in ("../labels.npy", "/etc/labels.npy", "a/../../labels.npy"):
        yield tarfile.TarInfo(name)
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
        member = tarfile.TarInfo("names_labels.npy")
        member.type, member.linkname = kind, "/etc/passwd"
        yield member


@pytest.mark.parametrize("member", [*hostile_members()], ids=lambda m: m.name + m.type.decode())
def test_an_archive_with_a_hostile_member_writes_and_reads_nothing_else(
    member, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    found = netset([(member, b""), *netset_members()])
    assert found.labels.tolist() == [0, 1, -1]
    assert list(tmp_path.iterdir()) == []


def test_an_archive_without_labels_is_refused(monkeypatch):
    with pytest.raises(DatasetError, match=r"polblogs_npz\.tar\.gz has no labels\.npy"):
        netset(netset_members()[:1])
    monkeypatch.setattr(sites, "MOST_BYTES", 140)  # of a member: those that are larger do not count
    with pytest.raises(DatasetError, match=r"has no adjacency\.npz"):
        netset(netset_members())
