"""What the tests claim, so that none is lost while code moves: ``python scripts/claims.py``.

Compares the tests that are here with those of `golden/claims.txt`: a line for each name, with the
number of its asserts (in C++, of its checks). Whoever takes a test away, gives it another name or
fewer asserts says why in `golden/claims.md`, with the name in back quotes. ``--write`` adds what is
new to the list.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST, REASONS = ROOT / "golden" / "claims.txt", ROOT / "golden" / "claims.md"
PLACES = ("tests", "extras", "paper")
RAISES = {"raises", "warns", "deprecated_call", "sees", "fail"}  # what asserts without the word
CPP = re.compile(r"^(?:template <[^\n]*>\n)?void (\w+)\(.*?^}", re.DOTALL | re.MULTILINE)


def main() -> int:
    """Compare, and say what is missing; 1 if something is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="add what is new to the list")
    options = parser.parse_args()
    here, before = claims(ROOT), read(LIST)
    if options.write:
        kept = {name: max(before[name], here[name]) for name in before | here}
        LIST.parent.mkdir(exist_ok=True)
        LIST.write_text("".join(f"{name} {kept[name]}\n" for name in sorted(kept)), "utf-8")
        return 0
    reasons = REASONS.read_text("utf-8") if REASONS.exists() else ""
    found = lost(before, here, set(re.findall(r"`(\w+)`", reasons)))
    for line in found:
        print(line)
    if found:
        print(f"say in {REASONS.relative_to(ROOT)} what took them, or what they are called now")
    return int(bool(found))


def lost(before: Counter[str], here: Counter[str], explained: set[str]) -> list[str]:
    """A line for each claim that is gone, or says less, without a reason."""
    gone = sorted(name for name in before if here[name] < before[name] and name not in explained)
    return [
        f"{name}: {here[name]} of {before[name]} asserts" if name in here else f"{name}: gone"
        for name in gone
    ]


def read(path: Path) -> Counter[str]:
    """A list as it was written."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return Counter({name: int(count) for name, count in map(str.split, lines)})


def claims(root: Path) -> Counter[str]:
    """All tests and the number of their asserts; those of one name count together."""
    found: Counter[str] = Counter()
    for place in PLACES:
        for path in (root / place).rglob("test_*.py"):
            found += of_python(path.read_text("utf-8"))
    for path in (root / "native").rglob("test_*.cpp"):
        found += of_cpp(path.read_text("utf-8"))
    return found


def of_python(text: str) -> Counter[str]:
    """The tests of a module. A test without an assert counts 1: that it ends at all is a claim."""
    found: Counter[str] = Counter()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            found[node.name] += max(1, sum(map(is_assert, ast.walk(node))))
    return found


def is_assert(node: ast.AST) -> bool:
    """Whether it fails a test."""
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return name in RAISES or name.startswith("assert_")
    return isinstance(node, ast.Assert)


def of_cpp(text: str) -> Counter[str]:
    """The functions of a file that check something."""
    counts = ((found[1], found[0].count("CHECK(")) for found in CPP.finditer(text))
    return Counter({name: count for name, count in counts if count})


if __name__ == "__main__":
    sys.exit(main())
