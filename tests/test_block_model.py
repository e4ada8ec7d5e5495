"""The paper's theory: Lemma 1, Theorem 1, its two examples, and the open question settled."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from isotherm import BlockModel, DirichletClassifier
from isotherm.block_model import _successes, _unrank_pairs
from isotherm.decision import DECISIONS
from isotherm.errors import LabelError, ParameterError
from oracle import dense_temperatures, exact_temperatures


def seed_nodes(model, seeds):
    """The first nodes of each block are its seeds."""
    starts = np.concatenate([[0], np.cumsum(model.sizes)[:-1]])
    return np.concatenate([start + np.arange(s) for start, s in zip(starts, seeds, strict=True)])


def draw(rng, n_blocks=None):
    """A block model with a free node and a seed in every block, p > q."""
    K = n_blocks or int(rng.integers(2, 6))
    sizes = rng.integers(2, 40, K)
    seeds = rng.integers(1, sizes)
    q = 10 ** rng.uniform(-3, 0)
    p = q * (1 + 10 ** rng.uniform(-2, 2))
    return BlockModel(sizes, p, q), seeds


def free_nodes(model):
    """One free node of each block."""
    return np.cumsum(model.sizes) - 1


# --- Lemma 1 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("assortative", [True, False])
def test_lemma_1_is_the_dense_solve_for_every_label(rng, assortative):
    for _ in range(60):
        model, seeds = draw(rng)
        if not assortative:
            model = BlockModel(model.sizes, model.q, model.p)
        nodes = seed_nodes(model, seeds)
        labels = model.labels[nodes]
        values = np.equal.outer(labels, np.arange(len(seeds))).astype(float)
        exact = dense_temperatures(model.expected_graph(), nodes, values)
        T = model.temperatures(seeds)
        assert np.abs(T - exact[free_nodes(model)]).max() < 1e-10
        assert np.abs(model.mean_temperatures(seeds) - exact.mean(axis=0)).max() < 1e-10


def test_lemma_1_as_printed(rng):
    # T̄ exactly as the paper writes it, with the subtraction that `BlockModel` avoids.
    for _ in range(100):
        model, s = draw(rng)
        n_k, n, p, q = model.sizes, model.n_nodes, model.p, model.q
        top = (s / n) * (n_k * (p - q) + n * q) / (s * (p - q) + n * q)
        printed = top / (1 - np.sum((n_k - s) * q / (s * (p - q) + n * q)))
        assert np.allclose(model.mean_temperatures(s), printed, rtol=1e-9)


def test_fractions_give_exact_temperatures():
    model = BlockModel([4, 3, 2], Fraction(3), Fraction(1))
    T = model.temperatures([2, 1, 1])
    assert all(isinstance(t, Fraction) for t in T.ravel())
    nodes = seed_nodes(model, [2, 1, 1])
    exact = exact_temperatures(model.expected_graph(), nodes, np.eye(3)[model.labels[nodes]])
    assert T.tolist() == [exact[i] for i in free_nodes(model)]
    assert model.mean_temperatures([2, 1, 1]).tolist() == [
        sum(column) / 9 for column in zip(*exact, strict=True)
    ]


def test_temperatures_of_all_labels_sum_to_one(rng):
    for _ in range(50):
        model, seeds = draw(rng)
        assert np.allclose(model.temperatures(seeds).sum(axis=1), 1)
        assert np.isclose(model.mean_temperatures(seeds).sum(), 1)


# --- Theorem 1 ------------------------------------------------------------------------------------


def test_theorem_1_centering_is_right_on_thousands_of_block_models():
    rng = np.random.default_rng(7)
    wrong = dict.fromkeys(DECISIONS, 0)
    for _ in range(3000):
        model, seeds = draw(rng)
        for decision in DECISIONS:
            found = model.classify(seeds, decision)
            wrong[decision] += (found != np.arange(len(seeds))).any()
    assert wrong["centered"] == 0
    assert wrong["standard"] == 0  # positive for the own block and negative for all others, too
    assert wrong["plain"] > 1000
    assert wrong["mass"] > 100
    assert wrong["ratio"] == 0
    assert wrong["partial"] > 0


def test_centred_temperatures_have_the_signs_of_the_proof():
    rng = np.random.default_rng(8)
    for _ in range(1000):
        model, seeds = draw(rng)
        delta = model.temperatures(seeds) - model.mean_temperatures(seeds)
        own = np.eye(len(seeds), dtype=bool)
        assert (delta[own] > 0).all()
        assert (delta[~own] < 0).all()


@pytest.mark.parametrize(
    ("sizes", "seeds"),
    [([100, 100], [10, 5]), ([100, 10], [5, 5])],
    ids=["seed asymmetry", "label asymmetry"],
)
def test_the_papers_two_cases_need_centering(sizes, seeds):
    model = BlockModel(sizes, 1e-1, 1e-2)
    assert model.classify(seeds, "plain").tolist() != [0, 1]
    assert model.classify(seeds, "centered").tolist() == [0, 1]


@pytest.mark.parametrize("decision", DECISIONS)
def test_the_classifier_on_the_expected_graph_agrees_with_the_closed_form(decision, rng):
    for _ in range(25):
        model, seeds = draw(rng)
        labels = np.full(model.n_nodes, -1)
        labels[seed_nodes(model, seeds)] = model.labels[seed_nodes(model, seeds)]
        c = DirichletClassifier(decision).fit(model.expected_graph(), labels)
        nodes = free_nodes(model)
        sure = c.status_[nodes] == "predicted"
        assert np.array_equal(c.labels_[nodes][sure], model.classify(seeds, decision)[sure])


# --- the open question ----------------------------------------------------------------------------

COUNTEREXAMPLE = ((20, 3, 9), (12, 1, 8))


def test_partial_centering_is_not_consistent_for_three_blocks_in_exact_arithmetic():
    sizes, seeds = COUNTEREXAMPLE
    model = BlockModel(sizes, Fraction(3), Fraction(1))
    T, s = model.temperatures(seeds), np.array([Fraction(x) for x in seeds])
    free_mean = (32 * model.mean_temperatures(seeds) - s) / (32 - 21)
    scores = T[1] - free_mean
    margin = scores[1] - max(scores[0], scores[2])
    assert margin == Fraction(-332, 48851)
    assert model.classify(seeds, "partial")[1] != 1
    assert model.classify(seeds, "centered").tolist() == [0, 1, 2]


def test_partial_centering_is_not_consistent_by_a_dense_solve():
    sizes, seeds = COUNTEREXAMPLE
    model = BlockModel(sizes, 3.0, 1.0)
    nodes = seed_nodes(model, seeds)
    T = dense_temperatures(model.expected_graph(), nodes, np.eye(3)[model.labels[nodes]])
    free = np.setdiff1d(np.arange(32), nodes)
    block_2 = free[model.labels[free] == 1]
    partial = T[block_2] - T[free].mean(axis=0)
    margin = partial[:, 1] - np.maximum(partial[:, 0], partial[:, 2])
    assert np.allclose(margin, -332 / 48851, rtol=1e-10)
    assert ((T[block_2] - T.mean(axis=0)).argmax(axis=1) == 1).all()


def test_partial_centering_is_consistent_for_two_blocks():
    rng = np.random.default_rng(9)
    for _ in range(3000):
        model, seeds = draw(rng, n_blocks=2)
        assert model.classify(seeds, "partial").tolist() == [0, 1]


# --- sampling -------------------------------------------------------------------------------------


def test_edges_of_a_sample_are_as_frequent_as_the_model_says():
    model = BlockModel([300, 200, 100], 0.1, 0.02)
    rng = np.random.default_rng(3)
    counts, repeats = np.zeros((3, 3)), 40
    for _ in range(repeats):
        graph, labels = model.sample(rng)
        one_of = np.eye(3)[labels]
        counts += one_of.T @ (graph.adjacency @ one_of)
    pairs = np.outer(model.sizes, model.sizes).astype(float)
    np.fill_diagonal(pairs, model.sizes * (model.sizes - 1))
    P = np.where(np.eye(3) > 0, 0.1, 0.02)
    sigma = np.sqrt(P * (1 - P) * pairs * np.where(np.eye(3) > 0, 2, 1) * repeats)
    assert (np.abs(counts - P * pairs * repeats) < 4.5 * sigma).all()


def test_a_sample_is_a_simple_graph_with_its_blocks_in_order(rng):
    graph, labels = BlockModel([30, 50], 0.4, 0.1).sample(rng)
    assert labels.tolist() == [0] * 30 + [1] * 50
    assert graph.adjacency.diagonal().sum() == 0
    assert set(graph.adjacency.data) == {1.0}
    assert (graph.adjacency != graph.adjacency.T).nnz == 0
    assert graph.adjacency.has_canonical_format


def test_the_same_generator_gives_the_same_sample():
    model = BlockModel([50, 60], 0.2, 0.05)
    first, second = (model.sample(np.random.default_rng(4))[0] for _ in range(2))
    assert (first.adjacency != second.adjacency).nnz == 0


@pytest.mark.parametrize(("p", "q", "edges"), [(0, 0, 0), (1, 1, 435), (1, 0, 135), (0, 1, 300)])
def test_certain_edges_are_certain(p, q, edges, rng):
    graph, _ = BlockModel([10, 10, 10], p, q).sample(rng)
    assert graph.n_edges == edges


def test_every_trial_is_as_likely_to_succeed_as_every_other(rng):
    hits = np.zeros(50)
    for _ in range(4000):
        found = _successes(50, 0.3, rng)
        assert (np.diff(found) > 0).all()
        hits[found] += 1
    assert np.abs(hits / 4000 - 0.3).max() < 4.5 * np.sqrt(0.21 / 4000)


def test_rare_successes_do_not_overflow(rng):
    found = _successes(2**61, 1e-16, rng)
    assert len(found) > 0
    assert (found >= 0).all()
    assert (found < 2**61).all()


def test_pairs_are_numbered_row_by_row():
    i, j = _unrank_pairs(np.arange(1000))
    expected = [(a, b) for a in range(46) for b in range(a)][:1000]
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == expected


def test_pairs_of_the_largest_blocks_are_numbered_right(rng):
    # Where a row begins and where the one before it ends, the square root is just too coarse.
    rows = rng.integers(2**20, 2**31, 2000)
    t = np.concatenate([rows * (rows - 1) // 2, rows * (rows - 1) // 2 - 1])
    i, j = _unrank_pairs(t)
    assert [a * (a - 1) // 2 + b for a, b in zip(i.tolist(), j.tolist(), strict=True)] == t.tolist()
    assert (j >= 0).all()
    assert (j < i).all()


SAMPLE = """
import resource
import numpy as np
from isotherm import BlockModel
# Twice 500 000 nodes; 10 million edges, 80 % of them inside the blocks.
graph, labels = BlockModel([500_000] * 2, p=3.2e-5, q=8e-6).sample(np.random.default_rng(0))
print(graph.n_edges, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts kilobytes on Linux only")
def test_a_million_nodes_and_ten_million_edges_take_less_than_2_gigabytes():
    run = subprocess.run([sys.executable, "-c", SAMPLE], capture_output=True, text=True, check=True)
    n_edges, kilobytes = map(int, run.stdout.split())
    assert abs(n_edges - 10e6) < 5 * np.sqrt(10e6)
    assert kilobytes * 1024 < 2e9


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], 1, 0.5), "every block needs at least one node"),
        (([3, 0], 1, 0.5), "every block needs at least one node"),
        (([2.5, 3], 1, 0.5), "whole numbers"),
        (([2], -1, 0.5), "p must be a number"),
        (([2], 1, np.nan), "q must be a number"),
        (([2], "big", 0), "p must be a number"),
    ],
)
def test_a_bad_model_gets_a_clear_error(arguments, message):
    with pytest.raises(ParameterError, match=message):
        BlockModel(*arguments)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([1], "do not fit"),
        ([1, 11], "do not fit"),
        ([-1, 1], "do not fit"),
        ([0, 0], "no seed"),
    ],
)
def test_bad_seeds_get_a_clear_error(seeds, message):
    with pytest.raises(LabelError, match=message):
        BlockModel([10, 10], 0.5, 0.1).temperatures(seeds)


def test_a_block_that_no_heat_reaches_is_an_error():
    with pytest.raises(
        LabelError, match=r"the free nodes of block\(s\) \[1\] are not joined to any seed"
    ):
        BlockModel([5, 5], 0.5, 0.0).temperatures([1, 0])


def test_a_label_without_seeds_is_given_to_nobody():
    model = BlockModel([5, 5, 5], 0.5, 0.1)
    for decision in DECISIONS:
        assert 1 not in model.classify([2, 0, 1], decision)


def test_a_seed_number_is_no_generator():
    with pytest.raises(ParameterError, match=r"rng must be np.random.default_rng\(seed\), got 0"):
        BlockModel([5, 5], 0.5, 0.1).sample(0)


def test_a_model_tells_its_parameters():
    assert repr(BlockModel([5, 6], 0.5, 0.1)) == "BlockModel([5, 6], p=0.5, q=0.1)"


def test_weights_above_one_are_no_probabilities(rng):
    with pytest.raises(ParameterError, match="probabilities"):
        BlockModel([5, 5], 3, 1).sample(rng)


def test_a_block_without_free_nodes_or_without_seeds_has_a_result():
    model = BlockModel([5, 5], 0.5, 0.1)
    for decision in DECISIONS:
        assert model.classify([5, 5], decision).tolist() == [0, 1]
        assert np.isfinite(model.temperatures([5, 0])).all()
        assert model.classify([5, 0], decision).shape == (2,)
