"""Files that are whole or not there."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from isotherm.errors import FileError, IsothermError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAVED_GRAPH = b"\x89isotherm graph\n"  # how a saved graph begins
NAME_KEPT = 60  # characters of the name in that of a file that is not yet whole
_STREAMS = ("a pipe", "a device")
_KINDS = {
    stat.S_IFREG: "a file",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a disk",
    stat.S_IFSOCK: "a socket",
}


def check_output(path: Path, *, force: bool) -> None:
    """Raise FileError where something is in the way of an output.

    A file may be replaced and a pipe or a device written into, both by `force`; a link, a folder,
    a disk or a socket is left alone in any case.
    """
    kind = _kind(path)
    if kind is None or (force and kind in ("a file", *_STREAMS)):
        return
    if kind == "a file":
        raise FileError(f"{path} already exists; it is replaced only with --force (force=True)")
    if kind in _STREAMS:
        raise FileError(f"{path} is {kind}; it is written to only with --force (force=True)")
    _refuse(path, kind)


def check_replaceable(path: Path) -> None:
    """Raise FileError if something other than a file is at a path."""
    kind = _kind(path)
    if kind not in (None, "a file"):
        _refuse(path, kind or "")


@contextmanager
def replacing(path: Path, *, force: bool = False) -> Iterator[IO[bytes]]:
    """A new file that takes the place of `path` at the end, or, after an error, leaves nothing.

    Only a file is replaced. By `force` a pipe or a device is written into, as it is.
    """
    if force and _kind(path) in _STREAMS:
        with path.open("wb") as stream:
            yield stream
        return
    check_replaceable(path)
    missing = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
    part = path.with_name(f".{path.name[:NAME_KEPT]}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("xb") as file:
            yield file
        check_replaceable(path)  # it may have come meanwhile
        part.replace(path)
    except BaseException:  # an interrupt too
        with suppress(OSError):
            part.unlink(missing_ok=True)
            for folder in missing:
                folder.rmdir()  # fails, as it should, where somebody else uses it by now
        raise


def write_text(path: Path, text: str, *, force: bool = False) -> None:
    """Write a text as `replacing` does."""
    with replacing(path, force=force) as file:
        file.write(text.encode())


@contextmanager
def written(name: str) -> Iterator[None]:
    """What goes wrong in writing a file is a FileError that names it."""
    try:
        yield
    except IsothermError:
        raise
    except OSError as error:
        raise FileError(f"{name} cannot be written: {error.strerror or error}") from None


def _kind(path: Path) -> str | None:
    """What is at a path; a link to a stream, such as /dev/stdout, is that stream."""
    try:
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode):
            return _KINDS.get(stat.S_IFMT(mode), "something else")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}") from None
    try:
        behind = _KINDS.get(stat.S_IFMT(path.stat().st_mode), "")
    except OSError:  # it leads nowhere
        behind = ""
    return behind if behind in _STREAMS else "a link"


def _refuse(path: Path, kind: str) -> None:
    if kind == "a link":
        target = os.fspath(path.readlink())
        raise FileError(
            f"{path} is a link to {target}, and links are never replaced; name the file that it "
            "points to, or delete the link"
        )
    raise FileError(f"{path} is {kind}, which is never replaced; name another file")
