"""One thread for the linear algebra of small matrices.

BLAS hands even small products out to all its threads. Where these have to share processors with
others, waiting for the last of them may take a hundred times as long as the work.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from isotherm.locks import lock_of


class OneThread:
    """While it is open, BLAS works in the thread that calls it; for the whole process.

    Several threads may open it: the last to leave gives BLAS its threads back.
    """

    def __init__(self) -> None:
        self._inside = 0
        self._limits: Any = None

    def __enter__(self) -> None:
        from threadpoolctl import threadpool_limits  # seldom needed

        with lock_of(self, Lock):
            if not self._inside:
                for_all_threads()
                self._limits = threadpool_limits(1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with lock_of(self, Lock):
            self._inside -= 1
            if not self._inside:
                for_all_threads()
                self._limits.restore_original_limits()
                for_all_threads()


def for_all_threads() -> None:
    """From 3.8 on threadpoolctl lets one thread alone set limits, until that lets go: let go."""
    import threadpoolctl

    openblas = getattr(threadpoolctl, "OpenBLASController", None)
    let_go = getattr(openblas, "clear_controlling_thread", None)
    if let_go is not None:
        let_go(force=True)


one_blas_thread = OneThread()
