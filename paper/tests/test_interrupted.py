"""`python -m paper` can be stopped at any time: no orphans, nothing torn, and it goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from isotherm import IsothermError
from paper import protocol
from paper.protocol import Store, cells_of, run_cells

pytestmark = [
    pytest.mark.core_free,
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs groups of processes"),
]


def command(folder):
    return [sys.executable, "-m", "paper", "figure2", "--repeats", "500",
            "--jobs", "2", "--folder", str(folder)]  # fmt: skip


def lines_of(folder):
    path = folder / "cells" / "figure2.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def wait_for(condition, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def group_is_gone(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize(
    ("number", "whole_group"),
    [
        (signal.SIGINT, True),
        (signal.SIGTERM, False),
        (signal.SIGTERM, True),
        (signal.SIGKILL, False),
    ],
    ids=["Ctrl-C", "SIGTERM", "SIGTERM to all", "SIGKILL"],
)
def test_stopped_at_any_time_it_leaves_no_process_and_no_torn_file(tmp_path, number, whole_group):
    with subprocess.Popen(
        command(tmp_path),
        cwd=Path(__file__).parents[2],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            wait_for(lambda: lines_of(tmp_path))
            (os.killpg if whole_group else os.kill)(process.pid, number)
            _, said = process.communicate(timeout=20)
            wait_for(lambda: group_is_gone(process.pid), 20)
        finally:
            if not group_is_gone(process.pid):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    if number != signal.SIGKILL:
        assert "no file was left half written" in said
        assert "Traceback" not in said
    assert not list(tmp_path.rglob("*.part"))
    found = [json.loads(line) for line in lines_of(tmp_path)]
    assert found
    assert all(record["rows"] for record in found)


def test_a_process_that_is_killed_is_an_error_that_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(protocol, "_run_batch", _die)
    cells = cells_of("block_figures", [{"x": 1}], repeats=40, seed=0)
    with pytest.raises(IsothermError, match=r"worker process was killed.*--jobs"):
        run_cells(cells, Store(tmp_path / "cells.jsonl"), jobs=2)


def _die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
