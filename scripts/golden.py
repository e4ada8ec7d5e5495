"""Whether two versions give the same: ``python scripts/golden.py BASE [HEAD]``.

Both are built on this machine, and what `golden/made.py` writes of each is compared: numbers of
fits bit for bit, tables cell by cell, pages and graph files without white space, all other files as
they are. Seconds, memory, versions and paths are made alike before. Differences that are wanted
stand in `golden/differences.md`, each with the commit that made it.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
ALIKE = (
    (rf"(?i){NUMBER} ?(?:ms|µs|s|sec|seconds?|minutes?|min|h)\b", "<time>"),
    (rf"{NUMBER} ?[KMGT]i?B\b", "<memory>"),
    (r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?", "<date>"),
    (r"\b\d+\.\d+\.\d+(?:\.?(?:dev|rc|post|a|b)\d*)?(?:\+\w+)?\b", "<version>"),
    (r'"(seconds|reading|solving|scoring|writing|memory_bytes)": [^,{}\n]+', r'"\1": <time>'),
    (r"(seconds[^<]*</td><td[^>]*>)[\d.]+", r"\1<time>"),
    (r"(± \d\.\d+(?:</td><td[^>]*>| +))\d+\.\d+", r"\1<time>"),  # the last column of scores
)


def main() -> int:
    """Build, make, compare; 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", help="the revision to compare with, such as main")
    parser.add_argument("head", nargs="?", default="HEAD", help="by default HEAD, as committed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = [make(folder / side, options.__dict__[side]) for side in ("base", "head")]
        found = differences(*made)
    for line in found:
        print(line)
    print(f"{len(found)} differences" if found else "no difference")
    return int(bool(found))


def make(folder: Path, revision: str) -> Path:
    """What a revision gives."""
    from benchmarks.by_turns import environment

    python, out = environment(revision, folder), folder / "made"
    alone = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    path = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [str(python), str(ROOT / "golden" / "made.py"), str(out)]
    subprocess.run(command, env=path | alone, check=True)  # noqa: S603
    return out


def differences(base: Path, head: Path) -> list[str]:
    """A line for each file that differs, or is there once."""
    names = {path.relative_to(side) for side in (base, head) for path in files_of(side)}
    found = []
    for name in sorted(names):
        if not ((base / name).exists() and (head / name).exists()):
            found.append(f"{name}: only in {'base' if (base / name).exists() else 'head'}")
        elif name.suffix == ".npz":
            found += [f"{name}: {line}" for line in unlike_fits(base / name, head / name)]
        else:
            first, second = content(base / name, base), content(head / name, head)
            if first != second:
                found.append(f"{name}: {where(first, second)}")
    return found


def files_of(folder: Path) -> list[Path]:
    """All of them."""
    return [path for path in folder.rglob("*") if path.is_file()]


def unlike_fits(base: Path, head: Path) -> list[str]:
    """What two fits say differently: by how much, and of how many nodes."""
    found = []
    with np.load(base) as first, np.load(head) as second:
        for name in sorted({*first, *second}):
            if name not in first or name not in second:
                found.append(f"{name} only in {'base' if name in first else 'head'}")
                continue
            a, b = first[name], second[name]
            if a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes():
                continue
            if a.shape != b.shape or "f" not in {a.dtype.kind, b.dtype.kind}:
                count = np.count_nonzero(a != b) if a.shape == b.shape else "all"
                found.append(f"{name}: {count} of {a.size} differ")
            else:
                most = np.nanmax(np.abs(a - b), initial=0.0)
                found.append(f"{name}: differs by {most:.2g} at most")
    return found


def content(path: Path, folder: Path) -> Any:
    """What a file says, in a form in which white space and order of attributes do not count."""
    suffix = path.suffix
    if suffix == ".xlsx":
        import openpyxl

        book = openpyxl.load_workbook(path)
        return [(s.title, [[cell.value for cell in row] for row in s.iter_rows()]) for s in book]
    if suffix == ".parquet":
        from pyarrow import parquet

        table = parquet.read_table(path)
        return [*map(str, table.schema), json.dumps(table.to_pydict(), default=str)]
    if suffix in (".csv", ".tsv"):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, delimiter="\t" if suffix == ".tsv" else ","))
        taken = [k for k, name in enumerate(rows[0]) if name == "seconds"]
        return [[alike(cell, folder) for k, cell in enumerate(r) if k not in taken] for r in rows]
    if suffix == ".iso":
        return path.read_bytes()
    text = alike(path.read_text(encoding="utf-8"), folder)
    if suffix in (".graphml", ".gexf", ".svg"):
        ElementTree.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314  # our own
        return ElementTree.canonicalize(text, strip_text=True)
    return re.sub(r"\s+", " ", text) if suffix == ".html" else text


def alike(text: str, folder: Path) -> str:
    """A text without what changes from run to run."""
    text = text.replace(str(folder.parent), "<folder>").replace(
        str(folder.parent.resolve()), "<folder>"
    )
    for pattern, name in ALIKE:
        text = re.sub(pattern, name, text)
    return text


def where(first: Any, second: Any) -> str:
    """Where two contents begin to differ."""
    a, b = (one if isinstance(one, str | bytes) else repr(one) for one in (first, second))
    at = next(
        (k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    begin = max(at - 20, 0)
    return f"{a[begin : at + 50]!r} is now {b[begin : at + 50]!r}"


if __name__ == "__main__":
    sys.exit(main())
