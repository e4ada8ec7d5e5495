"""SIGTERM and SIGHUP end a command as Ctrl-C does: what is half written vanishes."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

NAMES = ("SIGTERM", "SIGHUP")
_received: list[int] = []


def catch_signals() -> None:
    """From here on, the first of these signals is an interrupt; one that is ignored stays so.

    For the command alone: whoever uses isotherm from Python has handlers of their own.
    """
    for name in NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _interrupt)


def exit_code() -> int | None:
    """How a shell is told of the signal that came; None if none did."""
    return 128 + _received[0] if _received else None


def _interrupt(number: int, _: FrameType | None) -> None:
    for name in NAMES:  # once is enough: the cleaning up is not to be interrupted
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    _received.append(number)
    raise KeyboardInterrupt
