"""``python -m isotherm``, and the command ``isotherm``."""

from __future__ import annotations

import os
import sys
import warnings
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FAILED, INTERRUPTED = 1, 130


def main() -> None:
    """Run the command line and leave at once.

    The threads of libraries are not waited for: on their way out some of them may still be
    starting, and then the whole process would be aborted.
    """
    os._exit(run())


def run() -> int:
    """Run the command line; the exit code, once everything is said."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(
            stream, "reconfigure"
        ):  # a letter that the terminal does not have is written out
            stream.reconfigure(errors="backslashreplace")
    sys.meta_path.insert(0, Without("pandas"))  # pyarrow loads it, and nothing here needs it
    try:
        code = _loaded()()
    except KeyboardInterrupt:  # while the program itself is loaded
        code = INTERRUPTED
    except Exception as error:
        code = FAILED
        try:
            _say(_told(error))
        except Exception:  # not even memory to say so
            os.write(2, b"error: not enough memory\n")
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            code = code or FAILED
    return code


class Without(MetaPathFinder):
    """A library that counts as not installed."""

    def __init__(self, library: str) -> None:
        self._library = library

    def find_spec(self, name: str, *_: object) -> None:
        if name == self._library:
            raise ModuleNotFoundError(f"the command line does without {name}", name=name)


def _loaded() -> Callable[[], int]:
    """The command line, once all that it needs is there."""
    try:
        from isotherm.cli import run
        from isotherm.cli.signals import catch_signals, exit_code
        from isotherm.printable import format_warning
    except (ImportError, MemoryError, OSError) as error:
        said = [line for line in str(error).splitlines() if line.strip()]  # NumPy says a page
        why = said[-1] if said else "not enough memory"
        raise SystemError(f"isotherm cannot start: {why}") from None
    catch_signals()
    warnings.formatwarning = format_warning  # of commands that do not collect them

    def run_to_the_end() -> int:
        code = run()
        return exit_code() or code

    return run_to_the_end


def _told(error: Exception) -> str:
    """An error that nobody has told of so far; in full where --debug let it through."""
    if isinstance(error, SystemError):
        return f"error: {error}\n"
    import traceback

    from isotherm.printable import printable

    return printable("".join(traceback.format_exception(error)))


def _say(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)


if __name__ == "__main__":
    main()
