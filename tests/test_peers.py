"""Classifiers of other libraries: the same question as ours, and no way to end a comparison."""

import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from isotherm import DirichletClassifier, Graph, ParameterError
from isotherm.errors import NoAnswer
from isotherm.experiments import peers
from isotherm.experiments.peers import PEERS, Peer, choose_peers, installed
from oracle import random_graph


def needs(library):
    return pytest.mark.skipif(find_spec(library) is None, reason=f"{library} is not installed")


every_peer = pytest.mark.parametrize(
    "name",
    [pytest.param(peer.name, marks=needs(peer.module.split(".")[0])) for peer in PEERS.values()],
)


def cliques(*more):
    """Two cliques of five joined by an edge, and other edges."""
    edges = [(a, b) for part in (range(5), range(5, 10)) for a in part for b in part if a < b]
    return Graph.from_edges(*zip(*edges, (4, 5), *more, strict=True))


def made(answer, module="numpy"):
    return Peer("made", "A peer made for tests", "numpy", module, answer)


@every_peer
def test_a_peer_labels_two_cliques_whatever_the_numbers_of_the_classes(name):
    known = np.full(10, -1)
    known[[0, 9]] = 7, 3
    assert PEERS[name].labels(cliques(), known).tolist() == [7] * 5 + [3] * 5


@every_peer
def test_with_one_class_there_is_nothing_to_decide(name):
    known = np.full(10, -1)
    known[0] = 4
    assert PEERS[name].labels(cliques(), known).tolist() == [4] * 10


@every_peer
def test_several_components_are_no_trouble(name):
    known = np.full(14, -1)
    known[[0, 9, 10]] = 0, 1, 1
    graph = cliques((10, 11), (12, 13))  # one with a seed, one without
    found = PEERS[name].labels(graph, known)
    assert found[:10].tolist() == [0] * 5 + [1] * 5
    assert found[11] == 1


@needs("graphlearning")
def test_laplace_learning_is_our_plain_decision(rng):
    graph = random_graph(rng, 40, 12.0)
    known = np.full(40, -1)
    known[:9] = np.arange(9) % 3
    ours = DirichletClassifier("plain").fit(graph, known)
    sure = ours.margins_ > 1e-3
    assert np.count_nonzero(sure) > 30
    assert (PEERS["laplace"].labels(graph, known) == ours.labels_)[sure].all()


@needs("sknetwork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the fork by its pool
def test_pagerank_is_that_of_scikit_network(rng):
    from sknetwork.classification import PageRankClassifier

    graph = random_graph(rng, 40, 12.0)
    known = np.full(40, -1)
    known[:9] = np.arange(9) % 3
    theirs = PageRankClassifier().fit_predict(sparse.csr_matrix(graph.adjacency), known)
    assert PEERS["pagerank"].labels(graph, known).tolist() == theirs.tolist()


def test_label_spreading_reaches_its_closed_form(rng):
    graph = random_graph(rng, 40, 12.0)
    known = np.full(40, -1)
    known[:9] = np.arange(9) % 3
    A = graph.adjacency.toarray()
    S = -csgraph.laplacian(A, normed=True)
    np.fill_diagonal(S, 0.0)
    F = np.linalg.solve(np.eye(40) - 0.8 * S, known[:, np.newaxis] == np.arange(3))
    first, second = np.sort(F, axis=1)[:, :-3:-1].T
    clear = first > 1.02 * second
    assert np.count_nonzero(clear) > 20
    assert (PEERS["spreading"].labels(graph, known) == F.argmax(axis=1))[clear].all()


@pytest.mark.parametrize("error", [ValueError("odd"), SystemExit("odd"), MemoryError("odd")])
def test_what_a_peer_raises_is_no_answer(error):
    def fail(*_):
        raise error

    known = np.array([0, 1] + 8 * [-1])
    with pytest.warns(NoAnswer, match=f"made gave no answer: {type(error).__name__}: odd"):
        assert made(fail).labels(cliques(), known).tolist() == [-1] * 10


def test_a_library_that_cannot_be_loaded_is_no_answer():
    known = np.array([0, 1] + 8 * [-1])
    with pytest.warns(NoAnswer, match="ModuleNotFoundError"):
        made(None, "no_such_module").labels(cliques(), known)


def test_scores_that_are_no_numbers_are_no_answer():
    known = np.array([0, 1] + 8 * [-1])
    scores = np.zeros((10, 2))
    scores[5] = np.nan, 1.0
    found = made(lambda *_: peers._highest(scores)).labels(cliques(), known)
    assert found.tolist() == [0] * 5 + [-1] + [0] * 4
    with pytest.warns(NoAnswer, match="none of its scores is a number"):
        made(lambda *_: peers._highest(scores * np.nan)).labels(cliques(), known)


def test_a_peer_neither_prints_nor_warns(capsys):
    def chatter(_, __, codes):
        print("look at me")  # noqa: T201
        warnings.warn("and at me", RuntimeWarning, stacklevel=1)
        return codes * 0

    known = np.array([0, 1] + 8 * [-1])
    assert made(chatter).labels(cliques(), known).tolist() == [0] * 10
    assert capsys.readouterr().out == ""


def test_an_interrupt_is_not_an_answer():
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(interrupt).labels(cliques(), np.array([0, 1] + 8 * [-1]))


def test_peers_are_chosen_by_name_or_all_at_once(monkeypatch):
    assert choose_peers([]) == []
    assert choose_peers(["all"]) == installed()
    assert [peer.name for peer in choose_peers(["spreading", "spreading"])] == ["spreading"]
    with pytest.raises(ParameterError, match="unknown peer 'gcn'; choose one of: 'diffusion'"):
        choose_peers(["gcn"])
    monkeypatch.setattr(peers, "find_spec", lambda name: None if name == "graphlearning" else True)
    assert "poisson" not in [peer.name for peer in choose_peers(["all"])]
    with pytest.raises(ParameterError, match=r"pip install graphlearning\. Installed: diffusion"):
        choose_peers(["poisson"])
