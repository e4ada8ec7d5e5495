"""What may go wrong with a file → one kind of error, which names it."""

from __future__ import annotations

import gzip
import lzma
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from isotherm.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what may go wrong with a file into one kind of error, which names it."""
    try:
        yield
    except FileNotFoundError:
        near = _similar(Path(name))
        raise FileError(
            f"there is no file {name}" + (f"; did you mean {near}?" if near else "")
        ) from None
    except IsADirectoryError:
        raise FileError(f"{name} is a folder, not a file") from None
    except PermissionError:
        raise FileError(f"you do not have permission to read {name}") from None
    except EOFError:
        raise FileError(
            f"{name} ends in the middle of its compressed data: is it cut off?"
        ) from None
    except (zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise FileError(f"{name} has damaged compressed data: {error}") from None
    except FileError:
        raise
    except OSError as error:
        if "runcated" in str(error):  # as Zstandard calls it
            raise FileError(
                f"{name} ends in the middle of its compressed data: is it cut off?"
            ) from None
        raise FileError(f"{name} cannot be read: {error.strerror or error}") from None


def _similar(path: Path) -> str | None:
    """A file there is with nearly this name."""
    import difflib

    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return None
    found = difflib.get_close_matches(path.name, names, n=1, cutoff=0.75)
    return str(path.with_name(found[0])) if found else None
