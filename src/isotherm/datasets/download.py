"""One file from the network to the cache, by pooch."""

from __future__ import annotations

import threading
import time
from hashlib import sha256
from typing import IO, TYPE_CHECKING, Any

from isotherm.datasets.cache import RECORDS, VARIABLE
from isotherm.datasets.formats.archives import MOST_BYTES
from isotherm.errors import DatasetError, FileError
from isotherm.files import replacing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from isotherm.datasets.cache import Cache

    Progress = Callable[[str, int, int], None]  # what is fetched, bytes so far, bytes in all

TIMEOUT = 30  # seconds without a byte
STALLED = 90  # seconds without a chunk: a byte now and then is no download
LONGEST = 6 * 3600  # seconds in all
_CHUNK = 2**13
# A server may pack a file on the way; the length it tells is then not that of the file. Some do
# even when they are asked not to.
_HEADERS = {"Accept-Encoding": "identity"}


class _Receiver:
    """What pooch writes to, and what it takes for a progress bar.

    Attributes
    ----------
    total : int
        Bytes announced by the server, 0 if it did not say. Set by pooch.
    received : int
    checksum
    responses : list
        What the server answered, redirections first.
    is_wanted : bool
        Whether what comes is still to be written.
    latest : float
        When something came for the last time.
    """

    def __init__(self, file: IO[bytes], what: str, progress: Progress | None) -> None:
        self.total = 0
        self.received = 0
        self.checksum = sha256()
        self.responses: list[Any] = []
        self.is_wanted = True
        self.latest = time.monotonic()
        self._file = file
        self._what = what
        self._progress = progress

    def answer(self, response: Any, **_: Any) -> None:
        """Take note of an answer, before any of its contents come."""
        self.responses.append(response)
        self.latest = time.monotonic()
        if self.responses[0].url.startswith("https:") and not response.url.startswith("https:"):
            raise ValueError(f"it redirects to {response.url}, which is not encrypted")

    def write(self, chunk: bytes) -> None:
        if not self.is_wanted:
            raise ValueError("it was given up")
        self.latest = time.monotonic()
        self.received += len(chunk)
        if self.received > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
        self.checksum.update(chunk)
        self._file.write(chunk)
        if self._progress is not None:
            self._progress(self._what, self.received, max(self.total, self.received))

    def flush(self) -> None:
        """The file is flushed when it is closed."""

    # The rest of a progress bar. pooch tells it the size of chunks, not what they hold.
    def update(self, _: int) -> None: ...
    def reset(self) -> None: ...
    def close(self) -> None: ...


class ChangedFile(DatasetError):
    """A file on the network is not the one that it was."""


def fetch_file(
    address: str,
    path: Path,
    cache: Cache,
    *,
    pinned: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Fetch one file and record its checksum; after a failure nothing is left.

    Parameters
    ----------
    address : str
    path : Path
        Where it belongs in the cache.
    cache : Cache
    pinned : str, optional
        The SHA-256 that it must have. Without one the first download is trusted, and later ones
        must be the same.
    progress : callable, optional

    Raises
    ------
    DatasetError
        With the address, what went wrong and where to put the file by hand.
    """
    try:
        with replacing(path) as file:
            receiver = _Receiver(file, path.name, progress)
            _watch(receiver, lambda: _fetch(address, receiver))
            found = receiver.checksum.hexdigest()
            _compare(found, path, cache, pinned)
            cache.record(path, found)
    except ChangedFile as error:
        raise ChangedFile(f"{address} has changed: {error}. Nothing was kept") from None
    except (OSError, ValueError) as error:  # what requests raises are OSErrors
        if isinstance(error, FileError) or getattr(error, "filename", None) is not None:
            raise DatasetError(
                f"{path} cannot be written: {getattr(error, 'strerror', None) or error}; name "
                f"another folder with data_home (--data) or {VARIABLE}"
            ) from None
        raise DatasetError(
            f"could not download {address}: {_reason(error)}. You can also download it yourself "
            f"and save it as {path}"
        ) from None


def _reason(error: Exception) -> str:
    """What went wrong, in few words: behind an error of requests there may be that of urllib3."""
    behind = getattr(error.args[0], "reason", None) if error.args else None
    text = str(behind or error)
    return text.partition("): ")[2] or text if behind else text


def _watch(receiver: _Receiver, fetch: Callable[[], None]) -> None:
    """Fetch as long as something comes.

    The time-out of a connection is about single bytes: a server that sends one now and then could
    go on for days. So the work is done beside, and left where it does not get on.
    """
    failures: list[BaseException] = []

    def work() -> None:
        try:
            fetch()
        except BaseException as error:  # raised below
            failures.append(error)

    started = time.monotonic()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(min(0.2, STALLED))
            now = time.monotonic()
            if now - receiver.latest > STALLED:
                raise ValueError(f"almost nothing arrived within {STALLED:g} seconds")
            if now - started > LONGEST:
                raise ValueError(f"it was not done after {LONGEST:g} seconds")
    finally:
        receiver.is_wanted = False
    if failures:
        raise failures[0]


def _fetch(address: str, receiver: _Receiver) -> None:
    try:
        import pooch
    except ImportError:
        raise DatasetError("pooch is not installed (pip install 'isotherm[data]')") from None
    fetch = pooch.HTTPDownloader(
        progressbar=receiver,
        chunk_size=_CHUNK,
        timeout=TIMEOUT,
        headers=_HEADERS,
        hooks={"response": receiver.answer},
    )
    try:
        fetch(address, receiver, None)
    finally:
        for response in receiver.responses:  # pooch leaves them open after an error
            response.close()
    packed = any(response.headers.get("Content-Encoding") for response in receiver.responses)
    if receiver.received < receiver.total and not packed:  # urllib3 before 2.0 does not notice
        raise ValueError(f"it ended after {receiver.received} of {receiver.total} bytes")


def _compare(found: str, path: Path, cache: Cache, pinned: str | None) -> None:
    if pinned is not None:
        if found != pinned:
            raise ChangedFile(f"its SHA-256 is {found} but should be {pinned}")
        return
    expected = cache.recorded(path)
    if expected not in (None, found):
        raise ChangedFile(
            f"its SHA-256 is {found} but was {expected} at the first download (if you trust the "
            f"new file, delete the line of {path.name} in {cache.folder / RECORDS})"
        )
