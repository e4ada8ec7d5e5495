"""``python -m isotherm``, and the command ``isotherm``."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line and leave at once.

    The threads of libraries are not waited for: on their way out some of them may still be
    starting, and then the whole process would be aborted.
    """
    try:
        from isotherm.cli import run

        code = run()
    except KeyboardInterrupt:  # while the program itself is loaded
        code = INTERRUPTED
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            code = code or 1
    os._exit(code)


if __name__ == "__main__":
    main()
