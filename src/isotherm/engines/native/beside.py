"""Blocks of columns solved beside each other, where a step is too short to be shared by threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from isotherm.compiled import core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Item = TypeVar("Item")
    Answer = TypeVar("Answer")


def run_beside(
    steerings: Sequence[core.Steering],
    X: NDArray[np.floating],
    *,
    cold: bool,
    tol: float,
    threads: int,
    seconds: float,
) -> Iterator[tuple[int, list[core.State]]]:
    """Run each to its end, on so many threads; each has columns of X of its own.

    What comes out does not depend on the threads. Yields every so many seconds how many steps
    have been made and, in the end, how each of them ended.
    """
    over = Event()
    steps = [0] * len(steerings)

    def run(k: int) -> core.State:
        state, steering = core.State.GOING, steerings[k]
        while state == core.State.GOING and not over.is_set():
            state = steering.run(X, cold=cold, tol=tol, look_at=0.0, seconds=seconds)
            steps[k] = steering.steps
        steering.rest()  # room for the next one
        return state

    with ThreadPoolExecutor(threads) as pool:
        try:
            running = [pool.submit(run, k) for k in range(len(steerings))]
            while wait(running, timeout=seconds).not_done:
                yield sum(steps), []
        finally:
            over.set()
    yield sum(steps), [one.result() for one in running]


def each_beside(work: Callable[[Item], Answer], items: Sequence[Item], threads: int) -> None:
    """Do something with each, on so many threads."""
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, items):
            pass
