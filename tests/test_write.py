"""Predictions in files: what is written is what was found, and it is all there or not at all."""

import csv
import gzip
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook
from sklearn.exceptions import NotFittedError

from isotherm import (
    BlockModel,
    DirichletClassifier,
    FileError,
    Graph,
    ParameterError,
    write_predictions,
    write_report,
)

COLUMNS = [
    *("node", "label", "probability", "most_probable", "its_probability"),
    *("margin", "status", "certified"),
]
FILES = [
    *("p.csv", "p.tsv", "p.parquet", "p.jsonl", "p.json", "p.xlsx"),
    *("p.csv.gz", "p.JSONL.gz", "p.json.gz"),
]


@pytest.fixture(scope="module")
def fitted():
    """Names and labels that need quotation marks, a node that no heat reaches."""
    odd = ['a "q"', "b,c", "tab\there", "line\nbreak", "é ü", " padded ", "back\\slash", "plain"]
    graph = Graph.from_edges([*odd[:-1], "alone"], [*odd[1:], "too"])
    return DirichletClassifier().fit(graph, {odd[0]: 'x "1"', odd[-1]: "y, z"})


def expected(fitted):
    classes, P = fitted.classes_.tolist(), fitted.predict_proba()
    for i, node in enumerate(fitted.names_.tolist()):
        has = fitted.labels_[i] is not None
        own = P[i, classes.index(fitted.labels_[i])] if has else None
        outdone = has and P[i].max() > own
        yield {
            "node": node,
            "label": fitted.labels_[i],
            "probability": round(float(own), 4) if has else None,
            "most_probable": classes[P[i].argmax()] if outdone else None,
            "its_probability": round(float(P[i].max()), 4) if outdone else None,
            "margin": round(float(fitted.margins_[i]), 6) if has else None,
            "status": str(fitted.status_[i]),
            "certified": bool(fitted.certified_[i]),
        }


def read_text(path, delimiter):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=delimiter))
    for row in rows:
        for key in ("label", "most_probable"):
            row[key] = row[key] or None
        for key in ("probability", "its_probability", "margin"):
            row[key] = float(row[key]) if row[key] else None
        row["certified"] = {"true": True, "false": False}[row["certified"]]
    return rows


def read_back(path):
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        return pq.read_table(path).to_pylist()
    if name.endswith(".xlsx"):
        (heads, *cells) = load_workbook(path).active.iter_rows(values_only=True)
        return [dict(zip(heads, row, strict=True)) for row in cells]
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if name.endswith(".json"):
        return json.loads(text)
    if name.endswith("l"):
        return [json.loads(line) for line in text.decode().split("\n")[:-1]]
    return read_text(path, "," if name.endswith(".csv") else "\t")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("rows", [3, 1 << 17])
def test_what_is_written_is_what_was_found(fitted, tmp_path, monkeypatch, name, rows):
    monkeypatch.setattr("isotherm.write.rows.ROWS", rows)
    path = tmp_path / name
    write_predictions(fitted, path)
    found = read_back(path.rename(tmp_path / name.lower()))
    assert [list(row) for row in found] == [COLUMNS] * len(found)
    assert found == list(expected(fitted))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("decision", ["centered", "plain"])
def test_probabilities_in_files_are_those_of_python(tmp_path, name, decision):
    rng = np.random.default_rng(0)
    graph, truth = BlockModel([120, 60, 30], 0.08, 0.02).sample(rng)
    known = {int(i): f"class {truth[i]}" for i in rng.choice(210, 60, replace=False)}
    model = DirichletClassifier(decision).fit(graph, known)
    write_predictions(model, tmp_path / name)
    found = read_back((tmp_path / name).rename(tmp_path / name.lower()))
    columns = ("label", "probability", "most_probable", "its_probability")
    for row, other in zip(found, expected(model), strict=True):
        assert [row[key] for key in columns] == [other[key] for key in columns]
    tally = model.tally()
    assert 0 < tally.n_outdone == sum(row["most_probable"] is not None for row in found)
    assert tally.n_labelled == 150


def test_temperatures_are_written_where_asked_for(fitted, tmp_path):
    write_predictions(fitted, tmp_path / "p.parquet", temperatures=True)
    table = pq.read_table(tmp_path / "p.parquet")
    assert table.column_names[8:] == ['temperature_x "1"', "temperature_y, z"]
    T = np.array([table.column(k).to_pylist() for k in (8, 9)], dtype=float).T
    assert np.allclose(T, fitted.temperatures_, atol=1e-6, equal_nan=True)


def test_classes_that_are_numbers_are_written_as_numbers(tmp_path):
    fitted = DirichletClassifier().fit(Graph.from_edges([0, 1, 2], [1, 2, 3]), {0: 5, 3: 7})
    write_predictions(fitted, tmp_path / "p.csv")
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[1].startswith("0,5,1,")
    assert [line.split(",")[1] for line in lines[1:]] == ["5", "5", "7", "7"]


def test_a_file_that_is_there_stays_unless_forced(fitted, tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("precious")
    with pytest.raises(FileError, match="already exists"):
        write_predictions(fitted, path)
    assert path.read_text() == "precious"
    write_predictions(fitted, path, force=True)
    assert path.read_text().startswith("node,label")


@pytest.mark.parametrize("name", ["p", "p.xls", "p.gz", "p.parquet.gz", "p.xlsx.gz"])
def test_an_ending_that_is_no_format_is_refused(fitted, tmp_path, name):
    with pytest.raises(ParameterError, match=r"must be one of \.csv, \.tsv"):
        write_predictions(fitted, tmp_path / name)


@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.csv.gz", "p.xlsx", "p.gexf", "p.json"])
def test_an_interrupt_leaves_no_file(fitted, tmp_path, name):
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_predictions(fitted, tmp_path / name, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_place_where_nothing_can_be_written(fitted, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        write_predictions(fitted, tmp_path / "file" / "p.csv")


def test_standard_output(fitted, capfdbinary):
    write_predictions(fitted, "-")
    assert capfdbinary.readouterr().out.startswith(b"node,label,probability")


# --- spreadsheets ---------------------------------------------------------------------------------

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\ttab", "\rreturn"]


@pytest.fixture(scope="module")
def formulas():
    graph = Graph.from_edges([*FORMULAS, "-5", "+1.5e3", "a=b"], [*FORMULAS[1:], "-5", "+1.5e3",
                                                               "a=b", "end"])  # fmt: skip
    return DirichletClassifier().fit(graph, {FORMULAS[0]: "=cold", "end": "-1.5"})


@pytest.mark.parametrize(("ending", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_cells_that_a_spreadsheet_would_run_are_text_where_that_is_asked_for(
    formulas, tmp_path, ending, delimiter
):
    write_predictions(formulas, tmp_path / f"plain{ending}")
    write_predictions(formulas, tmp_path / f"safe{ending}", spreadsheet_safe=True)
    plain, safe = (read_text(tmp_path / f"{name}{ending}", delimiter) for name in ("plain", "safe"))
    changed = {one["node"]: other["node"] for one, other in zip(plain, safe, strict=True)}
    assert changed == {text: "'" + text for text in FORMULAS} | {
        text: text
        for text in ("-5", "+1.5e3", "a=b", "end")  # harmless as they are
    }
    assert {row["label"] for row in safe} <= {"'=cold", "-1.5"}
    for one, other in zip(plain, safe, strict=True):
        assert one["margin"] == other["margin"]


def test_only_tables_of_text_are_made_safe_for_spreadsheets(formulas, tmp_path):
    with pytest.raises(ParameterError, match="is for CSV and TSV only"):
        write_predictions(formulas, tmp_path / "out.parquet", spreadsheet_safe=True)


def test_suggestions_are_made_safe_likewise(tmp_path):
    from isotherm.write import write_records

    rows = [{"node": "=1", "doubt": -0.5}, {"node": "-1", "doubt": 1}, {"node": "-1\n", "doubt": 1}]
    write_records(rows, ["node", "doubt"], tmp_path / "s.csv", spreadsheet_safe=True)
    assert (tmp_path / "s.csv").read_text() == "node,doubt\n'=1,-0.5\n-1,1\n\"'-1\n\",1\n"


@pytest.mark.parametrize("write", [write_predictions, write_report])
def test_only_fitted_models_are_written(write, tmp_path):
    for other in (None, "model", Graph.from_edges("ab", "bc")):
        with pytest.raises(ParameterError, match="a fitted model is needed"):
            write(other, tmp_path / "out.csv")
    with pytest.raises(NotFittedError, match="call fit first"):
        write(DirichletClassifier(), tmp_path / "out.csv")
