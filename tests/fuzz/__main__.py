"""The command: python -m tests.fuzz --minutes 10."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from isotherm.compiled import core, n_threads

from .check import CLAIMS
from .draw import draw
from .workers import Found, Plan, Tried, run_all, run_one

MOST_SEEDS = 1 << 40  # so that all numbers of cases fit into 64 bits
CASES_APART = 1_000_000  # between the first cases of two seeds
MOST_SHOWN = 5000  # characters of a case


def main(arguments: list[str] | None = None) -> int:
    """Run cases; 1 if one of them fails."""
    options = _parser().parse_args(arguments)
    claims = tuple(options.claims.split(",")) if options.claims else None
    unknown = set(claims or ()) - set(CLAIMS)
    if unknown:
        print(f"unknown claims: {', '.join(sorted(unknown))}; there are {', '.join(CLAIMS)}")
        return 2
    if core is None:
        print("the native engine is not there: only SciPy's is tried")
    if options.case is not None:
        return _one(options.case, options)
    seed = int(time.time()) if options.seed is None else options.seed
    first = seed % MOST_SEEDS * CASES_APART
    print(f"seed {seed} (--seed {seed} repeats this run), cases from {first}", flush=True)
    plan = Plan(first, 1, 60 * options.minutes, claims, options.only, options.reduce_for)
    began = time.monotonic()
    tried = run_all(plan, options.workers)
    _summarise(tried, time.monotonic() - began)
    return _report(tried.found, options.scripts)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        description="Compare isotherm with exact arithmetic on random problems.",
    )
    add = parser.add_argument
    add("--minutes", type=float, default=1.0, help="how long (default: 1)")
    add("--seed", type=int, help="where to begin; by default the time")
    add("--case", type=int, help="run one case, by its number")
    add("--claims", help=f"only these, with commas between: {', '.join(CLAIMS)}")
    add("--only", choices=["small", "medium"], help="only cases of this size")
    add("--workers", type=int, default=n_threads(), help="processes (default: all processors)")
    add("--reduce-for", type=float, default=10.0, help="seconds to make a failure small")
    add("--scripts", type=Path, default=Path("fuzz-failures"), help="folder for scripts")
    return parser


def _one(number: int, options: argparse.Namespace) -> int:
    """Run one case and tell all about it."""
    tally: Counter[str] = Counter()
    shown = repr(draw(number))
    print(shown if len(shown) < MOST_SHOWN else f"{shown[:MOST_SHOWN]} …")
    plan = Plan(number, 1, 0.0, None, None, options.reduce_for)
    found = list(run_one(number, tally, plan))
    _summarise(Tried(tally, found, number), None)
    return _report(found, options.scripts)


def _summarise(tried: Tried, seconds: float | None) -> None:
    """How many of each kind were tried: a run that proves nothing can be seen."""
    total = tried.tally["cases"]
    if seconds is not None:
        print(f"{total} cases in {seconds:.0f} s, {60 * total / seconds:.0f} a minute")
    for name, count in sorted(tried.tally.items()):
        print(f"{count:>10} {name}")


def _report(found: list[Found], folder: Path) -> int:
    """Print failures, and write a script for each kind."""
    if not found:
        print("nothing failed")
        return 0
    kinds: dict[str, list[Found]] = {}
    for each in found:
        kinds.setdefault(each.failure.kind, []).append(each)
    for number, (kind, all_of_it) in enumerate(sorted(kinds.items()), start=1):
        seeds = list(dict.fromkeys(each.seed for each in all_of_it))
        shown = ", ".join(map(str, seeds[:10])) + (", …" if len(seeds) > 10 else "")
        print(f"\n=== {kind}: {len(seeds)} cases, --case {shown}")
        best = min(all_of_it, key=lambda each: (not each.script, len(each.script)))
        print(best.failure.message)
        if best.script:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{number}-{best.seed}.py"
            path.write_text(best.script, encoding="utf-8")
            print(f"{path}:\n{best.script}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
