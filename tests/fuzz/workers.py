"""Workers: processes that check one case after the other until time is up."""

from __future__ import annotations

import signal
import time
from collections import Counter
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

from .check import check
from .claims import Failure
from .draw import draw, size_of
from .reduce import reduced
from .script import script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection
    from typing import Any

TOO_LONG = 60.0  # seconds, for one case
MOST_REDUCED = 40  # kinds of failure that one worker makes small


class TooLong(BaseException):
    """Time is up; not an `Exception`, which would count as a crash of the case."""


class Found(NamedTuple):
    """A failure, and a script that shows it; empty where another shows the same kind."""

    seed: int
    failure: Failure
    script: str


class Plan(NamedTuple):
    """What a worker has to do: the numbers `first`, `first` + `stride` … until time is up."""

    first: int
    stride: int
    seconds: float
    claims: tuple[str, ...] | None  # None: all
    only: str | None  # a size
    reduce_for: float  # seconds for one failure


class Tried(NamedTuple):
    """What came of it."""

    tally: Counter[str]
    found: list[Found]
    last: int


def run(plan: Plan, current: Any = None) -> Tried:
    """Check cases until time is up."""
    ends = time.monotonic() + plan.seconds
    tally: Counter[str] = Counter()
    found: list[Found] = []
    kinds: set[str] = set()
    seed = plan.first
    while time.monotonic() < ends:
        if plan.only in (None, size_of(seed)):
            if current is not None:
                current.value = seed
            for each in run_one(seed, tally, plan, kinds):
                found.append(each)
                kinds.add(each.failure.kind)
        seed += plan.stride
    return Tried(tally, found, seed)


def run_one(
    seed: int, tally: Counter[str], plan: Plan, kinds: set[str] | None = None
) -> Iterator[Found]:
    """Check the case of one number; `kinds` of failures are known already."""
    case, seen = draw(seed), set() if kinds is None else set(kinds)
    if plan.claims is not None and case.claim not in plan.claims:
        return
    tally[f"cases, {size_of(seed)}"] += 1
    try:
        with _limited(TOO_LONG):
            failures = check(case, tally)
    except TooLong:
        failures = [Failure("no answer", f"in {TOO_LONG:.0f} s")]
    for failure in failures[:1]:  # what follows is often a consequence of the first
        text = ""
        if failure.kind == "no answer":
            text = script(case, failure, seed)
        elif failure.kind not in seen and len(seen) < MOST_REDUCED:
            small = reduced(case, failure.kind, seconds=plan.reduce_for)
            again = [each for each in check(small) if each.kind == failure.kind]
            text = script(small, again[0] if again else failure, seed)  # chance may play a part
        yield Found(seed, failure, text)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """TooLong if it takes longer, where the platform can tell."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _send(plan: Plan, current: Any, pipe: Connection) -> None:
    pipe.send(run(plan, current))


def run_all(plan: Plan, workers: int) -> Tried:
    """The same by several processes; one that dies counts as a failure of its last case."""
    context = get_context("spawn")
    running = []
    for worker in range(workers):
        current = context.Value("q", plan.first)
        receiver, sender = context.Pipe(duplex=False)
        own = plan._replace(first=plan.first + worker, stride=workers)
        process = context.Process(target=_send, args=(own, current, sender))
        process.start()
        sender.close()
        running.append((process, current, receiver))
    tally: Counter[str] = Counter()
    found: list[Found] = []
    last = plan.first
    for process, current, receiver in running:
        try:
            tried = receiver.recv()
        except EOFError:
            process.join()
            message = f"exit code {process.exitcode}"
            found.append(Found(current.value, Failure("the process died", message), ""))
            continue
        process.join()
        tally += tried.tally
        found += tried.found
        last = max(last, tried.last)
    return Tried(tally, found, last)
