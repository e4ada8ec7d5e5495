"""Make the bundled graph of Debian packages from a package index.

    python scripts/debian_packages.py PACKAGES [OUT]

PACKAGES is the file ``main/binary-amd64/Packages`` of a Debian release, plain or packed (.gz, .xz),
as any mirror has it under ``dists/bookworm/``. The output depends on nothing else.

- Node: a binary package, by name.
- Edge: one package declares that it depends on the other in any way: Depends, Pre-Depends,
  Recommends, Suggests or Enhances. Each alternative of ``a | b`` counts. Versions, architectures
  and build profiles are left out. A name that is no package of the index (a virtual package, or
  one of another archive area) makes no edge, and neither does a package that names itself.
- Label: the section, without the archive area before it.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from isotherm.read.npz import LabelledGraph

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DEPENDENCIES = ("Depends", "Pre-Depends", "Recommends", "Suggests", "Enhances")
OUT = Path(__file__).parents[1] / "src" / "isotherm" / "data" / "debian.npz"
MOST_BYTES = 2_000_000

_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]*")


def paragraphs(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """The paragraphs of a control file, as {field: value}; a value may go over several lines."""
    fields: dict[str, str] = {}
    field = ""
    for line in lines:
        if not line.strip():
            if fields:
                yield fields
            fields = {}
        elif line[0] in " \t":
            fields[field] += " " + line.strip()
        else:
            field, _, value = line.partition(":")
            fields[field] = value.strip()
    if fields:
        yield fields


def dependencies(package: dict[str, str]) -> Iterator[str]:
    """Names of the packages that a package declares to depend on."""
    for field in DEPENDENCIES:
        for alternative in re.split(r"[,|]", package.get(field, "")):
            name = _NAME.match(alternative.strip())
            if name:
                yield name.group()


def make(lines: Iterable[str]) -> LabelledGraph:
    """The graph of a package index."""
    sections: dict[str, str] = {}
    pairs: list[tuple[str, str]] = []
    for package in paragraphs(lines):
        name = package["Package"]  # some are there in several versions
        sections.setdefault(name, package.get("Section", "unknown").rpartition("/")[2])
        pairs += [(name, other) for other in dependencies(package)]
    names = sorted(sections)
    position = {name: i for i, name in enumerate(names)}
    ends = [(position[a], position[b]) for a, b in pairs if b in position and a != b]
    source, target = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    classes, labels = np.unique([sections[name] for name in names], return_inverse=True)
    return LabelledGraph.from_edges(
        len(names), source, target,
        labels=labels.astype(np.int64), names=np.array(names), label_names=classes,
    )  # fmt: skip


def read_lines(path: Path) -> list[str]:
    """Lines of a text file, unpacked where its name says that it is packed."""
    unpack = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix, bytes)
    return unpack(path.read_bytes()).decode("utf-8").splitlines()


def main(arguments: list[str] | None = None) -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description="Make the bundled graph of Debian packages.")
    parser.add_argument("packages", type=Path, help="a package index: plain, .gz or .xz")
    parser.add_argument("out", type=Path, nargs="?", default=OUT, help=f"by default {OUT.name}")
    options = parser.parse_args(arguments)
    packed = make(read_lines(options.packages))
    data = packed.to_bytes(small=True)
    if len(data) > MOST_BYTES:
        parser.error(f"the file would have {len(data)} bytes, more than {MOST_BYTES}")
    options.out.write_bytes(data)
    print(f"{options.out}: {packed.graph()!r}, {len(data)} bytes")


if __name__ == "__main__":
    main()
