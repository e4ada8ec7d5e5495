"""Files that are whole or not there."""

from __future__ import annotations

import secrets
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from isotherm.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A new file that takes the place of `path` at the end, or, after an error, leaves nothing."""
    missing = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("xb") as file:
            yield file
        part.replace(path)
    except BaseException:  # an interrupt too
        with suppress(OSError):
            part.unlink(missing_ok=True)
            for folder in missing:
                folder.rmdir()  # fails, as it should, where somebody else uses it by now
        raise


@contextmanager
def written(name: str) -> Iterator[None]:
    """What goes wrong in writing a file is a FileError that names it."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{name} cannot be written: {error.strerror or error}") from None
