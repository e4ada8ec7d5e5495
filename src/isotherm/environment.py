"""What a result depends on besides its input: the versions of the programs that made it."""

from __future__ import annotations

import platform

PACKAGES = ("isotherm", "numpy", "scipy", "scikit-learn", "pyarrow")


def versions() -> dict[str, str]:
    """Of Python and the packages that results depend on."""
    from importlib.metadata import version

    return {"Python": platform.python_version()} | {name: version(name) for name in PACKAGES}
