"""``isotherm label`` from the command line: what it refuses, and what it does without a browser."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("starlette", reason="needs isotherm[page]")

from isotherm.cli import run
from labelling_page import Client

EDGES = "source,target\na,b\nb,c\nc,d\nd,e\ne,f\n"
LABELS = "node,label\na,left\nf,right\n"
TOKEN = "a-token-of-these-tests"  # noqa: S105


@pytest.fixture
def files(tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "labels.csv").write_text(LABELS)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name either a file of EDGES"),
        (["edges.csv", "--demo", "karate"], "Name either a file of EDGES"),
        (["edges.csv", "--host", "::"], "lets other machines connect"),
        (["edges.csv", "--token", "short"], "at least 16"),
        (["edges.csv", "--link", "javascript:{id}"], "must begin with https"),
        (["edges.csv", "--link", "https://example.org"], "needs {id}"),
        (["edges.csv", "--journal", "edges.csv"], "this file is an input"),
        (["-"], "cannot read standard input"),
    ],
)
def test_what_makes_no_sense_is_said(files, arguments, message, monkeypatch, capsys):
    monkeypatch.chdir(files)
    monkeypatch.setattr(sys, "argv", ["isotherm", "label", *arguments, "--no-open"])
    assert run() == 2
    assert message in re.sub(r"[\s│]+", " ", capsys.readouterr().err)


class Started:
    """The command, running."""

    def __init__(self, folder, *more, port=0):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "isotherm", "label", "edges.csv", "labels.csv", "--no-open",
             "--token", TOKEN, "--port", str(port), *more],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        line = self.process.stdout.readline()
        self.port = int(re.search(r":(\d+)/", line)[1])
        self._ask = Client(self.port)

    def ask(self, path, body=None):
        status, told = self._ask(path, body, Authorization=f"Bearer {TOKEN}")
        assert status == 200, told
        return told

    def end(self, sent=signal.SIGINT):
        self.process.send_signal(sent)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="ends by a signal")
def test_ctrl_c_ends_it_and_says_where_the_labels_are(files):
    (files / "about.csv").write_text("id,colour,note\nb,red,<b>\n,,\nz,blue,\n")
    started = Started(files, "--nodes", "about.csv", "--link", "https://example.org/{id}")
    assert started.ask("/api/nodes/1")["attributes"] == {"colour": "red", "note": "<b>"}
    assert started.ask("/api/nodes/1")["link"] == "https://example.org/b"
    started.ask("/api/label", {"node": 2, "label": "left"})
    other = Started(files, "--journal", "other.journal", port=started.port)
    assert other.port > started.port
    assert f"port {started.port} is in use" in other.end()[2]
    _, _, err = started.end()
    assert "1 label given, all in labels.csv.journal" in err
    assert "Traceback" not in err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills by a signal")
def test_a_server_that_is_killed_has_lost_no_acknowledged_label(files):
    given = {}
    for life in range(int(os.environ.get("ISOTHERM_KILLS", "2"))):
        started = Started(files)
        assert started.ask("/api/state")["given"] == len(given)
        for node in range(1, 5):
            label = f"class {life % 3} {node % 2}"
            started.ask("/api/label", {"node": node, "label": label})
            given[node] = label
            if node == 1 + life % 4:
                break
        started.end(signal.SIGKILL)
    started = Started(files)
    deadline = time.monotonic() + 30
    while started.ask("/api/state")["folded"] < 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert {node: started.ask(f"/api/nodes/{node}")["given"] for node in given} == given
    started.end()


@pytest.mark.slow
def test_a_label_file_that_changed_meanwhile_is_said(files):
    started = Started(files)
    started.ask("/api/label", {"node": 2, "label": "left"})
    started.end()
    (files / "labels.csv").write_text(LABELS + "b,right\n")
    started = Started(files)
    state = started.ask("/api/state")
    assert any("has changed since" in note for note in state["notes"])
    assert state["labels"] == 4
    assert "has changed since" in started.end()[2]
