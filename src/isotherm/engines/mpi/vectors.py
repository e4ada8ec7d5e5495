"""Room for long vectors, in huge pages where the system has them.

Rows are gathered from them at random; with small pages that takes nearly three times as long.
"""

from __future__ import annotations

import math
import mmap
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

HUGE = 1 << 21  # bytes of a huge page


def zeros(shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """An array of zeros.

    Examples
    --------
    >>> zeros((2, 3), np.float32).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    >>> bool(zeros((1 << 19, 2)).any())
    False
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size < HUGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, dtype)
    room = mmap.mmap(-1, size + HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    room.madvise(mmap.MADV_HUGEPAGE)
    whole = np.frombuffer(room, np.uint8)
    first = -whole.ctypes.data % HUGE
    end = first + size // HUGE * HUGE  # the rest would fill a huge page only in part
    room.madvise(mmap.MADV_NOHUGEPAGE, end, len(room) - end)
    return np.asarray(whole[first : first + size].view(dtype).reshape(shape))
