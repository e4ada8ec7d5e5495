"""How the claims are measured: side by side, in one run, and written down with the machine."""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import platform
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotherm.compiled import core, n_threads

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
LIBRARIES = [
    "isotherm",
    "numpy",
    "scipy",
    "scikit-network",
    "graphlearning",
    "networkx",
    "pyamg",
    "pandas",
    "pyarrow",
    "igraph",
    "torch",
    "torch-geometric",
    "cupy-cuda13x",
    "cupy-cuda12x",
]


@dataclass
class Result:
    """What a benchmark found.

    Attributes
    ----------
    claim : str
    rows : list of dict
        The table, one row per measurement.
    checks : dict
        What the claim amounts to in numbers, and whether it held.
    """

    claim: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    checks: dict[str, bool] = field(default_factory=dict)
    note: str = ""

    def add(self, **row: Any) -> None:
        """Add a row and print it."""
        self.rows.append(row)
        print("  ".join(f"{name}={show(value)}" for name, value in row.items()), flush=True)

    def check(self, what: str, holds: bool) -> None:
        """Note whether part of the claim holds."""
        self.checks[what] = bool(holds)
        print(f"{'holds' if holds else 'FAILS'}: {what}", flush=True)


def show(value: Any) -> str:
    """A number with three digits, anything else as it is."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def fastest(rounds: int, *contestants: Callable[[], Any], warm_up: bool = True) -> list[float]:
    """Least seconds of each contestant; they take turns, so that noise hits all alike.

    Every other time in the opposite order: none always comes after one that has filled the caches.
    """
    if warm_up:
        for run in contestants:
            run()
    best = [math.inf] * len(contestants)
    turns = list(enumerate(contestants))
    for _ in range(rounds):
        for k, run in turns:
            started = time.perf_counter()
            run()
            best[k] = min(best[k], time.perf_counter() - started)
        turns.reverse()
    return best


def geometric_mean(values: list[float]) -> float:
    """Geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def peak_bytes(pid: str = "self") -> int:
    """Most memory this process ever had (Linux)."""
    return _status("VmHWM", pid)


def current_bytes() -> int:
    """Memory this process has now (Linux)."""
    return _status("VmRSS", "self")


def forget_peak() -> None:
    """Let `peak_bytes` start again from the memory held now (Linux)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


class AnonymousPeak:
    """The most memory of its own that this process has meanwhile; mapped files do not count."""

    def __init__(self) -> None:
        self.bytes = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            self.bytes = max(self.bytes, _status("RssAnon", "self"))

    def __enter__(self) -> AnonymousPeak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def _status(name: str, pid: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"the system does not report {name}")


def in_process(module: str, *arguments: object, timeout: float | None = None) -> dict[str, Any]:
    """Run ``module.measured(*arguments)`` in a process of its own; its result, a dict."""
    code = (
        f"import json; from {module} import measured; print(json.dumps(measured(*{arguments!r})))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=timeout,
        check=False,
    )
    if run.returncode:
        raise RuntimeError(run.stderr[-2000:])
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    return {
        "processor": _processor(),
        "gpu": _gpu(),
        "cores": os.cpu_count(),
        "threads": n_threads(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "instruction_sets": core.instruction_sets() if core is not None else [],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": versions,
    }


def _gpu() -> str | None:
    """The GPU, if the cuda engine finds one."""
    from isotherm.engines.cuda.device import find_device, is_installed
    from isotherm.errors import DeviceError

    if not is_installed():
        return None
    try:
        return find_device().name
    except DeviceError:
        return None


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def save(name: str, result: Result, folder: Path) -> Path:
    """Write a result as JSON, with the machine it was measured on."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    record = {
        "claim": result.claim,
        "measured": time.strftime("%Y-%m-%d"),
        "machine": machine(),
        "checks": result.checks,
        "rows": result.rows,
        "note": result.note,
    }
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
