"""How large the project is, by its parts: ``python scripts/size.py [REVISION ...]``.

Lines are counted as the formatter writes them today, so that none is saved by longer ones, and
statements, which no formatter changes. Without a revision the files as they are now are counted;
with several, the last column says what became of the first one.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
WIDTH = 100  # columns, today; the setting may change, this must not
GENERATED = ("src/isotherm/page/static/page.js", "src/isotherm/_core.pyi")
CODE = {".py", ".cpp", ".hpp", ".cu", ".ts"}
TEMPLATES = {".html", ".css", ".js", ".jinja"}
# The first pattern that fits says which part a file belongs to.
PARTS = (
    ("native tests", r"native/test_"),
    ("native", r"native/|.*\.cu$"),
    ("tests", r"(.*/)?tests/"),
    ("src", r"src/.*\.py$"),
    ("templates", r"src/|page/"),
    ("extras", r"extras/"),
    ("paper", r"paper/"),
    ("scripts", r"(scripts|benchmarks|examples|docs|packaging)/"),
)
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`', re.DOTALL
)


class Size(NamedTuple):
    """Of some files."""

    files: int = 0
    lines: int = 0
    statements: int = 0

    def plus(self, other: Size) -> Size:
        """Both together."""
        return Size(*(a + b for a, b in zip(self, other, strict=True)))


def main() -> int:
    """Print a table of the parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", nargs="*", help="such as main~3; by default, what is here")
    revisions = parser.parse_args().revision or [""]
    sizes = [sizes_of(revision) for revision in revisions]
    columns = [f"{name or 'now'} {field}" for name in revisions for field in Size._fields]
    rows = []
    for part in [*(name for name, _ in PARTS), "src/isotherm"]:
        found = [size.get(part, Size()) for size in sizes]
        if not any(one.files for one in found):
            continue
        numbers = [number for one in found for number in one]
        if len(found) > 1:
            numbers += [b - a for a, b in zip(found[0], found[-1], strict=True)]
        rows.append([part, *(f"{number:,}" for number in numbers)])
    if len(sizes) > 1:
        columns += [f"change in {field}" for field in Size._fields]
    print_table([["part", *columns], *rows])
    return 0


def sizes_of(revision: str) -> dict[str, Size]:
    """The size of each part, and of the package with its templates."""
    found: dict[str, Size] = defaultdict(Size)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy(revision, tree)
        as_today = ["--isolated", "--line-length", str(WIDTH), "--target-version", "py311"]
        command = [sys.executable, "-m", "ruff", "format", "-q", *as_today, str(tree)]
        subprocess.run(command, check=True)  # noqa: S603
        for path in sorted(tree.rglob("*")):
            name = path.relative_to(tree).as_posix()
            part = part_of(name)
            if path.is_file() and part is not None:
                size = size_of(path)
                found[part] = found[part].plus(size)
                if name.startswith("src/isotherm/"):
                    found["src/isotherm"] = found["src/isotherm"].plus(size)
    return found


def copy(revision: str, to: Path) -> None:
    """Put the files of a revision into a folder, or those that are here and known to git."""
    if revision:
        archive = git("archive", revision)
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(to, filter="data")
        return
    for name in git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split(b"\0"):
        source = ROOT / name.decode()
        if name and source.is_file():
            target = to / name.decode()
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())


def part_of(name: str) -> str | None:
    """The part that a file belongs to; None if it is not counted."""
    if name in GENERATED or Path(name).suffix not in CODE | TEMPLATES:
        return None
    return next((part for part, pattern in PARTS if re.match(pattern, name)), None)


def size_of(path: Path) -> Size:
    """Of one file, formatted already if it is Python."""
    text = path.read_text(encoding="utf-8")
    lines = [-(-max(len(line), 1) // WIDTH) for line in text.splitlines()]  # as if wrapped
    return Size(1, sum(lines), statements_of(path.suffix, text))


def statements_of(suffix: str, text: str) -> int:
    """Statements without docstrings; in C++, CUDA and TypeScript, ``;`` and ``{``; 0 in others."""
    if suffix == ".py":
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
        return sum(not is_text(node) for node in nodes)
    if suffix in CODE:
        return sum(NOT_CODE.sub("", text).count(mark) for mark in ";{")
    return 0


def is_text(node: ast.stmt) -> bool:
    """Whether it is a docstring, or a text that stands by itself like one."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def git(*arguments: str) -> bytes:
    """What git prints."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout  # noqa: S603


def print_table(rows: list[list[str]]) -> None:
    """In columns, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        print("  ".join(cells).rstrip())


if __name__ == "__main__":
    sys.exit(main())
