"""Nodes whose label is not probable enough get none: in Python, in files, on the page."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from conftest import CliRun
from html_page import Page, classification_page
from isotherm import (
    BlockModel,
    DirichletClassifier,
    Graph,
    IsothermWarning,
    ParameterError,
    write_predictions,
)
from isotherm.classifier.answers import Answers
from isotherm.classifier.estimator import STATUS
from isotherm.trust.abstain import LEAST, covered, cross_fitted
from isotherm.trust.interval import proportion
from isotherm.trust.sample import seed_keys
from test_classification_report import run_of

LINE = 0.9  # above the probability of some labels and below that of others


def blocks():
    rng = np.random.default_rng(0)
    graph, truth = BlockModel([120, 80, 40], 0.12, 0.02).sample(rng)
    known = np.flatnonzero(rng.random(len(truth)) < 0.3)
    return graph, {int(i): f"class {truth[i]}" for i in known}


@pytest.fixture(scope="module")
def fitted():
    return DirichletClassifier().fit(*blocks())


def test_a_node_keeps_its_label_where_that_is_probable_enough(fitted):
    P = fitted.certainty(slice(None))
    labels = fitted.labels_at(LINE)
    sure = (P >= LINE) | (fitted.status_ == "seed")
    assert 0 < np.count_nonzero(~sure) < len(P)
    assert (labels[sure] == fitted.labels_[sure]).all()
    assert all(label is None for label in labels[~sure])


def test_the_least_probability_of_all_changes_nothing(fitted):
    assert (fitted.labels_at(0) == fitted.labels_).all()


def test_the_last_digits_of_a_probability_decide_nothing():
    # exp and log differ in them from processor to processor.
    P = np.array([[0.5 - 1e-16, 0.5], [0.4, 0.6], [0.5 - 1e-13, 0.5 + 1e-13]])
    codes, status = np.zeros(3, dtype=np.intp), np.full(3, STATUS.index("predicted"))
    answers = Answers.of(codes, status, P, 0.5)
    assert answers.likelier.tolist() == [-1, 1, -1]
    assert answers.codes.tolist() == [0, -1, 0]
    (found,) = covered([P[:, 0]], (P[:, 0], np.array([True, False, False])), [0.5])
    assert (found.n_labelled, found.n_judged) == (2, 2)


def test_seeds_keep_their_labels_whatever_is_asked(fitted):
    labels, seeds = fitted.labels_at(1.0), fitted.status_ == "seed"
    assert (labels[seeds] == fitted.labels_[seeds]).all()
    assert fitted.tally(1.0).of["seed"] == np.count_nonzero(seeds)


def test_labels_that_are_numbers_abstain_by_minus_one():
    path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    with pytest.warns(IsothermWarning):
        model = DirichletClassifier().fit(path, {0: 5, 4: 7})
    assert model.labels_at(0.6).tolist() == [5, 5, -1, 7, 7]


@pytest.mark.parametrize("bad", [-0.1, 1.5, float("nan"), "0.5", None, True])
def test_what_is_no_probability_is_refused(fitted, tmp_path, bad):
    with pytest.raises(ParameterError, match="a number from 0 to 1, got"):
        fitted.labels_at(bad)
    with pytest.raises(ParameterError, match="a number from 0 to 1, got"):
        fitted.coverage([bad])
    with pytest.raises(ParameterError, match="a number from 0 to 1, got"):
        write_predictions(fitted, tmp_path / "p.csv", min_probability=bad)
    assert list(tmp_path.iterdir()) == []


def test_files_and_counts_call_them_unsure(fitted, tmp_path):
    write_predictions(fitted, tmp_path / "p.jsonl", min_probability=LINE)
    rows = list(map(json.loads, (tmp_path / "p.jsonl").read_text().splitlines()))
    assert [row["label"] for row in rows] == fitted.labels_at(LINE).tolist()
    for row, status in zip(rows, fitted.status_.tolist(), strict=True):
        assert row["status"] == (status if row["label"] is not None else "unsure")
        assert (row["probability"] is None) == (row["status"] == "unsure")
    unsure = sum(row["status"] == "unsure" for row in rows)
    assert 0 < unsure == fitted.tally(LINE).of["unsure"]


def test_nodes_that_no_heat_reaches_stay_unreached():
    graph = Graph.from_edges("abcx", "bcdy")
    with pytest.warns(IsothermWarning):
        model = DirichletClassifier().fit(graph, {"a": "l", "d": "r"})
    counts = {"seed": 2, "unsure": 2, "unreached": 2, "predicted": 0, "tie": 0}
    assert model.tally(1.0).of == counts


def folds_of(model):
    return seed_keys(model.problem_, "folds")[model.left_out_.places]


def test_coverage_counts_free_nodes_and_seeds_left_out(fitted):
    free, check, left = fitted.status_ != "seed", fitted.spot_check(), fitted.left_out_
    P, right = fitted.certainty(slice(None))[free], check.labels == check.truth
    said = cross_fitted(left, "centered", fitted.calibration_.unit, folds_of(fitted))
    found = fitted.coverage()
    assert [one.min_probability for one in found] == list(LEAST)
    for one in found:
        judged = said >= one.min_probability
        assert one.n_labelled == np.count_nonzero(one.min_probability <= P)
        assert one.labelled == pytest.approx(one.n_labelled / np.count_nonzero(free))
        assert one.n_judged == np.count_nonzero(judged)
        if one.n_judged:
            assert one.right == proportion(int(right[judged].sum()), one.n_judged)
    assert found[0].labelled == 1
    assert found[0].right == check.accuracy
    assert found[5].right.value > found[0].right.value


def test_no_seed_is_judged_by_what_was_learnt_from_itself(fitted):
    left, unit = fitted.left_out_, fitted.calibration_.unit
    said = cross_fitted(left, "centered", unit, folds_of(fitted))
    for seed in (0, 5, 17):
        codes = left.codes.copy()
        codes[seed] = (codes[seed] + 1) % 3
        again = cross_fitted(replace(left, codes=codes), "centered", unit, folds_of(fitted))
        assert again[seed] == said[seed]
        assert (again != said).any()


def test_the_page_shows_what_each_least_probability_leaves():
    run = run_of(*blocks())
    rows = Page(classification_page(run)).table("Least probability of a label")
    assert [row[0] for row in rows] == ["0 (in use)", *(f"{p:g}" for p in LEAST[1:])]
    for row, one in zip(rows, run.classifier.coverage(), strict=True):
        assert row[1] == f"{one.n_labelled:,}"
        assert row[3] == f"{one.n_judged:,}"
        if one.n_judged:
            assert row[4] == f"{one.right.value:.2f}"


@pytest.mark.slow
def test_the_command_says_how_many_it_left_without_a_label(tmp_path):
    here = CliRun(tmp_path)
    (tmp_path / "e.csv").write_text("a,b\nb,c\nc,d\nd,e\n")
    (tmp_path / "l.csv").write_text("a,left\ne,right\n")
    command = ("classify", "e.csv", "l.csv", "-o", "p.csv", "--force", "--min-probability")
    result = here(*command, "0.6", "--report", "r.html", "-v")
    assert "labelled 2 nodes, " in result.stderr
    assert (
        "1 node left without a label (unsure): the probability of the label is below 0.6"
        in result.stderr
    )
    assert re.search(
        "^c,,,(left|right),0.5,,unsure,false$", (tmp_path / "p.csv").read_text(), re.MULTILINE
    )
    page = Page((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert (
        "1 node left without a label, because the probability of the label is below 0.6"
        in page.words
    )
    assert ["unsure", "1", "20.0 %", "0", "1"] in page.table("Nodes by status")
    assert ["min_probability", "0.6"] in page.table("Options")
    wrong = here(*command, "60")
    assert wrong.returncode == 2
    assert "--min-probability must be a number from 0 to 1, got 60" in wrong.stderr
