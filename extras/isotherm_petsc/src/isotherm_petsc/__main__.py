"""``mpiexec -n 4 python -m isotherm_petsc classify graph.iso labels.csv -o out.csv``.

The first rank runs isotherm's command line, with ``--engine petsc`` unless another one is named;
the others serve it.
"""

from __future__ import annotations

import os
import sys

from isotherm import IsothermError
from isotherm_petsc.worker import serve


def main() -> int:
    """Run the command line on the first rank, and serve it on the others; the exit code."""
    code = 0
    try:
        with serve() as is_first:
            if is_first:
                from isotherm.__main__ import run

                os.environ.setdefault("ISOTHERM_ENGINE", "petsc")
                code = run()
    except IsothermError as error:
        sys.stderr.write(f"error: {error}\n")
        code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
