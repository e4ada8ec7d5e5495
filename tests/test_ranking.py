"""One class known: nodes are ranked by how near they are to its seeds, and get no probability."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from conftest import CliRun
from html_page import Page, classification_page
from isotherm import DirichletClassifier, Graph, LabelError, ParameterError, write_predictions
from isotherm.trust.rank import DIGITS, LEAK
from oracle import random_graph
from test_classification_report import NASTY, run_of


def two_ends():
    """A path of which one end is known, another path beside it, and names out of order."""
    return Graph.from_edges(["e", "b", "c", "x"], ["b", "c", "d", "y"])


def test_scores_fall_with_the_distance_to_the_seeds():
    ranking = DirichletClassifier().fit(two_ends(), {"e": "fraud"}).ranking_
    assert ranking.nodes.tolist() == ["b", "c", "d"]
    assert ranking.ranks.tolist() == [1, 2, 3]
    assert (np.diff(ranking.scores) < 0).all()
    assert ranking.leak == LEAK


def test_scores_are_the_temperatures_of_a_dense_solve(rng):
    graph = random_graph(rng, 40, 90)
    seeds = [3, 8, 21]
    ranking = DirichletClassifier().fit(graph, dict.fromkeys(seeds, "fraud")).ranking_
    A = graph.adjacency.toarray()
    free = np.setdiff1d(np.arange(40), seeds)
    M = (1 + LEAK) * np.diag(A.sum(axis=1))[np.ix_(free, free)] - A[np.ix_(free, free)]
    alone = A.sum(axis=1)[free] == 0
    T = np.zeros(len(free))
    T[~alone] = np.linalg.solve(M[np.ix_(~alone, ~alone)], A[np.ix_(free[~alone], seeds)].sum(1))
    found = np.zeros(40)
    found[ranking.positions] = ranking.scores
    assert np.allclose(found[free], T, atol=10.0**-DIGITS)
    assert ranking.error_bound <= 1e-8
    assert ranking.converged


def test_the_leak_of_the_fit_is_kept():
    model = DirichletClassifier(leak=0.5).fit(two_ends(), {"e": "fraud"})
    assert model.ranking_.leak == 0.5
    by_name = dict(zip(model.names_.tolist(), model.temperatures_[:, 0].tolist(), strict=True))
    for node, score in zip(model.ranking_.nodes.tolist(), model.ranking_.scores, strict=True):
        assert score == pytest.approx(by_name[node], abs=2e-6)


def test_level_nodes_are_in_the_order_of_their_names():
    leaves = ["z", "m", "a", "k"]
    for order in (leaves, leaves[::-1]):
        star = Graph.from_edges(["hub"] * 4, order, nodes=["hub", *order])
        ranking = DirichletClassifier().fit(star, {"hub": 1}).ranking_
        assert ranking.nodes.tolist() == ["a", "k", "m", "z"]


def test_names_that_cannot_be_compared_are_ranked_too():
    star = Graph.from_edges(["hub"] * 3, [7, "a", (1, 2)])
    ranking = DirichletClassifier().fit(star, {"hub": 1}).ranking_
    assert ranking.nodes.tolist() == [(1, 2), 7, "a"]


def test_the_ranking_follows_an_update():
    model = DirichletClassifier().fit(two_ends(), {"e": "fraud"})
    assert model.ranking_.nodes[0] == "b"
    assert model.update({"d": "fraud", "e": None}).ranking_.nodes.tolist() == ["c", "b", "e"]


def test_several_classes_have_no_ranking():
    model = DirichletClassifier().fit(two_ends(), {"e": 1, "b": 1, "d": 2, "c": 2})
    with pytest.raises(LabelError, match="a ranking is for one class, but there are 2"):
        model.ranking_  # noqa: B018


def read_back(path):
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix == ".jsonl":
        return list(map(json.loads, path.read_text().splitlines()))
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="," if path.suffix == ".csv" else "\t"))
    for row in rows:
        row["score"] = float(row["score"]) if row["score"] else None
        row["rank"] = int(row["rank"]) if row["rank"] else None
    return rows


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_files_have_seeds_first_and_unreached_nodes_last(tmp_path, ending):
    model = DirichletClassifier().fit(two_ends(), {"e": "fraud"})
    path = tmp_path / f"p{ending}"
    write_predictions(model, path)
    rows = read_back(path)
    assert [list(row) for row in rows] == [["node", "score", "rank", "status"]] * 6
    assert rows[0] == {"node": "e", "score": 1, "rank": None, "status": "seed"}
    ranking = model.ranking_
    for row, node, score, rank in zip(
        rows[1:4], ranking.nodes.tolist(), ranking.scores, ranking.ranks, strict=True
    ):
        assert row == {"node": node, "score": score, "rank": rank, "status": "ranked"}
    for row in rows[4:]:
        assert (row["score"], row["rank"], row["status"]) == (None, None, "unreached")


def test_one_class_has_no_least_probability(tmp_path):
    model = DirichletClassifier().fit(two_ends(), {"e": "fraud"})
    with pytest.raises(ParameterError, match="with one class there are no probabilities"):
        write_predictions(model, tmp_path / "p.csv", min_probability=0.5)
    assert list(tmp_path.iterdir()) == []


def test_the_page_ranks_and_gives_no_probability():
    run = run_of(two_ends(), {"e": "fraud"})
    page = Page(classification_page(run))
    assert "nodes are ranked by how near they are to its seeds" in page.words
    assert "There are no probabilities: nothing is known about other classes." in page.words
    ranking, listed = run.classifier.ranking_, page.list("The nearest nodes")
    assert [cells for cells, *_ in listed] == [
        [str(rank), node, f"{score:.6f}", neighbours]
        for rank, node, score, neighbours in zip(
            ranking.ranks, ranking.nodes.tolist(), ranking.scores, ["2", "2", "1"], strict=True
        )
    ]
    why = "100 % of its heat comes from fraud seeds: e (100 %); strongest path: b → e"
    assert listed[0][1:] == (why, {"Neighbours": "2", "Weight of its edges to": "fraud:\u00a02"})


def test_hostile_names_and_a_graph_without_free_nodes_have_a_page():
    graph = Graph.from_edges(NASTY, NASTY[1:] + NASTY[:1])
    page = Page(classification_page(run_of(graph, {NASTY[0]: NASTY[1]})))
    assert "img" not in page.tags
    alone = Page(classification_page(run_of(Graph.from_edges(["a"], ["a"]), {"a": "alone"})))
    assert "Heat reached no free node" in alone.words


@pytest.mark.slow
def test_the_command_says_what_it_did_and_why(tmp_path):
    here = CliRun(tmp_path)
    (tmp_path / "e.csv").write_text("a,b\nb,c\nc,d\nx,y\n")
    (tmp_path / "l.csv").write_text("a,fraud\n")
    result = here("classify", "e.csv", "l.csv", "-o", "-", "--report", "r.html", "-v")
    assert result.returncode == 0
    assert (
        "warning: there is only one class, 'fraud': nodes are ranked by how near they are to its "
        "seeds, without a probability, because nothing is known about other classes"
        in result.stderr
    )
    assert "ranked 3 nodes by temperature with leak 0.01" in result.stderr
    assert [line.split(",")[0] for line in result.stdout.splitlines()] == [
        *("node", "a", "b", "c", "d", "x", "y")
    ]
    assert "Ranking of e.csv" in (tmp_path / "r.html").read_text(encoding="utf-8")
    odd = here("classify", "e.csv", "l.csv", "-o", "p.csv", "--min-probability", "0.5")
    assert odd.returncode == 2
    assert "leave --min-probability out" in odd.stderr
    suspects = here("suspects", "e.csv", "l.csv")
    assert (
        "there is only one class, 'fraud': every node that heat reaches gets it" in suspects.stderr
    )
