"""The command line, as a user runs it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from isotherm import __version__


def run(*arguments, columns=100):
    return subprocess.run(
        [sys.executable, "-m", "isotherm", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": str(columns), "NO_COLOR": "1"},
        check=False,
    )


def test_demo_prints_every_node_the_proof_and_the_accuracy():
    result = run("demo")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    header = lines[0].split()
    assert header == ["node", "T(Mr.", "Hi)", "T(Officer)", "label", "margin", "status",
                      "certified", "truth"]  # fmt: skip
    rows = [line for line in lines if re.match(r"\s*\d+\s", line)]
    assert [int(row.split()[0]) for row in rows] == list(range(34))
    assert sum(" seed " in row for row in rows) == 2
    assert all(" yes " in row for row in rows)
    assert sum("*" in row for row in rows) == 1
    assert result.stdout.isascii()
    assert "accuracy on the free nodes: 31 of 32 (96.9%)" in result.stdout
    assert re.search(r"every temperature within \d\.\de-1\d of equilibrium", result.stdout)


def test_demo_takes_another_decision():
    assert run("demo", "--decision", "plain").returncode == 0
    wrong = run("demo", "--decision", "magic")
    assert wrong.returncode == 2
    assert "centered" in wrong.stderr


@pytest.mark.parametrize(
    ("columns", "header"),
    [
        (40, "node T label margin cert."),
        (60, "node T(Mr. Hi) T(Officer) label margin certified"),
        (80, "node T(Mr. Hi) T(Officer) label margin status certified truth"),
    ],
)
def test_demo_fits_the_terminal(columns, header):
    lines = run("demo", columns=columns).stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert lines[0].split() == header.split()
    assert len([line for line in lines if re.match(r"\s*\d+\s", line)]) == 34
    assert "…" not in "".join(lines)


def test_demo_has_no_colour_codes_when_piped():
    assert "\x1b" not in run("demo").stdout


def test_version_and_help():
    assert run("--version").stdout == f"isotherm {__version__}\n"
    for arguments in (["--help"], ["-h"], ["demo", "--help"]):
        result = run(*arguments)
        assert result.returncode == 0
        assert "Usage: " in result.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_one_line_too():
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "isotherm", "demo"],
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

    def fail():
        raise GraphError("the graph is empty [really]")

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    assert capsys.readouterr().err.strip() == "error: the graph is empty [really]"
