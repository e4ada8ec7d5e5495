"""Whatever the environment says, a command works or says in one line why not."""

import importlib
import os
import subprocess
import sys

import pytest

from isotherm import ParameterError
from isotherm.compiled import MOST_THREADS, n_threads
from isotherm.engines.native import NativeEngine

application = importlib.import_module("isotherm.cli.app")  # isotherm.cli.app is the Typer app


@pytest.fixture
def here(tmp_path):
    (tmp_path / "edges.csv").write_text("a,b\nb,c\nc,d\nd,é→x\n", encoding="utf-8")
    (tmp_path / "labels.csv").write_text("node,label\na,x\nd,y\n")

    def run(*arguments, **variables):
        environment = {k: v for k, v in (os.environ | variables).items() if v is not None}
        return subprocess.run(
            [sys.executable, "-m", "isotherm", *arguments],
            capture_output=True,
            env=environment,
            cwd=tmp_path,
            check=False,
        )

    return run


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("3", 3),
        ("2,4", 2),
        ("007", 7),
        ("1000000", MOST_THREADS),
        ("9" * 5000, MOST_THREADS),
        ("0", None),
        ("-1", None),
        ("garbage", None),
        ("", None),
        ("1.5", None),
    ],
)
def test_threads_are_what_the_variable_says_if_it_makes_sense(monkeypatch, value, expected):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    usual = n_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert n_threads() == (usual if expected is None else expected)


@pytest.mark.parametrize("threads", [1025, 10**9, 10**30])
def test_more_threads_than_can_be_are_refused(threads):
    with pytest.raises(ParameterError, match="whole number from 1 to 1024"):
        NativeEngine(threads=threads)


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables",
    [
        {"COLUMNS": "0"},
        {"COLUMNS": "-5", "LINES": "garbage"},
        {"COLUMNS": "9" * 20},
        {"OMP_NUM_THREADS": "9" * 20},
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"TMPDIR": "/nonexistent", "TERM": "garbage"},
        {"HOME": None, "XDG_CACHE_HOME": ""},
        {"HOME": "/nonexistent", "NO_COLOR": ""},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_an_odd_environment_changes_nothing_that_matters(here, variables):
    result = here("suggest", "edges.csv", "labels.csv", "-q", **variables)
    said = [line for line in result.stderr.splitlines() if line and not line.startswith(b"libgomp")]
    assert (result.returncode, said) == (0, [])
    assert b"label now" in result.stdout
    shown = result.stdout.decode()
    assert "é→x" in shown or "\\xe9\\u2192x" in shown


@pytest.mark.parametrize(
    "error",
    [
        ImportError("libx.so: failed to map segment from shared object"),
        ImportError("libx.so: cannot allocate memory in static TLS block"),
        RuntimeError("can't start new thread"),
        Exception("Unknown error: Failed to launch worker thread: Resource unavailable"),
        MemoryError(),
    ],
)
def test_little_memory_is_said_to_be_little(error, capsys):
    def fail(**_):
        raise error

    assert application.run_command(fail) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: not enough memory")
    assert "ulimit -v" in said


def test_a_library_that_is_not_there_is_no_fault_of_isotherm(capsys):
    def fail(**_):
        raise ImportError("No module named 'pyarrow'")

    assert application.run_command(fail) == 1
    said = capsys.readouterr().err
    assert "a library cannot be loaded: No module named 'pyarrow'; install" in said


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs limits on processes")
def test_a_program_that_cannot_even_be_loaded_says_so(tmp_path):
    code = (
        "import resource, sys, os\n"
        "resource.setrlimit(resource.RLIMIT_AS, (150 << 20, 150 << 20))\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'isotherm', 'demo', '-q'])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "bug in isotherm" not in result.stderr
