"""On real graphs the equilibrium scores what the paper reports."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from isotherm import DirichletClassifier
from oracle import dense_temperatures, one_hot

REPEATS = 20


def macro_f1(graph, truth, *, decision, fraction, unreached="zero", repeats=REPEATS):
    """Mean macro-F1 over the free nodes, seeds uniform; an abstention counts as wrong."""
    found = []
    for repeat in range(repeats):
        rng = np.random.default_rng(repeat)
        seeds = rng.choice(len(truth), round(fraction * len(truth)), replace=False)
        labels = np.full(len(truth), -1)
        labels[seeds] = truth[seeds]
        classifier = DirichletClassifier(decision, unreached=unreached).fit(graph, labels)
        free = labels < 0
        found.append(
            f1_score(
                truth[free],
                classifier.labels_[free],
                labels=np.unique(truth),
                average="macro",
                zero_division=0,
            )
        )
    return np.mean(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "decision", "expected", "within"),
    [
        ("cora", "centered", 0.71, 0.02),
        ("cora", "plain", 0.68, 0.05),
        ("pubmed", "centered", 0.78, 0.02),
        ("email", "centered", 0.22, 0.03),
    ],
)
def test_macro_f1_with_5_percent_of_seeds_is_the_papers(
    real_graph, name, decision, expected, within
):
    graph, truth = real_graph(name)
    assert abs(macro_f1(graph, truth, decision=decision, fraction=0.05) - expected) <= within


@pytest.mark.slow
def test_abstaining_where_no_heat_comes_costs_nothing(real_graph):
    graph, truth = real_graph("cora")
    zero, abstain = (
        macro_f1(graph, truth, decision="centered", fraction=0.05, unreached=rule)
        for rule in ("zero", "abstain")
    )
    assert 0 < abstain - zero < 0.03


def test_centering_helps_where_classes_are_many(real_graph):
    graph, truth = real_graph("wikischools2007")
    plain, centered = (
        macro_f1(graph, truth, decision=decision, fraction=0.1, repeats=3)
        for decision in ("plain", "centered")
    )
    assert centered > plain + 0.1


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "classes"),
    [
        ("cora", 2708, 5278, 7),
        ("citeseer", 3264, 4536, 6),
        ("pubmed", 19717, 44325, 3),
        ("email", 1005, 16385, 42),
        ("polblogs", 1490, 16716, 2),
    ],
)
def test_graphs_have_the_sizes_of_the_papers_table_1(real_graph, name, nodes, edges, classes):
    graph, truth = real_graph(name)
    assert graph.n_nodes == nodes
    assert graph.adjacency.nnz // 2 == edges
    loops = np.count_nonzero(graph.adjacency.diagonal())
    assert graph.n_edges == (graph.adjacency.nnz + loops) // 2
    assert len(np.unique(truth)) == classes


@pytest.mark.parametrize("name", ["cora", "email", "polblogs"])
def test_temperatures_on_real_graphs_are_those_of_a_dense_solve(real_graph, name):
    graph, truth = real_graph(name)
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(len(truth)) < 0.05, truth, -1)
    seeds, values = one_hot(labels)
    exact = dense_temperatures(graph, seeds, values)
    c = DirichletClassifier(solver="cg").fit(graph, labels)
    assert np.nanmax(np.abs(c.temperatures_ - exact)) <= 1e-6
    assert np.nanmax(c.solution_.error_bound) <= 1e-6
    assert (c.certified_ | (c.status_ == "tie")).all()


def test_ten_sweeps_are_not_equilibrium(real_graph):
    from sklearn.exceptions import ConvergenceWarning

    from isotherm import Sweeps

    graph, truth = real_graph("cora")
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(len(truth)) < 0.05, truth, -1)
    exact = DirichletClassifier().fit(graph, labels)
    with pytest.warns(ConvergenceWarning):
        ten = DirichletClassifier(solver=Sweeps(10)).fit(graph, labels)
    error = np.nanmax(np.abs(ten.temperatures_ - exact.temperatures_), axis=1, initial=0)
    assert error.max() > 0.2
    reached = ~ten.solution_.unreached
    assert (error[reached] <= ten.solution_.error_bound[reached] + 1e-6).all()
    assert not (ten.certified_ & (ten.labels_ != exact.labels_)).any()
