"""Tells all open pages that something is new: server-sent events."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

MOST_LISTENERS = 64
ALIVE = 15.0  # seconds after which a silent connection is shown to be alive
PAUSE = 0.02  # seconds between two events: what comes at once is told at once


class TooManyListeners(Exception):
    """No further page can listen."""


class Events:
    """News for those who listen. It is told from any thread, and heard in the event loop.

    Parameters
    ----------
    state : callable
        What there is to tell.
    """

    def __init__(self, state: Callable[[], dict[str, Any]]) -> None:
        self._state = state
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: WeakSet[asyncio.Event] = WeakSet()  # of streams that never began, too
        self._written: bytes | None = None
        self._is_over = False

    def start(self) -> None:
        """From here on this event loop is told."""
        self._loop = asyncio.get_running_loop()

    def stop(self) -> None:
        """End all connections."""
        self._is_over = True
        self.tell()

    def tell(self) -> None:
        """Something is new; from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def _event(self) -> bytes:
        """The news, written out once for all who listen."""
        if self._written is None:
            told = json.dumps(self._state(), ensure_ascii=True, allow_nan=False)
            self._written = f"event: state\ndata: {told}\n\n".encode()
        return self._written

    def _wake(self) -> None:
        self._written = None
        for listener in self._listeners:
            listener.set()

    def join(self) -> AsyncIterator[bytes]:
        """The events for one page.

        Raises
        ------
        TooManyListeners
        """
        if len(self._listeners) >= MOST_LISTENERS:
            raise TooManyListeners
        news = asyncio.Event()
        news.set()
        self._listeners.add(news)  # here, not when the stream begins: others may ask until then
        return self._stream(news)

    async def _stream(self, news: asyncio.Event) -> AsyncIterator[bytes]:
        try:
            yield b"retry: 1000\n\n"
            while not self._is_over:
                try:
                    await asyncio.wait_for(news.wait(), ALIVE)
                except TimeoutError:
                    yield b": alive\n\n"
                    continue
                news.clear()
                yield self._event()
                await asyncio.sleep(PAUSE)
        finally:
            self._listeners.discard(news)
