"""Jobs on several ranks of this machine, and the memory that each rank takes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.measure import ROOT

# What Open MPI must be told; the tests of isotherm_petsc and the example read the same file.
TOLD = ROOT / "examples" / "many-machines" / "open_mpi.env"


def start(ranks: int, *arguments: str) -> subprocess.Popen[str]:
    """Python with these arguments, on so many ranks."""
    mpiexec = shutil.which("mpiexec")
    if mpiexec is None:
        raise SystemExit("there is no mpiexec: see docs/many-machines.md")
    lines = TOLD.read_text(encoding="utf-8").splitlines()
    told = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    return subprocess.Popen(
        [mpiexec, "-n", str(ranks), sys.executable, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | told,
    )


def run(ranks: int, *arguments: str) -> str:
    """What the ranks print."""
    process = start(ranks, *arguments)
    printed, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"mpiexec ended with {process.returncode}")
    return printed


def peaks(ranks: int, *arguments: str) -> list[int]:
    """Bytes of its own that each rank has at its peak, the greatest first; mapped files aside."""
    process, found = start(ranks, *arguments), dict[str, int]()
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        for pid in children.read_text(encoding="ascii").split():
            found[pid] = max(found.get(pid, 0), _own_bytes(pid))
        time.sleep(0.01)
    process.communicate()
    if process.returncode:
        raise SystemExit(f"mpiexec ended with {process.returncode}")
    return sorted(found.values(), reverse=True)


def _own_bytes(pid: str) -> int:
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:  # it has just ended
        return 0
    fields = dict(line.split(":", 1) for line in text.splitlines())
    return sum(1024 * int(fields.get(name, "0").split()[0]) for name in ("RssAnon", "RssShmem"))
