"""The paper by one command: files, the page, and stopping in the middle."""

import ast
import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="figures need matplotlib")

import isotherm
from html_page import Page
from isotherm import BlockModel, DatasetError, ParameterError
from paper import block_model, consistency, figures, graphs, table2, tables
from paper.__main__ import PARTS, Reproduction, main
from paper.decisions import DECISIONS
from paper.page import Table, image, page, section, write, write_csv
from paper.printed import TABLE1, title_of
from paper.tables import grouped

pytestmark = pytest.mark.core_free

ROOT = Path(__file__).parents[2]


@pytest.fixture
def small(monkeypatch, small_blocks):  # noqa: ARG001
    """Everything at a size for tests."""
    monkeypatch.setattr(block_model, "GROWTH_NODES", (200, 400))
    monkeypatch.setattr(consistency, "SEED_RATIOS", np.geomspace(1 / 4, 4, 5))
    monkeypatch.setattr(consistency, "SIZE_RATIOS", np.geomspace(1 / 4, 4, 5))


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
            indptr=graph.adjacency.indptr,
            indices=graph.adjacency.indices,
            labels=labels,
        )
    return folder


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def no_network(monkeypatch):
    """A data set that is not in the folder cannot be had."""

    def refuse(name, folder):
        if not (folder / f"{name}.npz").exists():
            raise DatasetError(f"{name} could not be fetched")

    monkeypatch.setattr(graphs, "fetch", refuse)


@pytest.mark.filterwarnings("ignore:.*cannot be had")
@pytest.mark.usefixtures("small", "no_network")
@pytest.mark.slow
def test_all_parts_are_made_and_shown(tmp_path, data):
    out = tmp_path / "out"
    index = Reproduction(out, data, repeats=2).make()
    shown = Page(index.read_text(encoding="utf-8"))
    for part in PARTS:
        assert (out / "sections" / f"{part}.html").exists()
    for name in ("figure1", "figure2", "figure3", "consistency", "growth"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{name}.svg").read_text(encoding="utf-8")
    assert len(shown.sections) == len(PARTS)
    assert shown.tags.count("img") == 5
    for name in ("table1", "table2", "decisions", "ten_sweeps", "figure2", "figure3", "growth"):
        title = (out / f"{name}.md").read_text(encoding="utf-8").splitlines()[0]
        assert shown.table(title.removeprefix("### "))
    assert "Not run: the data set could not be had" in shown.words


@pytest.mark.filterwarnings("ignore:.*cannot be had")
@pytest.mark.usefixtures("small", "no_network")
def test_the_csv_files_have_the_columns_promised(tmp_path, data, monkeypatch):
    monkeypatch.setattr(table2, "FRACTIONS", (0.1,))
    out = tmp_path / "out"
    Reproduction(out, data, repeats=2).make("figure2", "figure3", "table2")
    table = rows_of(out / "table2.csv")
    assert list(table[0]) == [
        *("dataset", "seed_fraction", "decision", "unreached", "repeat", "macro_f1")
    ]
    assert len(table) == 7 * 6 * 2 * 2
    for name in ("figure2", "figure3"):
        rows = rows_of(out / f"{name}.csv")
        assert list(rows[0]) == ["panel", "ratio", "decision", "repeat", "f1"]
        assert len(rows) == 2 * 2 * 3 * 2
        assert {row["panel"] for row in rows} == {"seed", "label"}


@pytest.mark.usefixtures("small")
def test_the_same_seed_gives_the_same_files(tmp_path):
    for name in ("a", "b"):
        Reproduction(tmp_path / name, tmp_path, repeats=2, seed=5).make("figure2")
    Reproduction(tmp_path / "c", tmp_path, repeats=2, seed=6).make("figure2")
    a, b, c = (tmp_path / name / "figure2.csv" for name in "abc")
    assert a.read_bytes() == b.read_bytes() != c.read_bytes()
    svg = [tmp_path / name / "figure2.svg" for name in "ab"]
    assert svg[0].read_bytes() == svg[1].read_bytes()


@pytest.mark.usefixtures("small")
def test_parts_made_one_by_one_end_up_on_one_page(tmp_path):
    out = tmp_path / "out"
    Reproduction(out, tmp_path, repeats=1).make("figure1")
    index = Reproduction(out, tmp_path, repeats=1).make("figure2")
    titles = list(Page(index.read_text(encoding="utf-8")).sections)
    assert [title[:8] for title in titles] == ["Figure 1", "Figure 2"]


@pytest.mark.filterwarnings("ignore:.*cannot be had")
@pytest.mark.usefixtures("small", "no_network")
def test_the_page_opens_with_the_table_that_is_printed(tmp_path, data):
    index = Reproduction(tmp_path / "out", data, repeats=1).make("figure1", "table1", "table2")
    shown = Page(index.read_text(encoding="utf-8"))
    assert next(iter(shown.sections)) == "Table 2: real graphs"
    titles = [caption.text for caption in shown.root.iterfind(".//figcaption")]
    assert titles[:4] == [
        *(f"Table 2, {share} of seeds" for share in ("5%", "10%", "20%")),
        "Table 2, 1% of seeds (in the source of the paper only)",
    ]


@pytest.mark.usefixtures("small", "no_network")
def test_what_is_missing_is_said_in_one_sentence_before_anything_runs(tmp_path, data):
    (data / "cora.npz").unlink()
    told = []
    with pytest.warns(
        UserWarning, match=r"^Cora and WikiVitals\+ cannot be had: .*'not run'"
    ) as said:
        Reproduction(
            tmp_path / "out", data, 1, progress=lambda *_: told.append(len(said.list))
        ).make("table2")
    assert told[0] == len(said) == 1
    assert len(str(said[0].message)) < 120


@pytest.mark.filterwarnings("ignore:.*cannot be had")
@pytest.mark.usefixtures("small", "no_network")
def test_rows_that_were_never_run_say_so_in_the_papers_order(tmp_path, data):
    (data / "pubmed.npz").unlink()
    index = Reproduction(tmp_path / "out", data, repeats=1).make("table1", "table2")
    shown = Page(index.read_text(encoding="utf-8"))
    names = [title_of(name) for name in TABLE1]
    counts = {row[0]: row[1:] for row in shown.table("Table 1: data sets")}
    assert list(counts) == names
    assert counts["PubMed"] == ["not run", "19,717", "not run", "44,325", "not run", "3"]
    for share, plain, centered, variation in (
        ("5%", "0.76 ± 0.01", "0.78 ± 0.01", "+2%"),
        ("20%", "0.80 ± 0.00", "0.80 ± 0.00", "0%"),
    ):
        rows = shown.table(f"Table 2, {share} of seeds")
        first = [row[0].partition(",")[0] for row in rows]
        assert sorted(first, key=names.index) == first
        (mine,) = (row[1:] for row in rows if row[0] == "PubMed")
        assert mine == ["not run", plain, "not run", centered, "not run", variation]


def test_without_matplotlib_nothing_is_run_and_the_sentence_says_what_to_install(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(figures, "find_spec", lambda _: None)
    with pytest.raises(ParameterError, match=r"^figure2 cannot be drawn: matplotlib.*pip install"):
        Reproduction(tmp_path / "out", tmp_path).make("figure2")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("no_network")
def test_tables_without_data_fail_and_say_so(tmp_path):
    (tmp_path / "none").mkdir()
    made = Reproduction(tmp_path / "out", tmp_path / "none", repeats=1)
    with pytest.raises(DatasetError, match=r"table1 and table2 cannot be made: none.*--data"):
        made.make("table1", "table2")
    assert not (tmp_path / "out").exists()
    with pytest.raises(DatasetError, match=r"table2 cannot be made.*The other parts are in .*html"):
        made.make("figure1", "table2")
    page = Page((tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    assert [title[:8] for title in page.sections] == ["Figure 1"]


@pytest.mark.slow
def test_no_warning_is_shown_with_a_line_of_code(tmp_path):
    command = [sys.executable, "-W", "always", "-m", "paper"]
    for part in ("figure1", "consistency"):
        run = subprocess.run(
            [*command, part, "--folder", str(tmp_path / part)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert ".py:" not in run.stderr
        assert "few labels" not in run.stderr


def test_an_unknown_part_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="figure9"):
        Reproduction(tmp_path, tmp_path).make("figure9")


@pytest.mark.slow
def test_a_run_that_is_stopped_goes_on_where_it_was(tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "paper", "figure2", "--repeats", "4",
               "--jobs", "2", "--folder", str(out)]  # fmt: skip
    cells = out / "cells" / "figure2.jsonl"
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
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
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert again.stdout.strip() == f"see {out / 'index.html'}"
    assert again.stderr == ""
    after = cells.read_text(encoding="utf-8").splitlines()
    assert after[: len(before)] == before
    assert len(rows_of(out / "figure2.csv")) == 80 * 3


def test_a_narrow_terminal_is_no_trouble(tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "paper", "figure1", "--folder", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "30"},
        check=True,
    )
    assert run.stdout.strip().endswith("index.html")


# --- tables and pages ----------------------------------------------------------------------------


def test_text_is_escaped_in_html_and_markdown():
    table = Table("a < b", ("x|y",), [("<script>",), ("mine *",)])
    shown = Page(page("<b>", "<b>", section("<i>", "<u>", table.html())))
    assert shown.table("a < b") == [["<script>"], ["mine *"]]
    assert [shown.root.findtext("head/title"), *shown.sections] == ["<b>", "<i>"]
    assert not {"script", "i", "b", "u"} & {*shown.tags}
    assert "x\\|y" in table.markdown()
    assert "| mine * |" in table.markdown()


def test_nothing_in_a_picture_can_act_on_the_page(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.svg").write_text(
            '<svg><g id="p1"/><use href="#p1"/><script>alert(1)</script></svg>'
        )
    both = [image(tmp_path / f"{name}.svg", name) for name in "ab"]
    shown = Page(page("Two", "", section("Both", "", *both)))
    assert shown.tags.count("img") == 2
    assert "svg" not in shown.tags
    assert [each.get("alt") for each in shown.root.iter("img")] == ["a", "b"]


def test_each_decision_has_a_colour_of_its_own_and_is_drawn(tmp_path):
    assert len(set(figures.COLOURS.values())) == len(DECISIONS)
    numbers = {"panel": "seed", "ratio": 1, "f1": 0.5, "degree": "log n", "n": 9, "error_rate": 0.1}
    rows = [numbers | {"decision": name} for name in DECISIONS]
    for number, figure in enumerate((figures.block_curves(rows, 2), figures.growth_curves(rows))):
        figures.save(figure, tmp_path, str(number))
    assert len(list(tmp_path.iterdir())) == 4
    assert tables.block_table("Title", rows).columns[-2:] == ("standard", "ratio")


def test_a_file_that_cannot_be_finished_is_not_there(tmp_path):
    def rows():
        yield {"x": 1}
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        write_csv(tmp_path / "a.csv", rows(), ["x"])
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / "deep" / "b.txt", "whole")
    assert (tmp_path / "deep" / "b.txt").read_text() == "whole"


def test_rows_are_grouped_in_the_order_they_come():
    rows = [{"k": 2, "v": 1}, {"k": 1, "v": 2}, {"k": 2, "v": 3}]
    assert list(grouped(rows, "k")) == [(2,), (1,)]


def test_the_paper_uses_public_names_only():
    for path in sorted((ROOT / "paper").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("isotherm"):
                assert node.module == "isotherm", path
                assert {alias.name for alias in node.names} <= set(isotherm.__all__), path
            elif isinstance(node, ast.Import):
                assert not [a.name for a in node.names if a.name.startswith("isotherm")], path


def test_a_folder_that_cannot_be_written_is_said_in_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["figure1", "--folder", str(tmp_path / "file" / "deep")]) == 1
    assert capsys.readouterr().err.startswith(f"error: cannot write {tmp_path / 'file' / 'deep'}: ")
