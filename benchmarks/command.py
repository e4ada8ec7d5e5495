"""The command line of the benchmarks: run some of a list, print, save."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from benchmarks.measure import ROOT, save


def run_all(package: str, names: list[str], description: str, results: str) -> int:
    """Run the benchmarks that were asked for, by default all; 1 if a claim failed.

    Parameters
    ----------
    package : str
        Where they are.
    names : list of str
        All that there are.
    description : str
    results : str
        Folder below ``results`` for what was found in full size.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {package}", description=description)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="small graphs: does it run at all?")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / results)
    options = parser.parse_args()
    unknown = set(options.names) - set(names)
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    failed = []
    for name in options.names or names:
        module = importlib.import_module(f"{package}.{name}")
        print(f"\n=== {name}: {module.__doc__.splitlines()[0]}", flush=True)
        result = module.run(quick=options.quick)
        if not options.quick:
            save(name, result, options.results)
        failed += [name] if not all(result.checks.values()) else []
    print("\nall claims hold" if not failed else f"\nclaims that failed: {', '.join(failed)}")
    return bool(failed) and not options.quick  # the claims are about the graphs in full size
