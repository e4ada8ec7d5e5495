"""The paper by one command: files, the page, and stopping in the middle."""

import csv
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="figures need isotherm[paper]")

from isotherm import BlockModel, ParameterError
from isotherm.experiments import consistency_map, growth
from isotherm.experiments.paper import TABLE1
from isotherm.report.page import page, picture
from isotherm.report.tables import Table, grouped, write_csv, write_text
from isotherm.reproduce import PARTS, Reproduction


@pytest.fixture
def small(monkeypatch, small_blocks):  # noqa: ARG001
    """Everything at a size for tests."""
    monkeypatch.setattr(growth, "NODES", (200, 400))
    monkeypatch.setattr(consistency_map, "SEED_RATIOS", np.geomspace(1 / 4, 4, 5))
    monkeypatch.setattr(consistency_map, "SIZE_RATIOS", np.geomspace(1 / 4, 4, 5))


@pytest.fixture
def data(tmp_path):
    """A cache with a stand-in for each of the paper's data sets but one."""
    folder = tmp_path / "data"
    folder.mkdir()
    for number, name in enumerate(list(TABLE1)[:-1]):
        model = BlockModel([120, 80], 0.1, 0.01)
        graph, labels = model.sample(np.random.default_rng(number))
        np.savez(
            folder / f"{name}.npz",
            indptr=graph.rows.start,
            indices=graph.rows.ends,
            labels=labels,
        )
    return folder


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def no_network(monkeypatch):
    """A data set that is not in the cache cannot be had."""
    from isotherm import datasets
    from isotherm.errors import DatasetError

    def refuse(name, *_, **__):
        raise DatasetError(f"{name} could not be fetched")

    monkeypatch.setattr(datasets, "fetch_dataset", refuse)


@pytest.mark.usefixtures("small", "no_network")
def test_all_parts_are_made_and_shown(tmp_path, data):
    out = tmp_path / "out"
    index = Reproduction(out, data, repeats=2).make()
    text = index.read_text(encoding="utf-8")
    for part in PARTS:
        assert (out / "sections" / f"{part}.html").exists()
    for name in ("figure1", "figure2", "figure3", "consistency", "growth"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{name}.svg").read_text(encoding="utf-8")
    assert text.count("<svg") == 5
    for name in ("table1", "table2", "decisions", "ten_sweeps"):
        assert (out / f"{name}.md").exists()
        assert (out / f"{name}.html").exists()
    assert "Not in the cache, and could not be fetched: WikiVitals+." in text
    assert not re.findall(r'(?:src|href)="https?://', text)  # needs nothing from elsewhere


@pytest.mark.usefixtures("small", "no_network")
def test_the_csv_files_have_the_columns_promised(tmp_path, data):
    out = tmp_path / "out"
    Reproduction(out, data, repeats=2).make("figure2", "figure3", "table2")
    table = rows_of(out / "table2.csv")
    assert list(table[0]) == [
        *("dataset", "seed_fraction", "decision", "unreached", "repeat", "macro_f1")
    ]
    assert len(table) == 7 * 4 * 6 * 2 * 2
    for name in ("figure2", "figure3"):
        rows = rows_of(out / f"{name}.csv")
        assert list(rows[0]) == ["panel", "ratio", "decision", "repeat", "f1"]
        assert len(rows) == 2 * 2 * 3 * 2
        assert {row["panel"] for row in rows} == {"seed", "label"}


@pytest.mark.usefixtures("small")
def test_the_same_seed_gives_the_same_files(tmp_path):
    for name in ("a", "b"):
        Reproduction(tmp_path / name, repeats=2, seed=5).make("figure2")
    Reproduction(tmp_path / "c", repeats=2, seed=6).make("figure2")
    a, b, c = (tmp_path / name / "figure2.csv" for name in "abc")
    assert a.read_bytes() == b.read_bytes() != c.read_bytes()
    svg = [tmp_path / name / "figure2.svg" for name in "ab"]
    assert svg[0].read_bytes() == svg[1].read_bytes()


@pytest.mark.usefixtures("small")
def test_parts_made_one_by_one_end_up_on_one_page(tmp_path):
    out = tmp_path / "out"
    Reproduction(out, repeats=1).make("figure1")
    text = Reproduction(out, repeats=1).make("figure2").read_text(encoding="utf-8")
    assert "Figure 1" in text
    assert "Figure 2" in text


def test_an_unknown_part_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="figure9"):
        Reproduction(tmp_path).make("figure9")


@pytest.mark.slow
def test_a_run_that_is_stopped_goes_on_where_it_was(tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "isotherm", "reproduce", "figure2", "--repeats", "4",
               "--jobs", "2", "--folder", str(out)]  # fmt: skip
    cells = out / "cells" / "figure2.jsonl"
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        limit = time.monotonic() + 60
        while not cells.exists() and time.monotonic() < limit:
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
    assert run.returncode != 0
    assert "Traceback" not in errors
    before = cells.read_text(encoding="utf-8").splitlines()
    assert 0 < len(before) < 80
    assert not (out / "figure2.csv").exists()
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert again.stdout.strip() == f"see {out / 'index.html'}"
    assert again.stderr == ""
    after = cells.read_text(encoding="utf-8").splitlines()
    assert after[: len(before)] == before
    assert len(rows_of(out / "figure2.csv")) == 80 * 3


def test_a_narrow_terminal_is_no_trouble(tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "isotherm", "reproduce", "figure1", "--folder", str(tmp_path)],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "30"},
        check=True,
    )
    assert run.stdout.strip().endswith("index.html")


# --- tables and pages ----------------------------------------------------------------------------


def test_text_is_escaped_in_html_and_markdown():
    table = Table("a < b", ("x|y",), [("<script>",), ("far *",)])
    assert "<script>" not in table.html()
    assert "&lt;script&gt;" in table.html()
    assert '<td class="marked">far *</td>' in table.html()
    assert "x\\|y" in table.markdown()
    assert "<b>" not in page("<b>", "<b>", [])


def test_pictures_on_one_page_keep_their_names_apart(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.svg").write_text(
            '<?xml version="1.0"?><svg><g id="p1"/><use href="#p1"/><g clip-path="url(#p1)"/></svg>'
        )
    both = picture(tmp_path / "a.svg", "A") + picture(tmp_path / "b.svg", "B")
    assert both.count('id="a-p1"') == both.count('id="b-p1"') == 1
    assert '"#b-p1"' in both
    assert "url(#b-p1)" in both
    assert "<?xml" not in both


def test_a_file_that_cannot_be_finished_is_not_there(tmp_path):
    def rows():
        yield {"x": 1}
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        write_csv(tmp_path / "a.csv", rows(), ["x"])
    assert list(tmp_path.iterdir()) == []
    write_text(tmp_path / "deep" / "b.txt", "whole")
    assert (tmp_path / "deep" / "b.txt").read_text() == "whole"


def test_rows_are_grouped_in_the_order_they_come():
    rows = [{"k": 2, "v": 1}, {"k": 1, "v": 2}, {"k": 2, "v": 3}]
    assert list(grouped(rows, "k")) == [(2,), (1,)]
