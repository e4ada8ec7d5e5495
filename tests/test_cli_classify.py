"""``isotherm classify`` and ``isotherm estimate``, as a user runs them."""

import csv
import io
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from conftest import CliRun
from isotherm.compiled import core

TWO_CLIQUES = "source,target\n" + "".join(
    f"{a},{b}\n" for part in ("abcde", "vwxyz") for a in part for b in part if a < b
)
FEW_SEEDS = (
    "paper's model, because too few seeds share their class with another seed to learn from\n"
)


@pytest.fixture
def here(tmp_path):
    """A folder with two cliques joined by an edge, four labels, and a way to run commands there."""
    (tmp_path / "edges.csv").write_text(TWO_CLIQUES + "e,v\n")
    (tmp_path / "labels.csv").write_text("node,label\na,low\nb,low\ny,high\nz,high\n")
    return CliRun(tmp_path)


def rows_of(text):
    return {row["node"]: row for row in csv.DictReader(io.StringIO(text))}


def test_a_file_and_nothing_on_the_way(here):
    result = here("classify", "edges.csv", "labels.csv", "-o", "out.csv")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    rows = rows_of((here.folder / "out.csv").read_text())
    assert {node: row["label"] for node, row in rows.items()} == {
        **dict.fromkeys("abcde", "low"),
        **dict.fromkeys("vwxyz", "high"),
    }
    assert {row["status"] for row in rows.values()} == {"seed", "predicted"}
    assert {row["certified"] for row in rows.values()} == {"true"}


def test_no_library_is_loaded_that_takes_longer_than_a_small_job(here):
    code = (
        "import os, sys; from isotherm.__main__ import main;"
        "os._exit = lambda code: print(code, *sys.modules); main()"
    )
    files = ("edges.csv", "labels.csv", "-o", "out.csv")
    run = subprocess.run(
        [sys.executable, "-c", code, "classify", *files],
        cwd=here.folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    code, *loaded = run.stdout.split()
    assert code == "0"
    heavy = {"sklearn", "pandas", "polars", "matplotlib", "networkx", "jinja2"}
    assert not heavy & set(loaded)
    assert not {"scipy.optimize", "scipy.stats", "scipy.special", "scipy.spatial"} & set(loaded)
    if core is not None:
        assert "scipy.sparse" not in loaded


def test_standard_input_and_output(here):
    edges = (here.folder / "edges.csv").read_text()
    result = here("classify", "-", "labels.csv", "-o", "-", stdin=edges)
    assert result.returncode == 0
    assert rows_of(result.stdout)["b"]["label"] == "low"
    both = here("classify", "-", "-", "-o", "-", stdin=edges)
    assert both.returncode == 2


def test_verbose_says_what_was_done(here):
    result = here("classify", "edges.csv", "labels.csv", "-o", "out.csv", "-v")
    assert re.search(
        r"read edges.csv \(CSV, columns source, target\): 10 nodes, 21 edges\n"
        r"read labels.csv \(CSV, columns node, label\): 4 seeds of 2 classes\n"
        r"paper's model, because too few seeds share their class with another seed to learn from\n"
        r"direct on \w+, 1 step: every temperature within .*\n"
        r"labelled 6 nodes, 100.0% of all labels numerically exact\n"
        r"wrote out.csv\n"
        r"reading .* s, solving .* s, writing .* s\n",
        result.stderr,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "stacked", "--decision", "plain"], "--decision is for --model paper only"),
        (["--model", "stacked", "--leak", "0.1"], "--leak is for --model paper only"),
        (["--model", "paper", "--balance", "0.5"], "--balance is for --model stacked only"),
        (["--decision", "plain", "--balance", "0.5"], "--balance is for --model stacked only"),
        (["--model", "best"], "'best' is not one of"),
        (["--balance", "2"], "'--balance'"),
    ],
)
def test_options_of_another_model_are_refused(here, options, message):
    result = here("classify", "edges.csv", "labels.csv", "-o", "out.csv", *options)
    assert result.returncode == 2
    assert message in " ".join(result.stderr.replace("│", "").split())
    assert not (here.folder / "out.csv").exists()


def test_labels_are_stacked_by_default_and_the_most_probable_ones(here):
    rng = np.random.default_rng(0)
    block = np.arange(300) // 150
    near = rng.random((300, 300)) < np.where(np.equal.outer(block, block), 0.06, 0.015)
    edges = np.argwhere(np.triu(near, 1))
    (here.folder / "edges.csv").write_text(
        "source,target\n" + "".join(f"n{i},n{j}\n" for i, j in edges)
    )
    known = "".join(f"n{i},{'xy'[block[i]]}\n" for i in range(0, 300, 6))
    (here.folder / "labels.csv").write_text("node,label\n" + known)
    result = here("classify", "edges.csv", "labels.csv", "-o", "-", "-v")
    assert re.search(
        r"stacked model, scored by leaving out 50 seeds: accuracy 0\.\d+, ", result.stderr
    )
    rows = rows_of(result.stdout)
    assert all(row["most_probable"] == "" for row in rows.values())
    found = [row["label"] == "xy"[block[int(node[1:])]] for node, row in rows.items()]
    paper = rows_of(
        here("classify", "edges.csv", "labels.csv", "-o", "-", "--model", "paper").stdout
    )
    before = [row["label"] == "xy"[block[int(node[1:])]] for node, row in paper.items()]
    assert np.mean(found) >= np.mean(before)
    even = here("classify", "edges.csv", "labels.csv", "-o", "-", "-v", "--balance", "0.3")
    assert "labels are balanced towards rare classes by 0.3" in even.stderr


def test_all_options_reach_the_model(here):
    result = here(
        "classify", "edges.csv", "labels.csv", "-o", "out.tsv", "--report", "r.html",
        "--decision", "plain", "--leak", "0.1", "--tol", "1e-3", "--solver", "cg", "--engine",
        "scipy", "--threads", "1", "--unreached", "zero", "--temperatures",
        "--source", "1", "--target", "2", "--delimiter", ",", "--node", "node", "--label", "label",
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")
    header = (here.folder / "out.tsv").read_text().splitlines()[0].split("\t")
    assert header[-2:] == ["temperature_high", "temperature_low"]
    page = (here.folder / "r.html").read_text(encoding="utf-8")
    for word in ("plain", "0.001", "cg", "scipy", "isotherm classify edges.csv", "SHA-256"):
        assert word in page
    import hashlib

    assert hashlib.sha256((here.folder / "edges.csv").read_bytes()).hexdigest() in page


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["edges.csv", "labels.csv"], 2, "-o"),
        (["edges.csv", "labels.csv", "-o", "out.xls"], 2, "must be one of .csv"),
        (["edges.csv", "labels.csv", "-o", "edges.csv"], 1, "edges.csv already exists"),
        (["edges.csv", "labels.csv", "-o", "o.csv", "--report", "edges.csv"], 1, "already exists"),
        (["edgs.csv", "labels.csv", "-o", "o.csv"], 1, "did you mean edges.csv?"),
        (["edges.csv", "labels.csv", "-o", "o.csv", "--source", "src"], 2, "no column 'src'"),
        (["edges.csv", "labels.csv", "-o", "o.csv", "--label", "x"], 2, "no column 'x'"),
        (["edges.csv", "labels.csv", "-o", "o.csv", "--tol", "0"], 2, "tol"),
        (["edges.csv", "labels.csv", "-o", "o.csv", "--leak", "-1"], 2, "leak"),
        (["edges.csv", "labels.csv", "-o", "o.csv", "--decision", "best"], 2, "decision"),
        (["edges.csv", "none.csv", "-o", "o.csv"], 1, "no label"),
        (
            ["edges.csv", "labels.csv", "-o", "o.csv", "--report", "o.csv"],
            2,
            "was named for two outputs",
        ),
        (["edges.csv", "labels.csv", "-o", "-", "--report", "-"], 2, "name a file for the rest"),
        (["edges.csv", "labels.csv", "-o", "edges.csv", "--force"], 2, "is an input"),
        (["edges.csv", "labels.csv", "-o", "-", "--source", "1", "--target", "1"], 2, "twice"),
        (["edges.csv", "strange.csv", "-o", "o.csv", "--strict"], 1, "'q'"),
        (["ragged.csv", "labels.csv", "-o", "o.csv"], 1, "ragged.csv, line 3: 1 column"),
        (["negative.csv", "labels.csv", "-o", "o.csv"], 1, "negative.csv, line 2: a weight"),
        (["cut.csv.gz", "labels.csv", "-o", "o.csv"], 1, "cut off"),
        (["graph.pickle", "labels.csv", "-o", "o.csv"], 1, "is a pickle"),
    ],
)
def test_what_goes_wrong_is_said_in_words(here, arguments, code, said):
    import gzip

    folder = here.folder
    (folder / "none.csv").write_text("node,label\na,\n")
    (folder / "strange.csv").write_text("a,low\nz,high\nq,low\n")
    (folder / "ragged.csv").write_text("a,b\nb,c\nc\n")
    (folder / "negative.csv").write_text("a,b,1\nb,z,-2\n")
    (folder / "cut.csv.gz").write_bytes(gzip.compress(TWO_CLIQUES.encode() * 50)[:-20])
    (folder / "graph.pickle").write_bytes(b"\x80\x04K\x01.")
    before = sorted(folder.iterdir())
    result = here("classify", *arguments)
    assert result.returncode == code
    assert result.stdout == ""
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow
def test_decision_and_leak_are_chosen_where_asked_for(here):
    result = here("classify", "edges.csv", "labels.csv", "-o", "-", "-v", "--decision", "auto",
                  "--leak", "auto")  # fmt: skip
    assert result.returncode == 0
    assert "decision centered, leak 0: too few seeds to choose another" in result.stderr
    all_but_two = "".join(f"{node},low\n" for node in "abcd") + "".join(
        f"{node},high\n" for node in "wxyz"
    )
    (here.folder / "labels.csv").write_text("node,label\n" + all_but_two + "e,low\nv,high\n")
    (here.folder / "edges.csv").write_text(TWO_CLIQUES + "e,v\ne,f\n")
    asked = ("classify", "edges.csv", "labels.csv", "-o", "-", "--decision", "auto")
    chosen = here(*asked, "--leak", "auto").stderr.splitlines()
    assert chosen == [
        "decision standard, leak 0.01: chosen from 12 candidates by leaving out 10 seeds"
    ]
    assert here(*asked, "--quiet").stderr == ""
    wrong = here("classify", "edges.csv", "labels.csv", "-o", "-", "--leak", "much")
    assert wrong.returncode == 2
    assert "got 'much'" in wrong.stderr


@pytest.mark.slow
def test_a_node_is_explained(here):
    result = here("explain", "edges.csv", "labels.csv", "e")
    assert (result.returncode, result.stderr) == (0, FEW_SEEDS)
    lines = result.stdout.splitlines()
    assert re.fullmatch(r"e: low, probability 0\.\d\d", lines[0])
    assert re.search(r"  low   0\.\d{3}  █+\n  high  0\.\d{3}", result.stdout)
    assert re.search(
        r"from 4 seeds.*\n  0\.\d{3}  a \(low\)\n  0\.\d{3}  b \(low\)\n  0\.\d{3}  [yz] \(high\)",
        result.stdout,
    )
    assert re.search(r"  0\.\d{3}  e → a$", result.stdout, re.MULTILINE)
    stranger = here("explain", "edges.csv", "labels.csv", "nobody")
    assert stranger.returncode == 1
    assert "'nobody'" in stranger.stderr
    others = here("explain", "edges.csv", "labels.csv", "a", "--without-own")
    assert re.search(r"from 3 seeds.*\n  0\.\d{3}  b \(low\)", others.stdout)
    chosen = here("explain", "edges.csv", "labels.csv", "e", "--decision", "auto", "--leak", "0.5")
    assert "decision centered, leak 0.5: too few seeds to choose another" in chosen.stderr
    assert re.search(r"0\.\d{3} of the heat is lost to the leak", chosen.stdout)


@pytest.mark.slow
def test_labels_of_little_confidence_are_overruled(here):
    labels = "a,low\nb,low\nc,high\nd,low\nx,high\ny,high\nz,high\n"
    (here.folder / "labels.csv").write_text("node,label\n" + labels)
    sure = here("classify", "edges.csv", "labels.csv", "-o", "-")
    assert rows_of(sure.stdout)["c"]["label"] == "high"
    weak = here("classify", "edges.csv", "labels.csv", "-o", "-", "--confidence", "0.3")
    assert rows_of(weak.stdout)["c"]["label"] == "low"
    assert rows_of(weak.stdout)["c"]["status"] == "predicted"
    wrong = here("classify", "edges.csv", "labels.csv", "-o", "-", "--confidence", "2")
    assert wrong.returncode == 2
    assert "confidence must be above 0 and at most 1" in wrong.stderr
    sure_of_some = "a,low,1\nb,low,0.9\nc,high,0.2\nd,low,1\nx,high,1\ny,high,1\nz,high,1\n"
    (here.folder / "labels.csv").write_text("node,label,sure\n" + sure_of_some)
    each = here("classify", "edges.csv", "labels.csv", "-o", "-", "--confidence", "sure")
    found = {node: (row["label"], row["status"]) for node, row in rows_of(each.stdout).items()}
    assert found["c"] == ("low", "predicted")
    assert found["b"] == ("low", "predicted")
    assert found["a"] == ("low", "seed")
    missing = here("classify", "edges.csv", "labels.csv", "-o", "-", "--confidence", "sur")
    assert missing.returncode in (1, 2)
    assert "'sur'" in missing.stderr


@pytest.mark.slow
def test_what_to_label_next_is_suggested(here):
    result = here("suggest", "edges.csv", "labels.csv", "--most", "3", "--csv", "next.csv")
    assert (result.returncode, result.stderr) == (0, FEW_SEEDS)
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["node", "label", "now", "why", "doubt", "reach"]
    assert [line.split()[2] for line in lines[1:4]] == ["useful", "check", "useful"]
    assert len(lines[1:]) == 3 + 4
    assert lines[-3].startswith("expected accuracy on free nodes: ")
    assert lines[-2].startswith("continue: only 4 seeds can be left out, too few to tell")
    assert lines[-1] == "wrote next.csv"
    rows = rows_of((here.folder / "next.csv").read_text())
    assert list(rows) == [line.split()[0] for line in lines[1:4]]
    assert set(rows) <= set("cdevwx")
    again = here("suggest", "edges.csv", "labels.csv", "--csv", "next.csv")
    assert again.returncode == 1
    assert "next.csv already exists" in again.stderr
    labels = "".join(f"{n},{'low' if n < 'm' else 'high'}\n" for n in "abcdevwxyz")
    (here.folder / "labels.csv").write_text("node,label\n" + labels)
    assert here("suggest", "edges.csv", "labels.csv").stdout == "every node has a label\n"
    for out, said in (("-", "name a file for the rest"), ("x.gexf", "must be one of .csv")):
        wrong = here("suggest", "edges.csv", "labels.csv", "-o", out)
        assert wrong.returncode == 2
        assert said in " ".join(wrong.stderr.split())


@pytest.mark.slow
def test_suspects_are_listed(here):
    labels = "".join(f"{n},{'low' if n < 'm' else 'high'}\n" for n in "abcwxyz")
    (here.folder / "labels.csv").write_text(labels + "d,high\n")
    result = here("suspects", "edges.csv", "labels.csv")
    assert (result.returncode, result.stderr) == (0, FEW_SEEDS)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("8 seeds left out, one at a time: accuracy 0.")
    assert lines[3].split() == [
        "node",
        "label",
        "suggested",
        "own",
        "probability",
        "suggested",
        "probability",
    ]
    assert lines[4].split()[:3] == ["d", "high", "low"]
    (here.folder / "labels.csv").write_text(labels)
    assert "no label looks wrong" in here("suspects", "edges.csv", "labels.csv").stdout
    (here.folder / "labels.csv").write_text("who;class\na;low\nb;low\nz;high\n")
    odd = here("suspects", "edges.csv", "labels.csv", "--node", "who", "--label-delimiter", ";")
    assert "1 of them could not get their label back" in odd.stdout


def test_force_replaces_and_skip_counts(here):
    (here.folder / "out.csv").write_text("old")
    (here.folder / "edges.csv").write_text(TWO_CLIQUES + "broken\ne,v\n")
    result = here("classify", "edges.csv", "labels.csv", "-o", "out.csv", "--force",
                  "--on-error", "skip")  # fmt: skip
    assert result.returncode == 0
    assert "warning: edges.csv: 1 malformed row was left out: 1 column" in result.stderr
    assert "The first: edges.csv, line 22: 1 column" in result.stderr
    assert (here.folder / "out.csv").read_text().startswith("node,")
    quiet = here("classify", "edges.csv", "labels.csv", "-o", "out.csv", "--force",
                 "--on-error", "skip", "--quiet")  # fmt: skip
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_one_class_and_odd_labels_are_pointed_out(here):
    (here.folder / "labels.csv").write_text("node,label\na,-1\nz,-1\n")
    result = here("classify", "edges.csv", "labels.csv", "-o", "out.jsonl")
    assert result.returncode == 0
    assert "warning: labels.csv: '-1' was treated as a class (2 nodes)" in result.stderr
    assert "warning: there is only one class, '-1': nodes are ranked by how near" in result.stderr
    import json

    for line in (here.folder / "out.jsonl").read_text().splitlines():
        assert list(json.loads(line, parse_constant=pytest.fail)) == [
            *("node", "score", "rank", "status")
        ]


def test_too_many_classes_for_the_memory_are_refused(here, monkeypatch):
    from isotherm import NotEnoughMemory, memory
    from isotherm.job import Job
    from isotherm.pipeline import do

    monkeypatch.chdir(here.folder)
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "free_memory", lambda: 300)
    message = r"2 classes on 10 nodes .* If column 'label' of labels\.csv does not hold"
    with pytest.raises(NotEnoughMemory, match=message):
        do(Job("edges.csv", "labels.csv"))


def test_a_pipe_is_read_like_a_file(here):
    os.mkfifo(here.folder / "pipe.csv")
    copy = "import shutil; shutil.copyfileobj(open('edges.csv'), open('pipe.csv', 'w'))"
    with subprocess.Popen([sys.executable, "-c", copy], cwd=here.folder) as writer:
        result = here("classify", "pipe.csv", "labels.csv", "-o", "-")
        writer.kill()  # should nobody have read
    assert result.returncode == 0
    assert rows_of(result.stdout)["b"]["label"] == "low"


def test_labels_of_strangers_are_a_warning(here):
    (here.folder / "labels.csv").write_text("a,low\nz,high\nq,low\n")
    result = here("classify", "edges.csv", "labels.csv", "-o", "out.csv")
    assert result.returncode == 0
    assert "warning: labels.csv: 1 of 3 labels are for nodes that are not in the graph: 'q'" in (
        result.stderr
    )


def test_not_converged_is_an_exit_code_of_its_own(here):
    result = here("classify", "edges.csv", "labels.csv", "-o", "out.csv", "--solver", "sweeps",
                  "--tol", "1e-15")  # fmt: skip
    assert result.returncode == 3
    assert "warning: " in result.stderr
    assert (here.folder / "out.csv").exists()


def test_progress_is_drawn_on_a_terminal_only(here):
    leader, follower = pty.openpty()
    environment = os.environ | {"COLUMNS": "70", "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [sys.executable, "-m", "isotherm", "classify", "edges.csv", "labels.csv", "-o", "o.csv"],
        stdout=subprocess.PIPE,
        stderr=follower,
        cwd=here.folder,
        env=environment,
    ) as process:
        out, _ = process.communicate(timeout=60)
        os.close(follower)
        drawn = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:
                break
            if not part:
                break
            drawn += part
        os.close(leader)
    assert process.returncode == 0
    assert out == b""
    assert b"wrote o.csv" in drawn
    assert b"\x1b[" in drawn


@pytest.mark.slow
def test_an_interrupt_leaves_nothing_behind(here):
    rng = np.random.default_rng(0)
    (here.folder / "large.txt").write_text(
        "".join(f"{a} {b}\n" for a, b in rng.integers(0, 300_000, (1_500_000, 2)))
    )
    (here.folder / "l.txt").write_text("1 x\n2 y\n")
    before = sorted(here.folder.iterdir())
    with subprocess.Popen(
        [sys.executable, "-m", "isotherm", "classify", "large.txt", "l.txt", "-o", "o.csv",
         "--tol", "1e-12", "--solver", "sweeps"],
        stderr=subprocess.PIPE,
        cwd=here.folder,
        text=True,
    ) as process:  # fmt: skip
        time.sleep(2.5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert said == "error: interrupted; no file was left half written\n"
    assert sorted(here.folder.iterdir()) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_said_in_words(here):
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "isotherm", "classify", "edges.csv", "labels.csv", "-o", "-"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=here.folder,
            text=True,
            check=False,
        )
    assert result.returncode == 1
    assert "No space left" in result.stderr
    assert "Traceback" not in result.stderr


def test_debug_shows_where(here):
    result = here("--debug", "classify", "edges.csv", "nowhere.csv", "-o", "o.csv")
    assert result.returncode == 1
    assert "Traceback" in result.stderr


@pytest.mark.slow
def test_estimate_counts_a_small_file(here):
    result = here("estimate", "edges.csv", "labels.csv")
    assert result.returncode == 0
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert (lines["nodes"], lines["edges"]) == ("10", "21")
    assert (lines["labels"], lines["classes"]) == ("4", "2")
    assert re.fullmatch(r"about \d+ MiB", lines["memory"])
    same = here("classify", "edges.csv", "labels.csv", "--estimate").stdout
    assert same.splitlines()[:4] == result.stdout.splitlines()[:4]
    alone = here("estimate", "edges.csv", "--classes", "7")
    assert re.search(r"labels\s+none given\nclasses\s+7\n", alone.stdout)


def test_completion_is_there():
    shown = subprocess.run(
        [sys.executable, "-m", "isotherm", "--show-completion", "bash"],
        capture_output=True,
        text=True,
        check=False,
        # The shell is the one named, whoever started this.
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    )
    assert "complete -o default -F" in shown.stdout
