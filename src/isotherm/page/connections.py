"""Connections to the page: whoever keeps the server waiting is closed, for there are only so many.

A connection waits for its client until a request is whole, head and body, and until what was
answered is read. One that waits too long is closed; so is, when there are too many, the one
that has waited longest. A request that is being answered, and a page that listens, are left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

MOST_CONNECTIONS = 256
PATIENCE = 20.0  # seconds from the beginning, or from the last answer, to the end of a request


class Connection(H11Protocol):
    """A connection that knows since when it waits for its client."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._given_up: asyncio.TimerHandle | None = None  # it waits as long as this is there
        self._is_unread = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look()
        there = [one for one in self.connections if not one.transport.is_closing()]
        waiting = [one for one in there if isinstance(one, Connection) and one._given_up]
        if len(there) > MOST_CONNECTIONS:
            min(waiting, key=Connection._limit).transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._is_unread = True
        self._look()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._is_unread = False
        self._look()

    def send_400_response(self, msg: str) -> None:
        if self.cycle is not None:  # its answer has nobody to go to
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def shutdown(self) -> None:
        if self._given_up:  # nobody waits for what is not asked
            self.transport.abort()
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._rest()

    def _look(self) -> None:
        """Begin to wait, go on, or have what was waited for."""
        is_whole = self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)
        if is_whole and not self._is_unread and not self.transport.is_closing():
            self._rest()
        elif self._given_up is None:
            self._given_up = self.loop.call_later(PATIENCE, self.transport.abort)

    def _rest(self) -> None:
        if self._given_up is not None:
            self._given_up.cancel()
            self._given_up = None

    def _limit(self) -> float:
        return self._given_up.when() if self._given_up else 0.0
