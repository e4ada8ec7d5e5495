"""Ranks that are threads of one process: what mpi4py offers of MPI, as far as isotherm uses it.

With them the code for many machines is tested where there is no MPI, and quickly.
"""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Barrier, BrokenBarrierError

import numpy as np

from isotherm.engines.mpi.ranks import Ranks


class World:
    def __init__(self, size):
        self.size, self.barrier, self.slots = size, Barrier(size), [None] * size
        self.mail = [[SimpleQueue() for _ in range(size)] for _ in range(size)]


class Request:
    def __init__(self, wait):
        self._wait = wait

    @staticmethod
    def Waitall(requests):  # noqa: N802
        for request in requests:
            request._wait()


class ThreadComm:
    """A stand-in for mpi4py's communicator."""

    def __init__(self, world, rank):
        self._world, self._rank = world, rank

    def Get_rank(self):  # noqa: N802
        return self._rank

    def Get_size(self):  # noqa: N802
        return self._world.size

    def _everyone(self, one):
        self._world.slots[self._rank] = one
        self._world.barrier.wait(30)
        found = list(self._world.slots)
        self._world.barrier.wait(30)
        return found

    def Barrier(self):  # noqa: N802
        self._everyone(None)

    def allgather(self, one):
        return [copy.deepcopy(found) for found in self._everyone(one)]

    def bcast(self, one):
        return copy.deepcopy(self._everyone(one)[0])

    def Allgather(self, sent, into):  # noqa: N802
        into[:] = np.concatenate(self._everyone(sent.copy()))

    def Alltoall(self, sent, into):  # noqa: N802
        into[:] = [found[self._rank] for found in self._everyone(sent.copy())]

    def Alltoallv(self, sent, into):  # noqa: N802
        buffer, (counts, places) = into
        found = self._everyone(sent)
        for k, (data, (sizes, first)) in enumerate(found):
            assert sizes[self._rank] == counts[k]
            own = data[first[self._rank] : first[self._rank] + sizes[self._rank]]
            buffer[places[k] : places[k] + counts[k]] = own
        self.Barrier()

    def Isend(self, rows, dest):  # noqa: N802
        self._world.mail[self._rank][dest].put(rows.copy())
        return Request(lambda: None)

    def Irecv(self, rows, source):  # noqa: N802
        def wait():
            rows[:] = self._world.mail[source][self._rank].get(timeout=30)

        return Request(wait)


def on_ranks(size, work):
    """What `work` returns on each of so many ranks; what it raises on the first that failed."""
    world = World(size)

    def one(rank):
        try:
            return work(Ranks(ThreadComm(world, rank)))
        except BaseException:
            world.barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        ends = [pool.submit(one, rank) for rank in range(size)]
    errors = [end.exception() for end in ends if end.exception() is not None]
    if errors:
        raise next((e for e in errors if not isinstance(e, BrokenBarrierError)), errors[0])
    return [end.result() for end in ends]
