"""How long the steps of the checks took, beside what they may: ``python scripts/budget.py FILE``.

A line of the file is the name of a step and its seconds, as `.ci/run` writes them. What each may
take is in a table of CONTRIBUTING.md. A step that took longer is a warning, since machines are
noisy; where the table says so, the checks fail at half as much again.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
NOISE = 1.5  # times a budget: so slow may a busy machine be
ROW = re.compile(r"^\| `(\w+)` \| (\d+) \| (–|the checks fail) \|$", re.MULTILINE)


class Budget(NamedTuple):
    """What a step may take."""

    seconds: int
    is_limit: bool


def main() -> int:
    """Print a line for each step; 1 if one took longer than it may at the most."""
    took = dict(line.split() for line in Path(sys.argv[1]).read_text("utf-8").splitlines())
    budgets = read((ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    has_failed = False
    for name, budget in budgets.items():
        if name in took:
            seconds = int(took[name])
            failed = budget.is_limit and seconds > NOISE * budget.seconds
            word = "FAILED" if failed else "WARNING" if seconds > budget.seconds else ""
            print(f"{name:<14} {seconds:>5} s of {budget.seconds:>5} {word}".rstrip())
            has_failed |= failed
    if has_failed:
        print("the checks take too long: see CONTRIBUTING.md")
    return int(has_failed)


def read(text: str) -> dict[str, Budget]:
    """The steps and what they may take, in the order of the table."""
    rows = ROW.findall(text)
    return {name: Budget(int(seconds), end != "–") for name, seconds, end in rows}


if __name__ == "__main__":
    sys.exit(main())
