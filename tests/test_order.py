"""The order of rows is no information: whatever is drawn of nodes is drawn by their ids."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from isotherm import (
    BlockModel,
    DirichletClassifier,
    DirichletRegressor,
    Graph,
    MultiLabelDirichletClassifier,
    ParameterError,
    StackedDirichletClassifier,
    read_graph,
    read_labels,
)
from isotherm.classifier import diagnostics
from isotherm.experiments.evaluate import evaluate
from isotherm.graph import keys as keys_module
from isotherm.graph.keys import node_keys, salted, uniform
from isotherm.graph.nodes import NodeIndex
from isotherm.labels import number_classes
from isotherm.page import snapshot
from isotherm.page.start import starting_nodes
from isotherm.stacking import left_out, views
from isotherm.trust import sample
from isotherm.trust.sample import Budget

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.IsothermWarning")
NAMES = {"texts": "account-{}".format, "numbers": lambda k: 7 * k + 2}
ORDERS = (1, 2)


class Case:
    """A graph, and labels of which some are wrong, to be given in any order."""

    def __init__(self, sizes, p, q, share, names):
        rng, self.id_of = np.random.default_rng(3), NAMES[names]
        graph, self.truth = BlockModel(sizes, p, q).sample(rng)
        self.ends = np.transpose(np.nonzero(np.triu(graph.adjacency.toarray())))
        self.weights = rng.integers(1, 9, len(self.ends))
        seeds = np.flatnonzero(rng.random(len(self.truth)) < share)
        codes = np.where(rng.random(len(seeds)) < 0.15, 0, self.truth[seeds])
        self.known = dict(zip(seeds.tolist(), codes.tolist(), strict=True))

    def rows(self, order):
        """Edges and their weights: other rows first, and some with their ends swapped."""
        rng = np.random.default_rng(order)
        rows = rng.permutation(len(self.ends))
        swapped = rng.random(len(rows)) < 0.5
        ends = np.where(swapped[:, np.newaxis], self.ends[rows, ::-1], self.ends[rows])
        return [[self.id_of(k) for k in column] for column in ends.T.tolist()], self.weights[rows]

    def graph(self, order):
        """The graph, its nodes in another order, too."""
        (source, target), weights = self.rows(order)
        nodes = np.random.default_rng(order).permutation(len(self.truth)).tolist()
        return Graph.from_edges(source, target, weights, nodes=list(map(self.id_of, nodes)))

    def labels(self, order):
        """The labels, by id."""
        nodes = np.random.default_rng(order + 10).permutation(list(self.known)).tolist()
        return {self.id_of(k): f"class {self.known[k]}" for k in nodes}

    def fitted(self, model, order):
        """A model of the graph and the labels in some order."""
        return model.fit(self.graph(order), self.labels(order))


@pytest.fixture(scope="module", params=NAMES)
def case(request):
    return Case([70, 60, 50], 0.09, 0.015, 0.4, request.param)


@pytest.fixture
def every_draw(monkeypatch):
    """Limits so low that a small graph is drawn from wherever a large one is."""
    monkeypatch.setattr(sample, "MOST_SEEDS", 30)
    monkeypatch.setattr(left_out, "MOST_ALONE", 40)
    monkeypatch.setattr(left_out, "MOST_ROWS", 50)
    monkeypatch.setattr(views, "MOST_ROWS", 45)
    monkeypatch.setattr(diagnostics, "LOOKED_AT", 60)
    monkeypatch.setattr(snapshot, "SAMPLED", 40)


MODELS = {
    "paper": DirichletClassifier,
    "auto": lambda: DirichletClassifier("auto", leak="auto"),
    "stacked": StackedDirichletClassifier,
}


def by_id(model, values):
    return dict(zip(model.names_.tolist(), values, strict=True))


def left_out_by(model):
    return {model.names_[i] for i in model.seeds_.nodes[model.left_out_.places].tolist()}


def answers(model, state=0):
    """What a fit and every question that draws something say, by id."""
    advice = model.should_stop(random_state=state)
    return {
        "labels": by_id(model, model.labels_.tolist()),
        "left out": left_out_by(model),
        "expected": np.round(model.expected_accuracy(), 6).tolist(),
        "coverage": [(one.n_labelled, one.n_judged, one.right) for one in model.coverage()],
        "suspects": [one[:3] for one in model.suspects(max_seeds=40, random_state=state)],
        "some": sorted(model.leave_one_out(max_seeds=12, random_state=state).nodes.tolist()),
        "suggested": [(one.node, one.why) for one in model.suggest(8, random_state=state)],
        "halves": (round(advice.gain, 6), round(advice.error, 6)),
    }


# --- keys -----------------------------------------------------------------------------------------


def test_a_key_is_that_of_the_name():
    texts = NodeIndex(np.array(["12", "é", "\ud800", ""], dtype=object))
    numbers = NodeIndex(np.array([5, 12]))
    keys = salted(node_keys(texts), "check", 3)
    assert keys[0] == salted(node_keys(numbers), "check", 3)[1]
    assert keys[0] != salted(node_keys(texts), "candidate", 3)[0]
    assert keys[0] != salted(node_keys(texts), "check", 4)[0]
    assert len(set(keys.tolist())) == 4


def test_keys_are_spread_evenly():
    numbers = uniform(salted(node_keys(NodeIndex(20_000)), "check"))
    assert ((numbers > 0) & (numbers < 1)).all()
    counts = np.bincount((numbers * 10).astype(int), minlength=10)
    assert abs(counts - 2000).max() < 200


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint64, np.float32, np.float64, object])
def test_equal_numbers_have_equal_keys_whatever_their_type(dtype):
    plain = node_keys(NodeIndex(np.array([0, 7, 100])))
    assert np.array_equal(node_keys(NodeIndex(np.array([0, 7, 100]).astype(dtype))), plain)
    assert node_keys(NodeIndex(np.array([-0.0])))[0] == plain[0]
    assert np.array_equal(node_keys(NodeIndex(101))[[0, 7, 100]], plain)


IDS = {
    "texts": np.array([f"node {'x' * k}" for k in range(40)], dtype=object),
    "very long texts": np.array(["y" * 1000 + str(k) for k in range(5)], dtype=object),
    "texts of Arrow": pa.array(["a", "bb", "", "a\0", "äöü" * 9]),
    "numbers": np.array([-3, 2**62, 0, 12345678, -(2**63)]),
    "large numbers": np.array([2**64 - 1, 2**63, 5], dtype=np.uint64),
    "floats": np.array([0.5, 1.25, 7.0, np.inf, 1e300]),
    "dates": np.array(["2024-02-29", "1969-12-31", "2024-03-01"], dtype="M8[D]"),
    "instants": np.array(["2024-02-29T12:00", "2024-02-29T13:00"], dtype="M8[ns]"),
    "objects": np.array([7, "7", (7, "a"), datetime.date(2024, 1, 1), b"7", None], dtype=object),
    "positions": 20_000,
}


@pytest.mark.parametrize("kind", IDS)
def test_keys_are_all_different_and_go_with_their_ids(kind, rng):
    nodes = NodeIndex(IDS[kind])
    keys = node_keys(nodes)
    assert len(set(keys.tolist())) == len(nodes)
    some = rng.permutation(len(nodes))
    assert np.array_equal(node_keys(nodes, some), keys[some])
    few = some[: len(nodes) // 2]
    if kind != "objects":
        assert np.array_equal(node_keys(nodes, few), keys[few])
    if kind not in {"positions", "texts of Arrow"}:
        assert np.array_equal(node_keys(NodeIndex(IDS[kind][some])), keys[some])


def test_ids_of_one_hash_are_told_apart_by_themselves(monkeypatch, rng):
    monkeypatch.setattr(
        keys_module, "_hashes", lambda _, first, last: (last - first).astype(np.uint64)
    )
    ids = np.array(["b", "a", "cc", "c", "dd"], dtype=object)
    keys = node_keys(NodeIndex(ids))
    assert len(set(keys.tolist())) == 5
    for _ in range(5):
        order = rng.permutation(5)
        assert np.array_equal(node_keys(NodeIndex(ids[order])), keys[order])


@pytest.mark.parametrize("kind", ["texts", "numbers", "positions"])
def test_a_saved_graph_has_the_keys_of_the_graph_in_memory(kind, tmp_path):
    nodes = None if kind == "positions" else [NAMES[kind](k) for k in (4, 0, 3, 1, 2)]
    path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    graph = Graph.from_matrix(path.adjacency, nodes=nodes)
    graph.save(tmp_path / "graph.iso")
    mapped, some = read_graph(tmp_path / "graph.iso"), np.array([3, 1])
    assert np.array_equal(node_keys(mapped.nodes, some), node_keys(graph.nodes, some))
    assert np.array_equal(node_keys(mapped.nodes), node_keys(graph.nodes))


@pytest.mark.parametrize("state", [None, 1.5, "7", np.random.default_rng(0)])
def test_a_state_is_a_whole_number(state, case):
    model = case.fitted(DirichletClassifier(), 1)
    with pytest.raises(ParameterError, match="random_state must be a whole number"):
        model.suggest(2, random_state=state)


# --- fits and questions ---------------------------------------------------------------------------


def test_temperatures_and_scores_agree_up_to_last_digits(case):
    first, second = (case.fitted(DirichletClassifier(tol=1e-9), order) for order in ORDERS)
    at = second.problem_.graph.positions(first.names_.tolist())
    assert np.allclose(first.temperatures_, second.temperatures_[at], atol=1e-9)
    assert np.allclose(first.predict_proba(), second.predict_proba()[at], atol=1e-9)
    assert by_id(first, first.labels_) == by_id(second, second.labels_)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.usefixtures("every_draw")
def test_a_fit_and_its_questions_say_the_same_in_any_order(model, case):
    first, second = (answers(case.fitted(MODELS[model](), order)) for order in ORDERS)
    assert len(first["suspects"]) > 3
    for question, answer in first.items():
        assert answer == second[question], question


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.usefixtures("every_draw")
def test_a_state_decides_what_is_drawn_whatever_the_order(model, case):
    first, second = (case.fitted(MODELS[model](), order) for order in ORDERS)
    here, there, other = answers(first, 5), answers(second, 5), answers(first, 6)
    for question in ("some", "suggested", "halves"):
        assert here[question] == there[question] != other[question]


@pytest.mark.usefixtures("every_draw")
def test_the_choice_of_decision_and_leak_is_that_of_any_order(case):
    chosen = [case.fitted(DirichletClassifier("auto", leak="auto"), order) for order in ORDERS]
    first, second = (model.selection_ for model in chosen)
    assert first[:2] == second[:2]
    for one, other in zip(first.candidates, second.candidates, strict=True):
        assert one[:2] == other[:2]
        assert one[2:] == pytest.approx(other[2:], abs=1e-9)


def test_seeds_that_are_left_out_together_are_the_same(case, monkeypatch):
    monkeypatch.setattr(sample, "FEW_SEEDS", 3)
    found = []
    for order in ORDERS:
        model = case.fitted(DirichletClassifier(), order)
        left = sample.leave_sample_out(
            model.session(),
            model.solution_,
            model.seeds_.codes,
            tol=1e-6,
            abstain=True,
            budget=Budget(large=10, work=0),
        )
        assert left.together
        found.append({model.names_[i] for i in model.seeds_.nodes[left.places].tolist()})
    assert found[0] == found[1]


@pytest.mark.parametrize("n_rows", [1500, 200])
def test_a_stacked_model_is_the_same_but_for_one_label_in_ten_thousand(n_rows, monkeypatch):
    monkeypatch.setattr(left_out, "MOST_ROWS", n_rows)
    case = Case([1300, 1000, 700], 0.008, 0.003, 0.15, "texts")
    first, second = (case.fitted(StackedDirichletClassifier(), order) for order in ORDERS)
    assert left_out_by(first) == left_out_by(second)
    parts = []
    for model in (first, second):
        seeds, keys = model.seeds_, node_keys(model.problem_.graph.nodes, model.seeds_.nodes)
        found = left_out.plan(seeds.codes, 3, keys)
        nodes = model.names_[seeds.nodes[found.places]].tolist()
        parts.append(dict(zip(nodes, found.part.tolist(), strict=True)))
    assert parts[0] == parts[1]
    assert len(parts[0]) == min(n_rows, len(case.known))
    ours, theirs = by_id(first, first.labels_), by_id(second, second.labels_)
    assert sum(ours[node] != theirs[node] for node in ours) <= len(ours) / 10_000
    at = second.problem_.graph.positions(first.names_.tolist())
    assert np.allclose(first.predict_proba(), second.predict_proba()[at], atol=1e-4)


def test_part_files_may_have_other_names_and_rows(tmp_path, case):
    (source, target), weights = case.rows(1)
    rows = [f"{i},{j},{w}" for i, j, w in zip(source, target, weights, strict=True)]
    half, found = len(rows) // 2, []
    known = [f"{node},{label}" for node, label in case.labels(1).items()]
    for folder, names, order in (("one", "ab", 1), ("two", "ba", -1)):
        (tmp_path / folder).mkdir()
        for name, part in zip(names, (rows[:half], rows[half:]), strict=True):
            text = "\n".join(["source,target,weight", *part[::order]])
            (tmp_path / folder / f"{name}.csv").write_text(text)
        graph = read_graph(tmp_path / folder)
        (tmp_path / "labels.csv").write_text("\n".join(["node,label", *known[::order]]))
        labels = read_labels(tmp_path / "labels.csv", graph)
        found.append(answers(StackedDirichletClassifier().fit(graph, labels)))
    assert found[0] == found[1]


@pytest.mark.usefixtures("every_draw")
def test_held_out_labels_are_those_of_any_order(case):
    def scores(order, state):
        graph = case.graph(order)
        truth = dict(zip(map(case.id_of, range(len(case.truth))), case.truth, strict=True))
        codes = np.array([truth[node] for node in graph.names.tolist()])
        rows = evaluate(graph, codes, [0.3], repeats=2, random_state=state)
        return [(row["model"], row["macro_f1"], row["accuracy"]) for row in rows]

    assert scores(1, 0) == scores(2, 0) != scores(2, 1)


@pytest.mark.usefixtures("every_draw")
def test_values_and_label_sets_leave_out_the_same_seeds(case):
    checked = [
        DirichletRegressor()
        .fit(case.graph(order), {node: float(label[-1]) for node, label in labels.items()})
        .spot_check()
        for order, labels in ((order, case.labels(order)) for order in ORDERS)
    ]
    first, second = (dict(zip(one.nodes.tolist(), one.found, strict=True)) for one in checked)
    assert first == pytest.approx(second, abs=1e-4)
    sets = [
        MultiLabelDirichletClassifier().fit(
            case.graph(order), {node: {label} for node, label in case.labels(order).items()}
        )
        for order in ORDERS
    ]
    at = sets[1].problem_.graph.positions(sets[0].names_.tolist())
    assert np.allclose(sets[0].predict_proba(), sets[1].predict_proba()[at], atol=1e-6)


@pytest.mark.usefixtures("every_draw")
def test_the_page_begins_with_the_same_nodes_and_the_same_spread(case):
    graphs = [case.graph(order) for order in ORDERS]
    nothing = np.zeros(len(case.truth), dtype=bool)
    begun = [graph.names[starting_nodes(graph, nothing, 9)].tolist() for graph in graphs]
    assert begun[0] == begun[1]
    spreads = [
        snapshot.Snapshot(0, len(nothing), case.fitted(DirichletClassifier(), order))._spread()
        for order in ORDERS
    ]
    assert spreads[0] == pytest.approx(spreads[1], abs=1e-7)


# --- classes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [["b", 1, "a", 2.5], [1, True, 0], [frozenset("a"), frozenset("b")], [(1, "a"), (1, 2), None]],
    ids=str,
)
def test_the_order_of_classes_is_their_own(labels):
    column = np.empty(len(labels), dtype=object)
    column[:] = labels
    ours, theirs = (number_classes(given)[1].tolist() for given in (column, column[::-1]))
    assert list(map(repr, ours)) == list(map(repr, theirs))
    assert len(ours) == len([label for label in labels if label is not None])


def test_of_spellings_as_frequent_the_same_one_is_kept(tmp_path):
    graph, rows = Graph.from_edges("abc", "bcd"), ["a,Left", "b,left", "d,right"]
    for order in (1, -1):
        (tmp_path / "labels.csv").write_text("\n".join(["node,label", *rows[::order]]))
        found = read_labels(tmp_path / "labels.csv", graph, merge_case=True)
        assert found == {"a": "Left", "b": "Left", "d": "right"}
