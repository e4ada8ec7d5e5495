"""Print what each extra weighs, installed, on top of the core: ``python scripts/extra_weights.py``.

Counts the files of the packages as they are installed here; an extra that is not is left out.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement


def needed(requirements: list[str], extra: str = "") -> set[str]:
    """All packages that these requirements bring along, by their names."""
    found: set[str] = set()
    for text in requirements:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is not None and not marker.evaluate({"extra": extra}):
            continue
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if name not in found:
            found |= {name, *needed(distribution(name).requires or [])}
    return found


def megabytes(names: set[str]) -> int:
    """The size of all files of these packages."""
    sizes = 0
    for name in names:
        package = distribution(name)
        paths = [Path(str(package.locate_file(file))) for file in package.files or []]
        sizes += sum(path.stat().st_size for path in paths if path.is_file())
    return round(sizes / 1e6)


def main() -> None:
    """Print a line for each extra."""
    ours = distribution("isotherm")
    core = needed(ours.requires or [])
    print(f"core: {megabytes(core)} MB, {len(core)} packages")
    for extra in sorted(ours.metadata.get_all("Provides-Extra") or []):
        try:
            more = needed(ours.requires or [], extra) - core
            print(f"{extra}: {megabytes(more)} MB, {len(more)} packages")
        except PackageNotFoundError as missing:
            print(f"{extra}: {missing} is not installed")


if __name__ == "__main__":
    main()
