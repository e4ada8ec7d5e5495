"""Real processes, started by mpiexec; skipped where there is no MPI."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from shared_graphs import a_case, assert_same, by_node, of_one_machine

MPIEXEC = shutil.which(
    "mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
)
RUN = Path(__file__).parent / "shared_run.py"

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("mpi4py") is None or MPIEXEC is None,
        reason="mpi4py or mpiexec is missing: pip install 'isotherm[mpi]' brings both",
    ),
]

# As root, and with more ranks than processors.
ALLOWED = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMP_NUM_THREADS": "1",
}


def start(size, *command):
    return subprocess.Popen(
        [MPIEXEC, "-n", str(size), sys.executable, *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **ALLOWED},
    )


def classify(size, *arguments):
    process = start(size, "-m", "isotherm", "classify", *arguments)
    out, err = process.communicate(timeout=100)
    return process.returncode, out, err


def started(case, size, **asked):
    """A run that takes its time, once it has kept its first checkpoint; and its processes."""
    pids = case.folder / "pids"
    pids.mkdir(exist_ok=True)
    kept = case.folder / "kept"
    asked = {
        "edges": case.edges,
        "labels": case.labels,
        "output": str(case.folder / "out"),
        "checkpoint": str(kept),
        "every": 0.0,
        "pids": str(pids),
        "pause": 0.3,
    } | asked
    process = start(size, RUN, json.dumps(asked))
    deadline = time.monotonic() + 60
    while not list(kept.glob("checkpoint-*")) and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    return process, [int((pids / str(rank)).read_text()) for rank in range(size)]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_command_says_what_one_machine_says(tmp_path, size):
    case = a_case(tmp_path)
    parts = sorted((tmp_path / "parts").iterdir())
    out = tmp_path / "out"
    code, _, err = classify(size, *parts, case.labels, "-o", out, "--temperatures")
    assert code == 0, err
    assert_same(by_node(out), of_one_machine(case))
    assert (out / "_SUCCESS").exists()
    assert "temperatures proven to" in err


def test_an_error_is_told_once_and_ends_all_ranks(tmp_path):
    case = a_case(tmp_path)
    code, _, err = classify(3, case.edges, tmp_path / "none.csv", "-o", tmp_path / "out")
    assert code == 1, err
    assert err.count("there is no file") == 1, err
    assert not (tmp_path / "out").exists()


# The first rank takes a second between the end of MPI and its last words.
SLOW_TO_TELL = """
import time
from isotherm.__main__ import main
from isotherm.cli import machines
from isotherm.engines.mpi.ranks import mpi

def finish(leave=machines.finish, rank=mpi().COMM_WORLD.Get_rank()):
    leave()
    time.sleep(1.0 if rank == 0 else 0.0)

machines.finish = finish
main()
"""


def test_an_error_is_told_by_a_rank_that_is_slow_to_tell(tmp_path):
    case = a_case(tmp_path)
    missing = [case.edges, tmp_path / "none.csv", "-o", tmp_path / "out"]
    process = start(3, "-c", SLOW_TO_TELL, "classify", *missing)
    _, err = process.communicate(timeout=100)
    assert process.returncode == 1, err
    assert err.count("there is no file") == 1, err


def test_a_rank_that_is_killed_ends_the_job_which_then_goes_on(tmp_path):
    case = a_case(tmp_path)
    process, pids = started(case, 3)
    os.kill(pids[1], signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "signal 9" in err or "Killed" in err
    assert not (tmp_path / "out").exists()
    again = ["--checkpoint", tmp_path / "kept", "--temperatures"]
    code, _, err = classify(2, case.edges, case.labels, "-o", tmp_path / "out", *again)
    assert code == 0, err
    assert "continued from a checkpoint" in err
    assert_same(by_node(tmp_path / "out"), of_one_machine(case))


def test_a_rank_that_is_stuck_ends_in_a_message_not_in_silence(tmp_path):
    case = a_case(tmp_path)
    process, pids = started(case, 2, timeout=6.0)
    os.kill(pids[1], signal.SIGSTOP)
    try:
        _, err = process.communicate(timeout=60)
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    assert process.returncode != 0
    assert "rank 0 of 2 has waited 6 s for" in err
    assert "--checkpoint" in err


def test_ranks_start_mpiexec_by_themselves(tmp_path):
    case = a_case(tmp_path)
    command = [sys.executable, "-m", "isotherm", "classify", case.edges, case.labels]
    command += ["-o", str(tmp_path / "out"), "--ranks", "2"]
    run = subprocess.run(
        command, env={**os.environ, **ALLOWED}, capture_output=True, text=True, timeout=100
    )
    assert run.returncode == 0, run.stderr
    assert "on 2 ranks" in run.stderr
