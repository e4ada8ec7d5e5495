"""The page, served on this machine until it is ended."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING

import uvicorn

from isotherm.errors import ParameterError
from isotherm.page.app import application
from isotherm.page.connections import MOST_CONNECTIONS, Connection
from isotherm.page.security import LOOPBACK, check_host

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from isotherm.page.session import LabellingSession

PORT = 8765  # unless another is asked for
BACKLOG = 20  # connections taken at once, so few that each can ask before too many come
QUEUE = 512  # connections that wait for that
TRIED = 20  # ports after the one that is in use


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens: at the port, or the next one that is free; 0 is any.

    Raises
    ------
    ParameterError
        If there is none, or no such host.
    """
    last: OSError | None = None
    for number in range(port, port + TRIED) if port else [0]:
        try:
            family = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0][0]
            found = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:
            raise ParameterError(f"--host {host}: {error.strerror or error}") from None
        try:
            if os.name == "posix":
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((host, number))
            found.listen(QUEUE)
        except OSError as error:
            found.close()
            last = error
            if isinstance(error, PermissionError):
                break
        else:
            return found
    reason = "" if last is None else f": {last.strerror or last}"
    raise ParameterError(
        f"no port from {port} up can be used at {host}{reason}; choose another with --port"
    )


class Server(uvicorn.Server):
    """Ends the connections of open pages when it is told to end."""

    def __init__(self, config: uvicorn.Config, leave: Callable[[], None]) -> None:
        super().__init__(config)
        self._leave = leave

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._leave()
        super().handle_exit(sig, frame)

    def end(self) -> None:
        """End from another thread."""
        self._leave()
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin; the queue is longer than what is taken from it at once."""
        await super().startup(sockets)
        for one in sockets or []:
            one.listen(QUEUE)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, and close what browsers still have open: no socket is left to be found later."""
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            if connection.transport is not None:
                connection.transport.abort()


class PageServer:
    """The page at an address.

    Parameters
    ----------
    session : LabellingSession
        Started.
    host : str
    port : int
        The first one tried; 0 for any.
    token : str, optional
        A random one by default.

    Attributes
    ----------
    address : str
        With the token.
    port : int
        That it has got.

    Raises
    ------
    ParameterError
        If other machines could come in without a token that was chosen, or no port is free.
    """

    def __init__(
        self,
        session: LabellingSession,
        *,
        host: str = LOOPBACK[0],
        port: int = PORT,
        token: str | None = None,
    ) -> None:
        check_host(host, token)
        self.token = token or secrets.token_urlsafe(24)
        self._socket = bind(host, port)
        self.port = int(self._socket.getsockname()[1])
        shown = f"[{host}]" if ":" in host else host
        if host in ("0.0.0.0", "::"):  # noqa: S104  # asked for, with a token
            shown = socket.gethostname()
        self.address = f"http://{shown}:{self.port}/?token={self.token}"
        app = application(session, token=self.token, host=host, port=self.port)
        config = uvicorn.Config(
            app,
            log_level="error",  # what is wrong with a request is told to whoever sent it
            access_log=False,
            ws="none",
            server_header=False,
            http=Connection,
            limit_concurrency=2 * MOST_CONNECTIONS,  # those that are being answered stay
            backlog=BACKLOG,
            timeout_keep_alive=10,
            timeout_graceful_shutdown=2,
        )
        self.server = Server(config, session.leave)

    def run(self) -> None:
        """Serve until Ctrl-C, or until `end`."""
        self.server.run(sockets=[self._socket])
        self._socket.close()

    def end(self) -> None:
        """End from another thread."""
        self.server.end()


def open_browser(address: str, failed: Callable[[], None]) -> None:
    """Open the page in a browser, beside what runs; `failed` is called if there is none."""

    def attempt() -> None:
        shown = sys.platform in ("win32", "darwin") or any(
            name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
        )
        if not shown or not webbrowser.open(address):
            failed()

    threading.Thread(target=attempt, daemon=True).start()
