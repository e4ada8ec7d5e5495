"""``isotherm regress`` and ``isotherm classify --multi``, as a user runs them."""

import csv
import io
import json

import pytest

from conftest import CliRun

pytestmark = pytest.mark.core_free


@pytest.fixture
def here(tmp_path):
    """A path of five nodes and a pair apart; values and labels of its ends."""
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\nc,d\nd,e\nx,y\n")
    (tmp_path / "values.csv").write_text("node,value\na,-2\nb,\ne,2e0\n")
    (tmp_path / "labels.csv").write_text("node,label\na,red\na,round\nb,\ne,blue\n")
    (tmp_path / "cells.csv").write_text("node,label\na,red | round|\ne,blue\n")
    return CliRun(tmp_path)


def rows_of(text):
    return {row.pop("node"): row for row in csv.DictReader(io.StringIO(text))}


def test_values_lie_on_a_line_between_those_known(here):
    result = here("regress", "edges.csv", "values.csv", "-o", "-")
    assert (result.returncode, result.stderr) == (0, "")
    rows = rows_of(result.stdout)
    values = [float(rows[node]["value"]) for node in "abcde"]
    assert values == pytest.approx([-2, -1, 0, 1, 2], abs=1e-6)
    assert all(float(rows[node]["error"]) <= 1e-6 for node in "abcde")
    assert [rows[node]["status"] for node in "aby"] == ["seed", "predicted", "unreached"]
    assert rows["x"]["value"] == rows["x"]["error"] == ""


def test_an_error_is_an_upper_bound_of_the_true_one(here):
    result = here(
        "regress", "edges.csv", "values.csv", "-o", "-", "--solver", "sweeps", "--tol", "0.3"
    )
    rows = rows_of(result.stdout)
    for node, exact in zip("abcde", (-2, -1, 0, 1, 2), strict=True):
        off = abs(float(rows[node]["value"]) - exact)
        assert off <= float(rows[node]["error"]) <= 0.3


def test_minus_one_is_a_value_like_any_other(here):
    (here.folder / "values.csv").write_text("node,value\na,-1\ne,-1\n")
    result = here("regress", "edges.csv", "values.csv", "-o", "-")
    assert result.stderr == ""
    assert float(rows_of(result.stdout)["c"]["value"]) == pytest.approx(-1)


def test_values_go_to_any_format_and_small_ones_keep_their_digits(here):
    (here.folder / "values.csv").write_text("node,value\na,1e-9\ne,3e-9\n")
    result = here("regress", "edges.csv", "values.csv", "-o", "out.jsonl", "--tol", "1e-15")
    assert (result.returncode, result.stdout) == (0, "")
    lines = [json.loads(line) for line in (here.folder / "out.jsonl").read_text().splitlines()]
    found = {line["node"]: line["value"] for line in lines}
    assert found["c"] == pytest.approx(2e-9, abs=1e-15)


def test_several_labels_are_several_rows_or_share_a_cell(here):
    rows = here("classify", "edges.csv", "labels.csv", "--multi", "-o", "-")
    cells = here(
        "classify", "edges.csv", "cells.csv", "--multi", "--label-separator", "|", "-o", "-"
    )
    assert (rows.returncode, rows.stderr, cells.stderr) == (0, "", "")
    assert rows.stdout == cells.stdout
    found = rows_of(rows.stdout)
    assert [found[node]["labels"] for node in "abde"] == ["red;round", "red;round", "blue", "blue"]
    assert found["a"]["probabilities"] == "1.0;1.0"
    assert found["x"] == {
        "labels": "", "probabilities": "", "status": "unreached", "certified": "true",
    }  # fmt: skip


def test_verbose_says_what_was_done(here):
    for arguments, what in (
        (["regress", "edges.csv", "values.csv"], "values"),
        (["classify", "edges.csv", "labels.csv", "--multi"], "labels"),
    ):
        result = here(*arguments, "-o", f"{what}.tsv", "-v")
        assert f"predicted the {what} of 3 nodes, 2 unreached\nwrote {what}.tsv\n" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["regress", "edges.csv", "values.csv"], 2, "-o"),
        (["regress", "edges.csv", "labels.csv", "-o", "-"], 1, "two labels"),
        (["regress", "edges.csv", "cells.csv", "-o", "-"], 1, "node 'a' must be a number, got"),
        (["regress", "edges.csv", "values.csv", "-o", "-", "--leak", "auto"], 2, "number"),
        (["regress", "edges.csv", "values.csv", "-o", "edges.csv"], 1, "already exists"),
        (["classify", "edges.csv", "labels.csv", "-o", "-"], 1, "two labels"),
        (
            ["classify", "edges.csv", "labels.csv", "-o", "-", "--label-separator", ";"],
            2, "--multi",
        ),
        (["classify", "edges.csv", "labels.csv", "-o", "-", "--multi", "--leak", "auto"], 2, "lea"),
        *(
            (["classify", "edges.csv", "labels.csv", "-o", "-", "--multi", *one], 2, one[0])
            for one in (
                ["--summary", "s.json"], ["--temperatures"], ["--min-probability", "0.5"],
                ["--confidence", "0.5"], ["--model", "stacked"],
                ["--label-separator", ""],
            )
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(here, arguments, code, said):
    result = here(*arguments)
    assert (result.returncode, result.stdout) == (code, "")
    assert said in result.stderr


def test_what_could_not_be_proven_has_an_exit_code_of_its_own(here):
    how = ("--tol", "1e-300", "--solver", "sweeps", "--engine", "scipy")
    assert here("regress", "edges.csv", "values.csv", "-o", "-", *how).returncode == 3
    assert here("classify", "edges.csv", "labels.csv", "--multi", "-o", "-", *how).returncode == 3
