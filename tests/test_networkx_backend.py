"""NetworkX's node classification, done by isotherm: found by NetworkX, its tests pass, exact."""

import os
import re
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms import node_classification

from isotherm import networkx_backend

FUNCTIONS = [
    node_classification.harmonic_function,
    node_classification.local_and_global_consistency,
]
TESTS = "networkx.algorithms.tests.test_node_classification"


@pytest.fixture(autouse=True)
def found():
    if "isotherm" not in nx.utils.backends.backends:
        pytest.fail("NetworkX does not know the backend: install isotherm anew, pip install -e .")


def labelled(graph, share=0.1, classes="xyz", seed=0):
    rng = np.random.default_rng(seed)
    nodes = list(graph)
    for i in rng.choice(len(nodes), max(3, round(share * len(nodes))), replace=False).tolist():
        graph.nodes[nodes[i]]["label"] = classes[rng.integers(len(classes))]
    return graph


GRAPHS = {
    "karate club, weighted": labelled(nx.karate_club_graph()),
    "names, self loops, several components": labelled(
        nx.Graph([("a", "a"), ("a", "b"), ("b", "c"), ("c", "d"), ("e", "f"), ("g", "g")])
    ),
    "parallel edges": labelled(nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 3), (2, 3), (3, 3)])),
    "hubs": labelled(nx.barabasi_albert_graph(300, 3, seed=1)),
    "long way": labelled(nx.path_graph(60), share=0.05),
}


def test_the_tests_of_networkx_pass(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--pyargs", TESTS],
        env=os.environ | {"NETWORKX_TEST_BACKEND": "isotherm", "NETWORKX_FALLBACK_TO_NX": "False"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    passed = r"^1\d passed(, 1 warning)? in"  # none left out; without the core it is said
    assert re.search(passed, ran.stdout, re.MULTILINE), ran.stdout


def by_dense_solve(graph, alpha=None):
    """What the sweeps of NetworkX come to; harmonic without an alpha."""
    A, labels = nx.to_numpy_array(graph), [label for _, label in graph.nodes(data="label")]
    classes = list(dict.fromkeys(label for label in labels if label is not None))
    Y = np.array([[label == each for each in classes] for label in labels], dtype=float)
    d = np.where(A.sum(axis=0) > 0, A.sum(axis=0), 1.0)
    if alpha is None:
        P, Z = A / d[:, np.newaxis], Y
        P[Y.any(axis=1)] = 0
    else:
        P, Z = alpha * A / np.sqrt(np.outer(d, d)), (1 - alpha) * Y
    F = np.linalg.lstsq(np.eye(len(A)) - P, Z, rcond=None)[
        0
    ]  # of least length: 0 where no heat gets
    return [classes[k] for k in (F.max(axis=1, keepdims=True) - 1e-11 <= F).argmax(axis=1)]


@pytest.mark.parametrize("name", GRAPHS)
def test_labels_are_those_of_a_dense_solve(name):
    graph = GRAPHS[name]
    found = node_classification.harmonic_function(graph, backend="isotherm")
    assert found == by_dense_solve(graph)
    assert all(type(label) is str for label in found)


@pytest.mark.parametrize("alpha", [0, 0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("name", GRAPHS)
def test_consistency_is_that_of_a_dense_solve(name, alpha):
    classify, graph = node_classification.local_and_global_consistency, GRAPHS[name]
    assert classify(graph, alpha, backend="isotherm") == by_dense_solve(graph, alpha)


@pytest.mark.parametrize("classify", FUNCTIONS, ids=lambda one: one.__name__)
def test_labels_are_what_the_sweeps_of_networkx_come_to(classify):
    graph = GRAPHS["karate club, weighted"]
    assert classify(graph, backend="isotherm") == classify(graph, max_iter=1000)


def test_an_alpha_that_makes_no_equilibrium_is_left_to_networkx():
    classify = node_classification.local_and_global_consistency
    with pytest.raises(NotImplementedError):
        classify(GRAPHS["hubs"], alpha=1.5, backend="isotherm")


def test_negative_weights_are_left_to_networkx():
    graph = nx.path_graph(3)
    graph.nodes[0]["label"], graph.edges[1, 2]["weight"] = "x", -1
    with pytest.raises(NotImplementedError):
        node_classification.harmonic_function(graph, backend="isotherm")
    with nx.config.backend_priority(algos=["isotherm"]):
        assert node_classification.harmonic_function(graph) == ["x", "x", "x"]


def test_programs_need_no_change():
    graph = nx.path_graph(100)
    graph.nodes[0]["label"], graph.nodes[99]["label"] = "first", "last"
    swept = node_classification.harmonic_function(graph)
    assert swept[60] == "first"  # 30 sweeps have brought no heat there
    with nx.config.backend_priority(algos=["isotherm"]):
        assert node_classification.harmonic_function(graph)[60] == "last"


def test_labels_set_after_a_call_are_seen_by_the_next():
    graph = nx.path_graph(3)
    graph.nodes[0]["label"] = "x"
    classify = node_classification.harmonic_function
    assert classify(graph, backend="isotherm") == ["x", "x", "x"]
    graph.nodes[2]["label"] = "y"
    graph.edges[1, 2]["weight"] = 3.0
    assert classify(graph, backend="isotherm") == ["x", "y", "y"]


def test_labels_of_any_kind_come_back_as_they_are():
    graph = nx.path_graph(4)
    graph.nodes[0]["kind"], graph.nodes[3]["kind"] = ("a", 1), None
    found = node_classification.harmonic_function(graph, label_name="kind", backend="isotherm")
    assert found == [("a", 1), ("a", 1), None, None]


def test_networkx_is_told_of_every_function_that_there_is():
    told = networkx_backend.get_info()["functions"]
    assert set(told) == {one.__name__ for one in FUNCTIONS}
    assert all(callable(getattr(networkx_backend.Backend, name)) for name in told)


def test_importing_networkx_does_not_load_what_takes_time():
    code = "import networkx, sys; print({'isotherm.graph', 'scipy', 'sklearn'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"
