"""Checkpoints: temperatures kept on disk while a solve goes on, whole or not at all.

A checkpoint is a folder of part files, one per rank, with node names, temperatures and exit times;
it gets its name when all parts are written. Another run, of as many ranks as it likes, finds each
node by its name. What is proven does not depend on it: it is only where steps begin.
"""

from __future__ import annotations

import json
import shutil
import time
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from isotherm.distributed.entries import in_step
from isotherm.distributed.ownership import owner_of
from isotherm.distributed.texts import hash_texts, mixed
from isotherm.errors import FileError, IsothermWarning
from isotherm.solvers import Warm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from isotherm.distributed.entries import SharedGraph
    from isotherm.engines.mpi.share import SharedProblem

NAME = "checkpoint-"
MANIFEST = "manifest.json"
VERSION = 1
ROWS = 1 << 16  # nodes written, and read, at once


class Checkpoints:
    """The checkpoints of one problem, in a folder.

    Parameters
    ----------
    folder : Path
    graph : SharedGraph
    problem : SharedProblem
    classes : list of str
    every : float
        Seconds between two.
    """

    def __init__(
        self,
        folder: Path,
        graph: SharedGraph,
        problem: SharedProblem,
        classes: list[str],
        *,
        every: float,
    ) -> None:
        self.folder, self.every = folder, every
        self._graph, self._problem = graph, problem
        self._ranks = graph.share.ranks
        self._digest = digest(graph, problem, classes)
        self._last = time.monotonic()
        self._count = 0

    # --- writing ----------------------------------------------------------------------------------

    def keep(self, found: Callable[[], tuple[NDArray[np.float64], NDArray[np.float64]]]) -> None:
        """Save what was found if it is time for it; the first rank's clock tells."""
        due = self._ranks.rank == 0 and time.monotonic() - self._last >= self.every
        if self._ranks.any(due):
            self.save(*found())

    def save(self, T: NDArray[np.float64], exits: NDArray[np.float64]) -> None:
        """Write a checkpoint, and delete those before it.

        Where that fails, for want of room on the disk or else, the last one stays, and the user is
        warned.
        """
        self._count += 1
        self._last = time.monotonic()
        name = f"{NAME}{self._count:06d}"
        hidden, error = self.folder / f".{name}.part", None
        self._first(lambda: self._clean(hidden))
        try:
            self._write(hidden / f"part-{self._ranks.rank:05d}.parquet", T, exits)
        except OSError as found:
            error = found
        if self._ranks.any(error is not None):
            self._first(lambda: shutil.rmtree(hidden, ignore_errors=True))
            self._tell(error)
            return
        self._first(lambda: self._publish(hidden, name))

    def clear(self) -> None:
        """Delete all checkpoints: the work is done."""

        def delete() -> None:
            for path in self.folder.glob(f"*{NAME}*"):
                shutil.rmtree(path, ignore_errors=True)
            with suppress(OSError):
                self.folder.rmdir()  # if it has nothing else

        self._first(delete)

    def _write(self, path: Path, T: NDArray[np.float64], exits: NDArray[np.float64]) -> None:
        K = T.shape[1]
        schema = pa.schema(
            [
                ("node", pa.large_string()),
                ("exit_time", pa.float64()),
                ("temperatures", pa.list_(pa.float64(), K)),
            ]
        )
        with path.open("wb") as file, pq.ParquetWriter(file, schema) as writer:
            for first in range(0, len(T), ROWS):
                some = np.nan_to_num(T[first : first + ROWS])
                flat = pa.array(np.ascontiguousarray(some).reshape(-1))
                columns = [
                    self._graph.texts.slice(first, len(some)).cast(pa.large_string()),
                    pa.array(np.nan_to_num(exits[first : first + ROWS])),
                    pa.FixedSizeListArray.from_arrays(flat, K),
                ]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))

    def _clean(self, hidden: Path) -> None:
        for path in self.folder.glob(f".{NAME}*"):
            shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):  # found when a part is written
            hidden.mkdir(parents=True)

    def _publish(self, hidden: Path, name: str) -> None:
        try:
            manifest = {"version": VERSION, "digest": self._digest, "parts": self._ranks.size}
            (hidden / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
            before = [path for path in self.folder.glob(f"{NAME}*") if path.name != name]
            if (self.folder / name).exists():
                before.append((self.folder / name).rename(hidden.with_suffix(".old")))
            hidden.rename(self.folder / name)
            for path in before:
                shutil.rmtree(path, ignore_errors=True)
        except OSError as error:
            shutil.rmtree(hidden, ignore_errors=True)
            self._tell(error)

    def _first(self, work: Callable[[], Any]) -> None:
        """Done by the first rank, while the others wait."""
        if self._ranks.rank == 0:
            work()
        self._ranks.wait("a checkpoint")

    def _tell(self, error: OSError | None) -> None:
        if error is not None:
            warnings.warn(
                f"a checkpoint cannot be written to {self.folder}: {error.strerror or error}; the "
                "last one is kept, and the job continues",
                IsothermWarning,
                stacklevel=2,
            )

    # --- reading ----------------------------------------------------------------------------------

    def latest(self) -> Warm | None:
        """Where the last checkpoint says to begin; None if there is none.

        Raises
        ------
        FileError
            On all ranks, if it is of another graph or other labels, or damaged.
        """
        found = error = None
        if self._ranks.rank == 0:
            try:
                found = self._newest()
            except (FileError, OSError, ValueError) as failure:
                error = failure
        self._ranks.agree(error)
        newest = self._ranks.from_first(found)
        if newest is None:
            return None
        self._count = int(newest.name.removeprefix(NAME))
        return self._read(sorted(newest.glob("part-*.parquet")))

    def _newest(self) -> Path | None:
        paths = sorted(self.folder.glob(f"{NAME}*"))
        if not paths:
            return None
        path = paths[-1]
        try:
            manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
            n_parts = len(list(path.glob("part-*.parquet")))
            whole = manifest["version"] == VERSION and manifest["parts"] == n_parts
        except (OSError, ValueError, KeyError, TypeError):
            whole = False
        if not whole:
            raise FileError(
                f"{path} is damaged or of another version: delete it to start from scratch"
            )
        if manifest["digest"] != self._digest:
            raise FileError(
                f"{path} is a checkpoint of a job with another graph, other labels or another "
                "leak; name another folder, or delete it to start from scratch"
            )
        return path

    def _read(self, parts: list[Path]) -> Warm:
        share, K = self._graph.share, self._problem.n_columns
        T, exits = np.zeros((share.n_own, K)), np.zeros(share.n_own)
        own = parts[self._ranks.rank :: self._ranks.size]
        nothing = pa.array([], pa.large_string()), np.empty((0, K + 1))
        for names, numbers in in_step(self._ranks, _rows(own, K), nothing):
            nodes = self._graph.names.find(names)
            owner = owner_of(nodes, share.bounds)
            order = np.argsort(owner, kind="stable")
            cuts = np.searchsorted(owner[order], np.arange(1, self._ranks.size))
            where = self._ranks.exchange(np.split(nodes[order], cuts), "a checkpoint")
            rows = self._ranks.exchange(np.split(numbers[order], cuts), "a checkpoint")
            places, values = np.concatenate(where) - share.first, np.concatenate(rows)
            exits[places], T[places] = values[:, 0], values[:, 1:]
        return Warm(T, exits)


def _rows(paths: list[Path], K: int) -> Iterator[tuple[pa.Array, NDArray[np.float64]]]:
    """Names, and rows of exit time and temperatures, of some part files."""
    for path in paths:
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(ROWS):
                    flat = batch.column(2).flatten().to_numpy(zero_copy_only=False)
                    exits = batch.column(1).to_numpy(zero_copy_only=False)
                    yield batch.column(0), np.column_stack([exits, flat.reshape(-1, K)])
        except (pa.ArrowException, OSError, ValueError) as error:
            raise FileError(
                f"{path} is damaged: {error}; delete it to start from scratch"
            ) from None


def digest(graph: SharedGraph, problem: SharedProblem, classes: list[str]) -> str:
    """A number for a graph, its seeds and the leak, whatever ranks have which part of it.

    The sum, over all entries and all seeds, of a hash of what each says.
    """
    share, rows = graph.share, graph.share.rows
    names = np.zeros(share.n_all, dtype=np.uint64)
    names[: share.n_own] = hash_texts(graph.texts)
    share.halo.fill(names)
    total = np.uint64(0)
    odd = np.uint64(0x9E3779B97F4A7C15)
    starts, at_once = rows.start[: share.n_own + 1], 1 << 20
    with np.errstate(over="ignore"):
        for first in range(0, len(rows.ends), at_once):
            some = slice(first, min(first + at_once, len(rows.ends)))
            of = np.searchsorted(starts, np.arange(some.start, some.stop), side="right") - 1
            weights = np.ones(len(of)) if rows.weights is None else rows.weights[some]
            pair = mixed(names[of] * odd + names[rows.ends[some]])
            total += mixed(pair + weights.view(np.uint64)).sum(dtype=np.uint64)
        codes = problem.values.argmax(axis=1)
        labels = hash_texts(pa.array(classes, pa.large_string()))[codes]
        total += mixed(names[problem.boundary] + mixed(labels + odd)).sum(dtype=np.uint64)
        whole = share.ranks.gathered(np.array([total])).sum(dtype=np.uint64)
        whole += mixed(np.array([problem.leak]).view(np.uint64))[0]
    return f"{share.n_nodes}-{share.n_entries}-{int(whole):016x}"
