"""One thread for the linear algebra of small matrices.

BLAS hands even small products out to all its threads. Where these have to share processors with
others, waiting for the last of them may take a hundred times as long as the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


def one_blas_thread() -> AbstractContextManager[object]:
    """While it is open, BLAS works in the thread that calls it; for the whole process."""
    from threadpoolctl import threadpool_limits  # seldom needed

    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits
