"""The page of a comparison: a line per model, and a table per share of seeds."""

import numpy as np
import pytest

from html_page import Page, parse
from isotherm.report.charts import CURVES, curves
from isotherm.report.evaluation import Evaluation, Mean, evaluation_page
from isotherm.report.palette import N_COLOURS
from isotherm.report.words import share_text


def rows_of(shares=(0.05, 0.2), models=("paper", "auto"), repeats=3, failure="", answered=1.0):
    """The more seeds and the later the model, the better; accuracy is the other way round."""
    return [
        {
            "seed_fraction": share,
            "model": model,
            "repeat": repeat,
            "macro_f1": 0.5 + share + 0.1 * place / len(models) + 0.01 * repeat,
            "accuracy": 0.5 - share - 0.1 * place / len(models),
            "answered": answered if place else 1.0,
            "seconds": 0.25,
            "failure": failure if model == models[-1] else "",
        }
        for share in shares
        for repeat in range(repeats)
        for place, model in enumerate(models)
    ]


def shown(**how):
    return Page(evaluation_page(Evaluation("mine", {"nodes": 1234}, rows_of(**how))))


def test_a_table_for_each_share_has_mean_deviation_and_time():
    page = shown()
    assert page.table("5 % of the labels as seeds") == [
        ["paper", "0.560 ± 0.008", "0.450 ± 0.000", "0.250"],
        ["auto", "0.610 ± 0.008", "0.400 ± 0.000", "0.250"],
    ]
    assert len(page.table("20 % of the labels as seeds")) == 2
    assert "1,234 nodes. Means over 3 draws" in page.words
    assert "auto with 5 % of the labels (0.610), auto with 20 % of the labels (0.760)" in page.words


def test_the_best_of_each_column_is_bold():
    best = ["".join(cell.itertext()) for cell in shown().root.iterfind(".//td[@class='best']")]
    assert best == ["0.450 ± 0.000", "0.610 ± 0.008", "0.300 ± 0.000", "0.760 ± 0.008"]
    level = rows_of(models=("paper", "auto"))
    for row in level:
        row["macro_f1"] = 0.5
    page = Page(evaluation_page(Evaluation("mine", {}, level)))
    assert "paper and auto with 5 % of the labels" in page.words


def test_there_is_a_line_for_each_model_that_rises_with_its_scores():
    page = shown(models=("paper", "auto", "poisson"))
    chart = next(page.root.iter("svg"))
    lines = [line.get("points").split() for line in chart.iter("polyline")]
    assert len(lines) == 3
    for line in lines:
        (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in line)
        assert x1 < x2
        assert y1 > y2
    names = [text.text for text in chart.iter("text")]
    assert {"paper", "auto", "poisson", "5 %", "20 %", "macro-F1"} <= set(names)


@pytest.mark.parametrize("shares", [(0.1,), (0.1, 0.101, 0.102), (0.5, 0.05, 0.2)])
def test_any_shares_can_be_drawn(shares):
    page = shown(shares=shares)
    for share in shares:
        assert len(page.table(f"{share_text(share)} of the labels as seeds")) == 2


def test_more_models_than_colours_can_be_drawn():
    models = tuple(f"model {k}" for k in range(N_COLOURS + 3))
    page = shown(models=models)
    chart = next(page.root.iter("svg"))
    heights = [float(t.get("y")) for t in chart.iter("text") if t.text in models]
    assert np.diff(sorted(heights)).min() >= 12.9
    assert max(heights) < float(chart.get("viewbox").split()[3])


@pytest.mark.parametrize("mean", [Mean(0.0, 0.0), Mean(1.0, 0.0), Mean(0.02, 0.5), Mean(0.99, 0.5)])
def test_nothing_is_drawn_outside_of_the_chart(mean):
    chart = parse(curves({"paper": [(0.1, mean)]}, "macro-F1", "a chart"))
    for line in chart.iter("line"):
        assert all(CURVES.upper <= float(line.get(end)) <= CURVES.lower for end in ("y1", "y2"))


def test_what_a_peer_said_is_below_its_table():
    page = shown(models=("paper", "poisson"), failure="poisson gave no answer: odd")
    assert page.words.count("poisson gave no answer: odd (3 draws, counted as 0)") == 2


def test_nodes_left_without_a_label_are_told_of():
    page = shown(models=("pagerank", "paper", "auto"), answered=0.75)
    said = "paper, auto: 75.0 % of the nodes got a label, the others count as wrong"
    assert page.words.count(said) == 2
    assert "got a label" not in shown().words
