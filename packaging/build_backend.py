"""How pip builds isotherm: by scikit-build-core, with one editable build of a checkout at a time.

Editable builds keep what they compiled, in `build/`, so that the next one compiles only what has
changed. Two at once would write over each other there; all others have a folder of their own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scikit_build_core import build
from scikit_build_core.build import *  # noqa: F403  # all other hooks as they are

try:
    import fcntl
except ImportError:  # on Windows, where two at once are left to chance
    fcntl = None  # type: ignore[assignment]


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Wait until no other build uses a folder."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until the file is closed
        yield


def build_editable(*arguments: Any, **named: Any) -> str:
    """See PEP 660."""
    with alone_in(Path("build")):
        return build.build_editable(*arguments, **named)
