"""What to label next, and when to stop, against solving anew for each node."""

import numpy as np
import pytest

from isotherm import (
    BlockModel,
    DirichletClassifier,
    Graph,
    ParameterError,
    read_graph,
    solve_dirichlet,
)
from isotherm.graph.keys import node_keys, salted
from isotherm.trust.responses import Doubts, Responses
from isotherm.trust.suggest import candidates_of


def random_graph(rng, n=40, m=80):
    source, target = rng.integers(0, n, (2, m))
    ring = np.arange(n)
    weights = rng.uniform(0.1, 3, n + m)
    return Graph.from_edges(
        np.concatenate([source, ring]), np.concatenate([target, np.roll(ring, 1)]), weights
    )


def response(graph, seeds, node, leak=0.0):
    held = [*seeds, node]
    values = np.append(np.zeros(len(seeds)), 1.0)
    return solve_dirichlet(graph, held, values, tol=1e-11, leak=leak).temperatures[:, 0]


@pytest.mark.parametrize("leak", [0.0, 0.3])
def test_all_responses_come_from_one_solve(rng, leak):
    graph = random_graph(rng)
    seeds = [1, 7, 20]
    model = DirichletClassifier(leak=leak).fit(graph, {1: 0, 7: 1, 20: 1})
    candidates, everywhere = np.array([3, 30, 12, 8]), np.arange(40)
    found = Responses(model.session(), candidates, everywhere, tol=1e-11)
    for k, node in enumerate(candidates):
        g = response(graph, seeds, node, leak)
        assert np.allclose(found.shares()[:, k], g, atol=1e-8)
        assert found.reach()[k] == pytest.approx(g.sum())
    found.hold(2)
    found.hold(0)
    for k in (1, 3):
        g = response(graph, [*seeds, 12, 3], candidates[k], leak)
        assert np.allclose(found.shares()[:, k], g, atol=1e-8)
        assert found.reach()[k] == pytest.approx(g.sum())
    assert np.allclose(found.shares()[:, [0, 2]], 0)


def test_what_is_suggested_is_the_worthiest_by_brute_force(rng):
    graph = random_graph(rng, 20, 25)
    model = DirichletClassifier(tol=1e-10).fit(graph, {0: "a", 9: "b", 15: "a"})
    (best,) = model.suggest(1)
    is_seed = model.status_ == "seed"
    S = model.scores_ / model.calibration_.unit
    Z = np.exp(np.arcsinh(S))
    P = Z / Z.sum(axis=1, keepdims=True)
    doubts = Doubts.of(P, is_seed)
    free = np.flatnonzero(~is_seed)
    worth = {}
    for i in free:
        g = response(graph, [0, 9, 15], i)[free]
        worth[i] = doubts.variance[i] * (doubts.doubt[free] @ (g - g.mean()) ** 2)
    assert best.node == max(worth, key=worth.get)
    assert best.label == model.labels_[best.node]
    assert best.doubt == pytest.approx(doubts.doubt[best.node])
    assert best.reach == pytest.approx(response(graph, [0, 9, 15], best.node).sum(), rel=1e-3)


def test_a_batch_is_spread_over_the_graph():
    rng = np.random.default_rng(0)
    graph, block = BlockModel([30] * 6, 0.4, 0.004).sample(rng)
    model = DirichletClassifier().fit(graph, {0: 0, 40: 1})
    found = model.suggest(8)
    assert len({one.node for one in found}) == 8
    useful = {int(block[one.node]) for one in found if one.why == "useful"}
    assert len(useful & {2, 3, 4, 5}) >= 3  # those without a seed


def test_components_without_seeds_are_worth_their_size():
    star = [("hub", f"leaf {k}") for k in range(9)]
    graph = Graph.from_edges(*zip(*star, ("a", "b"), ("x", "y"), ("lone", "ly"), strict=True))
    model = DirichletClassifier().fit(graph, {"a": 0, "x": 1})
    first, *others = model.suggest(20)
    assert (first.node, first.label, first.doubt, first.reach) == ("hub", -1, 1.0, 10.0)
    assert {one.node for one in others} - {"lone", "ly"} == {"b", "y"}
    assert len(others) == 3


def test_what_is_known_is_not_suggested(rng):
    graph = random_graph(rng)
    labels = {i: i % 2 for i in range(0, 40, 2)}
    model = DirichletClassifier().fit(graph, labels, {0: 0.5, 2: 0.1})
    found = model.suggest(100)
    assert sorted(one.node for one in found) == list(range(1, 40, 2))
    assert DirichletClassifier().fit(graph, np.arange(40) % 2).suggest(3) == []


@pytest.mark.filterwarnings("ignore::isotherm.IsothermWarning")
def test_a_model_that_found_nothing_suggests_all_the_same(rng):
    model = DirichletClassifier(tol=1e20).fit(random_graph(rng), {0: "a", 1: "b", 2: "a"})
    assert sorted(one.node for one in model.suggest(100)) == list(range(3, 40))


def test_one_class_leaves_no_doubt(rng):
    found = DirichletClassifier().fit(random_graph(rng), {3: "only"}).suggest(2)
    assert [one.doubt for one in found] == [0.0, 0.0]


def test_the_same_state_suggests_the_same(rng):
    graph = random_graph(rng, 400, 900)
    model = DirichletClassifier().fit(graph, {0: 0, 200: 1})
    assert model.suggest(5, random_state=1) == model.suggest(5, random_state=1)
    assert model.suggest(5, random_state=1) != model.suggest(5, random_state=2)


def advice_by_name(model, k=12):
    return [
        (str(one.node), one.why, round(one.doubt, 3), round(one.reach, 2))
        for one in model.suggest(k)
    ]


def test_advice_does_not_depend_on_row_order(rng):
    graph, truth = BlockModel([150, 100, 50], 0.06, 0.006).sample(rng)
    edges = np.transpose(np.nonzero(np.triu(graph.adjacency.toarray())))
    shuffled = Graph.from_edges(*rng.permutation(edges).T, nodes=rng.permutation(300))
    known = {int(i): int(truth[i]) for i in rng.choice(300, 12, replace=False)}
    ours = advice_by_name(DirichletClassifier().fit(graph, known))
    assert advice_by_name(DirichletClassifier().fit(shuffled, known)) == ours


def test_ties_are_broken_by_name():
    source, target = np.arange(60), np.roll(np.arange(60), 1)  # a ring: both ways round are alike
    order = np.random.default_rng(1).permutation(60)
    advice = [
        advice_by_name(
            DirichletClassifier().fit(
                Graph.from_edges(source, target, nodes=nodes), {0: "a", 30: "b"}
            )
        )
        for nodes in (np.arange(60), order, order[::-1])
    ]
    assert advice[0] == advice[1] == advice[2]


def test_a_file_and_python_give_the_same_advice(rng, tmp_path):
    graph, truth = BlockModel([150, 150], 0.06, 0.006).sample(rng)
    source, target = np.nonzero(np.triu(graph.adjacency.toarray()))
    lines = [f"{i},{j}" for i, j in zip(source, target, strict=True)]
    rng.shuffle(lines)
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n" + "\n".join(lines))
    known = {int(i): int(truth[i]) for i in np.unique(source)[:60:6]}
    built = Graph.from_edges(source, target)
    read = read_graph(path)
    by_text = {str(node): label for node, label in known.items()}
    ours = advice_by_name(DirichletClassifier().fit(built, known))
    assert advice_by_name(DirichletClassifier().fit(read, by_text)) == ours


def test_fewer_suggestions_are_the_beginning_of_more(rng):
    graph, truth = BlockModel([300, 200], 0.03, 0.003).sample(rng)
    known = {int(i): int(truth[i]) for i in rng.choice(500, 6, replace=False)}
    model = DirichletClassifier().fit(graph, known)
    most = advice_by_name(model, 150)
    assert len(most) == 150
    for k in (1, 2, 4, 10, 64, 65, 100):
        assert advice_by_name(model, k) == most[:k]


def test_every_other_suggestion_is_drawn_whatever_the_labels(rng):
    graph, truth = BlockModel([200, 200], 0.06, 0.006).sample(rng)
    drawn = []
    for seeds in ((0, 1, 200, 201), (7, 8, 300, 301)):
        model = DirichletClassifier().fit(graph, {i: int(truth[i]) for i in seeds})
        found = model.suggest(10)
        assert [one.why for one in found] == ["useful", "check"] * 5
        drawn.append([one.node for one in found[1::2]])
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "3"])
def test_a_number_that_is_none_is_refused(k, rng):
    model = DirichletClassifier().fit(random_graph(rng), {0: 0, 20: 1})
    with pytest.raises(ParameterError, match="whole number"):
        model.suggest(k)


def test_candidates_are_doubtful_nodes_and_no_hubs(rng):
    graph = random_graph(rng, 200, 600)
    doubts = Doubts(np.where(np.arange(200) < 100, 0.0, 1.0), np.ones(200))
    found = candidates_of(graph, np.arange(200), doubts, node_keys(graph.nodes), 10)
    hubs = np.argsort(-graph.degrees)[:5]
    assert len(set(found.tolist())) == 10
    assert not set(found.tolist()) & set(hubs.tolist())
    assert (found >= 100).all()


def test_a_node_without_heat_is_in_full_doubt():
    P = np.array([[0.5, 0.3, 0.2], [np.nan] * 3, [1.0, 0, 0]])
    found = Doubts.of(P, np.array([False, False, True]))
    assert np.allclose(found.doubt, [0.8, 1, 0])
    assert np.allclose(found.variance, [0.62, 1, 0])


# --- when to stop ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def blocks():
    return BlockModel([200, 200], 0.06, 0.008).sample(np.random.default_rng(2))


def advice(blocks, every, **how):
    graph, truth = blocks
    known = np.where(np.arange(400) % every == 0, truth, -1)
    return DirichletClassifier().fit(graph, known).should_stop(**how)


def test_many_good_labels_are_enough(blocks):
    found = advice(blocks, 2, gain=0.03)
    assert found
    assert found.stop
    assert str(found).startswith("stop: the second half of the labels")
    assert found.accuracy.value > 0.9


def test_few_labels_are_not(blocks):
    found = advice(blocks, 40)
    assert not found
    assert "too few to tell" in found.reason
    assert np.isnan(found.gain)


def test_the_gain_is_that_of_fits_with_half_of_the_seeds(blocks):
    graph, truth = blocks
    known = np.where(np.arange(400) % 8 == 0, truth, -1)
    found = DirichletClassifier().fit(graph, known).should_stop()
    seeds = np.flatnonzero(known >= 0)
    keys = salted(node_keys(graph.nodes, seeds), "halves")
    right, seen = np.zeros(50), np.zeros(50)
    for turn in range(8):
        hidden = np.sort(np.argsort(salted(keys, "half", turn))[:25])
        without = known.copy()
        without[seeds[hidden]] = -1
        again = DirichletClassifier(tol=1e-8).fit(graph, without)
        right[hidden] += again.labels_[seeds[hidden]] == truth[seeds[hidden]]
        seen[hidden] += 1
    half = right[seen > 0] / seen[seen > 0]
    whole = DirichletClassifier().fit(graph, known).leave_one_out()
    added = (whole.labels == whole.truth)[seen > 0] - half
    model = DirichletClassifier().fit(graph, known)
    weights = model._diagnostics().expected().weights[seen > 0]
    assert found.gain == pytest.approx(np.average(added, weights=weights), abs=1e-9)
    assert found.accuracy == model.expected_accuracy()


def test_a_class_with_one_seed_wants_more(blocks):
    graph, truth = blocks
    known = np.where(np.arange(400) % 2 == 0, truth, -1)
    known[1] = 7
    found = DirichletClassifier().fit(graph, known).should_stop(gain=1)
    assert not found
    assert "1 class has only one seed" in found.reason


def test_a_gain_that_is_none_is_refused(blocks):
    with pytest.raises(ParameterError, match="gain"):
        advice(blocks, 4, gain=-1)


def test_when_all_is_labelled_it_is_time_to_stop(blocks):
    graph, truth = blocks
    found = DirichletClassifier().fit(graph, truth).should_stop()
    assert found
    assert found.reason == "every node has a label"
