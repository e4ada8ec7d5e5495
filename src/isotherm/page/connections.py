"""Connections to the page: whoever keeps the server waiting is closed, for there are only so many.

A connection waits for its client until a request is whole, head and body, and until what was
answered is read. One that waits too long is closed; so is, when there are too many, the oldest of
those that wait or are being refused. A request that was let in and is being answered, and a page
that listens, are left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from isotherm.page.security import LET_IN

if TYPE_CHECKING:
    import asyncio

MOST_CONNECTIONS = 128  # some systems let a program have 256 files, connections among them
PATIENCE = 20.0  # seconds from the beginning, or from the last answer, to the end of a request


class Connection(H11Protocol):
    """A connection that knows since when it waits for its client."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._given_up: asyncio.TimerHandle | None = None  # it waits as long as this is there
        self._began = self.loop.time()
        self._unread = 0  # bytes, when it began to wait
        self._is_unread = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look()
        if len(self.connections) > MOST_CONNECTIONS:
            there = (one for one in self.connections if isinstance(one, Connection))
            idle = [one for one in there if one._given_up or not one._was_let_in]
            min(idle, key=lambda one: one._began)._drop()

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

    @property
    def _was_let_in(self) -> bool:
        """Whether the last request that came was not refused."""
        return self.scope is not None and LET_IN in self.scope

    def _look(self) -> None:
        """Begin to wait, go on, or have what was waited for."""
        is_whole = self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)
        if is_whole and not self._is_unread and not self.transport.is_closing():
            self._rest()
        elif self._given_up is None:
            self._wait()

    def _wait(self) -> None:
        self._unread = self.transport.get_write_buffer_size()
        self._given_up = self.loop.call_later(PATIENCE, self._give_up)

    def _give_up(self) -> None:
        """Close it, unless the client reads an answer, if slowly."""
        if self.transport.get_write_buffer_size() < self._unread:
            self._wait()
        else:
            self._drop()

    def _drop(self) -> None:
        self.connections.discard(self)  # not only once the loop says that it is lost
        self.transport.abort()

    def _rest(self) -> None:
        if self._given_up is not None:
            self._given_up.cancel()
            self._given_up = None
