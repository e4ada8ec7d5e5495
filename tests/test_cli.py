"""The command line, as a user runs it."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import CliRun
from html_page import Page
from isotherm import __version__
from isotherm.experiments.models import make_models
from npz_files import dataset_file


def run(*arguments, columns=100, cwd=None):
    return CliRun(cwd)(*arguments, columns=columns)


@pytest.mark.slow
def test_demo_scores_sections_and_shows_packages(tmp_path):
    result = run("demo", cwd=tmp_path)
    assert result.returncode == 0
    assert re.fullmatch(
        r"warning: few labels: 5 classes have only one seed each .*\n", result.stderr
    )
    assert "\x1b" not in result.stdout  # piped, it has no colours
    assert run("demo", "-q", "--model", "paper", cwd=tmp_path).stderr == ""
    sections, packages, last = result.stdout.split("\n\n")
    lines = sections.splitlines()
    assert lines[0].split() == ["class", "given", "to", "find", "precision", "recall", "F1"]
    assert lines[1].startswith("libs ")
    assert lines[-1].startswith("mean of all 58")
    rows = packages.splitlines()
    assert rows[0].split() == ["node", "label", "truth", "probability"]
    assert len(rows) == 13
    assert re.search(r"every temperature within \d\.\de-0[78] of equilibrium", last)
    assert re.search(r"accuracy on packages not given: \d+ of \d+ \(6[4-6]\.\d%\)", last)
    page = (tmp_path / "isotherm-demo.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "isotherm demo" in page


@pytest.mark.slow
def test_demo_takes_the_paper_s_model(tmp_path):
    found = run("demo", "--model", "paper", cwd=tmp_path)
    assert found.returncode == 0
    assert re.search(r"of \d+ \(5\d\.\d%\)", found.stdout)
    wrong = run("demo", "--model", "magic", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "stacked" in wrong.stderr


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 60, 80])
def test_demo_fits_the_terminal(columns, tmp_path):
    found = run("demo", "--model", "paper", columns=columns, cwd=tmp_path)
    lines = found.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert sum(line.startswith("mean of all") for line in lines) == 1


def test_version_and_help():
    assert run("--version").stdout.split(" without")[0].strip() == f"isotherm {__version__}"
    for arguments in (["--help"], ["-h"], ["demo", "--help"]):
        result = run(*arguments)
        assert result.returncode == 0
        assert "Usage: " in result.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_one_line_too():
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "isotherm", "datasets"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert result.returncode == 1
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr


def test_an_unknown_command_is_a_usage_error():
    result = run("melt")
    assert result.returncode == 2
    assert "melt" in result.stderr


def test_an_error_of_ours_is_one_line_without_a_traceback(monkeypatch, capsys):
    from isotherm import cli
    from isotherm.errors import GraphError

    def fail(**_):
        raise GraphError("the graph is empty [really]")

    monkeypatch.setattr(cli, "app", fail)
    assert cli.run() == 1
    assert capsys.readouterr().err.strip() == "error: the graph is empty [really]"


def test_what_nobody_foresaw_is_one_line_unless_debugging(monkeypatch, capsys):
    application = importlib.import_module("isotherm.cli.app")

    def fail(**_):
        raise ZeroDivisionError("oh")

    assert application.run_command(fail) == 1
    assert "unexpected error, ZeroDivisionError: oh" in capsys.readouterr().err
    monkeypatch.setattr(application.settings, "debug", True)
    with pytest.raises(ZeroDivisionError):
        application.run_command(fail)


# --- evaluate and datasets ------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    """Two cliques joined by an edge, all labelled."""
    edges = [(a, b) for part in ("abcde", "vwxyz") for a in part for b in part if a < b]
    edges.append(("e", "v"))
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in edges))
    (tmp_path / "labels.tsv").write_text(
        "node\tlabel\n" + "".join(f"{n}\t{'low' if n < 'm' else 'high'}\n" for n in "abcdevwxyz")
    )
    return tmp_path


@pytest.fixture
def evaluate(files):
    def evaluate(*arguments, columns=100):
        both = str(files / "edges.csv"), str(files / "labels.tsv")
        return run("evaluate", *both, *arguments, columns=columns)

    return evaluate


def without_seconds(text):
    return [line.split()[:-1] for line in text.splitlines()]


@pytest.mark.slow
def test_evaluate_compares_models_at_each_share_of_seeds(files, evaluate):
    single, page = files / "runs.csv", files / "page.html"
    asked = ["--seeds", "40%,0.6", "--repeats", "5"]
    result = evaluate(*asked, "--csv", str(single), "--report", str(page))
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "40 % of the labels as seeds, 5 draws"
    assert lines[1].split() == ["model", "macro-F1", "accuracy", "seconds"]
    assert re.fullmatch(r"paper +[01]\.\d{3} ± 0\.\d{3} +[01]\.\d{3} ± 0\.\d{3} +\S+", lines[2])
    models = list(make_models())
    assert [line.split()[0] for line in lines[2 : 2 + len(models)]] == models
    assert "60 % of the labels as seeds, 5 draws" in lines
    assert lines[-2:] == [f"wrote {single}", f"wrote {page}"]
    rows = single.read_text().splitlines()
    assert rows[0] == "seed_fraction,model,repeat,macro_f1,accuracy,answered,seconds"
    assert len(rows) == 1 + 2 * 5 * len(models)
    assert Page(page.read_text(encoding="utf-8")).row("paper")[0] in lines[2]
    assert without_seconds(evaluate(*asked).stdout) == without_seconds("\n".join(lines[:-2]))
    for name in (single, page):
        taken = evaluate("--csv" if name == single else "--report", str(name))
        assert taken.returncode == 1
        assert "already exists" in taken.stderr


@pytest.mark.slow
def test_evaluate_scores_decisions_and_peers_too(evaluate):
    asked = ["--seeds", "40%", "--repeats", "2", "--decisions", "--against", "spreading, spreading"]
    wide, narrow = (evaluate(*asked, columns=columns) for columns in (60, 40))
    others = ["plain", "partial", "mass", "standard", "ratio", "spreading"]
    for result in (wide, narrow):
        assert (result.returncode, result.stderr) == (0, "")
        lines = [line.split()[0] for line in result.stdout.splitlines()]
        assert lines[2:] == [*make_models(), *others]
    assert "±" in wide.stdout
    assert "±" not in narrow.stdout
    assert max(map(len, wide.stdout.splitlines())) <= 60
    assert max(map(len, narrow.stdout.splitlines())) <= 40


@pytest.mark.slow
def test_evaluate_takes_a_data_set_by_name(tmp_path):
    asked = ["--seeds", "20%", "--repeats", "2"]
    result = run("evaluate", "--dataset", "karate", *asked, "--report", "k.html", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    page = Page((tmp_path / "k.html").read_text(encoding="utf-8"))
    assert page.root.findtext("head/title") == "Models compared on karate"
    assert "34 nodes, 78 edges, 34 known labels, 2 classes" in page.words


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the graph is missing: name two files"),
        (["edges.csv"], "LABELS, the file of known labels, is missing"),
        (["edges.csv", "labels.csv", "--dataset", "karate"], "two graphs were named"),
        (["--dataset", "atlantis"], "unknown data set 'atlantis'"),
        (["--dataset", "karate", "--against", "gcn"], "unknown peer 'gcn'; choose one of"),
    ],
)
def test_evaluate_wants_one_graph_and_peers_that_exist(arguments, said, tmp_path):
    result = run("evaluate", *arguments, columns=500, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.csv", "labels.tsv"], "there is no file"),
        (["edges.csv", "labels.tsv", "--seeds", "many"], "written like 5% or 0.05"),
        (["edges.csv", "labels.tsv", "--seeds", "100%"], "written like 5% or 0.05"),
        (["edges.csv", "labels.tsv", "--seeds", "99%"], "leave none to score"),
        (["labels.tsv", "edges.csv"], "has two labels"),
    ],
)
def test_evaluate_says_what_is_wrong(files, arguments, said):
    first, second, *rest = arguments
    result = run("evaluate", str(files / first), str(files / second), *rest, columns=500)
    assert result.returncode == (2 if "written like" in said else 1)
    assert result.stdout == ""
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_datasets_are_listed_and_described(tmp_path):
    (tmp_path / "mine.npz").write_bytes(dataset_file())
    listed = run("datasets", "list", "--data", str(tmp_path))
    assert (listed.returncode, listed.stderr) == (0, "")
    assert re.search(r"karate\s+bundled", listed.stdout)
    assert re.search(r"mine\s+mine\.npz", listed.stdout)
    here = run("datasets", "info", "karate")
    assert "Zachary" in here.stdout
    assert "34 nodes, 78 edges, 2 classes" in here.stdout
    mine = run("datasets", "info", "mine", "--data", str(tmp_path))
    assert mine.stdout == "source: the file mine.npz\n3 nodes, 3 edges, 2 classes\n"
    unknown = run("datasets", "info", "atlantis", "--data", str(tmp_path))
    assert unknown.returncode == 2
    assert "unknown data set 'atlantis'" in unknown.stderr
    assert f"{tmp_path} has no atlantis.npz" in " ".join(unknown.stderr.split())


@pytest.mark.parametrize("columns", [30, 100])
def test_lists_fit_the_terminal(tmp_path, columns):
    for number in range(8):
        (tmp_path / f"mine{number}.npz").write_bytes(b"")
    lines = run("datasets", "list", "--data", str(tmp_path), columns=columns).stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert len([line for line in lines if ".npz" in line]) == 8
