"""One protocol for all experiments: cells, random streams, processes, and what was done before.

A *cell* is one repeat of one setting of one experiment. Its random stream depends on the seed, the
setting and the number of the repeat alone, so that it is the same in any order and in any number of
processes, and the first repeats of a longer run are those of a shorter one. What a finished cell
found is kept in a `Store` and not computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import threading
import time
import warnings
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed, parallel_config

from isotherm import FileError, IsothermError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = list[dict[str, Any]]
    Progress = Callable[[str, int, int], None]  # what runs, cells done, cells in all

VERSION = 1  # of the experiments' meaning: what was found by another is not used
AT_ONCE = 10  # cells handed to a process in one go
# The function of each experiment, called with a setting and a random generator. An experiment's
# name is in its random streams: another name would change every figure.
EXPERIMENTS = {
    "block_figures": ("paper.block_model", "draw_figure"),
    "growth": ("paper.block_model", "draw_growth"),
    "table2": ("paper.table2", "draw"),
}


@dataclass(frozen=True)
class Cell:
    """One repeat of one setting, of numbers and strings only.

    `local` is what the experiment needs besides and does not change what it finds: where files lie.
    """

    experiment: str
    setting: dict[str, Any]
    seed: int
    repeat: int
    local: dict[str, Any]

    @property
    def key(self) -> str:
        """What tells this cell from all others."""
        parts = [VERSION, self.experiment, self.setting, self.seed, self.repeat]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]

    def rng(self) -> np.random.Generator:
        """The stream of this cell."""
        text = json.dumps([self.experiment, self.setting], sort_keys=True)
        setting = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        return np.random.default_rng([self.seed, setting, self.repeat])

    def run(self) -> Rows:
        """Find the rows of this cell."""
        module, function = EXPERIMENTS[self.experiment]
        draw = getattr(import_module(module), function)
        rows: Rows = draw({**self.setting, **self.local}, self.rng())
        return [{**row, "repeat": self.repeat} for row in rows]


def cells_of(
    experiment: str, settings: Rows, *, repeats: int, seed: int, **local: Any
) -> list[Cell]:
    """All cells of an experiment, setting by setting."""
    if repeats < 1:
        raise ParameterError(f"repeats must be at least 1, got {repeats}")
    if seed < 0:
        raise ParameterError(f"the seed must be a whole number ≥ 0, got {seed}")
    return [
        Cell(experiment, setting, seed, repeat, local)
        for setting in settings
        for repeat in range(repeats)
    ]


def run_cells(
    cells: list[Cell],
    store: Store,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    what: str = "",
) -> Rows:
    """The rows of all cells, in their order; only those not in the store are computed.

    Each cell is in the store as soon as it is done, so that an interrupted run goes on from there.
    """
    missing = [cell for cell in cells if cell.key not in store]
    done = len(cells) - len(missing)
    if progress is not None:
        progress(what, done, len(cells))
    batches = [missing[k : k + AT_ONCE] for k in range(0, len(missing), AT_ONCE)]
    jobs = min(jobs, len(batches)) or 1
    parent = os.getpid()
    # Processes share the processors, so each has one thread.
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1 if jobs > 1 else None):
        found = Parallel(return_as="generator_unordered", batch_size=1)(
            delayed(_run_batch)(batch, parent) for batch in batches
        )
        try:
            with warnings.catch_warnings(), closing(found):
                warnings.filterwarnings("ignore", module="joblib")  # it was stopped: that is known
                for batch in found:
                    for key, rows in batch:
                        store.add(key, rows)
                    done += len(batch)
                    if progress is not None:
                        progress(what, done, len(cells))
        except BrokenProcessPool:
            raise IsothermError(
                "a worker process was killed, perhaps for lack of memory; results so far are kept: "
                "start again, perhaps with fewer processes (--jobs)"
            ) from None
    return [row for cell in cells for row in store[cell.key]]


def _run_batch(batch: list[Cell], parent: int) -> list[tuple[str, Rows]]:
    if os.getpid() != parent:
        _prepare(parent)
    return [(cell.key, cell.run()) for cell in batch]


@cache
def _prepare(parent: int) -> None:
    """In a process beside the first: an interrupt is for that one, and without it there is none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


class Store:
    """What finished cells found: a file of JSON lines, to which each is added when it is done.

    A line that a stopped run left unfinished is not read, and the next one starts afresh after it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[str, Rows] = {}
        self._torn = False  # the last line has no end
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise FileError(f"{path} is a link, a folder or a pipe: name another folder")
        if path.exists():
            text = path.read_text(encoding="utf-8", errors="replace")
            self._torn = bool(text) and not text.endswith("\n")
            for line in text.splitlines():
                self._read(line)

    def _read(self, line: str) -> None:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return
        rows = record.get("rows") if isinstance(record, dict) else None
        if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
            self._found[str(record.get("key"))] = rows

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def __getitem__(self, key: str) -> Rows:
        return self._found[key]

    def add(self, key: str, rows: Rows) -> None:
        """Keep what a cell found."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"key": key, "rows": rows}, ensure_ascii=False) + "\n"
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" + line if self._torn else line)
        self._torn = False
        self._found[key] = rows
