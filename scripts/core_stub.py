"""Write src/isotherm/_core.pyi from the compiled core: ``python scripts/core_stub.py [--check]``.

Needs nanobind, which is there where the core was built by hand (see CONTRIBUTING.md).
"""

import subprocess
import sys
import tempfile
from pathlib import Path

STUB = Path(__file__).parents[1] / "src" / "isotherm" / "_core.pyi"


def main() -> int:
    """Write the stub, or (--check) say whether it is as it should be."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "_core.pyi"
        command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "isotherm._core", "-o"]
        subprocess.run([*command, str(made)], check=True)  # noqa: S603
        text = made.read_text(encoding="utf-8")
    if "--check" not in sys.argv:
        STUB.write_text(text, encoding="utf-8")
        return 0
    return int(STUB.read_text(encoding="utf-8") != text)


if __name__ == "__main__":
    sys.exit(main())
