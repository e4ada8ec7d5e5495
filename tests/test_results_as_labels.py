"""A result of isotherm given back as labels: what was found is no label unless it is asked for."""

import json
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import CliRun
from isotherm import (
    DirichletClassifier,
    DirichletRegressor,
    Graph,
    IsothermWarning,
    LabelError,
    MultiLabelDirichletClassifier,
    read_labels,
    write_predictions,
)
from isotherm.job import Job

GIVEN = {"a": "left", "f": "right"}


@pytest.fixture
def graph():
    return Graph.from_edges(list("abcde"), list("bcdef"))


@pytest.fixture
def model(graph):
    return DirichletClassifier().fit(graph, GIVEN)


@pytest.mark.parametrize(
    "ending", ["csv", "tsv", "parquet", "json", "jsonl", "xlsx", "graphml", "gexf", "csv.gz"]
)
def test_only_what_was_given_is_a_label_in_every_format_that_is_written(
    tmp_path, graph, model, ending
):
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    path, label = tmp_path / f"result.{ending}", "class" if ending in ("graphml", "gexf") else None
    write_predictions(model, path)
    with pytest.warns(IsothermWarning, match="4 of 6 labels were not given but found") as said:
        assert read_labels(path, graph, label=label) == GIVEN
    assert all(word in str(said[0].message) for word in ("status", "--results-as-labels", "own"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_labels(path, graph, label=label, results_as_labels=True)) == 6


@pytest.mark.parametrize("ending", ["graphml", "gexf", "json"])
def test_of_what_networkx_writes_only_what_was_given_is_a_label(tmp_path, graph, model, ending):
    networkx = pytest.importorskip("networkx")
    path, found = tmp_path / f"result.{ending}", model.to_networkx()
    if ending == "json":
        data = networkx.node_link_data(found, edges="edges")
        path.write_text(json.dumps(data), encoding="utf-8")
    else:
        getattr(networkx, f"write_{ending}")(found, path)
    label = None if ending == "json" else "label"
    with pytest.warns(IsothermWarning, match="4 of 6 labels were not given but found"):
        assert read_labels(path, graph, label=label) == GIVEN


def test_a_correction_is_a_row_whose_status_says_given_or_nothing(tmp_path, graph, model):
    path = tmp_path / "result.csv"
    write_predictions(model, path)
    rows = pd.read_csv(path, dtype=object)
    rows.loc[rows["node"] == "c", ["label", "status"]] = ["right", " given"]
    rows.loc[len(rows)] = {"node": "b", "label": "right"}  # added by hand, after a guess of b
    rows.to_csv(path, index=False)
    with pytest.warns(IsothermWarning, match="3 of 7 labels"):
        assert read_labels(path, graph) == GIVEN | {"b": "right", "c": "right"}


def test_values_that_were_found_are_no_labels(tmp_path, graph):
    path = tmp_path / "result.csv"
    write_predictions(DirichletRegressor().fit(graph, {"a": 1.0, "f": 2.0}), path)
    with pytest.warns(IsothermWarning, match="4 of 6 labels"):
        assert read_labels(path, graph, label="value") == {"a": "1", "f": "2"}


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "graphml"])
def test_sets_of_labels_that_were_found_are_no_labels(tmp_path, graph, ending):
    path = tmp_path / f"result.{ending}"
    model = MultiLabelDirichletClassifier().fit(graph, {"a": {"x", "y"}, "f": {"y"}})
    write_predictions(model, path)
    with pytest.warns(IsothermWarning, match=r"[1-4] of [3-6] labels were not given but found"):
        assert set(read_labels(path, graph, label="labels")) == {"a", "f"}


def test_a_result_of_guesses_alone_is_refused(tmp_path, graph):
    path = tmp_path / "result.csv"
    path.write_text("node,label,status\nb,left,predicted\nc,left,tie\nd,,unreached\n")
    with pytest.raises(LabelError, match=r"2 of 2 labels were not given .* no other label"):
        read_labels(path, graph)


def test_words_of_others_make_no_result_but_are_said(tmp_path, graph):
    path = tmp_path / "labels.csv"
    path.write_text("node,label,status\na,x,predicted\nb,y,confirmed\n")
    with pytest.warns(IsothermWarning, match="does not write .'confirmed'.: all rows are labels"):
        assert read_labels(path, graph) == {"a": "x", "b": "y"}


@pytest.mark.parametrize(("text", "columns"), [
    ("Konto;Status\na;predicted\nb;given\n", {}),
    ("node,status\na,predicted\nb,given\n", {}),
    ("node,label,status\na,x,predicted\nb,y,given\n", {"label": "status"}),
    ("id,label,status\na,predicted,predicted\nb,given,given\n", {}),
    ("node,label,status\na,predicted,open\nb,given,closed\n", {}),
])  # fmt: skip
def test_the_status_of_others_is_their_own(tmp_path, graph, text, columns):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_labels(path, graph, header=True, **columns) == {"a": "predicted", "b": "given"}


def test_rows_at_fault_do_not_move_the_status_of_others(tmp_path, graph):
    path = tmp_path / "labels.csv"
    path.write_text("node,label,status\na,x,seed\n,y,predicted\nb,y,predicted\nc,x,seed\n")
    with pytest.warns(IsothermWarning):
        assert read_labels(path, graph, on_error="skip") == {"a": "x", "c": "x"}
    table = pa.table(
        {"node": ["a", None, "b"], "label": list("xyz"), "status": ["seed", "tie", "tie"]}
    )
    pq.write_table(table, tmp_path / "labels.parquet")
    with pytest.warns(IsothermWarning):
        assert read_labels(tmp_path / "labels.parquet", graph, on_error="skip") == {"a": "x"}


def test_numbers_of_rows_are_those_of_the_file(tmp_path, graph):
    path = tmp_path / "labels.csv"
    path.write_text("node,label,status\nb,y,predicted\na,x,seed\na,y,seed\n")
    with pytest.raises(LabelError, match="rows 2 and 3"):
        read_labels(path, graph)


def test_folders_of_results_are_results(tmp_path, graph):
    folder = tmp_path / "parts"
    folder.mkdir()
    for k in range(2):
        pq.write_table(
            pa.table({"node": [f"{'ab'[k]}", f"{'cd'[k]}"], "label": ["x", "y"],
                      "status": ["seed", "predicted"]}), folder / f"{k}.parquet",
        )  # fmt: skip
    with pytest.warns(IsothermWarning, match="2 of 4 labels"):
        assert read_labels(folder, graph) == {"a": "x", "b": "x"}


@pytest.fixture
def given_back(tmp_path):
    """A graph whose labels are noise; and a result of it."""
    rng = np.random.default_rng(5)
    ends = rng.integers(0, 120, (400, 2))
    text = "".join(f"n{i},n{j}\n" for i, j in ends.tolist() if i != j)
    (tmp_path / "edges.csv").write_text("source,target\n" + text)
    rows = ["node,label,status"]
    rows += [
        f"n{k},{'AB'[rng.integers(2)]},{'seed' if k < 30 else 'predicted'}" for k in range(120)
    ]
    (tmp_path / "result.csv").write_text("\n".join(rows) + "\n")
    return CliRun(tmp_path)


@pytest.mark.parametrize(
    "command", [["classify", "-o", "o.csv"], ["evaluate", "--repeats", "1"], ["suspects"]]
)
def test_commands_leave_guesses_out_and_say_so(given_back, command):
    name, *options = command
    result = given_back(name, "edges.csv", "result.csv", *options)
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stderr.split())
    assert "90 of 120 labels were not given but found" in said
    assert "--results-as-labels" in said


def test_the_page_leaves_guesses_out_and_says_so(given_back):
    pytest.importorskip("starlette", reason="needs isotherm[page]")
    from isotherm.page.opening import PageFiles, open_session
    from isotherm.pipeline import Silent

    folder = given_back.folder
    job = Job(str(folder / "edges.csv"), str(folder / "result.csv"))
    session = open_session(job, PageFiles(), Silent())
    try:
        assert len(session.labelling.labels) == 30
        assert sum("90 of 120 labels" in note for note in session.notes) == 1
    finally:
        session.labelling.journal.close()
