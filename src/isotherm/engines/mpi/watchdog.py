"""A watchdog: who waits for others for too long ends the job with a message, not in silence.

A rank that dies ends the job by itself: mpiexec sees it. A network that is lost does not: every
rank waits for data that never come.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

STUCK = 75  # the exit code: a temporary failure, as in sysexits.h
LOOK = 0.5  # seconds between two looks


class Watchdog:
    """Ends the process if it has waited for too long.

    Parameters
    ----------
    who : str
        For the message.
    timeout : float
        Seconds.
    """

    def __init__(self, who: str, timeout: float) -> None:
        self._who, self._timeout = who, timeout
        self._since: float | None = None
        self._what = ""
        self._thread: Thread | None = None

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """While this process waits for others."""
        if self._thread is None:
            self._thread = Thread(target=self._watch, daemon=True)
            self._thread.start()
        self._what, self._since = what, time.monotonic()
        try:
            yield
        finally:
            self._since = None

    def _watch(self) -> None:
        while True:
            time.sleep(min(LOOK, self._timeout / 4))
            since = self._since
            if since is not None and time.monotonic() - since > self._timeout:
                self._bark()

    def _bark(self) -> None:
        sys.stderr.write(
            f"error: {self._who} has waited {self._timeout:.0f} s for {self._what}: another rank "
            "or the network is stuck, so the job stops here. Start it again with the same "
            "--checkpoint to continue from the last one; --timeout allows more time\n"
        )
        sys.stderr.flush()
        os._exit(STUCK)  # an orderly end would wait for the others, too
