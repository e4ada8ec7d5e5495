"""The processor's arithmetic as bounds on rounding presuppose it: to the nearest, nothing flushed.

Other libraries change it for the thread that loads or calls them: code built with ``-ffast-math``,
``torch.set_flush_denormal``. The core looks after its own threads (`native/arithmetic.hpp`).
"""

from __future__ import annotations

import sys
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from ctypes import Array, c_char

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")

# No literals, which Python would compute with when it compiles.
_ONE, _HALF, _LITTLE, _LEAST = 1.0, 0.5, 2.0**-60, sys.float_info.min
ENVIRONMENT = 256  # bytes, more than any platform's fenv_t has


def is_standard() -> bool:
    """Whether this thread rounds to nearest and keeps numbers too small to have all their digits.

    Examples
    --------
    >>> is_standard()
    True
    """
    return _LEAST * _HALF > 0 and _ONE - _LITTLE == _ONE + _LITTLE


def in_standard_arithmetic(work: Callable[Arguments, Found]) -> Callable[Arguments, Found]:
    """Let a function compute in standard arithmetic; the thread's own is put back afterwards.

    Where the C library cannot be called the arithmetic stays as it is, and the proof looks at it
    again (`isotherm.solvers.certificate.is_covered`).
    """

    @wraps(work)
    def standard(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Found:
        if is_standard() or (before := _standardised()) is None:
            return work(*args, **kwargs)
        try:
            return work(*args, **kwargs)
        finally:
            _restore(before)

    return standard


def _standardised() -> Array[c_char] | None:
    """Set standard arithmetic: what it was before, or None if it could not be set."""
    import ctypes

    try:
        library = ctypes.CDLL(None)
        if sys.platform == "darwin":
            default = ctypes.addressof(ctypes.c_char.in_dll(library, "_FE_DFL_ENV"))
        else:  # in glibc and musl
            default = -1
        before = ctypes.create_string_buffer(ENVIRONMENT)
        library.fegetenv(before)
        library.fesetenv(ctypes.c_void_p(default))
    except (OSError, TypeError, ValueError, AttributeError):  # on Windows
        return None
    return before


def _restore(before: Array[c_char]) -> None:
    import ctypes

    ctypes.CDLL(None).fesetenv(before)
