"""What the sites offer becomes graphs, or an error that says what is wrong."""

import gzip
from collections import defaultdict

import numpy as np
import pytest
from scipy import sparse

from isotherm import load_dataset
from isotherm.errors import DatasetError
from site_files import SNAP, netset_members, npy, planetoid_files, python2_pickle, tar


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
