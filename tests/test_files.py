"""Outputs: whole or not there, and nothing but files is ever replaced."""

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from conftest import CliRun
from isotherm import DirichletClassifier, FileError, Graph, write_predictions
from isotherm.files import check_output, replacing, write_text

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")


@pytest.fixture(scope="module")
def fitted():
    return DirichletClassifier().fit(Graph.from_edges("abc", "bcd"), {"a": 0, "d": 1})


@pytest.mark.parametrize("force", [False, True])
def test_a_link_is_never_replaced(tmp_path, fitted, force):
    link, target = tmp_path / "out.csv", tmp_path / "kept.csv"
    link.symlink_to(target)
    for _ in range(2):  # leading nowhere, then to a file
        with pytest.raises(FileError, match=r"out\.csv is a link to .*kept\.csv.* delete the link"):
            write_predictions(fitted, link, force=force)
        assert link.is_symlink()
        target.write_text("kept")
    assert target.read_text() == "kept"


def test_a_link_that_comes_while_writing_is_not_replaced_either(tmp_path):
    out, other = tmp_path / "out.txt", tmp_path / "other"
    other.write_text("kept")
    with pytest.raises(FileError, match="is a link"), replacing(out):
        out.symlink_to(other)
    assert other.read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "out.txt"]


@needs_pipes
def test_a_pipe_is_written_into_only_where_that_is_asked_for(tmp_path, fitted):
    pipe = tmp_path / "out.csv"
    os.mkfifo(pipe)
    with pytest.raises(FileError, match=r"is a pipe; it is written to only with --force"):
        write_predictions(fitted, pipe)
    with pytest.raises(FileError, match="is a pipe, which is never replaced"):
        write_text(pipe, "from a command that has no such option")
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_predictions(fitted, pipe, force=True)
    reader.join(10)
    assert found[0].startswith("node,label,")
    assert pipe.is_fifo()


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs /dev/null")
def test_a_device_is_written_into_and_stays_one():
    with pytest.raises(FileError, match="is a device"):
        check_output(Path("/dev/null"), force=False)
    check_output(Path("/dev/null"), force=True)


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs sockets with names")
def test_a_folder_and_a_socket_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")  # a short name: the long one may not fit
        for name in ("folder", "socket"):
            with pytest.raises(FileError, match=f"{name} is a {name}, which is never replaced"):
                check_output(Path(name), force=True)


def test_dev_stdout_is_standard_output(fitted, capfdbinary, monkeypatch):
    monkeypatch.setattr(sys, "stdout", sys.__stdout__)
    write_predictions(fitted, "/dev/stdout")
    assert capfdbinary.readouterr().out.startswith(b"node,label,")


def test_a_name_as_long_as_names_may_be_can_be_written(tmp_path):
    path = tmp_path / ("x" * 251 + ".csv")
    write_text(path, "whole")
    assert path.read_text() == "whole"


@pytest.fixture
def read_only(monkeypatch, tmp_path):
    """A file system on which nothing new can be made."""
    assert tmp_path.is_dir()  # made before

    def refuse(path, *_, **__):
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    opened = Path.open
    monkeypatch.setattr(Path, "mkdir", refuse)
    monkeypatch.setattr(
        Path, "open", lambda path, mode="r", *rest, **how: (
            opened(path, mode, *rest, **how) if mode in ("r", "rb") else refuse(path)
        )
    )  # fmt: skip


@pytest.mark.usefixtures("read_only")
def test_a_read_only_folder_is_said_in_one_sentence(tmp_path, fitted):
    for path in (tmp_path / "out.csv", tmp_path / "new" / "out.parquet"):
        with pytest.raises(FileError, match=r"out\.\w+ cannot be written: Read-only file system"):
            write_predictions(fitted, path)
    assert list(tmp_path.iterdir()) == []


# --- signals --------------------------------------------------------------------------------------

SLOW = """
import sys, time
sys.argv = ["isotherm", "classify", "edges.csv", "labels.csv", "-o", "new/out.csv"]
import isotherm.writers.tables
from isotherm.__main__ import main

def linger(file, rows):
    file.write(b"half")
    print("writing", flush=True)
    time.sleep(60)

isotherm.writers.tables.write_csv = linger
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_while_writing_leaves_nothing(tmp_path, name):
    (tmp_path / "edges.csv").write_text("a,b\nb,c\nc,d\n")
    (tmp_path / "labels.csv").write_text("node,label\na,x\nd,y\n")
    number = getattr(signal, name)
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip(f"{name} is ignored here, as under nohup, and so by what is started from here")
    with subprocess.Popen(
        [sys.executable, "-c", SLOW],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "writing\n"
        process.send_signal(number)
        if number == signal.SIGTERM:
            process.send_signal(number)  # the second one does not disturb the cleaning up
        _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert "no file was left half written" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv", "labels.csv"]


def test_a_signal_that_was_ignored_stays_ignored_and_a_library_has_no_handlers():
    code = (
        "import signal\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "import isotherm.cli, isotherm.pipeline\n"
        "assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL\n"
        "from isotherm.cli.signals import catch_signals\n"
        "catch_signals()\n"
        "assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN\n"
        "assert callable(signal.getsignal(signal.SIGTERM))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_the_command_says_what_is_in_the_way(tmp_path):
    run = CliRun(tmp_path)
    (tmp_path / "edges.csv").write_text("a,b\nb,c\nc,d\n")
    (tmp_path / "labels.csv").write_text("node,label\na,x\nd,y\n")
    (tmp_path / "out.csv").symlink_to("nowhere.csv")
    started = time.perf_counter()
    result = run("classify", "edges.csv", "labels.csv", "-o", "out.csv", "--force")
    assert time.perf_counter() - started < 60
    assert result.returncode == 1
    assert "error: out.csv is a link to nowhere.csv" in result.stderr
    assert not (tmp_path / "nowhere.csv").exists()
