"""One file from the network to the cache, by pooch."""

from __future__ import annotations

from hashlib import sha256
from typing import IO, TYPE_CHECKING, Any

from isotherm.datasets.cache import RECORDS
from isotherm.errors import DatasetError
from isotherm.files import replacing
from isotherm.read.archives import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from isotherm.datasets.cache import Cache

    Progress = Callable[[str, int, int], None]  # what is fetched, bytes so far, bytes in all

TIMEOUT = 30  # seconds without a byte
_CHUNK = 2**16
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
    """

    def __init__(self, file: IO[bytes], what: str, progress: Progress | None) -> None:
        self.total = 0
        self.received = 0
        self.checksum = sha256()
        self.responses: list[Any] = []
        self._file = file
        self._what = what
        self._progress = progress

    def answer(self, response: Any, **_: Any) -> None:
        """Take note of an answer, before any of its contents come."""
        self.responses.append(response)
        if self.responses[0].url.startswith("https:") and not response.url.startswith("https:"):
            raise ValueError(f"it leads to {response.url}, where anyone can change it on the way")

    def write(self, chunk: bytes) -> None:
        self.received += len(chunk)
        if self.received > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES} bytes")
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


def fetch_file(address: str, path: Path, cache: Cache, *, progress: Progress | None = None) -> None:
    """Fetch one file and record its checksum; after a failure nothing is left.

    Raises
    ------
    DatasetError
        With the address, what went wrong and where to put the file by hand.
    """
    try:
        with replacing(path) as file:
            receiver = _Receiver(file, path.name, progress)
            _fetch(address, receiver)
            found = receiver.checksum.hexdigest()
            _compare(found, path, cache)
            cache.record(path, found)
    except (OSError, ValueError) as error:  # what requests raises are OSErrors
        raise DatasetError(
            f"could not download {address}: {_reason(error)}. To do it by hand, get that file and "
            f"save it as {path}"
        ) from None


def _reason(error: Exception) -> str:
    """What went wrong, in few words: behind an error of requests there may be that of urllib3."""
    behind = getattr(error.args[0], "reason", None) if error.args else None
    text = str(behind or error)
    return text.partition("): ")[2] or text if behind else text


def _fetch(address: str, receiver: _Receiver) -> None:
    try:
        import pooch
    except ImportError:
        raise DatasetError("pooch is not there (pip install 'isotherm[data]')") from None
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


def _compare(found: str, path: Path, cache: Cache) -> None:
    expected = cache.recorded(path)
    if expected not in (None, found):
        raise ValueError(
            f"its SHA-256 is {found} but was {expected} when it was first fetched (if you trust "
            f"the new file, delete the line of {path.name} in {cache.folder / RECORDS})"
        )
