"""One protocol for all experiments: cells, random streams, processes, and what was done before.

A *cell* is one repeat of one setting of one experiment. Its random stream depends on the seed, the
setting and the number of the repeat alone, so that it is the same in any order and in any number of
processes, and the first repeats of a longer run are those of a shorter one. What a finished cell
found is kept, see `isotherm.experiments.store`, and not computed again.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import threading
import warnings
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.errors import IsothermError, ParameterError
from isotherm.printable import format_warning

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from concurrent.futures import Future

    from isotherm.experiments.store import Store

    Rows = list[dict[str, Any]]
    Progress = Callable[[str, int, int], None]  # what runs, cells done, cells in all

VERSION = 1  # of the experiments' meaning: what was found by another is not used
AT_ONCE = 10  # cells handed to a process in one go


@dataclass(frozen=True)
class Cell:
    """One repeat of one setting.

    Attributes
    ----------
    experiment : str
        A module of `isotherm.experiments` with a function ``run(setting, rng)``.
    setting : dict
        Numbers and strings only.
    seed, repeat : int
    local : dict
        What `run` needs besides and does not change what it finds: where files lie.
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
        module = import_module(f"isotherm.experiments.{self.experiment}")
        rows: Rows = module.run({**self.setting, **self.local}, self.rng())
        return [{**row, "repeat": self.repeat} for row in rows]


def cells_of(
    experiment: str,
    settings: list[dict[str, Any]],
    *,
    repeats: int,
    seed: int,
    **local: Any,
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
    with closing(_computed(missing, jobs)) as computed:
        for batch, found in computed:
            for cell, rows in zip(batch, found, strict=True):
                store.add(cell.key, rows)
            done += len(batch)
            if progress is not None:
                progress(what, done, len(cells))
    return [row for cell in cells for row in store[cell.key]]


def _computed(cells: list[Cell], jobs: int) -> Generator[tuple[list[Cell], list[Rows]], None, None]:
    batches = [cells[k : k + AT_ONCE] for k in range(0, len(cells), AT_ONCE)]
    if jobs <= 1 or len(batches) <= 1:
        for batch in batches:
            yield batch, _run_batch(batch)
        return
    # Spawned, not forked: a fork of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, len(batches)), mp_context=context, initializer=_prepare)
    others = set(multiprocessing.active_children())
    try:
        running: dict[Future[list[Rows]], list[Cell]] = {}
        waiting = iter(batches)
        while True:
            for batch in waiting:
                with _interrupts_held():
                    running[pool.submit(_run_batch, batch)] = batch
                if len(running) >= 2 * jobs:
                    break
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    except BrokenProcessPool:
        raise IsothermError(
            "a worker process was killed, perhaps for lack of memory; results so far are kept: "
            "start again, perhaps with fewer processes (--jobs)"
        ) from None
    except BaseException:  # an interrupt: what they compute is no longer wanted
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Processes that are started here never see an interrupt: it is for their parent to handle."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare() -> None:
    """One thread, since processes share the processors; no interrupt; no life without a parent.

    Warnings are shown as those of the command line are.
    """
    os.environ["OMP_NUM_THREADS"] = "1"
    warnings.formatwarning = format_warning
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait for the end of the parent, however it comes, and follow."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_batch(batch: list[Cell]) -> list[Rows]:
    return [cell.run() for cell in batch]
