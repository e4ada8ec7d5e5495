"""A folder for temporary files, beside the file that is made of them."""

from __future__ import annotations

import secrets
import shutil
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from isotherm.files import NAME_KEPT

if TYPE_CHECKING:
    from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None  # type: ignore[assignment]

ENDING = ".building"
LOCK = "lock"
YOUNG = 60.0  # seconds in which a folder may have no lock yet


class BuildFolder:
    """A folder that goes when the work is done, or has failed.

    What a process that was killed has left behind, for the same file, goes when the next one
    starts: it has no lock any longer.
    """

    def __init__(self, out: Path) -> None:
        self._out = out
        self._lock: IO[bytes] | None = None
        self._made: list[Path] = []  # folders that were not there
        self.path = out.with_name(f"{_prefix(out)}{secrets.token_hex(4)}{ENDING}")

    def __enter__(self) -> Path:
        parent = self._out.parent
        self._made = [folder for folder in (parent, *parent.parents) if not folder.exists()]
        parent.mkdir(parents=True, exist_ok=True)
        remove_left_behind(self._out)
        self.path.mkdir()
        try:
            self._lock = (self.path / LOCK).open("xb")
            if fcntl is not None:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            self.__exit__(BaseException)
            raise
        return self.path

    def __exit__(self, kind: object, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()
        if kind is not None:
            with suppress(OSError):
                for folder in self._made:
                    folder.rmdir()  # fails, as it should, where somebody else uses it by now


def remove_left_behind(out: Path) -> None:
    """Remove what processes that were killed have left of the same file."""
    if fcntl is None:
        return
    for folder in out.parent.iterdir():
        if not (folder.name.startswith(_prefix(out)) and folder.name.endswith(ENDING)):
            continue
        try:
            with (folder / LOCK).open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except FileNotFoundError:
            with suppress(OSError):
                if time.time() - folder.stat().st_mtime > YOUNG:
                    shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # somebody is at work there
            continue


def _prefix(out: Path) -> str:
    return f".{out.name[:NAME_KEPT]}."
